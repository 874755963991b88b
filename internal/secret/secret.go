// Package secret leaves credentials out of the texts that code writes from what tools were asked and answered.
package secret

import (
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow/internal/runes"
)

// Mask returns s with … in the place of each credential. A credential is known by the name in front of it, in the
// forms of shells, JSON, YAML, code, headers, flags, queries and sentences; by its prefix; as the password in a URL; as
// a private key; or as a JSON Web Token. What only refers to one, as $TOKEN does, stays. Mask takes time linear in s,
// and returns s itself if it has none.
func Mask(s string) string {
	var b strings.Builder
	done := 0
	holdsSecrets := strings.Contains(s, "kind: Secret") || strings.Contains(s, `"kind": "Secret"`)
	for i := 0; i < len(s); i++ {
		if !begins[s[i]] || inWord[s[i]] && !mayBegin(s, i) {
			continue
		}
		from, to := 0, 0
		s := s[:min(len(s), i+mostBytes)]
		switch {
		case s[i] == '=' || s[i] == ':':
			if from, to = userPart(s, i); to == 0 {
				from, to = namedValue(s, i)
			}
			if to == 0 && holdsSecrets {
				from, to = dataOfSecret(s, i)
			}
		case s[i] == '-':
			if from, to = privateKey(s, i); to == 0 {
				from, to = flagValue(s, i)
			}
		case s[i] == '<':
			from, to = hereDocument(s, i)
		case s[i] == '>':
			from, to = element(s, i)
		case s[i] == '$':
			from, to = hashed(s, i)
		case s[i] == ' ':
			if mayEndName(s, i) {
				from, to = behindBlank(s, i)
			}
		case s[i] == '(':
			if mayEndName(s, i) {
				from, to = call(s, i)
			}
		case s[i] == ',':
			from, to = argument(s, i)
		case s[i] == '|', s[i] == '?':
			if from, to = fallback(s, i); to == 0 {
				from, to = piped(s, i, done)
			}
		default:
			from, to = prefixed(s, i)
		}
		if to > from {
			b.WriteString(s[done:from] + mark)
			done, i = to, max(i, to-1) // what was piped stands in front
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

// prefixes begin the credentials of services, which behind them have no form of their own: an id of a message or of a
// payment has the same. So they are a list, by what the services document: GitHub, GitLab; OpenAI, Anthropic, Groq,
// xAI, Tavily, Perplexity, NVIDIA, Hugging Face, Replicate, LangSmith, Pinecone, Together, Jina, Fireworks; AWS,
// Google, DigitalOcean, Alibaba, Databricks, Fly, Heroku, Netlify, Vercel, Supabase, PlanetScale, Scaleway; Stripe,
// Square, Shopify; Slack, Discord, Teams, SendGrid, Brevo, Resend; npm, PyPI, RubyGems, Docker, NuGet; Vault, Doppler,
// 1Password, Pulumi, Terraform, Tailscale, age; Sentry, Grafana, New Relic, Dynatrace, PostHog; Linear, Notion, Figma,
// Postman, Atlassian, Contentful, HubSpot, CircleCI, Buildkite, Sourcegraph, Cloudflare, Firecrawl, Facebook; and PEM
// in base64. Of an incoming webhook, all that follows is one.
var prefixes = strings.Fields(`ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glptt- glft- glsoat- glcbt-
	glimt- gloas- glagent- sk- gsk_ xai- tvly- pplx- nvapi- hf_ r8_ lsv2_pt_ lsv2_sk_ pcsk_ tgp_v1_ jina_ fw_
	AKIA ASIA ABIA ACCA AIza ya29. GOCSPX- 1//0 dop_v1_ doo_v1_ dor_v1_ LTAI dapi FlyV1 fm1_ fm2_ fo1_ HRKU- nfp_
	vercel_blob_rw_ vcp_ sbp_ sb_secret_ pscale_tkn_ pscale_pw_ pscale_oauth_ sk_live_ sk_test_ rk_live_ rk_test_ whsec_
	sq0csp- sq0atp- shpat_ shpss_ shpca_ shppa_ hooks.slack.com/services/ api/webhooks/ webhookb2/ xoxe. xoxe- xoxb-
	xoxp- xoxa- xoxs- xoxr- xoxc- xoxd- xapp- xwfp- SG. xkeysib- re_ npm_ pypi- rubygems_ dckr_pat_ oy2 hvs. hvb. hvr.
	dp.pt. dp.st. ops_ pul- atlasv1. tskey- AGE-SECRET-KEY- sntrys_ sntryu_ glsa_ glc_ NRAK- dt0c01. phx_ lin_api_
	lin_oauth_ ntn_ secret_ figd_ PMAK- ATATT3 ATCTT3 CFPAT- pat-na1- pat-eu1- CCIPAT_ ccpat_ bkua_ sgp_ cfut_
	v1.0- fc- EAA LS0tLS1CRUdJTi`)

// schemes stand between Authorization and the credential.
var schemes = []string{"Bearer ", "Basic ", "Token ", "ApiKey "}

var (
	begins     [256]bool     // bytes at which Mask looks
	inWord     [256]bool     // letters, digits and _
	prefixesBy [256][]string // by their first bytes, with jwt and the schemes
	seconds    [256]uint64   // their second bytes, of which six bits count, by the first
	ofToken    [256]bool     // see isOfToken
)

func init() {
	for _, p := range append(append(prefixes, jwt), schemes...) {
		prefixesBy[p[0]] = append(prefixesBy[p[0]], p)
	}
	prefixesBy['b'] = append(prefixesBy['b'], "bearer ")
	for i := range begins {
		c := byte(i)
		for _, p := range prefixesBy[i] {
			seconds[i] |= 1 << (p[1] & 63)
		}
		if c >= 'M' && c <= 'O' { // see isBot
			seconds[i] = 1<<64 - 1
		}
		begins[i], inWord[i] = seconds[i] != 0, runes.IsLetter(c) || runes.IsDigit(c) || c == '_'
	}
	for i, is := range inWord {
		ofToken[i] = is || strings.IndexByte("-.+/=", byte(i)) >= 0
	}
	for _, c := range "=:-<> ,(|?$" {
		begins[c] = true
	}
}

// isOfToken reports whether c stands in credentials of services.
func isOfToken(c byte) bool { return ofToken[c] }

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
		from, end := i, tokenEnd(s, i+len(p))
		rest := s[i+len(p) : end]
		switch p[len(p)-1] {
		case ' ':
			if from += len(p); looksRandom(rest, 8) || strings.HasPrefix(rest, jwt) {
				return from, end
			}
			continue
		case '/': // of a URL that is one to its end
			end += spanOf(s[end:], 0, func(c byte) bool { return c == '@' || isOfToken(c) })
		}
		isToken := p == jwt && len(rest) > 30 && strings.Count(rest, ".") == 2
		if isToken || p != jwt && isRandomToken(rest) {
			return from, end
		}
	}
	if s[i] >= 'M' && s[i] <= 'O' {
		if end := tokenEnd(s[:min(len(s), i+100)], i); isBot(strings.Split(s[i:end], ".")) {
			return i, end
		}
	}
	return 0, 0
}

// mayBegin reports whether s[i] and the byte behind it begin a word that may be one of prefixes.
func mayBegin(s string, i int) bool {
	if i > 0 && inWord[s[i-1]] {
		return false
	}
	return i+1 < len(s) && seconds[s[i]]>>(s[i+1]&63)&1 != 0
}

// tokenEnd returns where the token ends that goes on at s[i]. A point at its end is one of a sentence.
func tokenEnd(s string, i int) int {
	end := spanOf(s, i, isOfToken)
	for end > i && s[end-1] == '.' {
		end--
	}
	return end
}

// isBot reports whether parts are those of a token of Discord: the number of a bot in base64, a time, and a signature.
func isBot(parts []string) bool {
	if len(parts) != 3 {
		return false
	}
	return len(parts[0]) >= 23 && len(parts[1])/2 == 3 && len(parts[2]) >= 27
}

// isRandomToken reports whether what stands behind a prefix is a token and not words: it has digits and letters in a
// long part, or is a UUID, or mixes letters of both cases and digits.
func isRandomToken(s string) bool {
	if isHex(s) {
		return len(s) >= 32
	}
	words := strings.ReplaceAll(s, "_", "-")
	isMixed := len(s) >= 20 && strings.ToLower(s) != s && strings.ToUpper(s) != s && looksRandom(s, 8)
	return isMixed || looksRandom(words, 16)
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF-") == "" }

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
	rest = rest[:spanOf(rest, 0, func(c byte) bool { return strings.IndexByte(" \t\r\n\"'`<>\\,;)", c) < 0 })]
	n := strings.IndexAny(rest, "/?#")
	if n < 0 {
		n = len(rest)
	}
	if n = strings.LastIndexByte(rest[:n], '@'); n < 0 { // the signs may be of the password
		n = strings.IndexByte(rest, '@')
		user, password, ok := strings.Cut(rest, ":")
		isPort := ok && (password == "" || runes.IsDigit(password[0]))
		if n < 0 || !ok || isPort || strings.ContainsAny(user, "/?#@") {
			return 0, 0
		}
	}
	if user, password, ok := strings.Cut(rest[:n], ":"); looksRandom(user, 16) && (!ok || isRandomToken(user)) {
		return from, from + n
	} else if ok && !refers(password) {
		return from + len(user) + 1, from + n
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

// hashed returns the hash of a password that begins at s[i], such as $2b$12$….
func hashed(s string, i int) (from, to int) {
	id, _, _ := strings.Cut(s[i+1:min(len(s), i+12)], "$")
	if !slices.Contains([]string{"1", "2a", "2b", "2y", "5", "6", "y", "apr1", "argon2i", "argon2id"}, id) {
		return 0, 0
	}
	from = i + len(id) + 2
	if from > len(s) {
		return 0, 0
	}
	to = spanOf(s, from, func(c byte) bool { return c == '$' || c == ',' || isOfToken(c) })
	if to-from < 20 || !strings.Contains(s[from:to], "$") {
		return 0, 0
	}
	return from, to
}

// element returns the text of an XML element behind s[i], the end of its tag, if the name of the element, an attribute
// at its end or the <key> in front of it is one of a credential.
func element(s string, i int) (from, to int) {
	open := max(0, i-200) + strings.LastIndexByte(s[max(0, i-200):i], '<')
	if open < 0 || s[open] != '<' {
		return 0, 0
	}
	name, isKey := strings.CutSuffix(strings.TrimRight(s[:open], " \t\r\n"), "</key>")
	if !isKey {
		name = strings.TrimRight(s[open:i], "\"'")
		attribute := name[:max(0, strings.LastIndexByte(name, '='))]
		if attribute != "" && !strings.HasSuffix(attribute, "name") && !strings.HasSuffix(attribute, "key") {
			return 0, 0
		}
	}
	if nameAt(name) != strong {
		return 0, 0
	}
	tag := s[open+1 : spanOf(s, open+1, func(c byte) bool { return inWord[c] || c == '-' || c == '.' || c == ':' })]
	text, _, ok := strings.Cut(s[i+1:], "</"+tag)
	isOther := refers(text) || isNumber(text) || strings.ContainsAny(text, "<\n")
	if !ok || isOther || tag == "" || len(text) < 4 {
		return 0, 0
	}
	return i + 1, i + 1 + len(text)
}

// empty are the values of languages that are none.
var empty = []string{"true", "false", "null", "nil", "none", "undefined"}

// refers reports whether a value only says where a credential comes from, or is none: $TOKEN, <token>, %s, ***, true,
// what Mask wrote.
func refers(value string) bool {
	isHash := strings.Count(value, "$") > 2 // $2b$12$…
	if value == "" || strings.Contains(value, "${") || strings.IndexByte("$<{%*@&(", value[0]) >= 0 && !isHash {
		return true
	}
	begins := func(prefix string) bool { return strings.HasPrefix(value, prefix) }
	return slices.Contains(empty, strings.ToLower(value)) || slices.ContainsFunc([]string{mark, "...", "xxx"}, begins)
}

func isNumber(value string) bool { return strings.Trim(value, "0123456789.,_") == "" }
