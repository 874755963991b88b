// Package secret leaves credentials out of the texts that code writes from what tools were asked and answered.
package secret

import (
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow/internal/runes"
)

// Mask returns s with … in the place of each credential. A credential is known by the name in front of it, in the
// forms of shells, JSON, YAML, code, headers, flags and queries; by its prefix; as the password in a URL; as a private
// key; or as a JSON Web Token. What only refers to one, as $TOKEN does, stays. Mask takes time linear in s, and returns
// s itself if it has none.
func Mask(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		if !begins[s[i]] || i > 0 && inWord[s[i]] && inWord[s[i-1]] {
			continue
		}
		from, to := 0, 0
		s := s[:min(len(s), i+mostBytes)]
		switch {
		case s[i] == '=' || s[i] == ':':
			if from, to = userPart(s, i); to == 0 {
				from, to = namedValue(s, i)
			}
		case s[i] == '-':
			if from, to = privateKey(s, i); to == 0 {
				from, to = flagValue(s, i)
			}
		case s[i] == '>':
			from, to = element(s, i)
		default:
			from, to = prefixed(s, i)
		}
		if to > from {
			b.WriteString(s[done:from] + mark)
			done, i = to, to-1
		}
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

const (
	mark      = "…"     // stands for a credential
	mostBytes = 8 << 10 // of a credential and its name: private keys have 3 KB
)

// prefixes begin the credentials of services. Sources: the token formats of GitHub, GitLab, OpenAI, Anthropic, Stripe,
// Slack, AWS, Google, npm, PyPI, Hugging Face, DigitalOcean, SendGrid, Shopify, Groq, xAI, Tavily, Linear, Notion,
// Replicate, Tailscale and age; an incoming webhook of Slack or Discord is a credential as a whole.
var prefixes = strings.Fields(`ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- sk- sk_live_ sk_test_ rk_live_ rk_test_ whsec_
	hooks.slack.com/services/ discord.com/api/webhooks/ tskey- xoxe. xoxb- xoxp- xoxa- xoxs- xoxr- xapp- AKIA ASIA AIza ya29. npm_ pypi- hf_ dop_v1_ SG. shpat_ gsk_ xai- tvly- lin_api_
	ntn_ r8_ AGE-SECRET-KEY-`)

// schemes stand between Authorization and the credential.
var schemes = []string{"Bearer ", "Basic ", "Token ", "ApiKey "}

var (
	begins     [256]bool     // bytes at which Mask looks
	inWord     [256]bool     // letters, digits and _
	prefixesBy [256][]string // by their first bytes, with jwt and the schemes
)

func init() {
	for _, p := range append(append(prefixes, jwt), schemes...) {
		prefixesBy[p[0]] = append(prefixesBy[p[0]], p)
	}
	prefixesBy['b'] = []string{"bearer "}
	for i := range begins {
		c := byte(i)
		begins[i], inWord[i] = prefixesBy[i] != nil, runes.IsLetter(c) || runes.IsDigit(c) || c == '_'
	}
	begins['='], begins[':'], begins['-'], begins['>'] = true, true, true, true
}

// isOfToken reports whether c stands in credentials of services.
func isOfToken(c byte) bool {
	return inWord[c] || strings.IndexByte("-.+/=", c) >= 0
}

// spanOf returns where the bytes end that has says of, from index i of s on.
func spanOf(s string, i int, has func(byte) bool) int {
	for i < len(s) && has(s[i]) {
		i++
	}
	return i
}

const jwt = "eyJ" // the beginning of {" in base64

// prefixed returns the credential at s[i] that its prefix gives away, or the one behind a scheme.
func prefixed(s string, i int) (from, to int) {
	for _, p := range prefixesBy[s[i]] {
		if i+1 == len(s) || s[i+1] != p[1] || !strings.HasPrefix(s[i:], p) {
			continue
		}
		from, end := i, spanOf(s, i+len(p), isOfToken)
		for s[end-1] == '.' {
			end--
		}
		rest := s[i+len(p) : end]
		if p[len(p)-1] == ' ' {
			if from += len(p); looksRandom(rest, 8) || strings.HasPrefix(rest, jwt) {
				return from, end
			}
			continue
		}
		isToken := p == jwt && len(rest) > 30 && strings.Count(rest, ".") == 2
		if isToken || p != jwt && looksRandom(rest, 16) {
			return from, end
		}
	}
	return 0, 0
}

// looksRandom reports whether s has a digit and a letter, and `least` bytes or more without a dash or a point: words
// that dashes join do not.
func looksRandom(s string, least int) bool {
	isLong := slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '.' }),
		func(part string) bool { return len(part) >= least })
	return isLong && strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, unicode.IsLetter)
}

