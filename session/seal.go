package session

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"sync"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Sealer encrypts the content of entries before it is stored. Keys have ids, which the log holds in the clear, so that
// keys can be changed at any time and old entries are read with old keys. A Sealer is safe for concurrent use. [AESGCM]
// is one.
//
// What readers without keys need stays readable: ids, times, types and the order of entries, the role, usage and model
// of a message, whether a session is pinned, and its key and that of the session it was forked from. Texts, arguments,
// titles, labels, names, data and the manager's state are sealed.
type Sealer interface {
	// Current returns the id of the key for new entries: at most 64 bytes of ASCII, without quotes and backslashes.
	Current() (id string, err error)

	// Seal encrypts text and authenticates context, which is not stored: Open gets it again, and refuses a different
	// one.
	Seal(id string, text, context []byte) (sealed []byte, err error)

	// Open undoes Seal. An error says that the key is missing or wrong, or that sealed was changed.
	Open(id string, sealed, context []byte) (text []byte, err error)
}

// AESGCM is a [Sealer] with AES-GCM. Its nonces are random, so a key is good for 2³² entries.
type AESGCM struct {
	// ID returns the id of the key for new entries.
	ID func() string
	// Key returns the key that has an id: 16, 24 or 32 bytes. It is called once for each id; the key is kept in memory.
	// Its error fails the read or write.
	Key func(id string) ([]byte, error)

	ciphers sync.Map // cipher.AEAD by id
}

// Current implements [Sealer].
func (a *AESGCM) Current() (string, error) { return a.ID(), nil }

// Seal implements [Sealer].
func (a *AESGCM) Seal(id string, text, context []byte) ([]byte, error) {
	c, err := a.cipher(id)
	if err != nil {
		return nil, err
	}
	return c.Seal(nil, nil, text, context), nil
}

// Open implements [Sealer].
func (a *AESGCM) Open(id string, sealed, context []byte) ([]byte, error) {
	c, err := a.cipher(id)
	if err != nil {
		return nil, err
	}
	return c.Open(nil, nil, sealed, context)
}

func (a *AESGCM) cipher(id string) (cipher.AEAD, error) {
	if c, ok := a.ciphers.Load(id); ok {
		return c.(cipher.AEAD), nil
	}
	key, err := a.Key(id)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	c, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	a.ciphers.Store(id, c)
	return c, nil
}

// opened returns log with the sealer of the store.
func (s *Store) opened(log backend.Log, err error) (backend.Log, error) {
	if err != nil {
		return nil, err
	}
	return jsonl.WithSealer(log, s.opts.Seal), nil
}

// openTitle reads a sealed title, which a backend without keys cannot list. If the key is missing, the title stays
// unknown.
func (s *Store) openTitle(ctx context.Context, st *backend.Status) error {
	if s.opts.Seal == nil {
		return nil
	}
	log, err := s.opened(s.backend.Log(ctx, st.Key, false))
	if errors.Is(err, ErrNotFound) { // deleted in the meantime
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	info, _, err := jsonl.ReadInfo(ctx, log)
	if errors.Is(err, ErrSealed) {
		return nil
	}
	st.Info.Title = info.Title
	return err
}
