package session

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"sync"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Sealer encrypts the content of entries before it is stored. Keys have ids, which the log holds in the clear, so that
// keys can be changed at any time and old entries are read with old keys. A Sealer is safe for concurrent use. [AESGCM]
// is one.
//
// What readers without keys need stays readable: ids, times, types, roles, usage, models, the keys of sessions, and
// whether one is pinned. Everything else of an entry is sealed.
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

// openTitle reads a sealed title, which a backend without keys cannot list. If the key is missing, the title stays
// unknown.
func (s *Store) openTitle(ctx context.Context, st *Status) error {
	if s.opts.Seal == nil {
		return nil
	}
	log, err := s.backend.Log(ctx, st.Key, false)
	if errors.Is(err, ErrNotFound) { // deleted in the meantime
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	l, err := jsonl.ReadInfo(ctx, log, s.opts.Seal)
	if errors.Is(err, ErrSealed) {
		return nil
	}
	if err == nil {
		st.Info.Title = l.Info.Title
	}
	return err
}

// Codec stores what a provider's message holds beyond winnow's form: the values in [winnow.Message.Source] and
// [winnow.Part.Source]. Each adapter has one. A store without a codec keeps no Source, neither in the log nor in the
// running session, so that a restart never changes what is sent.
//
// Encode and Decode are safe for concurrent use.
type Codec interface {
	// Name is stored with what Encode returns. It is short and never changes: "anthropic". A log that was written with
	// another codec is read without its sources; its messages are then in winnow's form alone.
	Name() string

	// Encode returns one JSON value for each message, in the same order: what Decode needs to restore the sources of
	// that message, or nil if winnow's form alone exports to the same bytes. It gets the messages of one Append. If
	// several messages come from one value of the SDK (the results in one user message), the first may carry the value
	// and the others a note that they belong to it. An error fails the Append.
	Encode(messages []winnow.Message) ([]json.RawMessage, error)

	// Decode sets Source and Parts[i].Source in messages from sources, which has one element for each message, nil
	// where Encode gave nil. The messages are a part of a history, in order, but not always the part that Encode got.
	// If companions of a message are missing, or lost their source in an edit, the message gets no source. Decode
	// changes nothing else in messages. An error is reported as damage, and the messages are used without sources.
	Decode(messages []winnow.Message, sources []json.RawMessage) error
}

// stored returns m as it is stored: redacted, and in the form in which a log returns it. A message that is none, or
// that holds nothing, is an error.
func (s *Session) stored(m winnow.Message) (winnow.Message, error) {
	m, err := s.redact(m)
	if err == nil {
		err = isOne(&m, 0)
	}
	if err != nil {
		return m, err
	}
	return jsonl.Canonical(m)
}

// redact returns m after the host's Redact.
func (s *Session) redact(m winnow.Message) (winnow.Message, error) {
	out, _, err := jsonl.Redacted(m, s.store.opts.Redact)
	return out, err
}
