package minify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// What no model can read: images, archives and keys as base64, as hexadecimal digits or as escaped bytes. Such a run is
// known by its alphabet, by how its letters and digits are mixed, and by its length, whatever stands around it.

// leastData is how many bytes of a run are left out. A signature or a hash is shorter.
const leastData = 1_000

// Lines of one width belong to one run if they have this many bytes or more. Shorter ones are lists of names.
const leastDataLine = 48

// MayHoldData reports whether s is long enough to hold data.
func MayHoldData(s string) bool { return len(s) >= leastData }

// WithoutData returns s with a short text in the place of each run of data: its kind, its size, and note.
func WithoutData(s, note string) string {
	s = withoutLists(s, note)
	r := rewriter{text: s}
	for i := 0; i < len(s); {
		if i > 0 && s[i-1] != '\n' {
			if i = behindShort(s, i); i == len(s) {
				break
			}
		}
		kind, end, size := "", i, 0
		switch {
		case isBase64[s[i]] && s[i] != '=':
			kind, end, size = encoded(s, i)
		case s[i] == '\\':
			kind, end, size = escapedBytes(s, i)
		}
		if end-i >= leastData && kind != "" {
			r.replace(i, end, fmt.Sprintf("[%s: %d bytes left out%s]", kind, size, note))
		}
		i = max(end, i+1)
	}
	return r.result()
}

// behindShort returns where the first word from s[i] on begins that may be long enough for data, or what else may begin
// a run: an escape or a line. It looks at few bytes of most words, because all of each new result is read.
func behindShort(s string, i int) int {
	for i+leastDataLine <= len(s) {
		end := i + leastDataLine - 1
		for end >= i && (isBase64[s[end]] || s[end] == '\\' || s[end] == '%') {
			end--
		}
		if end < i {
			return i
		}
		words := s[i : end+1]
		escape := strings.IndexByte(words, '\\')
		if escape >= 0 {
			words = words[:escape]
		}
		if n := strings.IndexByte(words, '\n'); n >= 0 {
			return i + n + 1
		}
		if i += len(words); escape >= 0 {
			return i
		}
	}
	return i
}

// isBase64 says of each byte whether it stands in base64, in either of its alphabets. It is a table, because each byte
// of each new result is looked up.
var isBase64 = func() (is [256]bool) {
	for c := range 256 {
		is[c] = runes.IsLetter(byte(c)) || runes.IsDigit(byte(c)) || strings.IndexByte("+/-_=", byte(c)) >= 0
	}
	return is
}()

// escapedSigns are those of base64 as JSON and URLs escape them.
var escapedSigns = []string{`\/`, `\u002b`, `\u002B`, `\u002f`, `\u002F`, `\u003d`, `\u003D`,
	"%2B", "%2F", "%3D", "%2b", "%2f", "%3d"}

func wordEnd(s string, i int) int {
	start := i
	for i < len(s) {
		if isBase64[s[i]] {
			i++
			continue
		}
		if isEscape := s[i] == '\\' || s[i] == '%'; !isEscape || i-start < leastDataLine/4 {
			break
		}
		k := slices.IndexFunc(escapedSigns, func(sign string) bool { return strings.HasPrefix(s[i:], sign) })
		if k < 0 {
			break
		}
		i += len(escapedSigns[k])
	}
	return i
}

// encoded returns the kind of the run that begins with the word at s[i], where it ends, and how many bytes it stands
// for: one long word, or lines of one width, of which the last may be shorter. kind is "" if it is no data.
func encoded(s string, i int) (kind string, end, size int) {
	end = wordEnd(s, i)
	width := end - i
	if (i == 0 || s[i-1] == '\n') && isHexWord(s[i:end]) {
		if dump, bytes := hexDump(s, i); dump > end {
			return "hex dump", dump, bytes
		}
	}
	if width < leastDataLine {
		return "", end, 0
	}
	first, lines := end, 1
	signs, digits, upper, lower := signsIn(s[i:end])
	glue := glueAt(s, end)
	for last := false; !last && s[end-1] != '='; lines++ {
		from := behindGlue(s, end, glue)
		next := wordEnd(s, from)
		if last = next-from < width; last && lines == 1 || from == end || next == from {
			break
		}
		if next-from > width {
			break
		}
		isText := next < len(s) && glueAt(s, next) == "" && !endsData(s[next])
		if last && (isText || isHexWord(s[i:first]) && !isHexWord(s[from:next])) {
			break // the first word of a line of text
		}
		more, d, u, l := signsIn(s[from:next])
		signs, digits, upper, lower = signs+more, digits+d, upper+u, lower+l
		end = next
	}
	n := digits + upper + lower
	isHash := lines > 1 && slices.Contains([]int{56, 64, 96, 128}, width) // a list of them
	switch {
	case end-i < leastData:
	case isHexWord(strings.TrimPrefix(s[i:first], "0x")) && 5*digits > n && 8*(n-digits) > n && !isHash:
		return "hexadecimal", end, n / 2
	case 8*upper > n && 8*lower > n && 30*digits > n:
		return "base64", end, (n + signs) * 3 / 4
	case strings.HasPrefix(s[i:], "iVBOR"), strings.HasPrefix(s[i:], "AAAA"): // an image of one colour, zeros
		return "base64", end, (n + signs) * 3 / 4
	}
	return "", end, 0
}

