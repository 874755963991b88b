//go:build 386 || amd64 || arm64 || loong64 || ppc64le || wasm

package mem

import "unsafe"

// Pair is s[i] | s[i+1]<<8 in one load. It checks no index: that is the caller's matter. These processors have the low
// byte first, and load from any address.
func Pair(s string, i int) uint16 {
	return *(*uint16)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))
}
