// Package models knows what follows from the name of a language model: its context window, the prices and rules of its
// prompt cache, and its family of tokenizers.
package models

import (
	"cmp"
	_ "embed" // the table
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow/internal/prose"
)

// Model is what is known of a model. 0 stands for what is not known.
type Model struct {
	// tokens of a prompt and its answer; where the maker limits the prompt alone, of the prompt
	Window      int
	CacheTTL    time.Duration // how long the prompt cache keeps what nobody reads
	CacheTokens int           // shorter prefixes are not cached
	LongTTL     time.Duration // the longer lifetime that a request may ask for

	Input float64 // dollars for a million uncached tokens
	Price         // of a request that no tier is for; it is known even where the dollars are not
	Tiers []Tier  // in ascending order

	key string // what the table calls it
}

// Price has what tokens cost relative to the uncached ones of a small prompt. 0 stands for what is not known.
type Price struct {
	Uncached   float64
	CacheRead  float64 // of a token that is read from the cache
	CacheWrite float64 // of one that is written
	LongWrite  float64 // of one that is written for the longer lifetime
	Output     float64 // of a token of the answer
}

// Tier is what a request costs as a whole, if its prompt has more than Above tokens.
type Tier struct {
	Above int
	Price
}

// PriceOf returns what the tokens of a request cost whose prompt has this many. Those of the cache cost what others do
// where it has no price of its own.
func (m *Model) PriceOf(prompt int) Price {
	p := m.Price
	for _, t := range m.Tiers {
		if prompt > t.Above {
			p = t.Price
		}
	}
	p.CacheRead, p.CacheWrite = cmp.Or(p.CacheRead, p.Uncached), cmp.Or(p.CacheWrite, p.Uncached)
	p.LongWrite = cmp.Or(p.LongWrite, p.CacheWrite)
	return p
}

// Of returns what tokens cost.
func (p Price) Of(t Tokens) float64 {
	return p.Uncached*float64(t.Input) + p.CacheRead*float64(t.CacheRead) + p.CacheWrite*float64(t.CacheWrite) +
		p.LongWrite*float64(t.LongWrite) + p.Output*float64(t.Output)
}

// Tokens are those of a request and its answer, as they are billed.
type Tokens struct {
	Input, CacheRead, CacheWrite, LongWrite, Output int
}

// Dollars returns what a request costs by the tier that it is in, and whether the price of the model is known.
func (m *Model) Dollars(t Tokens) (dollars float64, isKnown bool) {
	p := m.PriceOf(t.Input + t.CacheRead + t.CacheWrite + t.LongWrite)
	return p.Of(t) * m.Input / 1e6, m.Input > 0
}

// table is generated from the catalogue of providers; its head says how, and what its columns are.
//
//go:embed table.tsv
var table string

// catalogue has the models by their names: without what stands between the parts of a name, and as hosts spell them
// that have another window or price than the maker.
type catalogue struct{ named, hosted map[string]*Model }

var known = sync.OnceValue(func() *catalogue {
	c := &catalogue{map[string]*Model{}, map[string]*Model{}}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		m := parseRow(column)
		for i, names := range []map[string]*Model{c.named, c.hosted} {
			for _, name := range strings.Fields(column[4+i]) {
				own := *m
				own.key = name
				names[name] = &own
			}
		}
	}
	return c
})

