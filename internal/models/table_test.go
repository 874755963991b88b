package models

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write table.json anew from ../../../shared/providers")

const providers = "../../../shared/providers/"

// TestTable holds table.json to the catalogue of providers, and writes it anew with -update.
func TestTable(t *testing.T) {
	rows := readCatalogue(t)
	rules, err := os.ReadFile(providers + "cache-rules.json")
	require.NoError(t, err)
	want := generate(t, rows, rules)
	if *update {
		require.NoError(t, os.WriteFile("table.json", want, 0o644))
	}
	got, err := os.ReadFile("table.json")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go test ./internal/models -update")
}

// TestFindCatalogue looks up every row as its provider spells it, and with what people put around a name.
func TestFindCatalogue(t *testing.T) {
	rows := readCatalogue(t)
	window := map[string]int{} // of an id: the maker's, else the smallest one
	for _, e := range rows {
		if _, ok := window[e.ID]; !ok {
			window[e.ID] = e.window()
		}
	}
	for _, e := range rows {
		want := window[e.ID]
		spelt := map[string]int{
			e.ID: want, strings.ToUpper(" " + e.ID + " "): want, e.ID + ":free": want, e.ID + "-20991231": want,
			e.ID + "@20991231": want, e.ID + "-2099-12-31": want, e.ID + "[1m]": want, e.ID + "-v1:0": want,
			"gateway/" + e.ID: want, "publishers/someone/models/" + e.ID: want,
			"arn:aws:bedrock:us-east-1:123456789012:inference-profile/" + e.ID: want,
		}
		spelt[e.Provider+":"+e.ID], spelt[e.Provider+":"+e.ID+":free"] = e.window(), e.window()
		if name := e.Provider + "/" + e.ID; window[name] == 0 { // else it is an id
			spelt[name], spelt[name+":free"] = e.window(), e.window()
		}
		if e.Provider == "amazon-bedrock" {
			for _, prefix := range []string{"us.", "eu.", "us-gov.", "bedrock/", "bedrock/converse/", "bedrock/apac."} {
				spelt[prefix+e.ID] = e.window()
			}
		}
		for name, want := range spelt {
			m, _ := Find(name)
			assert.Equal(t, want, m.Window, "%s of %s", name, e.Provider)
		}
	}
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
	// a number, or one for each model or pattern
	Min  json.RawMessage `json:"min_cacheable_tokens"`
	Read json.RawMessage `json:"read_mult"`
}

// makers are the providers of their own models. The other ones serve what others have made: where a maker has a row for
// a model, it says what the model is, and theirs say where they differ.
var makers = []string{"alibaba", "anthropic", "cohere", "deepseek", "google", "meta", "minimax", "mistral", "moonshotai", "openai", "xai", "xiaomi", "zai"}

// isMaker reports whether e is the row of the model's own maker.
func (e *entry) isMaker() bool {
	switch e.Provider {
	case "amazon-bedrock":
		return strings.HasPrefix(e.ID, "amazon.")
	case "azure":
		return strings.HasPrefix(e.ID, "phi-") || strings.HasPrefix(e.ID, "mai-")
	case "groq", "nvidia":
		return strings.HasPrefix(e.ID, e.Provider+"/")
	case "mistral":
		return !strings.Contains(e.ID, "glm") && !strings.Contains(e.ID, "deepseek")
	}
	return slices.Contains(makers, e.Provider)
}

// window is the limit of a prompt.
func (e *entry) window() int {
	if e.MaxInput > 0 {
		return min(e.Window, e.MaxInput)
	}
	return e.Window
}

// readCatalogue returns the rows, the first of several that a name may mean in front: the maker's, else the one with the
// smallest window.
func readCatalogue(t *testing.T) []entry {
	t.Helper()
	data, err := os.ReadFile(providers + "models-wide.json")
	if os.IsNotExist(err) {
		t.Skip("the catalogue of providers is not here")
	}
	require.NoError(t, err)
	var all struct{ Models []entry }
	require.NoError(t, json.Unmarshal(data, &all))
	for i := range all.Models {
		all.Models[i].ID = strings.ToLower(all.Models[i].ID)
	}
	slices.SortStableFunc(all.Models, func(a, b entry) int {
		if a.isMaker() != b.isMaker() {
			return map[bool]int{true: -1, false: 1}[a.isMaker()]
		}
		return cmp.Compare(a.window(), b.window())
	})
	return all.Models
}

