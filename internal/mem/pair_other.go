//go:build !(386 || amd64 || arm64 || loong64 || ppc64le || wasm)

package mem

// Pair is s[i] | s[i+1]<<8.
func Pair(s string, i int) uint16 { return uint16(s[i]) | uint16(s[i+1])<<8 }
