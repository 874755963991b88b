package winnow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// Arguments of old calls: files that were written, patches, scripts. Long texts in them are shortened; all
// else, keys and structure included, stays.

// keptArgumentChars is how much stays of a long text, two thirds of it of the beginning. Texts of twice that are
// not long.
const keptArgumentChars = 200

// shortens says that the arguments of a call may be shortened. A signed call is sent as it came.
func shortens(c *Part, match *toolMatcher) bool {
	return c.Kind == KindToolCall && c.Signature == "" && len(c.Arguments) >= 2*keptArgumentChars && match.prunable(c.Name)
}

// shorteningSaves is how many tokens shortening of the long texts in raw saves, about.
func shorteningSaves(raw json.RawMessage) (saving int) {
	if len(raw) < 2*keptArgumentChars {
		return 0
	}
	for from, to := range jsontext.Strings(raw) {
		if chars, long := isLong(raw[from:to], raw[to:]); long {
			n := (to - from) / tokencount.CharsPerToken
			saving += max(0, n-remainderRoom(n)-n*keptArgumentChars/chars)
		}
	}
	return saving
}

// shortenArguments shortens the arguments of the calls of a message. It is false if none has a long text.
func shortenArguments(m *Message, match *toolMatcher, names nameSet) (out Message, changed bool) {
	out = *m
	out.Parts, out.Source = slices.Clone(out.Parts), nil
	for k := range out.Parts {
		p := &out.Parts[k]
		if !shortens(p, match) {
			continue
		}
		if short, ok := shortenJSON(p.Arguments, names); ok {
			p.Arguments, p.Source, p.Tokens = short, nil, 0
			changed = true
		}
	}
	return out, changed
}

// shortenJSON shortens the long texts among the values of a JSON text. ok is false if there is none.
func shortenJSON(raw json.RawMessage, names nameSet) (short json.RawMessage, ok bool) {
	var out bytes.Buffer
	done := 0
	for from, to := range jsontext.Strings(raw) {
		literal := raw[from:to]
		if text, long := longText(literal, raw[to:]); long {
			if b := jsontext.Quote(shortenText(text, names)); len(b) < len(literal) {
				out.Write(raw[done:from])
				out.Write(b)
				done, ok = to, true
				continue
			}
		}
		names.add(mem.String(literal))
	}
	if !ok {
		return raw, false
	}
	out.Write(raw[done:])
	return out.Bytes(), json.Valid(out.Bytes())
}

// isLong says that a JSON string is long and, by what follows it, no key; chars is how long.
func isLong(literal, rest []byte) (chars int, long bool) {
	if len(literal) < 2*keptArgumentChars {
		return 0, false
	}
	if rest = bytes.TrimLeft(rest, " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
		return 0, false
	}
	chars = runes.Count(mem.String(literal)) - len(`""`)
	for i := bytes.IndexByte(literal, '\\'); i >= 0 && i+1 < len(literal); {
		escape := 2
		if literal[i+1] == 'u' {
			escape = min(6, len(literal)-i)
		}
		chars -= escape - 1
		i += escape
		next := bytes.IndexByte(literal[i:], '\\')
		if next < 0 {
			break
		}
		i += next
	}
	return chars, chars >= 2*keptArgumentChars
}

// longText returns the text of a JSON string that is long and no key.
func longText(literal, rest []byte) (string, bool) {
	if _, long := isLong(literal, rest); !long {
		return "", false
	}
	var s string
	err := json.Unmarshal(literal, &s)
	return s, err == nil
}

// shortenText keeps both ends of s, and the names in between.
func shortenText(s string, names nameSet) string {
	c := runes.Counter{}
	head := s[:c.LineEnd(s, keptArgumentChars*2/3)]
	tail := s[max(len(head), c.LineStart(s, keptArgumentChars/3)):]
	names.add(head)
	names.add(tail)
	middle := s[len(head) : len(s)-len(tail)]
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n[%d characters left out.", head, runes.Count(middle))
	names.write(&b, middle, remainderRoom(len(middle)/tokencount.CharsPerToken))
	fmt.Fprintf(&b, "]\n%s", tail)
	return b.String()
}
