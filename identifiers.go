package winnow

import (
	"sync"

	"github.com/winnowgo/winnow/internal/ascii"
)

import "strings"

// identifierKind says what an identifier names.
type identifierKind uint8

const (
	kindPath   identifierKind = iota // a file or directory
	kindURL                          // a URL or a host
	kindHash                         // a hash, a UUID, an id with digits
	kindNumber                       // four digits or more, an IP address, a version, a number with a unit
	kindError                        // an error code or the name of an exception
	kindSymbol                       // a word in quotes or backticks
	kindName                         // a snake_case or camelCase name, a flag
	identifierKinds
)

// scanToken emits the identifiers in a token and says whether there were any.
func scanToken(token string, all uint8, emit func(string, identifierKind)) bool {
	if all&ascii.Joint == 0 {
		return scanWord(token, all, emit)
	}
	if k := strings.Index(token, "://"); k > 0 {
		begin := k
		for begin > 0 && ascii.Class[token[begin-1]]&ascii.Alpha != 0 {
			begin--
		}
		url := strings.TrimRight(token[begin:], ".:-?#=&+@$%")
		if len(url) >= 10 && len(url) <= 4*maxIdentifier {
			emit(url, kindURL)
			return true
		}
	}
	found := false
	for i := 0; i < len(token); {
		if ascii.Class[token[i]]&ascii.Joint != 0 && token[i] != '@' {
			i++
			continue
		}
		end, class := i+1, ascii.Class[token[i]]
		for end < len(token) && ascii.Class[token[end]]&ascii.Joint == 0 {
			class |= ascii.Class[token[end]]
			end++
		}
		piece := token[i:end]
		switch {
		case piece[0] != '@':
			found = scanWord(piece, class, emit) || found
		case len(piece) > 3 && strings.IndexByte(piece, '/') > 1: // @scope/package
			emit(strings.TrimRight(piece, "./-"), kindPath)
			found = true
		default:
			found = scanWord(piece[1:], class&^ascii.Joint, emit) || found
		}
		i = end
	}
	return found
}

// scanWord emits the identifiers in a token without joints. all are the classes in it, perhaps more.
func scanWord(w string, all uint8, emit func(string, identifierKind)) bool {
	w = trimToken(w)
	if len(w) < 3 || len(w) > maxIdentifier {
		return false
	}
	digits, upper, lower := countClasses(w)
	switch {
	case digits == 0 && upper == 0 && lower == 0:
		return false
	case all&ascii.Slash != 0 && strings.ContainsAny(w, "/~"):
		return !commonWords.has(w) && scanPath(w, all, emit)
	case upper+lower == 0:
		return scanNumber(w, digits, emit)
	case digits == 0 && lower == len(w):
		return false
	case all&ascii.Dot != 0 && strings.IndexByte(w, '.') > 0:
		return scanDotted(w, all, emit)
	}
	kind, ok := wordKind(w, digits, upper, lower)
	if !ok {
		if all&ascii.Dash != 0 && strings.IndexByte(w, '-') > 0 {
			return eachPiece(w, '-', all, emit)
		}
		return false
	}
	if commonWords.has(w) {
		return false
	}
	emit(w, kind)
	return true
}

// trimToken removes what is punctuation at the ends of a token.
func trimToken(w string) string {
	for len(w) > 0 && (w[0] == '-' || w[0] == '.' && (len(w) < 2 || w[1] != '/' && w[1] != '.')) {
		w = w[1:]
	}
	w = strings.TrimPrefix(w, "./")
	for len(w) > 0 && ascii.Class[w[len(w)-1]]&(ascii.Dot|ascii.Dash|ascii.Slash) != 0 {
		w = w[:len(w)-1]
	}
	return w
}

func countClasses(w string) (digits, upper, lower int) {
	for i := range len(w) {
		c := int(ascii.Class[w[i]])
		lower, upper, digits = lower+c&1, upper+c>>1&1, digits+c>>2&1
	}
	return digits, upper, lower
}

func scanPath(w string, all uint8, emit func(string, identifierKind)) bool {
	last := w[strings.LastIndexByte(w, '/')+1:]
	if w[0] == '/' || w[0] == '~' || strings.Count(w, "/") > 1 || fileName(last) {
		if _, upper, lower := countClasses(w); upper+lower > 1 && len(w) > 3 {
			emit(w, kindPath)
			return true
		}
		return false
	}
	return eachPiece(w, '/', all, emit) // and/or, 3/4, owner/repository
}

func scanDotted(w string, all uint8, emit func(string, identifierKind)) bool {
	switch end := w[strings.LastIndexByte(w, '.')+1:]; {
	case fileName(w):
		emit(w, kindPath)
		return true
	case hostEndings.has(end):
		emit(w, kindURL)
		return true
	}
	if digits, upper, lower := countClasses(w); upper+lower <= 2 && digits >= 2 { // v1.2.3, 1.5s, 0.35GB
		emit(w, kindNumber)
		return true
	}
	return eachPiece(w, '.', all, emit)
}

// eachPiece scans the pieces of w between separators.
func eachPiece(w string, separator byte, all uint8, emit func(string, identifierKind)) bool {
	found := false
	for len(w) > 0 {
		k := strings.IndexByte(w, separator)
		if k < 0 {
			k = len(w)
		}
		class := all &^ ascii.Slash
		if separator == '.' || separator == '-' {
			class &^= ascii.Dot
		}
		if k >= 4 && scanWord(w[:k], class, emit) {
			found = true
		}
		w = w[min(k+1, len(w)):]
	}
	return found
}

