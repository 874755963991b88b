package adapter

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Values that package json decoded are encoded without it: an adapter encodes every call of a history each time, and
// package json takes several times as long.

// maxDepth is the depth at which package json begins to look for cycles.
const maxDepth = 1000

// decoded writes m with sorted keys. It returns nil if that is impossible.
func (a *Arguments) decoded(m map[string]any) json.RawMessage {
	if cap(a.out)-len(a.out) < 512 {
		a.out = make([]byte, 0, 4<<10)
	}
	begin := len(a.out)
	a.entries = a.entries[:0]
	if !a.writeObject(m, 0) {
		a.out = a.out[:begin]
		return nil
	}
	return json.RawMessage(a.out[begin:len(a.out):len(a.out)])
}

// writeValue writes v and reports whether that was possible.
func (a *Arguments) writeValue(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		return a.writeObject(v, depth)
	case []any:
		if v != nil && depth < maxDepth {
			return a.writeList(v, depth)
		}
	case string:
		a.writeText(v)
		return true
	case bool:
		a.out = strconv.AppendBool(a.out, v)
		return true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 && v != 0 { // 0 may be negative
			a.out = strconv.AppendInt(a.out, int64(v), 10)
			return true
		}
	}
	b := encode(v)
	a.out = append(a.out, b...)
	return b != nil
}

func (a *Arguments) writeList(list []any, depth int) bool {
	a.out = append(a.out, '[')
	for i, v := range list {
		if i > 0 {
			a.out = append(a.out, ',')
		}
		if !a.writeValue(v, depth+1) {
			return false
		}
	}
	a.out = append(a.out, ']')
	return true
}

func (a *Arguments) writeObject(m map[string]any, depth int) bool {
	if m == nil || depth >= maxDepth {
		b := encode(m)
		a.out = append(a.out, b...)
		return b != nil
	}
	first := len(a.entries)
	for key, value := range m {
		a.entries = append(a.entries, entry{key, value})
	}
	last := len(a.entries)
	slices.SortFunc(a.entries[first:], func(x, y entry) int { return strings.Compare(x.key, y.key) })
	a.out = append(a.out, '{')
	for i := first; i < last; i++ {
		if i > first {
			a.out = append(a.out, ',')
		}
		a.writeText(a.entries[i].key)
		a.out = append(a.out, ':')
		if !a.writeValue(a.entries[i].value, depth+1) {
			return false
		}
	}
	a.entries = a.entries[:first]
	a.out = append(a.out, '}')
	return true
}

// writeText writes s. A text that may need an escape is left to package json.
func (a *Arguments) writeText(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			a.out = append(a.out, encode(s)...)
			return
		}
	}
	a.out = append(a.out, '"')
	a.out = append(a.out, s...)
	a.out = append(a.out, '"')
}
