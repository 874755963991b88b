// Package models knows what follows from the name of a language model: its context window, the prices and rules of its
// prompt cache, and its family of tokenizers. It reads no file: the table is generated, see table_test.go.
package models

import (
	"strings"
	"time"
)

// Model is what is known of a model. 0 stands for what is not known.
type Model struct {
	// tokens of a prompt and its answer; where the maker limits the prompt alone, of the prompt
	Window      int
	CacheTTL    time.Duration // how long the prompt cache keeps what nobody reads
	CacheTokens int           // shorter prefixes are not cached
	CacheRead   float64       // price of a token that is read from the cache, relative to the input's
	CacheWrite  float64       // of one that is written
	Output      float64       // of a token of the answer
}

// Find returns what is known of a model by the name that its maker, a gateway or a cloud has for it:
// "claude-opus-4-6", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openrouter/openai/gpt-4.1:free",
// "models/gemini-2.5-pro-001". A name that is not known finds nothing: a model is never taken for its neighbour, except
// that the dated versions of a model are the model.
func Find(name string) (Model, bool) {
	for _, form := range forms(name) {
		if m, ok := table[form]; ok {
			return m, true
		}
	}
	return Model{}, false
}

// forms are the spellings under which a name is looked up, the most exact one first.
func forms(name string) []string {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok { // what is behind the model is the customer's
		name, _, _ = strings.Cut(tuned, ":")
	}
	var list []string
	for {
		list = append(list, versions(withoutOwner(name))...)
		// who serves it stands in front ("openai:o3"), or what it costs behind ("o3:free")
		_, rest, ok := strings.Cut(name, ":")
		if !ok {
			return list
		}
		before, _, _ := strings.Cut(name, ":")
		list = append(list, versions(withoutOwner(before))...)
		name = rest
	}
}

// withoutOwner removes the region and the maker that Bedrock writes in front: "us.anthropic.".
func withoutOwner(name string) string {
	for {
		owner, rest, ok := strings.Cut(name, ".")
		if !ok || rest == "" || strings.ContainsAny(owner, "0123456789") {
			return name
		}
		name = rest
	}
}

// versions are a name and what is left of it when what marks a version is removed from its end, step by step.
func versions(name string) []string {
	list := []string{squeezed(name)}
	for {
		shorter := withoutVersion(name)
		if shorter == name {
			return list
		}
		name = shorter
		list = append(list, squeezed(name))
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

// versionWords are endings that name no other model.
var versionWords = []string{"-latest", "-preview", "-thinking", "[1m]"}

// withoutVersion removes one mark of a version from the end of a name: a word, a date, a number of three digits or
// more, Bedrock's "-v1:0".
func withoutVersion(name string) string {
	for _, word := range versionWords {
		if rest, ok := strings.CutSuffix(name, word); ok {
			return rest
		}
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 { // Vertex AI: claude-opus-4-5@20251101
		return name[:i]
	}
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return name
	}
	last := name[i+1:]
	if version, ok := strings.CutPrefix(last, "v"); ok && areDigits(strings.Replace(version, ":", "", 1)) {
		return name[:i]
	}
	switch {
	case !areDigits(last):
		return name
	case len(last) >= 3: // 20250929, 0925, 001
		return withoutNumber(name[:i], len(last))
	case len(last) == 2: // 2024-05-13, 05-06
		before := strings.LastIndexByte(name[:i], '-')
		if before <= 0 || len(name[before+1:i]) != 2 || !areDigits(name[before+1:i]) {
			return name
		}
		if year := strings.LastIndexByte(name[:before], '-'); year > 0 && before-year == 5 &&
			areDigits(name[year+1:before]) {
			return name[:year]
		}
		return name[:before]
	}
	return name
}

// withoutNumber removes the month before a year, of "09-2026".
func withoutNumber(name string, digits int) string {
	i := strings.LastIndexByte(name, '-')
	if digits == 4 && i > 0 && len(name)-i == 3 && areDigits(name[i+1:]) {
		return name[:i]
	}
	return name
}

func areDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