// generate fills the table with what Find does not find yet: first the shortest names without hosts, then the names as
// their hosts spell them, then those with the host in front.
func generate(t *testing.T, rows []entry, rules []byte) []byte {
	t.Helper()
	var cache struct{ Profiles map[string]profile }
	require.NoError(t, json.Unmarshal(rules, &cache))
	c := catalogue{map[string]Model{}, map[string]Model{}}
	add := func(to map[string]Model, key, name string, e *entry) {
		m := modelOf(t, *e, cache.Profiles)
		// A version and a host of a model have its rules and prices; a price may be known of one version only.
		if got, ok := c.find(name); !ok || got.Window != m.Window || got.CacheRead == 0 && m.CacheRead > 0 {
			to[key] = m
		}
	}
	for _, name := range shortNames(rows) {
		add(c.named, squeezed(name.short), name.short, name.row)
	}
	slices.SortStableFunc(rows, func(a, b entry) int { return cmp.Compare(len(a.ID), len(b.ID)) })
	ids := map[string]bool{}
	for _, e := range rows {
		if !ids[e.ID] { // the first one of several
			add(c.hosted, e.ID, e.ID, &e)
		}
		ids[e.ID] = true
	}
	for _, e := range rows {
		key := e.Provider + ":" + e.ID
		add(c.hosted, key, key, &e)
		if name := e.Provider + "/" + e.ID; !ids[name] {
			add(c.hosted, key, name, &e)
		}
	}
	return c.write(t)
}

// shortName is a name without path, region and maker, and with some or none of what marks its version, and the row
// that it stands for.
type shortName struct {
	short string
	cut   int // how many marks are removed
	row   *entry
}

// shortNames returns the short names of all rows, the shortest one first. Of two rows with one name that counts from which less
// was cut.
func shortNames(rows []entry) []shortName {
	best := map[string]shortName{}
	for i := range rows {
		owned := owners(path.Base(rows[i].ID))
		short := owned[len(owned)-1]
		if before, version, ok := strings.Cut(short, ":"); ok && version != "1" { // Claude 2.1 is Bedrock's claude-v2:1
			short = before
		}
		for cut, name := range versions(short) {
			if had, ok := best[squeezed(name)]; !ok || cut < had.cut {
				best[squeezed(name)] = shortName{name, cut, &rows[i]}
			}
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b shortName) int {
		return cmp.Or(cmp.Compare(len(a.short), len(b.short)), cmp.Compare(a.short, b.short))
	})
}

func modelOf(t *testing.T, e entry, profiles map[string]profile) Model {
	t.Helper()
	m := Model{Window: e.window()}
	p := profiles[profileOf(e)]
	m.CacheTTL, m.CacheTokens = ttlOf(e, p), int(ruleFor(t, e.ID, p.Min))
	if e.Price.Input == 0 {
		return m
	}
	relative := func(price float64) float64 { return math.Round(price/e.Price.Input*10_000) / 10_000 }
	m.Output, m.CacheRead = relative(e.Price.Output), relative(e.Price.CacheRead)
	if m.CacheRead == 0 {
		m.CacheRead = ruleFor(t, e.ID, p.Read)
	}
	if m.CacheRead > 0 {
		m.CacheWrite = max(1, relative(e.Price.CacheWrite)) // without a price, billed as any input
	}
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

// ruleFor reads one number, or that of the longest name or pattern that fits the model, else that of the unknown one.
func ruleFor(t *testing.T, id string, rule json.RawMessage) float64 {
	t.Helper()
	var n float64
	if len(rule) == 0 || json.Unmarshal(rule, &n) == nil {
		return n
	}
	var byName map[string]float64
	require.NoError(t, json.Unmarshal(rule, &byName))
	dashes := strings.NewReplacer(".", "-")
	owned := owners(path.Base(id))
	names := versions(dashes.Replace(owned[len(owned)-1]))
	best := "unknown"
	for pattern := range byName {
		start, isPattern := strings.CutSuffix(dashes.Replace(pattern), "*")
		fits := slices.Contains(names, start) || isPattern && strings.HasPrefix(names[0], start)
		if fits && (best == "unknown" || len(pattern) > len(best)) {
			best = pattern
		}
	}
	return byName[best]
}

// write returns the table, a row for each line.
func (c *catalogue) write(t *testing.T) []byte {
	t.Helper()
	names, hosted := byModel(c.named), byModel(c.hosted)
	all := slices.Concat(slices.Collect(maps.Keys(names)), slices.Collect(maps.Keys(hosted)))
	slices.SortFunc(all, func(a, b Model) int {
		return cmp.Or(cmp.Compare(a.Window, b.Window), cmp.Compare(strings.Join(names[a], " "), strings.Join(names[b], " ")),
			cmp.Compare(strings.Join(hosted[a], " "), strings.Join(hosted[b], " ")))
	})
	var lines [][]byte
	for _, m := range slices.Compact(all) {
		line, err := json.Marshal(row{m, strings.Join(names[m], " "), strings.Join(hosted[m], " ")})
		require.NoError(t, err)
		lines = append(lines, line)
	}
	return slices.Concat([]byte("[\n"), bytes.Join(lines, []byte(",\n")), []byte("\n]\n"))
}

// byModel returns the names of each model in order.
func byModel(found map[string]Model) map[Model][]string {
	names := map[Model][]string{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		names[found[name]] = append(names[found[name]], name)
	}
	return names
}