// parseRow reads the columns of a row that say what the model is.
func parseRow(column []string) *Model {
	m := &Model{}
	m.Window = int(numbers(column[0])[0])
	cache := numbers(column[1])
	m.CacheTTL, m.CacheTokens = time.Duration(cache[0])*time.Second, int(cache[1])
	m.LongTTL = time.Duration(cache[2]) * time.Second
	longWrite := cache[3]
	base := numbers(column[2])
	if m.Input = base[0]; m.Input == 0 {
		return m
	}
	relative := func(dollars []float64) (p Price) {
		for i, to := range []*float64{&p.Uncached, &p.Output, &p.CacheRead, &p.CacheWrite} {
			*to = math.Round(dollars[i]/m.Input*1e6) / 1e6
		}
		if p.CacheRead > 0 {
			p.CacheWrite = max(p.Uncached, p.CacheWrite) // without a price, billed as any input
			p.LongWrite = max(p.CacheWrite, longWrite*p.Uncached)
		}
		return p
	}
	m.Price = relative(base)
	for _, tier := range strings.Split(column[3], ";") {
		if n := numbers(tier); n[0] > 0 {
			m.Tiers = append(m.Tiers, Tier{int(n[0]), relative(n[1:])})
		}
	}
	return m
}

// numbers reads up to five numbers; those that are not there are 0.
func numbers(text string) []float64 {
	list := make([]float64, 5)
	for i, field := range strings.Fields(text) {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			panic(err) // not of this table
		}
		list[i] = n
	}
	return list
}

// Find returns what is known of a model by the name that its maker, a gateway or a cloud has for it:
// "claude-opus-4-6", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openrouter/openai/gpt-4.1:free",
// "models/gemini-2.5-pro-001". Where a host has another window than the maker, the host's own spelling finds it. A name
// that is not known finds nothing: a model is never taken for its neighbour, except that the dated versions of a model
// are the model, and so is what a gateway sells of it in another way: later, for half the price ("-batch", "-flex"),
// faster ("-fast"), first ("-priority"), paid in advance ("-scale"), for nothing (":free"), or made small ("-GGUF").
// The prices of all but the first are not known, unless the table has them. So it is with a model at Ollama
// ("llama3.1:8b"). Bedrock's regions cost a tenth more for new Claudes. How much a model shall think ("gpt-5.5-high")
// does not count.
func Find(name string) (Model, bool) { return known().find(name) }

// Key is the same for all names of one model at one price, and no other. A name that is not known is its own.
func Key(name string) string {
	m, ok := Find(name)
	if !ok {
		return strings.ToLower(strings.TrimSpace(name))
	}
	return fmt.Sprint(m.key, " ", m.Input)
}

func (c *catalogue) find(name string) (Model, bool) {
	const longest = 256 // an ARN or a path of Vertex AI has a hundred
	if len(name) > longest {
		return Model{}, false
	}
	name = strings.ToLower(strings.TrimSpace(name))
	// A colon stands behind who serves the model ("openai:o3") or in front of a variant ("o3:free", "gpt-oss:20b").
	host, rest, ok := strings.Cut(name, ":")
	if ok && host != "ft" && !strings.ContainsAny(host, "/.") && !sizeTag.Get().MatchString(rest) {
		if _, isModel := c.findAt("", host); !isModel {
			return c.findAt(host, rest)
		}
	}
	return c.findAt("", name)
}

// findAt is find for a name without who serves the model in front. host is who that is, if it is known. The prices of
// the government's regions at Bedrock are not known.
func (c *catalogue) findAt(host, name string) (Model, bool) {
	isOfGovernment := strings.Contains(name, "us-gov")
	folders, name := folders(host, name)
	for _, version := range spellings(name) {
		if m, isHosted := c.findVersion(folders, version.name); m != nil {
			found := *m
			found.Input *= version.price
			if isOfGovernment && !strings.Contains(m.key, "us-gov") {
				found.Input = 0
			} else if !isHosted {
				found.Input *= regionPrice(version.name)
			}
			return found, true
		}
	}
	return Model{}, false
}

// findVersion looks for one spelling of a name in each of the folders that it may be in. isHosted tells that the row is
// the host's own.
func (c *catalogue) findVersion(folders []string, name string) (m *Model, isHosted bool) {
	owned := owners(name)
	for _, own := range owned { // as the host spells it
		for _, folder := range folders {
			if m := c.hosted[folder+own]; m != nil {
				return m, true
			}
		}
	}
	for _, own := range owned {
		for _, word := range tuned {
			if m := c.named[squeezed(own)+word]; m != nil {
				return m, false
			}
		}
		if m := c.named[squeezed(turned(own))]; m != nil {
			return m, false
		}
	}
	return nil, false
}

