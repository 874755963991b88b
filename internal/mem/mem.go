// Package mem looks at memory without copying it: views of bytes as text, addresses of lists.
package mem

import "unsafe"

// String is b as a string. Nobody may keep it for longer than b stays as it is.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes is s as bytes. Nobody may write to them.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Base is where a list lies in memory.
func Base[T any](list []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(list))) }