func scanNumber(w string, digits int, emit func(string, identifierKind)) bool {
	if digits == len(w) {
		if digits < 4 || digits > maxIdentifier || isYear(w) {
			return false
		}
		emit(w, kindNumber)
		return true
	}
	dots, dashes := strings.Count(w, "."), strings.Count(w, "-")
	switch {
	case dashes > 0 && dots == 0 && len(w) == 10 && dashes == 2: // a date says when, not what
		return false
	case dashes > 0:
		return eachPiece(w, '-', ascii.Digit|ascii.Dot, emit)
	case dots > 0 && (digits >= 5 || dots >= 2 && digits >= 3), dots == 0 && digits >= 4:
		emit(w, kindNumber)
		return true
	}
	return false
}

func isYear(w string) bool { return len(w) == 4 && w >= "1990" && w < "2040" }

// wordKind classifies a word of letters, digits, dashes and underscores.
func wordKind(w string, digits, upper, lower int) (identifierKind, bool) {
	dashes := len(w) - digits - upper - lower - strings.Count(w, "_")
	inner := strings.Trim(w, "_")
	switch {
	case digits > 0 && isHex(w) && len(w) >= 7:
		return kindHash, true
	case dashes > 0:
		head, tail, _ := strings.Cut(w, "-")
		if upperWord(head) && len(head) >= 2 && tail != "" && ascii.Class[tail[0]] == ascii.Digit { // CVE-2026-1, OPS-48
			return kindError, true
		}
		return kindHash, digits >= 3 && len(w) >= 10 // web-7f9c4d
	case digits == 0 && lower == 0 && w[0] == 'E' && len(w) >= 5 && len(w) <= 15 && upper == len(w): // ENOENT
		return kindError, true
	case digits >= 3 && lower == 0 && upper > 0 && upper <= 6 && upper+digits == len(w): // TS2345, E0308
		return kindError, true
	case digits >= 4 && len(w) >= 12:
		return kindHash, true
	case digits > 0 && ascii.Class[w[0]] == ascii.Digit && units.has(strings.TrimLeft(w, "0123456789")):
		return kindNumber, true
	case strings.IndexByte(inner, '_') > 0, strings.HasPrefix(w, "__") && len(inner) >= 3:
		if strings.HasPrefix(inner, "ERR") || strings.Contains(inner, "ERROR") {
			return kindError, true
		}
		return kindName, true
	case upper > 0 && lower > 0 && len(w) >= 5 && hasHump(w):
		if strings.HasSuffix(w, "Error") || strings.HasSuffix(w, "Exception") {
			return kindError, true
		}
		return kindName, true
	}
	return 0, false
}

func upperWord(s string) bool {
	for i := range len(s) {
		if ascii.Class[s[i]] != ascii.Upper {
			return false
		}
	}
	return true
}

// hasHump says that an upper-case letter follows a lower-case one.
func hasHump(w string) bool {
	for i := 1; i < len(w); i++ {
		if ascii.Class[w[i]] == ascii.Upper && ascii.Class[w[i-1]] == ascii.Lower {
			return true
		}
	}
	return false
}

// isHex says that w is hexadecimal digits, or a UUID.
func isHex(w string) bool {
	for i := range len(w) {
		c := w[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == '-' && len(w) == 36) {
			return false
		}
	}
	return true
}

// fileName says that w ends like the name of a file.
func fileName(w string) bool {
	k := strings.LastIndexByte(w, '.')
	return k > 0 && k+1 < len(w) && len(w)-k <= 11 && fileEndings.has(w[k+1:])
}

// wordSet is a set that is made when it is first asked for.
type wordSet struct {
	once  sync.Once
	words string // with white space between them
	set   map[string]bool
}

func (s *wordSet) has(w string) bool {
	s.once.Do(func() {
		s.set = make(map[string]bool)
		for w := range strings.FieldsSeq(s.words) {
			s.set[w] = true
		}
	})
	return s.set[w]
}

// The lists are of what is common in sessions of coding agents; a name that is not on them is still found by
// its slashes, digits or humps.
var (
	fileEndings = wordSet{words: `astro bat bin bmp bz2 c cc cert cfg cjs clj cmd conf cpp cs css csv cts cue dart db diff dll doc docx
		elm env erl ex exe exs fish gif gleam go gql gradle graphql gz h hcl hpp hs html hxx ico ini ipynb jar java jpeg jpg
		js json json5 jsonc jsonl jsx key kt kts less lisp lock log lua m map md mdx mjs ml mod mts nix odt out parquet patch pdf
		pem php pl plist png pnpm po ppt pptx prisma proto ps1 py pyi r rb rs rst sass scala scss service sh so sol sql sqlite
		sum svelte svg swift tar tex tf tfvars tgz tmpl toml ts tsv tsx ttf txt vue wasm wav webp xls xlsx xml xz yaml yml zig zip zsh`}
	hostEndings = wordSet{words: `ai app cloud cn co com de dev edu eu gov info internal io jp local localhost net org ru uk xyz`}
	units       = wordSet{words: `ms s sec min h d ns us µs kb Kb KB mb MB gb GB tb TB KiB MiB GiB K k M G B b px em rem pt Hz kHz MHz GHz x USD EUR rpm fps`}
	commonWords = wordSet{words: `JavaScript TypeScript GitHub GitLab OpenAI ChatGPT PostgreSQL MySQL GraphQL YouTube LinkedIn iPhone macOS
		true false null none undefined toString and/or EXAMPLE EXAMPLES EXISTS EVENT EVENTS ERROR ERRORS EMPTY ENABLED ENTRY EXPECTED
		EXTRA EITHER EVERY ENSURE ENGLISH ENCODING ELEMENT EXPORT EXTERNAL EXPLICIT EDITOR EXACT EXACTLY ENDPOINT ENVIRONMENT
		/dev/null /usr /bin /etc /home /tmp /bin/bash /bin/sh /usr/bin/env`}
)
