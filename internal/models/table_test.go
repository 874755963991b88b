package models

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write table.go anew from ../../../shared/providers")

const providers = "../../../shared/providers/"

// TestTable holds table.go to the catalogue of providers, and writes it anew with -update.
func TestTable(t *testing.T) {
	catalogue, err := os.ReadFile(providers + "models.json")
	if os.IsNotExist(err) {
		t.Skip("the catalogue of providers is not here")
	}
	require.NoError(t, err)
	rules, err := os.ReadFile(providers + "cache-rules.json")
	require.NoError(t, err)
	want := generate(t, catalogue, rules)
	if *update {
		require.NoError(t, os.WriteFile("table.go", want, 0o644))
	}
	got, err := os.ReadFile("table.go")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go test ./internal/models -update")
}

// entry is a model of the catalogue.
type entry struct {
	Provider  string `json:"provider"`
	ID        string `json:"id"`
	Window    int    `json:"context_window"`
	MaxInput  int    `json:"max_input_tokens"`
	MaxOutput int    `json:"max_output_tokens"`
	Price     struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead"`
		CacheWrite float64 `json:"cacheWrite"`
	} `json:"price_usd_per_mtok"`
}

// profile is what the rules say of the cache of a provider.
type profile struct {
	TTL []struct {
		Seconds int `json:"seconds"`
	} `json:"ttl"` // the first one is what a request gets that does not ask for another
	Min json.RawMessage `json:"min_cacheable_tokens"` // a number, or one for each model or pattern
}

// resellers have the models of others: the maker's own entry stands before theirs, and theirs fill gaps.
var resellers = []string{"github-copilot", "openai-codex", "kimi-coding", "groq", "cerebras", "amazon-bedrock"}

func generate(t *testing.T, catalogue, rules []byte) []byte {
	t.Helper()
	var all struct{ Models []entry }
	require.NoError(t, json.Unmarshal(catalogue, &all))
	var cache struct{ Profiles map[string]profile }
	require.NoError(t, json.Unmarshal(rules, &cache))
	slices.SortStableFunc(all.Models, func(a, b entry) int {
		return cmp.Compare(slices.Index(resellers, a.Provider), slices.Index(resellers, b.Provider))
	})
	found, makers := map[string]Model{}, map[string]string{}
	for _, e := range all.Models {
		key := keyOf(e.ID)
		if maker := makers[key]; maker == "" {
			found[key], makers[key] = modelOf(t, e, cache.Profiles), e.Provider
		} else {
			require.NotEqual(t, -1, slices.Index(resellers, e.Provider), "%s of %s and of %s have the same key", key, maker, e.Provider)
		}
	}
	return write(t, found)
}

// keyOf is what Find looks up when it has removed the owner and the date of a name. "-latest" stays: it is not
// what an older version is.
func keyOf(id string) string {
	name := withoutOwner(strings.ToLower(path.Base(id)))
	for _, mark := range []string{":0", "-v1", "-20250929", "-preview"} {
		name = strings.TrimSuffix(name, mark)
	}
	return squeezed(name)
}

func modelOf(t *testing.T, e entry, profiles map[string]profile) Model {
	t.Helper()
	m := Model{Window: e.Window}
	if e.MaxInput > 0 {
		m.Window = min(m.Window, e.MaxInput)
	}
	if p := e.Price; p.Input > 0 {
		round := func(x float64) float64 { return math.Round(x*10_000) / 10_000 }
		m.CacheRead, m.CacheWrite, m.Output = round(p.CacheRead/p.Input), round(p.CacheWrite/p.Input), round(p.Output/p.Input)
		if p.CacheRead == 0 { // no discount: caching gains nothing
			m.CacheRead = 1
		}
		if p.CacheWrite == 0 { // billed as any input
			m.CacheWrite = 1
		}
	}
	p, ok := profiles[profileOf(e)]
	if !ok {
		return m
	}
	m.CacheTTL, m.CacheTokens = ttlOf(e, p), tokensOf(t, e.ID, p)
	return m
}

func profileOf(e entry) string {
	id := path.Base(strings.ToLower(e.ID))
	switch {
	case strings.Contains(id, "claude"):
		return "anthropic"
	case strings.Contains(id, "nova"):
		return "bedrock-converse"
	case strings.HasPrefix(id, "gpt-5.6"), strings.HasPrefix(id, "gpt-6"):
		return "openai-5.6+"
	case e.Provider == "openai":
		return "openai-pre-5.6"
	case e.Provider == "google":
		return "gemini"
	case e.Provider == "deepseek":
		return "deepseek"
	}
	return ""
}

// ttlOf is the lifetime that a request gets without asking for another. The rules have some in words only; what is not
// documented stays unknown, so that the strictest default holds.
func ttlOf(e entry, p profile) time.Duration {
	switch {
	case len(p.TTL) > 0:
		return time.Duration(p.TTL[0].Seconds) * time.Second
	case strings.HasPrefix(e.ID, "gpt-5.5"): // "only 24h on 5.5+"
		return 24 * time.Hour
	case e.Provider == "deepseek": // "hours to days": an hour is the least that this says
		return time.Hour
	}
	return 0
}

// tokensOf reads one number, or that of the longest name or pattern that fits.
func tokensOf(t *testing.T, id string, p profile) int {
	t.Helper()
	if len(p.Min) == 0 {
		return 0
	}
	var n int
	if json.Unmarshal(p.Min, &n) == nil {
		return n
	}
	var byName map[string]int
	require.NoError(t, json.Unmarshal(p.Min, &byName))
	name := strings.TrimSuffix(withoutOwner(id), "-20250929-v1:0")
	name = strings.ReplaceAll(name, "claude-sonnet-4.6", "claude-sonnet-4-6")
	best := ""
	for pattern := range byName {
		start, isPattern := strings.CutSuffix(pattern, "*")
		if (pattern == name || isPattern && strings.HasPrefix(name, start)) && len(pattern) > len(best) {
			best = pattern
		}
	}
	if best == "" {
		return byName["unknown"]
	}
	return byName[best]
}

func write(t *testing.T, found map[string]Model) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("// Code generated from the catalogue of providers by go test ./internal/models -update; DO NOT EDIT.\n\npackage models\n\nimport \"time\"\n\n")
	b.WriteString("// table has each model under its name without what stands between its parts.\nvar table = map[string]Model{\n")
	keys := make([]string, 0, len(found))
	for k := range found {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		m := found[k]
		fmt.Fprintf(&b, "%q: {Window: %d", k, m.Window)
		if m.CacheTTL > 0 {
			fmt.Fprintf(&b, ", CacheTTL: %d * time.Second", m.CacheTTL/time.Second)
		}
		if m.CacheTokens > 0 {
			fmt.Fprintf(&b, ", CacheTokens: %d", m.CacheTokens)
		}
		if m.CacheRead > 0 {
			fmt.Fprintf(&b, ", CacheRead: %v, CacheWrite: %v, Output: %v", m.CacheRead, m.CacheWrite, m.Output)
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	out, err := format.Source(b.Bytes())
	require.NoError(t, err)
	return out
}
