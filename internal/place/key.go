// Package place finds a message again in another history by its key.
package place

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Key identifies a message. In JSON it is written as hexadecimal digits, and the zero key as no text.
type Key [16]byte

// Of returns one key for several messages, in their order.
func Of(keys []Key) Key {
	all := make([]byte, 0, len(keys)*len(Key{}))
	for _, k := range keys {
		all = append(all, k[:]...)
	}
	sum := sha256.Sum256(all)
	return Key(sum[:len(Key{})])
}

// Compare is an order of keys that is the same in each process.
func Compare(a, b Key) int { return bytes.Compare(a[:], b[:]) }

// MarshalText writes k for JSON.
func (k Key) MarshalText() ([]byte, error) {
	if k == (Key{}) {
		return nil, nil
	}
	return hex.AppendEncode(make([]byte, 0, 2*len(k)), k[:]), nil
}

// UnmarshalText reads k from JSON. A snapshot comes from a disk: anything but a key is an error.
func (k *Key) UnmarshalText(text []byte) error {
	*k = Key{}
	if len(text) == 0 {
		return nil
	}
	if len(text) != 2*len(k) {
		return errNoKey
	}
	if _, err := hex.Decode(k[:], text); err != nil {
		return errNoKey
	}
	return nil
}

var errNoKey = errors.New("a key is not one")
