package excerpt

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// keptArgumentChars is how many characters stay of a long text in the arguments of a call, two thirds of them from its
// beginning.
const keptArgumentChars = 200

// LongArgument is the least length, in characters, at which a text in the arguments of a call is shortened.
const LongArgument = 2 * keptArgumentChars

// ArgumentSavings estimates how many tokens [Arguments] saves.
func ArgumentSavings(raw json.RawMessage) (saving int) {
	if len(raw) < LongArgument {
		return 0
	}
	for from, to := range jsontext.Strings(raw) {
		if chars, long := isLong(raw[from:to], raw[to:]); long {
			n := (to - from) / tokencount.CharsPerToken
			saving += max(0, n-Room(n)-n*keptArgumentChars/chars)
		}
	}
	return saving
}

// Arguments shortens the long texts among the values of a JSON text, such as files that were written, patches and
// scripts. Everything else stays, keys and structure included. note stands behind the words that say what is missing.
// ok is false if there is no long text.
func Arguments(raw json.RawMessage, names *Names, note string) (short json.RawMessage, ok bool) {
	var out bytes.Buffer
	done := 0
	for from, to := range jsontext.Strings(raw) {
		literal := raw[from:to]
		if text, long := longText(literal, raw[to:]); long {
			if b := jsontext.Quote(shortenText(text, names, note)); len(b) < len(literal) {
				out.Write(raw[done:from])
				out.Write(b)
				done, ok = to, true
				continue
			}
		}
		names.Add(mem.String(literal))
	}
	if !ok {
		return raw, false
	}
	out.Write(raw[done:])
	return out.Bytes(), json.Valid(out.Bytes())
}

// isLong reports whether literal, a JSON string, is long and is not a key, which rest, the text behind it, tells. chars
// is its length in characters.
func isLong(literal, rest []byte) (chars int, long bool) {
	if len(literal) < LongArgument {
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
	return chars, chars >= LongArgument
}

// longText returns the text of literal, a JSON string, if it is long and is not a key. rest is the text behind it.
func longText(literal, rest []byte) (string, bool) {
	if _, long := isLong(literal, rest); !long {
		return "", false
	}
	return jsontext.Decode(literal)
}

// shortenText keeps both ends of s, and the names in between.
func shortenText(s string, names *Names, note string) string {
	c := runes.Counter{}
	head := s[:c.LineEnd(s, keptArgumentChars*2/3)]
	tail := s[max(len(head), c.LineStart(s, keptArgumentChars/3)):]
	names.Add(head)
	names.Add(tail)
	middle := s[len(head) : len(s)-len(tail)]
	whole := s[tokenStart(s, len(head)):tokenEnd(s, len(s)-len(tail))]
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n[%d characters left out%s.", head, runes.Count(middle), note)
	names.write(&b, whole, Room(len(middle)/tokencount.CharsPerToken))
	fmt.Fprintf(&b, "]\n%s", tail)
	return b.String()
}
