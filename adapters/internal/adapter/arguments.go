package adapter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Arguments encodes the inputs of calls, which SDKs hold as any value, as JSON. The zero value is ready. Its results
// share a few blocks of memory.
type Arguments struct {
	out     []byte   // output so far; never overwritten
	members []member // members of the open objects
	entries []entry  // entries of the open maps
	scratch []byte   // an object while it is sorted
	in      []byte   // unread input
}

// member is a key and its value in out.
type member struct{ begin, key, end int }

// entry is a key of a map, and its value.
type entry struct {
	key   string
	value any
}

// Write returns input as JSON with sorted keys and without white space. So it is the same for JSON as a model wrote it,
// and for the map that the SDK makes of that when a host reads its history from a file. Numbers keep their spelling. It
// returns nil for input that cannot be encoded.
func (a *Arguments) Write(input any) json.RawMessage {
	switch in := input.(type) {
	case nil:
		return nil
	case json.RawMessage:
		return a.canonical(in)
	case map[string]any:
		return a.decoded(in)
	}
	b := encode(input)
	if b == nil {
		return nil
	}
	return a.canonical(b)
}

// encode returns v as JSON without escapes for HTML, nil if that is impossible.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Object returns arguments as a JSON object, which most providers require.
func Object(arguments json.RawMessage) json.RawMessage {
	t := bytes.TrimSpace(arguments)
	switch {
	case len(t) == 0 || string(t) == "null":
		return json.RawMessage("{}")
	case !json.Valid(t):
		b, _ := json.Marshal(map[string]string{"invalidJson": string(arguments)}) // strings always encode
		return b
	case t[0] == '{':
		return arguments
	}
	return json.RawMessage(`{"arguments":` + string(t) + "}")
}

// IsObject reports whether arguments are a JSON object, as far as their beginning tells. A provider that takes them as
// JSON refuses a call with any other value, such as the null of a nil map.
func IsObject(arguments json.RawMessage) bool {
	t := bytes.TrimLeft(arguments, " \t\r\n")
	return len(t) > 0 && t[0] == '{'
}

// canonical returns raw with sorted keys and without white space. Text that is not JSON stays unchanged.
func (a *Arguments) canonical(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) { // this also bounds the depth
		return raw
	}
	if cap(a.out)-len(a.out) < len(raw) {
		a.out = make([]byte, 0, max(4<<10, len(raw)))
	}
	begin := len(a.out)
	a.in = raw
	a.copyValue()
	if bytes.Equal(a.out[begin:], raw) {
		a.out = a.out[:begin]
		return raw
	}
	return json.RawMessage(a.out[begin:len(a.out):len(a.out)])
}

// skip skips white space.
func (a *Arguments) skip() {
	for len(a.in) > 0 && isSpace(a.in[0]) {
		a.in = a.in[1:]
	}
}

// isSpace reports whether c is white space of JSON.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// take copies n bytes.
func (a *Arguments) take(n int) {
	a.out = append(a.out, a.in[:n]...)
	a.in = a.in[n:]
}

// copyValue copies one valid value.
func (a *Arguments) copyValue() {
	a.skip()
	switch a.in[0] {
	case '{':
		a.copyObject()
	case '[':
		a.take(1)
		for a.skip(); a.in[0] != ']'; a.skip() {
			if a.in[0] == ',' {
				a.take(1)
			}
			a.copyValue()
		}
		a.take(1)
	case '"':
		a.copyText()
	default:
		n := 0
		for n < len(a.in) && strings.IndexByte(",]} \n\t\r", a.in[n]) < 0 {
			n++
		}
		a.take(n)
	}
}

// copyObject copies an object and sorts its members by the spelling of their keys.
func (a *Arguments) copyObject() {
	first, sorted := len(a.members), true
	begin := len(a.out)
	a.take(1)
	for a.skip(); a.in[0] != '}'; a.skip() {
		if a.in[0] == ',' {
			a.take(1)
		}
		a.skip()
		m := member{begin: len(a.out)}
		a.copyText()
		m.key = len(a.out)
		a.skip()
		a.take(1) // the colon
		a.copyValue()
		m.end = len(a.out)
		sorted = sorted && (len(a.members) == first || a.compare(a.members[len(a.members)-1], m) <= 0)
		a.members = append(a.members, m)
	}
	a.take(1)
	if !sorted {
		slices.SortStableFunc(a.members[first:], a.compare)
		object := a.scratch[:0]
		for i, m := range a.members[first:] {
			if i > 0 {
				object = append(object, ',')
			}
			object = append(object, a.out[m.begin:m.end]...)
		}
		copy(a.out[begin+1:], object) // the length stays the same
		a.scratch = object
	}
	a.members = a.members[:first]
}

func (a *Arguments) compare(x, y member) int {
	return bytes.Compare(a.out[x.begin:x.key], a.out[y.begin:y.key])
}

// copyText copies a string. Unnecessary escapes are replaced as package json would write them.
func (a *Arguments) copyText() {
	n, plain := 1, true
	for ; a.in[n] != '"'; n++ {
		switch c := a.in[n]; {
		case c == '\\':
			n++
			plain = plain && a.in[n] != 'u' && a.in[n] != '/'
		case c == 0xe2: // U+2028 and U+2029 may be escaped
			plain = false
		}
	}
	var s string
	if plain || json.Unmarshal(a.in[:n+1], &s) != nil {
		a.take(n + 1)
		return
	}
	a.out = append(a.out, encode(s)...)
	a.in = a.in[n+1:]
}

// JSONText returns s as a JSON text.
func JSONText(s string) json.RawMessage { return encode(s) }

// TextOf undoes JSONText. If raw is not a JSON text, it returns raw.
func TextOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}
