package secret

import (
	"cmp"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// prefixes begin the credentials of services, which behind them have no form of their own: an id of a message or of a
// payment has the same. So they are a list, by what the services document: GitHub, GitLab; OpenAI, Anthropic, Groq,
// xAI, Tavily, Perplexity, NVIDIA, Hugging Face, Replicate, LangSmith, Pinecone, Together, Jina, Fireworks; AWS,
// Google, DigitalOcean, Alibaba, Databricks, Fly, Heroku, Netlify, Vercel, Supabase, PlanetScale, Scaleway; Stripe,
// Square, Shopify; Slack, Discord, Teams, SendGrid, Brevo, Resend; npm, PyPI, RubyGems, Docker, NuGet; Vault, Doppler,
// 1Password, Pulumi, Terraform, Tailscale, age; Sentry, Grafana, New Relic, Dynatrace, PostHog; Linear, Notion, Figma,
// Postman, Atlassian, Contentful, HubSpot, CircleCI, Buildkite, Sourcegraph, Cloudflare, Firecrawl, Facebook; and in
// base64 PEM and the logins of Docker.
const prefixes = `ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glptt- glft- glsoat- glcbt-
	glimt- gloas- glagent- sk- gsk_ xai- tvly- pplx- nvapi- hf_ r8_ lsv2_pt_ lsv2_sk_ pcsk_ tgp_v1_ jina_ fw_
	AKIA ASIA ABIA ACCA AIza ya29. GOCSPX- 1//0 dop_v1_ doo_v1_ dor_v1_ LTAI dapi FlyV1 fm1_ fm2_ fo1_ HRKU- nfp_
	vercel_blob_rw_ vcp_ sbp_ sb_secret_ pscale_tkn_ pscale_pw_ pscale_oauth_ sk_live_ sk_test_ rk_live_ rk_test_ whsec_
	sq0csp- sq0atp- shpat_ shpss_ shpca_ shppa_ xoxe. xoxe- xoxb-
	xoxp- xoxa- xoxs- xoxr- xoxc- xoxd- xapp- xwfp- SG. xkeysib- re_ npm_ pypi- rubygems_ dckr_pat_ oy2 hvs. hvb. hvr.
	dp.pt. dp.st. ops_ pul- atlasv1. tskey- AGE-SECRET-KEY- sntrys_ sntryu_ glsa_ glc_ NRAK- dt0c01. phx_ lin_api_
	lin_oauth_ ntn_ secret_ figd_ PMAK- ATATT3 ATCTT3 CFPAT- pat-na1- pat-eu1- CCIPAT_ ccpat_ bkua_ sgp_ cfut_ ATBB
	v1.0- fc- EAA LS0tLS1CRUdJTi eyJhdXRo`

// place is where a credential stands without a name.
type place struct {
	begin  string  // of its text: one of these words, in which ~ is a blank
	form   pattern // of its text; the first group that is not empty is the credential
	before pattern // of the command in front of it, or nil
	isSure func(text string) bool
	most   int // bytes of its text, if not mostLine
}

const (
	token = `([\w\-./+=]*[\w\-/+=])` // a point behind it ends a sentence
	// word is one of a shell.
	word = "(?:\\\\*\"([^\"\\n]+?)\\\\*\"|\\\\*'([^'\\n]+?)\\\\*'|([^\\s\\\\'\"`|;]+))"
	ends = "\\s\"'`<>\\\\,;)/?#" // of the host of a URL
	// What reads a password from its input.
	reads = `-stdin|sudo -S|passwd|--with-token|secrets? (?:put|set|create|versions)`
)

// places are tried in this order. Long flags are names, so --password x needs no list; the short ones of programs are
// one.
var places = []place{
	{begin: prefixes, form: re(`^` + token), isSure: isRandomToken, most: mostBytes},
	{begin: "hooks.slack.com/services/ api/webhooks/ webhookb2/", form: re(`^([\w\-./+=@]+)`), isSure: isRandomToken},
	{begin: "Bearer~ bearer~ Basic~ Token~ ApiKey~", form: re(`^\w+ ` + token), isSure: isMixed, most: mostBytes},
	// a JSON Web Token, tokens of Discord and Telegram, the hash of a password, a private key
	{begin: "eyJ", form: re(`^([\w-]{15,}\.[\w-]*(?:\.[\w-]+)+)`), most: mostBytes},
	{begin: "MD MT Mj Mz ND NT Nj Nz OD OT", form: re(`^([\w-]{23,}\.[\w-]{6,7}\.[\w-]{27,})`)},
	{begin: ":AA", form: re(`^:([\w-]{34,})`), before: re(`\d{8}$`)},
	{begin: "$1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $apr1$ $argon2", form: re(`^\$\w+\$([\w./+=,-]+\$[\w./+=,$-]{12,})`)},
	{begin: "-----BEGIN", form: re(`^-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----((?s:.+?))(?:-----END |$)`),
		most: mostBytes},
	// in a URL a user that is one, a password, one with signs; a line of .pgpass
	{begin: "://", form: re(`^://([^:@` + ends + `]{16,}(?::[^` + ends + `]*)?)@`), isSure: isUser},
	{begin: "://", form: re(`^://[^:@` + ends + `]*:([^` + ends + `]+)@`)},
	{begin: "://", form: re(`^://[^:@` + ends + `]*:([^@\d` + ends + `][^\s"'<>\\,;)@]*)@`)},
	{begin: "sqlplus~ jdbc:oracle:thin:", form: re(`^[\w:]+[: ](?:-\w+ )*[^/\s@]+/([^@\s"']+)@`)},
	{begin: "Unseal~Key~", form: re(`^Unseal Key \d+: ([\w+/=]+)`)},
	{begin: ":5432:", form: re(`^:5432:[^:\s]*:[^:\s]+:([^:\s"'\\]{4,})`)},
	// me:password, the flags of programs, what a command reads
	{begin: "~-u ~-U ~--user ~--auth ~--proxy-user",
		form: re(`^ -[-\w]*?[u=U ]+\\*["']?[^\s:%"'\\$]+[:%](\d*[^\s\d/\\'"|;][^\s\\'"|;]*)`)},
	{begin: "~-p", form: re(`^ -p ?` + word), before: re(`sshpass|useradd|usermod`)},
	{begin: "~-p", form: re(`^ -p` + word), before: re(`(?:mysql|mariadb|7z)`)},
	{begin: "~-p", form: re(`^ -p[ =]` + word), before: re(` (?:-u|--username)[ =]`), isSure: isWord}, // no port
	{begin: "~-a AUTH~", form: re(`^(?: -a|AUTH) ` + word), before: re(`redis-cli`), isSure: isWord},
	{begin: "~-a", form: re(`^ -a \S+?:([^\s\\"']+)`), before: re(`\bhttps?\b`)},
	{begin: "~-P", form: re(`^ -P ` + word), before: re(`(?:sqlcmd|bcp|zip|unzip)`), isSure: isWord},
	{begin: "~-w", form: re(`^ -w ` + word), before: re(`ldap`), isSure: isWord},
	{begin: "~-k", form: re(`^ -k ` + word), before: re(`openssl`), isSure: isWord},
	{begin: "pass:", form: re(`^pass:` + word), before: re(` -[\w-]+ \\*["']?$`)}, // of openssl
	{begin: "~-b", form: re(`^ -b \\*["']?([^\s\\'"=]+=[^\n\\'"]+)`), before: re(`curl`)},
	{begin: "<<<", form: re(`^<<< ?\$?` + word), before: re(reads)},
	{begin: "<<", form: re(`^<<-?\s*["']?\w+["']?[^\n\\]*(?:\n|\\n)((?s:.+?))(?:\n|\\n)[A-Z_]+(?:\W|$)`),
		before: re(reads)},
	{begin: "->", form: re(`^-> \\*"([^"\\\n]+)`), // of Terraform
		before: re(`(?i:password|secret|token)\w* *= *\\*"[^"\n]*" $`)},
	{begin: "~--value ~--body ~-b", form: re(`^ -[-a-z]*[ =]?` + word), isSure: isWord,
		before: re(`secrets? (?:set|put|create)|SecureString`)},
	{begin: "~--from-literal", form: re(`^ [-a-z]+[ =]\\*["']?[\w.-]+=` + word), before: re(`create secret`)},
	{begin: "login~", form: re(`^login ([\w.-]+)`), before: re(`(?:cargo|vault) $`), isSure: isRandomToken},
	{begin: "htpasswd~ openssl~passwd net~user add_user~ change_password~", isSure: isWord, form: re(
		`^(?:htpasswd (?:-\w+ )*-\w*b\w* \S+ \S+|openssl passwd(?: -\w+)*|net user \S+|[a-z]+_[a-z]+ \S+) ` + word)},
	{begin: "echo~ printf~", form: re(`^\w+ (?:-\w+ |["']%s\S* )*` + word + ` *\|[^|\n]*(?:` + reads + `)`)},
}

func isMixed(text string) bool { return looksRandom(text, 8) }

func isWord(text string) bool {
	return !isNumber(text) && text[0] != '-' && !strings.Contains(strings.TrimSuffix(text, ":"), ":") && !isPath(text)
}

func isUser(text string) bool {
	user, _, hasPassword := strings.Cut(text, ":")
	return looksRandom(user, 16) && (!hasPassword || isRandomToken(user))
}

var (
	inWord   [256]bool     // letters, digits and _
	placesAt [256][]*place // by the first bytes, each with one word
	seconds  [256]uint64   // the bytes behind the first ones of places, of which six bits count
)

func init() {
	for i := range inWord {
		c := byte(i)
		inWord[i] = runes.IsLetter(c) || runes.IsDigit(c) || c == '_'
	}
	for _, p := range places {
		for begin := range strings.FieldsSeq(p.begin) {
			p.begin = strings.ReplaceAll(begin, "~", " ")
			one := p
			placesAt[p.begin[0]] = append(placesAt[p.begin[0]], &one)
			seconds[p.begin[0]] |= 1 << (p.begin[1] & 63)
		}
	}
}

// placed returns the credential at s[i], if its place gives it away. Of the places whose command stands in front of it,
// only the first counts: mysql -p x names a database.
func (f *finder) placed(s string, i int) (from, to int) {
	for _, p := range placesAt[s[i]] {
		if s[i+1] != p.begin[1] || !strings.HasPrefix(s[i:], p.begin) {
			continue
		} else if p.before != nil {
			if f.work += mostLine; !p.before().MatchString(commandOf(s[:i])) {
				continue
			}
		}
		most := cmp.Or(p.most, mostLine)
		groups := p.form().FindStringSubmatchIndex(s[i:min(len(s), i+most)])
		if f.work += most / 4; groups != nil {
			f.work += groups[1]
		}
		for g := 2; g < len(groups); g += 2 {
			if from, to = i+groups[g], i+groups[g+1]; from < i || refers(s[from:to]) {
				continue
			}
			if p.isSure == nil || p.isSure(strings.TrimPrefix(s[from:to], p.begin)) {
				return from, to
			}
		}
		if p.before != nil {
			break
		}
	}
	return 0, 0
}

// commandOf returns the last command of s.
func commandOf(s string) string {
	s = s[max(0, len(s)-mostLine):]
	return s[strings.LastIndexAny(s, "\n|;&")+1:]
}

// wholes find what only stands out in the whole text: the data of a Secret of Kubernetes, in lines and in one, and the
// password in front of an address in brackets, of MySQL in Go. The values are what the second pattern finds.
var wholes = []struct {
	has                 string
	is, parts, valuesOf pattern
}{
	{"Secret", isSecret, re(`(?m)^ *"?(?:data|stringData)"?:[ {]*\r?\n(?: +[^\n}]*\n?)+`),
		re(`(?m)^( +[\w.\-"]+: *"?)([^"$<{|\[\n]{4,}?)("?,?\r?)$`)},
	{"ecret", isSecret, re(`"(?:data|stringData)": ?\{[^{}]*\}`), re(`(": ?")([^"$<{\n]{4,})(")`)},
	{"@tcp(", re(``), re(`[\w.-]:[^\s"'@]+@tcp\(`), re(`(:)([^$@]+)(@)`)},
}

var isSecret = re(`kind"?: ?"?Secret\b|patch secret`)

func maskWhole(s string) string {
	for _, w := range wholes {
		if strings.Contains(s, w.has) && w.is().MatchString(s) {
			s = w.parts().ReplaceAllStringFunc(s, func(part string) string {
				return w.valuesOf().ReplaceAllString(part, "${1}"+mark+"${3}")
			})
		}
	}
	return s
}
