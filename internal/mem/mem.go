// Package mem looks at memory without copying it: views of bytes as text, and where things lie.
package mem

import (
	"unsafe"
	"weak"
)

// String returns b as a string, which nobody may use after b has changed.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes returns s as bytes, which nobody may write to.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Address returns where s lies in memory.
func Address(s string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(s))) }

// Ref refers to the memory of a text without keeping it.
type Ref struct{ first weak.Pointer[byte] }

// RefTo returns a reference to s.
func RefTo(s string) Ref { return Ref{weak.Make(unsafe.StringData(s))} }

// Is reports whether s lies where the text of r does, and that text was not freed.
func (r Ref) Is(s string) bool { return unsafe.StringData(s) == r.first.Value() }
