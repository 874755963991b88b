package identifier

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// scanToken emits the identifiers in a token and reports whether there were any, or a time, which is not a name either.
// all has the classes of its bytes.
func scanToken(token string, all uint8, emit func(string, Kind)) bool {
	if all&runes.Joint == 0 {
		return scanPiece(token, all, 0, emit)
	}
	if k := strings.Index(token, "://"); k > 0 {
		begin := k
		for begin > 0 && runes.Class[token[begin-1]]&runes.Alpha != 0 {
			begin--
		}
		url := strings.TrimRight(token[begin:], ".:-?#=&+@$%")
		isNamed := classes(url)&(runes.Alpha|runes.Digit) != 0
		if isNamed && len(url) >= 10 && len(url) <= 4*MaxBytes {
			emit(url, URL)
			return true
		}
	}
	found, isOfFile := false, false // whether the piece before names a file, and a line of it may follow
	for i := 0; i < len(token); {
		if runes.Class[token[i]]&runes.Joint != 0 && token[i] != '@' {
			i++
			continue
		}
		if isTime(token[i:]) { // it says when, not what
			return true
		}
		end, class := pieceEnd(token, i)
		piece := token[i:end]
		switch {
		case isOfFile && class == runes.Digit && token[i-1] == ':': // says where in the file
		case piece[0] != '@':
			found = scanPiece(piece, class, 0, emit) || found
		case len(piece) > 3 && strings.IndexByte(piece, '/') > 1: // @scope/package
			emit(strings.TrimRight(piece, "./-"), Path)
			found = true
		default:
			found = scanPiece(piece[1:], classes(piece[1:]), 0, emit) || found
		}
		isOfFile = isFileName(piece) || isOfFile && class == runes.Digit // a.go:1974:12
		i = end
	}
	return found
}

// searched are the classes of bytes that a word has if a search of files wrote it: a.go-12-text.
const searched = runes.Dash | runes.Dot | runes.Digit

// withoutLineNumber returns the path of a file without the line number and the text that a search of files appends to
// it: a.go for "a.go-12" and "a.go-12-text".
func withoutLineNumber(w string) string {
	name := strings.LastIndexByte(w, '/') + 1
	for i := name; i < len(w) && i <= MaxBytes; i++ { // no identifier is longer
		if w[i] != '-' || i+1 == len(w) || !runes.IsDigit(w[i+1]) {
			continue
		}
		end := i + 1 + digitsLength(w[i+1:])
		if (end == len(w) || w[end] == '-') && isFileName(w[name:i]) {
			return w[:i]
		}
	}
	return w
}

// scanPiece emits the identifiers in a token without joints. all has the classes of its bytes. Bytes of the classes
// ignored divide it no more.
func scanPiece(w string, all, ignored uint8, emit func(string, Kind)) bool {
	name := trimToken(w)
	if all&searched == searched {
		name = withoutLineNumber(name)
	}
	if len(name) < len(w) {
		w, all = name, classes(name)
	}
	if all&ignored != 0 {
		all = all&^ignored | runes.Dash
	}
	switch {
	case len(w) < 3 || len(w) > MaxBytes || all&(runes.Alpha|runes.Digit) == 0 || all == runes.Lower:
		return false
	case all&runes.Slash != 0:
		return scanPath(w, all, emit)
	case all&runes.Alpha == 0:
		return scanNumber(w, all, emit)
	case all&runes.Dot != 0 && (strings.IndexByte(w, '.') > 0 || isHidden(w)):
		return scanDotted(w, all, emit)
	}
	kind, ok := wordKind(w, all)
	if !ok {
		return all&runes.Dash != 0 && strings.IndexByte(w, '-') > 0 && eachPiece(w, "-", runes.Slash|runes.Dot, emit)
	}
	emit(w, kind)
	return true
}

// classes returns the classes of the bytes of w.
func classes(w string) (all uint8) {
	for i := range len(w) {
		all |= runes.Class[w[i]]
	}
	return all
}

// countClasses counts the digits and the letters of either case. A token is ASCII.
func countClasses(w string) (digits, upper, lower int) {
	for i := range len(w) {
		c := int(runes.Class[w[i]])
		lower, upper, digits = lower+c&1, upper+c>>1&1, digits+c>>2&1
	}
	return digits, upper, lower
}

// scanPath emits a word with a slash as a path, or the identifiers in its pieces where it is not one.
func scanPath(w string, all uint8, emit func(string, Kind)) bool {
	last := w[strings.LastIndexByte(w, '/')+1:]
	if w[0] == '/' || w[0] == '~' || strings.Count(w, "/") > 1 || isFileName(last) {
		if len(w) <= 3 || all&runes.Alpha == 0 {
			return false
		}
		if _, upper, lower := countClasses(w); upper+lower < 2 {
			return false
		}
		emit(w, Path)
		return true
	}
	return eachPiece(w, "/", runes.Slash, emit) // and/or, 3/4, owner/repository
}

// scanDotted emits a word with a point inside: the name of a file, a host, a version, or its pieces.
func scanDotted(w string, all uint8, emit func(string, Kind)) bool {
	switch end := w[strings.LastIndexByte(w, '.')+1:]; {
	case isFileName(w):
		emit(w, Path)
		return true
	case hostEndings()[end]:
		emit(w, URL)
		return true
	case all&runes.Digit != 0 && isVersionOrMeasure(w):
		if isMeasuredTime(w) {
			return false
		}
		emit(w, Number)
		return true
	}
	return eachPiece(w, ".", runes.Slash|runes.Dot, emit)
}

