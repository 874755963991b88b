// Package secret leaves credentials out of the texts that code writes from what tools were asked and answered.
//
// A credential is found by its name: an identifier whose last word says so, as token and password do, and less surely
// key and pass. Behind the name, Mask skips what joins it to its value: quotes, a sign, a type, a tag, "value":, a
// scheme. The next string or word is the credential if a sign assigns it and it is no word of code; if something else
// joins it, or the name is unsure, it must look random. Credentials without a name are known by the prefix of a
// service, or by their place: in a URL, a private key, a hash, or where a command reads a password. What only refers
// to a credential, as $TOKEN does, stays.
package secret

import (
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/prose"
)

// Mask returns s with … in the place of each credential, and s itself if it has none. It takes time linear in s. Where
// so much looks like a credential that the search would take long, the rest of s is left out.
func Mask(s string) string {
	f := finder{}
	return f.text(s)
}

func (f *finder) text(s string) string {
	if s != "" && strings.IndexByte(`{["`, s[0]) >= 0 && strings.Contains(s, `\`) {
		s = f.decoded(s)
	}
	return f.mask(maskWhole(s))
}

// decoded masks the strings of JSON by what they say: an escaped line is a line, and an escaped tag a tag.
func (f *finder) decoded(s string) string {
	var b strings.Builder
	done := 0
	for from, to := range jsontext.Strings(mem.Bytes(s)) {
		if strings.IndexByte(s[from:to], '\\') < 0 {
			continue
		}
		text, _ := jsontext.Decode(mem.Bytes(s[from:to]))
		if masked := f.text(text); masked != text {
			b.WriteString(s[done:from])
			b.Write(jsontext.Quote(masked))
			done = to
		}
	}
	return b.String() + s[done:]
}

// finder looks for credentials.
type finder struct{ work int } // bytes that patterns have read, about

func (f *finder) mask(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		from, to, next := 0, 0, i+1
		for inWord[s[i]] && next < len(s) && inWord[s[next]] {
			next++
		}
		window := s[:min(len(s), next+mostBytes)]
		if i+1 < len(s) && seconds[s[i]]>>(s[i+1]&63)&1 != 0 {
			from, to = f.placed(window, i)
		}
		if to == 0 && mayEndName(s, next) {
			from, to = f.named(window, next)
		}
		if to > from {
			next = min(next, from)
			b.WriteString(s[done:next] + f.mask(s[next:from]) + mark) // what joins it to its name may hold another one
			done, next = to, to
		}
		if i = next; f.work > mostWork {
			return b.String() + s[done:max(done, i)] + mark
		}
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

const (
	mark      = "…"     // stands for a credential
	mostBytes = 8 << 10 // of a credential and what joins it to its name: private keys have 3 KB
	mostLine  = 400     // bytes of a line that are looked at for what it says of a credential
	mostWork  = 4 << 20 // bytes that patterns read: half a second; no recorded result needs a tenth of it
)

// pattern is compiled when it is first needed.
type pattern = prose.Pattern

func re(expr string) pattern { return prose.NewPattern(expr) }

// until returns where the first byte of a set stands from s[i] on, or the end.
func until(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) < 0 {
		i++
	}
	return i
}

// isRandomToken reports whether what stands behind a prefix is a token and not words: it has digits and letters in a
// long part, or is a UUID, or mixes letters of both cases and digits, or many such letters alone.
func isRandomToken(s string) bool {
	if isHex(s) {
		return len(s) >= 32
	}
	s = s[:min(len(s), mostLine)]
	isMixed := len(s) >= 20 && strings.ToLower(s) != s && strings.ToUpper(s) != s
	isToken := looksRandom(s, 8) || len(s) >= 30 && !strings.ContainsAny(s, "-._") // Hugging Face has no digits
	return isMixed && isToken || looksRandom(strings.ReplaceAll(s, "_", "-"), 16)
}

// isRandom reports whether a value without a sure name looks like a credential: long, with letters of both cases and
// digits, and no path, hash or sentence.
func isRandom(s string) bool {
	if strings.Contains(s, "/") && strings.Contains(s, ".") || s[0] == '/' || isHex(s) {
		return false
	}
	isToken := !strings.ContainsFunc(s, func(r rune) bool {
		return r != '%' && (r > 127 || !inWord[byte(r)] && !strings.ContainsRune("-.+/=", r))
	})
	isName := !hasDigit(strings.TrimRight(s, "0123456789")) // SettingsOfUser2
	return isToken && !isName && looksRandom(s, 16) && strings.ToLower(s) != s
}

// looksRandom reports whether s has a digit and a letter, and `least` bytes or more without a dash or a point: words
// that dashes join do not.
func looksRandom(s string, least int) bool {
	isLong := slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '.' }),
		func(part string) bool { return len(part) >= least })
	return isLong && hasDigit(s) && strings.ContainsFunc(s, unicode.IsLetter)
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF-") == "" }

// isPath reports whether s is a path and no base64.
func isPath(s string) bool { return strings.Contains(s, "/") && !isRandom(s) }

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func isNumber(s string) bool { return strings.Trim(s, "0123456789.,_") == "" }

var reference = re(`^(?:[$<{%*@&(:=]|\.\.\.|(?i:xxx|(?:true|false|null|nil|none|undefined|string)$))|\$\{|` + mark)

// refers reports whether a value only says where a credential comes from, or is none: $TOKEN, <token>, %s, ***, true,
// what Mask wrote.
func refers(value string) bool {
	isHash := strings.Count(value, "$") > 2                             // $2b$12$…
	isEncoded := len(value) > 2 && value[0] == '%' && isHex(value[1:3]) // in a query
	return value == "" || !isHash && !isEncoded && reference().MatchString(value)
}
