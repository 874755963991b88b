// Package mem looks at memory without copying it: views of bytes as text, and where things lie.
package mem

import "unsafe"

// String returns b as a string, which nobody may use after b has changed.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes returns s as bytes, which nobody may write to.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Address returns where s lies in memory.
func Address(s string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(s))) }

// Same reports whether a and b are one text in memory. Whoever holds a knows then that b was not put in its place. A
// weak pointer would hold nothing, but the runtime ends the process where it is made of a text that is not on the heap,
// such as a constant.
func Same(a, b string) bool { return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) }
