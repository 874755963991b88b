package dir

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// Common file systems limit a name to 255 bytes, and Windows a path to 260 characters: longer keys are cut, and a
	// hash tells them apart.
	maxKeyName     = 120
	keyNamePrefix  = 60
	keyNameHashHex = 32
)

// keyDirectory returns the directory of a key within the store. Different keys have different names, even on file
// systems that ignore case or normalize Unicode: only [a-z0-9_-] stand for themselves.
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
		if isNameByte(c) {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

// isNameByte reports whether a byte of a key stands for itself in the name of its directory.
func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}
