package models

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write table.tsv and testdata/found.txt anew from ../../../shared/providers")

const providers = "../../../shared/providers/"

// TestTable holds table.tsv to the catalogue of providers, and writes it anew with -update.
func TestTable(t *testing.T) {
	rows := readCatalogue(t)
	want := generate(t, rows)
	if *update {
		require.NoError(t, os.WriteFile("table.tsv", want, 0o644))
	}
	got, err := os.ReadFile("table.tsv")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go test ./internal/models -update")
}

// TestFindCatalogue looks up every row as its provider spells it, and with what people put around a name.
func TestFindCatalogue(t *testing.T) {
	rows := readCatalogue(t)
	first := map[string]entry{} // of an id: the maker's, else the one with the smallest window
	for _, e := range rows {
		if _, ok := first[e.ID]; !ok {
			first[e.ID] = e
		}
	}
	for _, e := range rows {
		want := first[e.ID]
		spelt := map[string]entry{
			e.ID: want, strings.ToUpper(" " + e.ID + " "): want, e.ID + ":nitro": want,
			"gateway/" + e.ID: want, "publishers/someone/models/" + e.ID: want,
			"arn:aws:bedrock:us-east-1:123456789012:inference-profile/" + e.ID: want,
		}
		if !strings.HasSuffix(e.ID, ":batch") && !strings.HasSuffix(e.ID, ":free") { // nobody puts a date behind these
			for _, mark := range []string{"-20991231", "@20991231", "-2099-12-31", "[1m]", "-v1:0"} {
				spelt[e.ID+mark] = want
			}
		}
		spelt[e.Provider+":"+e.ID], spelt[e.Provider+":"+e.ID+":nitro"] = e, e
		if name := e.Provider + "/" + e.ID; first[name].ID == "" { // else it is an id
			spelt[name], spelt[name+":nitro"] = e, e
		}
		if e.Provider == "amazon-bedrock" {
			spelt["bedrock/"+e.ID], spelt["bedrock/converse/"+e.ID] = e, e
		}
		for name, want := range spelt {
			m, _ := Find(name)
			assert.True(t, isRight(m, modelOf(t, want)), "%s of %s: %+v", name, e.Provider, m)
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
		price
		Tiers []struct {
			Above int `json:"inputTokensAbove"`
			price
		} `json:"tiers"`
	} `json:"price_usd_per_mtok"`
}

// price is in dollars for a million tokens.
type price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// profile is what the rules say of the cache of a provider.
type profile struct {
	TTL []struct {
		Seconds int     `json:"seconds"`
		Write   float64 `json:"write_mult"`
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
	var wide, newer struct {
		Models  []entry
		Changed []entry `json:"changed_windows"`
	}
	for name, into := range map[string]any{"models-wide.json": &wide, "models-newer.json": &newer} {
		data, err := os.ReadFile(providers + name)
		if os.IsNotExist(err) {
			t.Skip("the catalogue of providers is not here")
		}
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, into))
	}
	for _, c := range newer.Changed {
		i := slices.IndexFunc(wide.Models, func(e entry) bool { return e.Provider == c.Provider && e.ID == c.ID })
		wide.Models[i].Window = c.Window
	}
	all := slices.Concat(wide.Models, newer.Models)
	for i := range all {
		all[i].ID = strings.ToLower(all[i].ID)
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		if a.isMaker() != b.isMaker() {
			return map[bool]int{true: -1, false: 1}[a.isMaker()]
		}
		return cmp.Compare(a.window(), b.window())
	})
	return all
}

// isRight reports whether what was found of a model is what its row says. A row without a price says nothing of it.
func isRight(got, want Model) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 0.005*max(a, b) }
	same := func(a, b Price) bool {
		return near(a.Output, b.Output) && near(a.CacheRead, b.CacheRead) && near(a.CacheWrite, b.CacheWrite)
	}
	return got.Window == want.Window && (want.Input == 0 || near(got.Input, want.Input) && same(got.Price, want.Price) &&
		slices.EqualFunc(got.Tiers, want.Tiers, func(a, b Tier) bool {
			return a.Above == b.Above && near(a.Uncached, b.Uncached) && same(a.Price, b.Price)
		}))
}

