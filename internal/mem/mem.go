// Package mem looks at memory without copying it: views of bytes as text, addresses of lists, lists that are not held.
package mem

import (
	"unsafe"
	"weak"
)

// String is b as a string. Nobody may keep it for longer than b stays as it is.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes is s as bytes. Nobody may write to them.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Base is where a list lies in memory.
func Base[T any](list []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(list))) }

// Ref finds a list again, and the room behind it, as long as somebody else keeps it. The zero value is that of a nil
// list.
type Ref[T any] struct {
	first     weak.Pointer[T]
	at        uintptr
	len, room int
}

// Set makes r refer to list.
func (r *Ref[T]) Set(list []T) {
	if at := Base(list); r.at != at || cap(list) == 0 {
		*r = Ref[T]{}
		if cap(list) > 0 {
			r.first, r.at = weak.Make(unsafe.SliceData(list)), at
		}
	}
	r.len, r.room = len(list), cap(list)
}

// Get returns the list. It is false if the list is gone.
func (r *Ref[T]) Get() ([]T, bool) {
	if r.room == 0 {
		return nil, true
	}
	first := r.first.Value()
	if first == nil {
		return nil, false
	}
	return unsafe.Slice(first, r.room)[:r.len], true
}