// signsIn counts the signs, digits and letters of either case in a word.
func signsIn(w string) (signs, digits, upper, lower int) {
	for k := range len(w) {
		switch c := w[k]; {
		case runes.IsDigit(c):
			digits++
		case runes.IsUpper(c):
			upper++
		case runes.IsLetter(c):
			lower++
		case c != '=' && c != '\\' && c != '%': // see escapedSigns
			signs++
		}
	}
	return signs, digits, upper, lower
}

// endsData reports whether c may stand behind data: what closes a text, not what goes on in it.
func endsData(c byte) bool { return strings.IndexByte("\"'`)]}<,;\\", c) >= 0 }

func isHexWord(w string) bool {
	for i := range len(w) {
		if c := w[i] | 0x20; !runes.IsDigit(w[i]) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return w != ""
}

// hexDump returns where the dump ends that begins with the line at s[i], and how many bytes it shows: an offset and
// groups of hexadecimal digits, such as xxd, hexdump and od write.
func hexDump(s string, i int) (end, size int) {
	for end = i; end < len(s); {
		stop := lineEnd(s, end)
		digits, isOffset := 0, false
		k := 0
		for w := range strings.FieldsSeq(s[end:stop]) {
			w = strings.TrimSuffix(w, ":")
			isOctal := len(w) == 3 && strings.Trim(w, "01234567") == ""
			if isGroup := len(w)%2 == 0 && len(w) <= 16 || isOctal; !isHexWord(w) || k > 0 && !isGroup { // 16: no hash
				break
			}
			if k == 0 {
				isOffset = len(w) >= 6
			} else if isOctal {
				digits += 2
			} else {
				digits += len(w)
			}
			k++
		}
		if !isOffset || 3*digits < stop-end { // not a line of text, nor of hashes and names
			break
		}
		size += digits / 2
		end = min(stop+1, len(s))
	}
	if end > i && end < len(s) && s[end-1] == '\n' {
		end-- // the line behind it stays a line
	}
	return end, size
}

// escapedBytes returns where the run of escaped bytes ends that begins at s[i], such as \x89PNG\r\n\x1a and \u0089, and
// how many bytes it has. Between escapes, a few bytes may stand for themselves.
func escapedBytes(s string, i int) (kind string, end, size int) {
	const between = 8
	escapes := 0
	for end = i; end < len(s); {
		next := strings.IndexByte(s[end:min(len(s), end+between)], '\\')
		if next < 0 || strings.IndexByte(s[end:end+next], '\n') >= 0 {
			break
		}
		k := end + next
		for k < len(s) && s[k] == '\\' {
			k++
		}
		switch digits := 0; {
		case k == len(s):
			return "", k, 0
		case s[k] == 'x':
			digits = 2
			fallthrough
		case s[k] == 'u':
			if digits == 0 {
				digits = 4
			}
			if k+1+digits > len(s) || !isHexWord(s[k+1:k+1+digits]) || s[k] == 'u' && s[k+1:k+3] != "00" { // a letter
				return "", k + 1, 0
			}
			k += digits
			escapes += digits + 2
		case runes.IsDigit(s[k]) && k+3 <= len(s) && strings.Trim(s[k:k+3], "01234567") == "":
			k += 2
			escapes += 4
		}
		size += next + 1
		end = k + 1
	}
	if 2*escapes < end-i {
		return "", max(end, i+1), 0
	}
	return "escaped bytes", end, size
}
