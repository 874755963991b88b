package session

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/winnowgo/winnow"
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

// ErrSealed: an entry cannot be read without its key. The error is a [*SealedError].
var ErrSealed = errors.New("session: the entry is sealed")

// SealedError says which key an entry was sealed with, and why it could not be opened.
type SealedError struct {
	Entry string // id
	Key   string // id of the key
	Cause error  // error of the [Sealer]; nil: the store has none
}

func (e *SealedError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("session: entry %s is sealed with key %q, and the store has no Sealer", e.Entry, e.Key)
	}
	return fmt.Sprintf("session: entry %s, sealed with key %q: %v", e.Entry, e.Key, e.Cause)
}

// Unwrap returns ErrSealed and the cause.
func (e *SealedError) Unwrap() []error { return []error{ErrSealed, e.Cause} }

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

// maxKeyID is how long the id of a key may be, in bytes.
const maxKeyID = 64

// keyedLog is a log and the sealer that opens its entries.
type keyedLog struct {
	Log
	seal Sealer
}

// opened returns log with the sealer of the store.
func (s *Store) opened(log Log, err error) (Log, error) {
	if err != nil || s.opts.Seal == nil {
		return log, err
	}
	return keyedLog{log, s.opts.Seal}, nil
}

// sealerOf returns the sealer that opens the entries of a log, or nil.
func sealerOf(log Log) Sealer {
	if k, ok := log.(keyedLog); ok {
		return k.seal
	}
	return nil
}

// isSealed reports whether entries of the type have content to seal.
func isSealed(t Type) bool {
	switch t {
	case TypeSession, TypeLeaf, TypeUsage, TypeErased:
		return false
	}
	return true
}

// inTheClear returns the part of e that stays readable: what is counted.
func inTheClear(e *Entry) *Entry {
	clear := &Entry{Type: e.Type, Degraded: e.Degraded, TokensAfter: e.TokensAfter}
	if e.Type == TypeMessage && e.Message != nil {
		m := e.Message
		clear.Model = e.Model
		clear.Message = &winnow.Message{Role: m.Role, Injected: m.Injected, Summary: m.Summary, Usage: m.Usage}
	}
	if e.Full != nil {
		clear.Full = &FullState{Counts: e.Full.Counts}
	}
	if e.Info != nil {
		clear.Info = &Info{Pinned: e.Info.Pinned, Archived: e.Info.Archived}
	}
	return clear
}

const payloadMember = `,"payload":"`

// appendSealed adds the members after the head of an entry that is sealed with key.
func (x *encoder) appendSealed(e *Entry, key string, o original) error {
	start := len(x.lines)
	if err := x.appendBody(e, o); err != nil {
		return err
	}
	context := sealContext(&head{seq: e.Seq, id: e.ID, parent: e.ParentID, kind: e.Type}, key)
	sealed, err := x.seal.Seal(key, x.lines[start:], context)
	if err != nil {
		return &SealedError{Entry: e.ID, Key: key, Cause: err}
	}
	x.lines = x.lines[:start]
	if err := x.appendBody(inTheClear(e), original{}); err != nil {
		return err
	}
	x.lines = base64.StdEncoding.AppendEncode(append(x.lines, payloadMember...), sealed)
	x.lines = append(x.lines, '"')
	return nil
}

// key returns the id of the key to seal e with, "" if e is not sealed.
func (x *encoder) key(e *Entry) (string, error) {
	if x.seal == nil || !isSealed(e.Type) {
		return "", nil
	}
	id, err := x.seal.Current()
	if err == nil && !isKeyID(id) {
		err = errors.New("the id of a key is 1 to 64 bytes of ASCII without quotes and backslashes")
	}
	if err != nil {
		return "", &SealedError{Entry: e.ID, Key: id, Cause: err}
	}
	return id, nil
}

func isKeyID(id string) bool {
	isOther := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
	return id != "" && len(id) <= maxKeyID && !strings.ContainsFunc(id, isOther)
}

// sealContext binds what is sealed to its entry and key.
func sealContext(h *head, key string) []byte {
	b := strconv.AppendInt(nil, h.seq, 10)
	for _, s := range []string{h.id, h.parent, string(h.kind), key} {
		b = strconv.AppendQuote(append(b, ' '), s)
	}
	return b
}

// text returns the members after the head of a sealed line. If there are any, they begin with a comma.
func (l *line) text() ([]byte, error) {
	if l.seal == nil {
		return nil, &SealedError{Entry: l.id, Key: l.sealed}
	}
	var in struct {
		Payload []byte `json:"payload"`
	}
	if err := json.Unmarshal(l.data, &in); err != nil {
		return nil, err
	}
	text, err := l.seal.Open(l.sealed, in.Payload, sealContext(&l.head, l.sealed))
	if err != nil {
		return nil, &SealedError{Entry: l.id, Key: l.sealed, Cause: err}
	}
	return text, nil
}

// decodeSealed returns the entry of a sealed line.
func (l *line) decodeSealed() (*Entry, error) {
	text, err := l.text()
	if err != nil {
		return nil, err
	}
	inner := line{head: l.head, data: []byte("{}")}
	inner.sealed = ""
	if len(text) > 1 {
		inner.data = append(append([]byte("{"), text[1:]...), '}')
		inner.body = inner.data[1 : len(inner.data)-1]
	}
	e, err := inner.decode()
	if err != nil {
		return nil, err
	}
	e.Time = l.time()
	return e, nil
}

// decodeShown returns an entry; if it is sealed, only what can be read without its key.
func (l *line) decodeShown() (*Entry, error) {
	if l.sealed != "" {
		return l.decodeClear()
	}
	return l.decode()
}

// decodeClear returns what can be read of a sealed line without its key.
func (l *line) decodeClear() (*Entry, error) {
	e := &Entry{}
	if err := json.Unmarshal(l.data, (*entryBody)(e)); err != nil {
		return nil, fmt.Errorf("session: entry %s: %w", l.id, err)
	}
	l.giveHead(e)
	return e, nil
}

// openTitle reads a sealed title, which a backend without keys cannot list. If the key is missing, the title stays
// unknown.
func (s *Store) openTitle(ctx context.Context, st *Status) error {
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
	info, _, err := readInfo(ctx, log)
	if errors.Is(err, ErrSealed) {
		return nil
	}
	st.Info.Title = info.Title
	return err
}