// tuned are endings of open models that people leave out, as there is no other model to talk to.
var tuned = []string{"", "instruct", "it"}

// turned is a name of Claude with its size and its version the other way round. The maker has used both ways:
// people write "claude-4.5-sonnet" and "Claude Opus 3", too.
func turned(name string) string {
	return sized.Get().ReplaceAllString(strings.ReplaceAll(name, " ", "-"), "claude-$2$4-$1$3")
}

var sized = prose.NewPattern(`^(?:claude-)?(?:(opus|sonnet|haiku)-(.+)|(.+)-(opus|sonnet|haiku))$`)

// hosts are the other names of hosts, and those that the table has.
var hosts = map[string]string{
	"amazon_bedrock": "amazon-bedrock", "bedrock": "amazon-bedrock", "codex": "openai-codex",
	"copilot": "github-copilot", "github_copilot": "github-copilot", "nvidia_nim": "nvidia",
	"openai_codex": "openai-codex", "together_ai": "together", "togetherai": "together",
}

// folders are what may stand in front of the last part of a name: all of its path, which a host's spelling may have,
// the path of a host that is named first, and both without the first parts. host is who serves the model, if that is
// known.
func folders(host, name string) (list []string, base string) {
	path := strings.Split(name, "/")
	last := len(path) - 1
	base = path[last]
	if model, ok := strings.CutPrefix(base, "ft:"); ok { // what is behind the model is the customer's
		base, _, _ = strings.Cut(model, ":")
	}
	path = path[:last]
	for {
		folder := strings.Join(append(path, ""), "/")
		if host != "" {
			list = append(list, cmp.Or(hosts[host], host)+":"+folder)
		}
		list = append(list, folder)
		if len(path) == 0 {
			return list, base
		}
		host, path = path[0], path[1:]
	}
}

// spelling is a name, and what a model of that name costs relative to the price of the whole name; 0: not known.
type spelling struct {
	name  string
	price float64
}

// spellings are the versions of a name: with what stands behind a colon, which may be a variant or a price ("o3:free"),
// and without it. Behind them come those without what says how a gateway sells the model.
func spellings(name string) (list []spelling) {
	price := 1.0
	for {
		for _, v := range versions(name) {
			list = append(list, spelling{v, price})
			sold := soldAs.Get().FindStringSubmatch(v)
			if sold == nil || sold[2] == "fast" && strings.HasPrefix(v, "grok") { // xAI's is a model of its own
				continue
			}
			bases := versions(sold[1])
			for _, base := range bases { // the table may have it without the date
				list = append(list, spelling{base + "-" + sold[2], price})
			}
			for _, base := range bases {
				list = append(list, spelling{base, price * prices[sold[2]]})
			}
		}
		i := strings.LastIndexByte(name, ':')
		if i < 0 {
			return list
		}
		if size := sizeTag.Get().FindString(name[i+1:]); size != "" {
			return append(list, spelling{name[:i] + "-" + size, 0})
		}
		if factor, ok := prices[name[i+1:]]; ok {
			price *= factor
		}
		name = name[:i]
	}
}

// soldAs is a name with how a model is sold at its end, or how somebody made an open one small.
var soldAs = prose.NewPattern(`^(.+)-(batch|flex|fast|priority|scale|free|gguf|awq|gptq|fp8|bf16|int\d|\dbit)$`)

// sizeTag begins what stands behind the colon in Ollama's names: the size of the model ("llama3.1:8b-instruct-q4_0"),
// which other hosts write behind a dash. Models of other sizes are other ones.
var sizeTag = prose.NewPattern(`^\d+(\.\d+)?b(-a\d+b)?(-instruct|-it)?`)

