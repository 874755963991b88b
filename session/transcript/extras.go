package transcript

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session/entry"
)

// codecName is the codec of the sources of imported entries. No adapter reads them: a host sends winnow's form.
const codecName = "transcript"

// extras are what a line holds beyond winnow's form: prices, pixels, unknown members. They are kept as an entry's
// source, and written back to a file of pi:
//
//	{"line":{…},"message":{"provider":"…"},"parts":{"0":{"data":"…"}}}
type extras struct {
	line    members
	message members
	parts   map[int]members
}

func (x *extras) part(i int, m ...member) {
	if len(m) == 0 {
		return
	}
	if x.parts == nil {
		x.parts = map[int]members{}
	}
	x.parts[i] = append(x.parts[i], m...)
}

// takeModel removes the model from the members of a message: an entry has a field for it.
func (x *extras) takeModel() string {
	model := x.message.text("model")
	if model != "" {
		x.message = x.message.withoutKeys("model")
	}
	return model
}

// source returns the extras as the source of an entry, nil if they are empty.
func (x *extras) source() *entry.Source {
	if len(x.line) == 0 && len(x.message) == 0 && len(x.parts) == 0 {
		return nil
	}
	x.sort()
	b := []byte{'{'}
	open := func(key string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), key...), `":`...)
	}
	if len(x.line) > 0 {
		open("line")
		b = x.line.append(b)
	}
	if len(x.message) > 0 {
		open("message")
		b = x.message.append(b)
	}
	if len(x.parts) > 0 {
		open("parts")
		b = append(b, '{')
		last := 0
		for i := range x.parts {
			last = max(last, i)
		}
		for i, n := 0, 0; i <= last; i++ {
			if m, ok := x.parts[i]; ok {
				if n++; n > 1 {
					b = append(b, ',')
				}
				b = append(strconv.AppendInt(append(b, '"'), int64(i), 10), `":`...)
				b = m.append(b)
			}
		}
		b = append(b, '}')
	}
	return &entry.Source{Codec: codecName, Data: json.RawMessage(append(b, '}'))}
}

// sort sorts members, so that equal extras have the same bytes.
func (x *extras) sort() {
	byKey := func(a, b member) int { return strings.Compare(a.key, b.key) }
	slices.SortStableFunc(x.line, byKey)
	slices.SortStableFunc(x.message, byKey)
	for _, m := range x.parts {
		slices.SortStableFunc(m, byKey)
	}
}

// extrasOf reads the source of an entry.
func extrasOf(s *entry.Source) (x extras) {
	if s == nil || s.Codec != codecName {
		return x
	}
	var top members
	top.read(s.Data)
	x.line, x.message = top.object("line"), top.object("message")
	jsontext.Members(top.get("parts"), func(key string, value []byte) {
		if i, err := strconv.Atoi(key); err == nil {
			var m members
			m.read(value)
			x.part(i, m...)
		}
	})
	return x
}

// quoted returns a member whose value is a text.
func quoted(key, text string) member { return member{key, jsontext.Quote(text)} }
