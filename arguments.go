package winnow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Arguments of old calls: files that were written, patches, scripts. Long texts in them are shortened; all
// else, keys and structure included, stays.

// keptArgumentChars is how much stays of a long text, two thirds of it of the beginning. Texts of twice that are
// not long.
const keptArgumentChars = 200

// shortenArguments shortens the arguments of the calls of a message.
func (d *draft) shortenArguments(s *stale, names nameSet) {
	o := d.manager.opts.Prune
	match := newToolMatcher(o.AllowTools, o.DenyTools)
	out := d.view.messages[s.index]
	out.Parts, out.Source = slices.Clone(out.Parts), nil
	changed := false
	for k := range out.Parts {
		p := &out.Parts[k]
		if !shortens(p, &match) {
			continue
		}
		if short, ok := shortenJSON(p.Arguments, names); ok {
			p.Arguments, p.Source, p.Tokens = short, nil, 0
			changed = true
		}
	}
	if changed {
		d.replaceStale(s, out, OpTrim)
	}
}

// shortenJSON shortens the long texts among the values of a JSON text. ok is false if there is none.
func shortenJSON(raw json.RawMessage, names nameSet) (short json.RawMessage, ok bool) {
	var out bytes.Buffer
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out.WriteByte(raw[i])
			i++
			continue
		}
		literal := raw[i:literalEnd(raw, i)]
		i += len(literal)
		if text, long := longText(literal, raw[i:]); long {
			if b, err := json.Marshal(shortenText(text, names)); err == nil && len(b) < len(literal) {
				out.Write(b)
				ok = true
				continue
			}
		}
		names.add(string(literal))
		out.Write(literal)
	}
	return out.Bytes(), ok && json.Valid(out.Bytes())
}

// literalEnd returns the end of the JSON string that begins at start.
func literalEnd(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// longText returns the text of a JSON string that is long and, by what follows it, no key.
func longText(literal, rest []byte) (string, bool) {
	if len(literal) < 2*keptArgumentChars {
		return "", false
	}
	if rest = bytes.TrimLeft(rest, " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
		return "", false
	}
	var s string
	err := json.Unmarshal(literal, &s)
	return s, err == nil
}

// shortenText keeps both ends of s, and the names in between.
func shortenText(s string, names nameSet) string {
	c := charCounter{}
	head := s[:c.lineEnd(s, keptArgumentChars*2/3)]
	tail := s[max(len(head), c.lineStart(s, keptArgumentChars/3)):]
	names.add(head)
	names.add(tail)
	middle := s[len(head) : len(s)-len(tail)]
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n[%d characters left out.", head, charCount(middle))
	names.write(&b, middle, remainderRoom(len(middle)/charsPerDigestToken))
	fmt.Fprintf(&b, "]\n%s", tail)
	return b.String()
}