// prices are those of the ways in which a gateway sells a model. That of a fast one is different for each model, and
// that of a small one for each host.
var prices = map[string]float64{"batch": 0.5, "flex": 0.5, "fast": 0, "priority": 0, "scale": 0, "free": 0}

// Sold returns the name of a model as a provider sold it, by the words of its answer: in another way ("flex") or place
// ("us", of Anthropic's) than the usual one it has another price. Other words mean the usual one.
func Sold(model string, words ...string) string {
	for _, word := range words {
		if _, isWay := prices[word]; isWay {
			model += "-" + word
		} else if len(word) == 2 {
			model = word + ".anthropic." + model
		}
	}
	return model
}

// owners are a name with and without the region and the maker that Bedrock writes in front: "us.anthropic.". A name
// without its maker has two letters in front: "deepseek.v3.2" is no model "v3.2". Databricks and others write their own
// name in front of a maker's, with a dash.
func owners(name string) []string {
	list := []string{name}
	if made := maker.Get().FindStringSubmatch(name); made != nil {
		list = append(list, made[1])
	}
	for {
		owner, rest, _ := strings.Cut(name, ".")
		if strings.ContainsAny(owner, digits) || len(rest) < 2 || strings.ContainsAny(rest[:2], digits) {
			return list
		}
		name = rest
		list = append(list, name)
	}
}

// regionPrice is what a model costs by Bedrock's profile of a region, relative to the profile of all regions: a tenth
// more, for Claude 4.5 and what came after.
func regionPrice(name string) float64 {
	of := region.Get().FindStringSubmatch(name)
	if major, minor := version(name, "claude"); of == nil || of[1] == "global" || 10*major+minor < 45 {
		return 1
	}
	return 1.1
}

var region = prose.NewPattern(`^([a-z-]+)\.anthropic\.`)

var maker = prose.NewPattern(`^[a-z]+-+((?:claude|gpt|gemini|meta-llama)-\d?.*)$`)

// versions are a name and what is left of it when what marks a version is removed from its end, step by step.
func versions(name string) []string {
	list := []string{name}
	for {
		mark := marked.Get().FindStringSubmatch(name)
		if mark == nil {
			mark = effort.Get().FindStringSubmatch(name)
		}
		if mark == nil || nameless.Get().MatchString(name) {
			return list
		}
		name = mark[1]
		list = append(list, name)
	}
}

// squeezed is a name without what providers, gateways and deployments put between its parts, each in its own way:
// "gpt-4.1" is "gpt-41" at Azure, and "claude-opus-4-6" is "claude-opus-4.6" at OpenRouter. Fireworks writes a p for
// the point.
func squeezed(name string) string {
	name = pointed.Get().ReplaceAllString(name, "$1$2")
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-._ ", r) {
			return -1
		}
		return r
	}, name)
}

var pointed = prose.NewPattern(`(\d)p(\d)`)

// marked is a name with one mark of a version at its end: a word, what Vertex AI puts behind an @, Bedrock's "-v1:0",
// Vertex AI's "-v2" (DeepSeek v3 is a model of its own) and "-maas", a date or a part of one, a number of three digits
// or more.
var marked = prose.NewPattern(`^(.+?)(-latest|-preview|-thinking|-maas|\[1m\]|@[^@]*|-v([12]|\d+:\d+)|` +
	`(-\d{4})?-\d\d-\d\d|(-\d\d)?-\d{4}|-\d{3,})$`)

// effort is a name with how much the model shall think behind it. Other makers have sizes of these names.
var effort = prose.NewPattern(`^((?:claude|gpt|gemini|o\d).*)-(?:none|minimal|low|medium|high|xhigh|max)$`)

// nameless is a name of which too little is left without its end: "claude-v2" is not any Claude, nobody knows which
// model "chat" is, and Codex Max is a model of its own.
var nameless = prose.NewPattern(`^[a-z]+-v[2-9](:\d+)?$|^chat-latest$|-codex-max$`)

const digits = "0123456789"
