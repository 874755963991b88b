package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const (
	maxKey = 1024 // bytes

	// Names of directories have at most 255 bytes on all common file systems, and paths 260 characters on Windows:
	// longer keys are cut and told apart by a hash.
	maxKeyName     = 120
	keyNamePrefix  = 60
	keyNameHashHex = 32
)

// CheckKey returns [ErrKey] for what is not a key. It is for backends.
func CheckKey(key string) error {
	if key == "" || len(key) > maxKey || !utf8.ValidString(key) {
		return ErrKey
	}
	return nil
}

// keyDirectory returns the directory of a key within the store. Keys that differ have names that differ, on file
// systems too that ignore case or the form of Unicode: only [a-z0-9_-] stand for themselves.
func keyDirectory(key string) (parent, name string) {
	sum := sha256.Sum256([]byte(key))
	name = escapeKey(key)
	if len(name) > maxKeyName {
		name = name[:keyNamePrefix] + "~" + hex.EncodeToString(sum[:keyNameHashHex/2])
	}
	return "s/" + hex.EncodeToString(sum[:1]), "k-" + name
}

func escapeKey(key string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-' {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}
