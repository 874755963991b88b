// Package models knows what follows from the name of a language model: its context window, the prices and rules of its
// prompt cache, and its family of tokenizers.
package models

import (
	"cmp"
	_ "embed" // the table
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow/internal/prose"
)

// Model is what is known of a model. 0 stands for what is not known.
type Model struct {
	// tokens of a prompt and its answer; where the maker limits the prompt alone, of the prompt
	Window      int
	CacheTTL    time.Duration `json:",omitempty"` // how long the prompt cache keeps what nobody reads, in JSON in ns
	CacheTokens int           `json:",omitempty"` // shorter prefixes are not cached
	CacheRead   float64       `json:",omitempty"` // price of a read token, relative to the input's
	CacheWrite  float64       `json:",omitempty"` // of one that is written
	Output      float64       `json:",omitempty"` // of a token of the answer
}

// row is a row of the generated table, with the names of the models of which it is.
type row struct {
	Model
	Names  string `json:",omitempty"` // without what stands between their parts
	Hosted string `json:",omitempty"` // as hosts spell them that have another window than the maker
}

// table is generated from the catalogue of providers: go test ./internal/models -update.
//
//go:embed table.json
var table []byte

// catalogue has the models by their names, see row.
type catalogue struct{ named, hosted map[string]Model }

var known = sync.OnceValue(func() *catalogue {
	var rows []row
	if err := json.Unmarshal(table, &rows); err != nil {
		panic(err) // not of this table
	}
	c := &catalogue{map[string]Model{}, map[string]Model{}}
	for _, r := range rows {
		for _, name := range strings.Fields(r.Names) {
			c.named[name] = r.Model
		}
		for _, name := range strings.Fields(r.Hosted) {
			c.hosted[name] = r.Model
		}
	}
	return c
})

// Find returns what is known of a model by the name that its maker, a gateway or a cloud has for it:
// "claude-opus-4-6", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openrouter/openai/gpt-4.1:free",
// "models/gemini-2.5-pro-001". Where a host has another window than the maker, the host's own spelling finds it. A name
// that is not known finds nothing: a model is never taken for its neighbour, except that the dated versions of a model
// are the model.
func Find(name string) (Model, bool) { return known().find(name) }

func (c *catalogue) find(name string) (Model, bool) {
	const longest = 256 // an ARN or a path of Vertex AI has a hundred
	if len(name) > longest {
		return Model{}, false
	}
	name = strings.ToLower(strings.TrimSpace(name))
	// A colon stands behind who serves the model ("openai:o3") or in front of a variant ("o3:free").
	if host, rest, ok := strings.Cut(name, ":"); ok && host != "ft" && !strings.ContainsAny(host, "/.") {
		if _, isModel := c.findAt("", host); !isModel {
			return c.findAt(host, rest)
		}
	}
	return c.findAt("", name)
}

// findAt is find for a name without who serves the model in front. host is who that is, if it is known.
func (c *catalogue) findAt(host, name string) (m Model, ok bool) {
	folders, name := folders(host, name)
	for _, version := range spellings(name) {
		owned := owners(version)
		for _, own := range owned { // as the host spells it
			for _, folder := range folders {
				if m, ok = c.hosted[folder+own]; ok {
					return m, true
				}
			}
		}
		for _, own := range owned {
			for _, word := range tuned {
				if m, ok = c.named[squeezed(own)+word]; ok {
					return m, true
				}
			}
			if m, ok = c.named[squeezed(turned(own))]; ok {
				return m, true
			}
		}
	}
	return Model{}, false
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

// spellings are the versions of a name: with what stands behind a colon, which may be a variant or a price ("o3:free"),
// and without it.
func spellings(name string) (list []string) {
	for {
		list = append(list, versions(name)...)
		i := strings.LastIndexByte(name, ':')
		if i < 0 {
			return list
		}
		name = name[:i]
	}
}

// owners are a name with and without the region and the maker that Bedrock writes in front: "us.anthropic.". A name
// without its maker has two letters in front: "deepseek.v3.2" is no model "v3.2".
func owners(name string) []string {
	list := []string{name}
	for {
		owner, rest, _ := strings.Cut(name, ".")
		if strings.ContainsAny(owner, digits) || len(rest) < 2 || strings.ContainsAny(rest[:2], digits) {
			return list
		}
		name = rest
		list = append(list, name)
	}
}

// versions are a name and what is left of it when what marks a version is removed from its end, step by step.
func versions(name string) []string {
	list := []string{name}
	for {
		mark := marked.Get().FindStringSubmatch(name)
		if mark == nil {
			return list
		}
		name = mark[1]
		list = append(list, name)
	}
}

// squeezed is a name without what providers, gateways and deployments put between its parts, each in its own way:
// "gpt-4.1" is "gpt-41" at Azure, and "claude-opus-4-6" is "claude-opus-4.6" at OpenRouter.
func squeezed(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-._ ", r) {
			return -1
		}
		return r
	}, name)
}

// marked is a name with one mark of a version at its end: a word, what Vertex AI puts behind an @, Bedrock's "-v1:0",
// Vertex AI's "-v2" (DeepSeek v3 is a model of its own), a date or a part of one, a number of three digits or more.
var marked = prose.NewPattern(`^(.+?)(-latest|-preview|-thinking|\[1m\]|@[^@]*|-v([12]|\d+:\d+)|` +
	`(-\d{4})?-\d\d-\d\d|(-\d\d)?-\d{4}|-\d{3,})$`)

const digits = "0123456789"