// generate fills the table with what Find does not find yet: first the shortest names without hosts, then the names as
// their hosts spell them, then those with the host in front.
func generate(t *testing.T, rows []entry) []byte {
	t.Helper()
	c := catalogue{map[string]*Model{}, map[string]*Model{}}
	lines := map[string]*row{} // by what they say of the model
	add := func(key, name string, e *entry, isHosted bool) {
		text := columnsOf(t, *e)
		if lines[text] == nil {
			lines[text] = &row{model: parseRow(strings.Split(text, "\t"))}
		}
		r := lines[text]
		if got, ok := c.find(name); ok && isRight(got, *r.model) {
			return
		}
		if isHosted {
			c.hosted[key], r.hosted = r.model, append(r.hosted, key)
		} else {
			c.named[key], r.names = r.model, append(r.names, key)
		}
	}
	for _, name := range shortNames(rows) {
		add(squeezed(name.short), name.short, name.row, false)
	}
	slices.SortStableFunc(rows, func(a, b entry) int { return cmp.Compare(len(a.ID), len(b.ID)) })
	ids := map[string]bool{}
	for _, e := range rows {
		if !ids[e.ID] { // the first one of several
			add(e.ID, e.ID, &e, true)
		}
		ids[e.ID] = true
	}
	for _, e := range rows {
		key := e.Provider + ":" + e.ID
		add(key, key, &e, true)
		if name := e.Provider + "/" + e.ID; !ids[name] {
			add(key, name, &e, true)
		}
	}
	var b strings.Builder
	b.WriteString(head)
	for _, text := range slices.SortedFunc(maps.Keys(lines), func(x, y string) int {
		return cmp.Or(cmp.Compare(lines[x].model.Window, lines[y].model.Window), cmp.Compare(x, y))
	}) {
		r := lines[text]
		if len(r.names)+len(r.hosted) > 0 {
			slices.Sort(r.names)
			slices.Sort(r.hosted)
			b.WriteString(text + "\t" + strings.Join(r.names, " ") + "\t" + strings.Join(slices.Compact(r.hosted), " ") + "\n")
		}
	}
	return []byte(b.String())
}

// head says how the table is made, and what it has.
const head = `# Generated from the catalogue of providers: go test ./internal/models -update
# window, in tokens
# cache: seconds, least tokens, seconds of the longer lifetime and what it costs to write for it
# dollars for a million tokens: uncached, answer, read, written
# the same above so many tokens, for the whole request; several are divided by a semicolon
# names, without what stands between their parts
# names as hosts spell them that have another window or price than the maker
`

// row is a line of the table.
type row struct {
	model         *Model
	names, hosted []string
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

// rules are those of prompt caches.
var rules = sync.OnceValues(func() (map[string]profile, error) {
	var cache struct{ Profiles map[string]profile }
	data, err := os.ReadFile(providers + "cache-rules.json")
	if err == nil {
		err = json.Unmarshal(data, &cache)
	}
	return cache.Profiles, err
})

func modelOf(t *testing.T, e entry) Model {
	t.Helper()
	return *parseRow(strings.Split(columnsOf(t, e), "\t"))
}

// columnsOf writes what a row of the catalogue says of its model.
func columnsOf(t *testing.T, e entry) string {
	t.Helper()
	profiles, err := rules()
	require.NoError(t, err)
	p := profiles[profileOf(e)]
	cache := []float64{ttlOf(e, p).Seconds(), ruleFor(t, e.ID, p.Min)}
	if len(p.TTL) > 1 {
		cache = append(cache, float64(p.TTL[1].Seconds), p.TTL[1].Write)
	}
	base := e.Price.price
	if base.Input > 0 && base.CacheRead == 0 {
		base.CacheRead = base.Input * ruleFor(t, e.ID, p.Read)
	}
	base.CacheRead = min(base.CacheRead, base.Input)
	var tiers []string
	for _, tier := range e.Price.Tiers {
		if tier.Input == base.Input && tier.Output == base.Output {
			continue // not one
		}
		if tier.CacheRead == 0 {
			tier.CacheRead = base.CacheRead * tier.Input / base.Input
		}
		tiers = append(tiers, fmt.Sprint(tier.Above, " ", tier.columns()))
	}
	return fmt.Sprint(e.window(), "\t", joined(cache...), "\t", base.columns(), "\t", strings.Join(tiers, ";"))
}

func (p price) columns() string { return joined(p.Input, p.Output, p.CacheRead, p.CacheWrite) }

// joined writes numbers without the zeros at their end.
func joined(list ...float64) string {
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	var texts []string
	for _, n := range list {
		texts = append(texts, strconv.FormatFloat(n, 'g', 6, 64))
	}
	return strings.Join(texts, " ")
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
