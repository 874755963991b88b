// Package jsonedit reads JSON where it lies, and edits it there: what is not edited keeps its bytes, white space
// included.
package jsonedit

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
)

// Value is the text of a JSON value, without white space around it. What is got from it shares its memory. The empty
// Value is none, and nothing can be got from it.
type Value []byte

// Parse returns the value that a text is. ok is false if it is no JSON.
func Parse(text []byte) (v Value, ok bool) {
	if !jsontext.Valid(text) {
		return nil, false
	}
	return bytes.TrimSpace(text), true
}

// Exists reports whether there is a value that is not null.
func (v Value) Exists() bool { return len(v) > 0 && v[0] != 'n' }

// IsObject reports whether v has members.
func (v Value) IsObject() bool { return len(v) > 0 && v[0] == '{' }

// IsList reports whether v has elements.
func (v Value) IsList() bool { return len(v) > 0 && v[0] == '[' }

// IsText reports whether v is a string.
func (v Value) IsText() bool { return len(v) > 0 && v[0] == '"' }

// Text returns what a string says, "" for anything else. It shares the memory of v if it has no escapes.
func (v Value) Text() string { return jsontext.Text(v) }

// Int returns a number, the nearest one of at most 53 bits, and 0 for anything else.
func (v Value) Int() int {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0
	}
	const most = 1 << 53
	return int(max(-most, min(f, most)))
}

// Is reports whether v is true.
func (v Value) Is() bool { return string(v) == "true" }

// Get returns the value at a path of names and, in lists, places: "choices.0.message". It is empty if there is none.
func (v Value) Get(path string) Value {
	for name := range strings.SplitSeq(path, ".") {
		var found Value
		switch {
		case v.IsObject():
			jsontext.Members(v, func(key string, value []byte) {
				if key == name {
					found = value
				}
			})
		case v.IsList():
			at, err := strconv.Atoi(name)
			if err != nil {
				return nil
			}
			jsontext.Elements(v, func(value []byte) {
				if at == 0 {
					found = value
				}
				at--
			})
		}
		if v = found; v == nil {
			return nil
		}
	}
	return v
}

// Members calls f for each member of an object, with its name as it stands between the quotes.
func (v Value) Members(f func(name string, value Value)) {
	jsontext.Members(v, func(key string, value []byte) { f(key, value) })
}

// Elements returns the elements of a list.
func (v Value) Elements() (list []Value) {
	jsontext.Elements(v, func(value []byte) { list = append(list, value) })
	return list
}

// Set returns v with a value at a path, whose objects exist. A member that is not there is added.
func (v Value) Set(path string, value []byte) Value {
	e := Edit(v)
	if old := v.Get(path); len(old) > 0 {
		e.Replace(old, value)
	} else {
		object, name := v, path
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			object, name = v.Get(path[:i]), path[i+1:]
		}
		e.Add(object, name, value)
	}
	return e.Bytes(v)
}

// Delete returns v without the value at a path.
func (v Value) Delete(path string) Value {
	e := Edit(v)
	e.Remove(v.Get(path))
	return e.Bytes(v)
}

// Quote returns a text as JSON.
func Quote(s string) []byte { return jsontext.Quote(s) }

// Object returns an object of names and values, in their order.
func Object(members ...any) []byte {
	b := []byte{'{'}
	for i := 0; i+1 < len(members); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, Quote(members[i].(string))...), ':')
		switch value := members[i+1].(type) {
		case string:
			b = append(b, Quote(value)...)
		case []byte:
			b = append(b, value...)
		case Value:
			b = append(b, value...)
		}
	}
	return append(b, '}')
}

// List returns a list of values.
func List[T ~[]byte](values ...T) []byte {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}

// address returns where v begins in memory. Only what lies between two places is used: memory may be moved.
func address(v Value) uintptr { return mem.Address(mem.String(v)) }

// IsBehind reports whether a begins behind b in the text that both were got from.
func IsBehind(a, b Value) bool { return address(a) > address(b) }

// IsEmpty reports whether there is no value, or one that says nothing: null, false, an empty text, list or object.
func (v Value) IsEmpty() bool {
	switch string(v) {
	case "", "null", "false", `""`, "{}", "[]":
		return true
	}
	return false
}
