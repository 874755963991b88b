package winnow

import (
	"unsafe"
	"weak"
)

// listRef finds the list of a request again, and the room behind it, as long as somebody else keeps it: the
// manager of an idle conversation holds no messages.
type listRef[T any] struct {
	first     weak.Pointer[T]
	at        uintptr
	len, room int
}

// refer makes r refer to list.
func (r *listRef[T]) refer(list []T) {
	if first := unsafe.SliceData(list); r.at != uintptr(unsafe.Pointer(first)) || cap(list) == 0 {
		*r = listRef[T]{}
		if cap(list) > 0 {
			r.first, r.at = weak.Make(first), uintptr(unsafe.Pointer(first))
		}
	}
	r.len, r.room = len(list), cap(list)
}

// get returns the list. It is false if the list is gone.
func (r *listRef[T]) get() ([]T, bool) {
	if r.room == 0 {
		return nil, true
	}
	first := r.first.Value()
	if first == nil {
		return nil, false
	}
	return unsafe.Slice(first, r.room)[:r.len], true
}