// userPart returns the password in front of the host of a URL, whose "://" stands at s[i]. A long name of the user
// without a password is a credential too.
func userPart(s string, i int) (from, to int) {
	if !strings.HasPrefix(s[i:], "://") {
		return 0, 0
	}
	const most = 300
	from, rest := i+3, s[i+3:min(len(s), i+3+most)]
	n := strings.IndexAny(rest, "@/?# \t\r\n\"'`<>\\")
	if n <= 0 || rest[n] != '@' {
		return 0, 0
	}
	if user, password, ok := strings.Cut(rest[:n], ":"); ok && !refers(password) {
		return from + len(user) + 1, from + n
	} else if !ok && looksRandom(user, 16) {
		return from, from + n
	}
	return 0, 0
}

// privateKey returns the lines of the private key whose heading begins at s[i].
func privateKey(s string, i int) (from, to int) {
	const begin, kind, end = "-----BEGIN ", "PRIVATE KEY", "-----END "
	if !strings.HasPrefix(s[i:], begin) {
		return 0, 0
	}
	from = i + len(begin)
	n := strings.Index(s[from:], "-----")
	if n < 0 || !strings.Contains(s[from:from+n], kind) {
		return 0, 0
	}
	from += n + len("-----")
	if n = strings.Index(s[from:], end); n < 0 {
		n = len(s) - from
	}
	return from, from + n
}

// flagValue returns the value of the flag that begins at s[i]: --password x, the password of curl's -u, and -p x in the
// command of a program that asks for a password or has named a user (-u).
func flagValue(s string, i int) (from, to int) {
	if i > 0 && s[i-1] != ' ' {
		return 0, 0
	}
	end := spanOf(s, i, func(c byte) bool { return inWord[c] || c == '-' })
	if rest, ok := strings.CutPrefix(s[i:end], "-p"); ok && looksRandom(rest, 4) && namesUser(s[:i]) {
		return i + 2, end
	}
	if end == len(s) || s[end] != ' ' {
		return 0, 0
	}
	from = spanOf(s, end, func(c byte) bool { return strings.IndexByte(" \\'\"", c) >= 0 })
	to = spanOf(s, from, func(c byte) bool { return strings.IndexByte(" \t\r\n\\'\"`|;", c) < 0 })
	switch user, password, ok := strings.Cut(s[from:to], ":"); {
	case s[i:end] == "-u" || s[i:end] == "--user":
		if from += len(user) + 1; ok && !strings.HasPrefix(password, "//") && !refers(password) && !isNumber(password) {
			return from, to
		}
	case s[i:end] == "-p" && namesUser(s[:i]):
		if !ok && !refers(s[from:to]) && !isNumber(s[from:to]) && !strings.Contains(s[from:to], "/") {
			return from, to
		}
	case strings.HasPrefix(s[i:end], "--") && nameAt(s[i:end]) == strong && !refers(s[from:to]):
		if !strings.ContainsAny(s[from:to], "/") && !strings.HasPrefix(s[from:], "-") {
			return from, to
		}
	}
	return 0, 0
}

// namesUser reports whether a -p behind the command s is of a password and not of a port: sshpass, docker login -u me.
func namesUser(s string) bool {
	s = strings.TrimRight(s[strings.LastIndexAny(s, "\n|;&")+1:], " ")
	return strings.HasSuffix(s, "pass") || strings.Contains(s, " -u ") || strings.Contains(s, " --username ")
}

// element returns the text of an XML element behind s[i], the end of its tag, if its name is one of a credential.
func element(s string, i int) (from, to int) {
	name := i
	for name > 0 && (inWord[s[name-1]] || s[name-1] == '-') {
		name--
	}
	if name == i || name == 0 || s[name-1] != '<' || nameAt(s[:i]) != strong {
		return 0, 0
	}
	text, _, ok := strings.Cut(s[i+1:], "</"+s[name:i])
	if !ok || refers(text) || isNumber(text) || strings.ContainsAny(text, "<\n") {
		return 0, 0
	}
	return i + 1, i + 1 + len(text)
}

// refers reports whether a value only says where a credential comes from, or is none: $TOKEN, <token>, %s, ***, true,
// what Mask wrote.
func refers(value string) bool {
	if value == "" || strings.Contains(value, "${") || strings.IndexByte("$<{%*@&(", value[0]) >= 0 {
		return true
	}
	begins := func(prefix string) bool { return strings.HasPrefix(value, prefix) }
	return value == "true" || value == "false" || slices.ContainsFunc([]string{mark, "...", "xxx"}, begins)
}

func isNumber(value string) bool { return strings.Trim(value, "0123456789.,_") == "" }