// isVersionOrMeasure reports whether w has digits and few letters: v1.2.3, 1.5s, 0.35GB.
func isVersionOrMeasure(w string) bool {
	digits, upper, lower := countClasses(w)
	return digits >= 2 && upper+lower <= 2
}

// isMeasuredTime reports whether w is how long something took, in fractions that nobody asks for: 0.14s, 12.305ms.
func isMeasuredTime(w string) bool {
	const fewest = 2 // digits behind the point
	number := strings.TrimSuffix(strings.TrimSuffix(w, "s"), "m")
	point := strings.IndexByte(number, '.')
	return len(number) < len(w) && len(number)-point > fewest && strings.Trim(number[point+1:], "0123456789") == ""
}

// eachPiece scans the pieces of w between separators.
func eachPiece(w, separator string, ignored uint8, emit func(string, Kind)) bool {
	found := false
	for isMore := true; isMore; {
		var piece string
		piece, w, isMore = strings.Cut(w, separator)
		found = len(piece) >= 4 && scanPiece(piece, classes(piece), ignored, emit) || found
	}
	return found
}

// scanNumber emits a word without letters. Short numbers, years and dates are not worth keeping.
func scanNumber(w string, all uint8, emit func(string, Kind)) bool {
	if all == runes.Digit {
		if len(w) < fewestDigits || len(w) > MaxBytes || isYear(w) {
			return false
		}
		emit(w, Number)
		return true
	}
	digits, _, _ := countClasses(w)
	dots, dashes := strings.Count(w, "."), strings.Count(w, "-")
	switch {
	case dashes > 0 && dots == 0 && len(w) == 10 && dashes == 2: // a date says when, not what
		return false
	case dashes > 0:
		return eachPiece(w, "-", runes.Slash|runes.Dot, emit)
	case dots > 0 && (digits >= 5 || dots >= 2 && digits >= 3), dots == 0 && digits >= 4:
		emit(w, Number)
		return true
	}
	return false
}

func isYear(w string) bool { return len(w) == 4 && w >= "1990" && w < "2040" }

// wordKind classifies a word of letters, digits, dashes and underscores. all has the classes of its bytes.
func wordKind(w string, all uint8) (Kind, bool) {
	digits := 0
	if all&runes.Digit != 0 {
		if len(w) >= 7 && isHex(w) {
			return Hash, true
		}
		digits, _, _ = countClasses(w)
	}
	switch {
	case strings.HasPrefix(w, "0x") && len(w) <= len("0x")+16: // an address in memory
		return Number, digits >= 3
	case all&^(runes.Alpha|runes.Digit|runes.Underscore) != 0:
		head, tail, _ := strings.Cut(w, "-")
		// CVE-2026-1, OPS-48
		if classes(head) == runes.Upper && len(head) >= 2 && tail != "" && runes.Class[tail[0]] == runes.Digit {
			return Error, true
		}
		return Hash, digits >= 3 && len(w) >= 10 // web-7f9c4d
	case isErrorCode(w, digits, all):
		return Error, true
	case digits >= 4 && len(w) >= 12:
		return Hash, true
	case runes.Class[w[0]] == runes.Digit && units()[w[digitsLength(w):]]:
		return Number, true
	case all&runes.Underscore != 0 && isJoined(w):
		return Name, true
	case all&runes.Alpha == runes.Alpha && len(w) >= leastHump && hasHump(w):
		return humpKind(w), true
	}
	return 0, false
}

// isJoined reports whether w has words that underscores join: max_tokens, __init__.
func isJoined(w string) bool {
	inner := strings.Trim(w, "_")
	return strings.IndexByte(inner, '_') > 0 || strings.HasPrefix(w, "__") && len(inner) >= 3
}

// leastHump is how many letters a name in camelCase has at least.
const leastHump = 5

// humpKind returns the kind of a name in camelCase.
func humpKind(w string) Kind {
	if strings.HasSuffix(w, "Error") || strings.HasSuffix(w, "Exception") {
		return Error
	}
	return Name
}

// isErrorCode reports whether a word is a few capitals and then three digits or more, as TS2345 and E0308 are.
func isErrorCode(w string, digits int, all uint8) bool {
	upper := len(w) - digits
	return digits >= 3 && all == runes.Upper|runes.Digit && upper <= 6 && runes.IsUpper(w[0])
}

// hasHump reports whether an upper-case letter follows a lower-case one, as in camelCase.
func hasHump(w string) bool {
	for i := 1; i < len(w); i++ {
		if runes.Class[w[i]] == runes.Upper && runes.Class[w[i-1]] == runes.Lower {
			return true
		}
	}
	return false
}

// isHex reports whether w consists of hexadecimal digits, or has the form of a UUID.
func isHex(w string) bool {
	rest := strings.Trim(w, "0123456789abcdefABCDEF-")
	return rest == "" && (len(w) == 36 || strings.IndexByte(w, '-') < 0)
}

// isFileName reports whether w ends like the name of a file.
func isFileName(w string) bool {
	k := strings.LastIndexByte(w, '.')
	return k > 0 && k+1 < len(w) && len(w)-k <= 11 && fileEndings()[w[k+1:]]
}
