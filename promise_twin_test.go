package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
)

// A twin is a provider whose cache does what documentation says, until a fault is put in.
type twin struct {
	estimator winnow.Estimator
	factor    float64              // of its tokenizer, to the estimates
	beside    string               // model, tier, system prompt and tools
	hidden    int                  // tokens of the last two
	ttl       time.Duration        // how long it keeps what nobody reads
	seen      map[string]time.Time // beginnings of requests, with when they were read last
	says      bool                 // what has changed
	because   string               // what it says then
}

// prefixes returns the names of all beginnings of a request, and their tokens.
func (w *twin) prefixes(messages []winnow.Message) (names []string, tokens []int) {
	names, tokens = []string{w.beside}, []int{w.hidden}
	for i := range messages {
		m := &messages[i]
		// A hash of the name before it, so that names do not grow.
		name := fmt.Sprintf("%x", hashOf(names[i]+fmt.Sprint(m.Role, m.ToolCallID, m.Parts)))
		names = append(names, name)
		tokens = append(tokens, tokens[i]+int(w.factor*float64(w.estimator.Estimate(*m))))
	}
	return names, tokens
}

const leastCached = 4_096 // tokens, of the twin's models

func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// take reads a request at a time, and returns what it bills.
func (w *twin) take(messages []winnow.Message, at time.Time) *winnow.Usage {
	names, tokens := w.prefixes(messages)
	read := 0
	for i, name := range names {
		if last, ok := w.seen[name]; !ok || at.Sub(last) >= w.ttl {
			break
		}
		read = tokens[i]
	}
	for _, name := range names {
		w.seen[name] = at
	}
	all := tokens[len(tokens)-1]
	if read -= read % 128; read < leastCached {
		read = 0
	}
	return &winnow.Usage{CacheRead: read, CacheWrite: all - read, Output: 100}
}

// faulty is a conversation with a twin, of which the test knows what goes wrong.
type faulty struct {
	*rand.Rand
	t       *testing.T
	m       *winnow.Manager
	opts    winnow.Options
	window  int
	now     time.Time
	log     bytes.Buffer
	twin    twin
	history []winnow.Message
	counted bool // usage is told by Counted, not in the history
	clocked bool // the host puts the time behind each request, and drops it later

	base      []winnow.Message // of the newest request that was answered
	had, read int              // its tokens; the sum of what was read
	baseAt    time.Time
	beside    string
	names     []string // of its prefixes
	tokens    []int
	hidden    int
	use       winnow.CacheUse
	faults    []string // since then
	edited    string   // text that the host has replaced
	wrong     []string
	seen      map[string]int // what happened, and who was blamed
}

func playTwin(t *testing.T, seed uint64) *faulty {
	f := &faulty{Rand: rand.New(rand.NewPCG(seed, 58)), t: t, now: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)}
	f.window = []int{60_000, 90_000, 200_000}[f.IntN(3)]
	f.counted, f.clocked = f.IntN(3) == 0, f.IntN(4) == 0
	believed := []time.Duration{5 * time.Minute, time.Hour}[f.IntN(2)]
	f.opts = winnow.Options{Model: "claude-opus-4-6", Now: func() time.Time { return f.now },
		Cache:   &winnow.CacheOptions{TTL: believed, ReadPrice: .1, WritePrice: 1.25},
		Logger:  slog.New(slog.NewTextHandler(&f.log, nil)),
		Compact: &winnow.CompactOptions{Background: f.IntN(2) == 0},
	}
	if f.IntN(2) == 0 {
		f.opts.Summarizer = winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
			return "## Goal\nFind the word.\n\n## Progress\nParts were read.", nil
		})
	}
	f.twin = twin{estimator: estimatorOf(t, "claude"), factor: .7 + f.Float64(), beside: "claude-opus-4-6", hidden: 1_500 + f.IntN(8_000), ttl: believed,
		seen: map[string]time.Time{}, says: f.IntN(2) == 0}
	f.seen = map[string]int{}
	f.m = newManager(t, f.window, &f.opts)
	defer f.m.Close()
	f.history = list(userSays("Find the word." + strings.Repeat(" And say where it was.", 20+f.IntN(300))))
	first := 6 + f.IntN(20)
	for i := range 40 {
		if i == first || i == first+6 {
			for range 1 + f.IntN(2) {
				f.fault(i)
			}
		}
		f.request(i)
	}
	f.sums()
	return f
}

// fault puts one fault in, in front of request i.
func (f *faulty) fault(i int) {
	name := []string{"tools", "fewer tools", "model", "tier", "edit", "lost", "shorter", "pause", "longer"}[f.IntN(9)]
	if name != "edit" {
		f.twin.because = ""
	}
	switch name {
	case "tools":
		if f.twin.hidden > 20_000 {
			return
		}
		f.twin.beside, f.twin.hidden = f.twin.beside+"+", f.twin.hidden+2_500+f.IntN(15_000)
		f.twin.because = "tools_changed"
	case "fewer tools":
		if f.twin.hidden < 5_000 {
			return
		}
		f.twin.beside, f.twin.hidden = f.twin.beside+"-", f.IntN(500)
		f.twin.because = "system_changed"
	case "model":
		f.opts.Model = map[string]string{
			"claude-opus-4-6": "claude-opus-4-5", "claude-opus-4-5": "claude-opus-4-6",
		}[f.opts.Model]
		f.twin.beside += f.opts.Model
		f.restore()
		f.twin.because = "model_changed"
	case "tier":
		f.twin.beside += "fast"
		f.twin.because = "service_tier_changed"
	case "edit":
		newest := len(f.history) - 1
		if f.clocked { // else nothing says which message answers the request with the time
			newest -= 3
		}
		for k := 1 + f.IntN(newest); k > 0; k-- {
			if m := &f.history[k]; m.Role == winnow.RoleTool {
				f.edited = m.Parts[0].Text
				f.history[k] = toolSays(m.ToolCallID, fmt.Sprint("changed ", i, " ", m.Parts[0].Text))
				if len(f.faults) == 0 { // what else is wrong changes more
					f.twin.because = "messages_changed"
				}
				break
			}
		}
	case "lost":
		clear(f.twin.seen)
		f.twin.because = "unavailable"
	case "shorter": // the provider keeps it for less than is believed
		if f.opts.Cache.TTL < time.Hour {
			return
		}
		f.twin.ttl = 5 * time.Minute
		f.now = f.now.Add(time.Duration(6+f.IntN(40)) * time.Minute)
	case "pause":
		f.now = f.now.Add(f.opts.Cache.TTL + time.Duration(f.IntN(600))*time.Second)
	case "longer":
		f.twin.ttl = 24 * time.Hour
		f.now = f.now.Add(f.opts.Cache.TTL + time.Duration(f.IntN(600))*time.Second)
	}
	f.seen[name]++
	if f.faults = append(f.faults, name); len(f.faults) > 1 {
		f.seen["two at once"]++
	}
}

// restore goes on in another process.
func (f *faulty) restore() {
	state, err := f.m.Snapshot()
	require.NoError(f.t, err)
	f.m.Close()
	f.m = newManager(f.t, f.window, &f.opts)
	require.NoError(f.t, f.m.Restore(state))
}

// request prepares request i, some of them more than once, and has the last one answered.
func (f *faulty) request(i int) {
	f.now = f.now.Add(time.Duration(2+f.IntN(30)) * time.Second)
	if f.IntN(8) == 0 {
		f.seen["restored"]++
		f.restore()
	}
	h := slices.Clone(f.history)
	if f.clocked {
		h = append(h, winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: f.now.String()}}})
	}
	f.log.Reset()
	r, err := f.m.Prepare(f.t.Context(), h)
	require.NoError(f.t, err)
	for f.IntN(5) == 0 { // no answer comes
		if f.IntN(2) == 0 { // though it was sent
			f.twin.take(r.Messages, f.now)
		}
		f.seen["again"]++
		f.m.Plan(h)
		if f.IntN(3) == 0 {
			f.now = f.now.Add(time.Duration(f.IntN(10)) * time.Minute)
		}
		switch n := f.IntN(3); {
		case n == 0 && !f.clocked:
			// The text that a clocked host drops hides that a request begins with all of an earlier one.
			if next, err := f.m.Recover(f.t.Context(), h, errors.New("prompt is too long")); err == nil {
				f.seen["recovered"]++
				r = next
				continue
			}
		case n == 1:
			h = append(h, userSays(fmt.Sprint("Go on. ", i)))
			f.history = append(f.history, h[len(h)-1])
		}
		next, err := f.m.Prepare(f.t.Context(), h)
		require.NoError(f.t, err)
		r = next
	}
	kept := f.common(r.Messages) // before the twin learns of it
	u := f.twin.take(r.Messages, f.now)
	if u.CacheRead < f.had*85/100 && f.twin.says && len(f.faults) > 0 {
		u.CacheMiss = f.twin.because
	}
	id := fmt.Sprintf("call_%d", i)
	answer := call(id, "bash", fmt.Sprintf(`{"command":"cat part_%d"}`, i))
	if !f.counted {
		answer.Usage = u
	}
	f.history = append(f.history, answer, toolSays(id, strings.Repeat(fmt.Sprintf("line of part %d\n", i), 5+f.IntN(300))))
	f.log.Reset()
	if f.counted || i == 39 {
		f.m.Counted(*u)
	} else { // what is counted at the next Prepare can be looked at now
		state, err := f.m.Snapshot()
		require.NoError(f.t, err)
		o := f.opts
		twin := newManager(f.t, f.window, &o)
		require.NoError(f.t, twin.Restore(state))
		_, err = twin.Prepare(f.t.Context(), f.history)
		require.NoError(f.t, err)
		f.check(i, u, kept, twin.CacheUse())
		f.next(r, u)
		return
	}
	f.check(i, u, kept, f.m.CacheUse())
	f.next(r, u)
}

func (f *faulty) next(r *winnow.Request, u *winnow.Usage) {
	f.base, f.had, f.read, f.baseAt, f.faults, f.edited = r.Messages, u.Prompt(), f.read+u.CacheRead, f.now, nil, ""
	f.twin.because = ""
	f.beside, f.hidden = f.twin.beside, f.twin.hidden
	f.names, f.tokens = f.twin.prefixes(f.base)
}

// common returns how many tokens of the base a request begins with.
func (f *faulty) common(messages []winnow.Message) int {
	beside := f.twin.beside
	f.twin.beside = f.beside
	defer func() { f.twin.beside = beside }()
	names, _ := f.twin.prefixes(messages)
	n := 0
	for n+1 < min(len(names), len(f.names)) && names[n+1] == f.names[n+1] {
		n++
	}
	if f.base == nil {
		return 0
	}
	return f.tokens[n]
}

var missedLine = regexp.MustCompile(`less was read .*tokens=(\d+) expected=(\d+) whose=(\w+) reason=("[^"]*"|\S+)`)

// check looks at what is said of an answer.
func (f *faulty) check(i int, u *winnow.Usage, kept int, use winnow.CacheUse) {
	d := use.Plus(-1, f.use)
	f.use = use
	said := missedLine.FindStringSubmatch(f.log.String())
	fail := func(format string, args ...any) {
		f.wrong = append(f.wrong, fmt.Sprintf("request %d: ", i)+fmt.Sprintf(format, args...)+
			fmt.Sprintf("; faults %v, had %d, kept %d, read %d of %d, hidden %d, pause %v, said %v %q, %+v", f.faults, f.had, kept,
				u.CacheRead, u.Prompt(), f.twin.hidden, f.now.Sub(f.baseAt), f.twin.says, said, d))
	}
	if d.Read != u.CacheRead {
		fail("the sum is not the bill")
	}
	lost := f.had - u.CacheRead
	isLoss := f.base != nil && float64(lost) > .15*float64(f.had)
	rewritten := f.base != nil && kept < f.had-f.had/100
	has := func(name string) bool { return slices.Contains(f.faults, name) }
	// who could have done it, and whether that alone explains it
	can := map[string]bool{}
	explains := func(whose string, reads int) {
		if reads <= u.CacheRead+f.had/10 {
			can[whose] = true
		}
	}
	if has("tools") || has("fewer tools") || has("model") || has("tier") {
		explains("host", 0)
	}
	if has("tier") && u.CacheMiss == "" { // nothing shows it
		explains("provider", 0)
	}
	if has("lost") {
		explains("provider", 0)
	}
	isShown := !has("tier") && !has("lost") || u.CacheMiss != ""
	if pause := f.now.Sub(f.baseAt); pause >= f.twin.ttl || pause >= f.opts.Cache.TTL ||
		pause >= 5*time.Minute && !isShown {
		explains("time", 0)
	}
	if rewritten {
		explains("winnow", kept)
		if has("edit") {
			explains("host", kept)
		}
	}
	if isSame := max(f.twin.hidden, f.hidden)-min(f.twin.hidden, f.hidden) < 2_000; (has("tools") || has("fewer tools")) &&
		u.CacheMiss == "" && (rewritten || isSame) { // its size says nothing
		explains("provider", 0)
	}
	if said != nil && !can[said[3]] {
		fail("wrong culprit")
	}
	if said == nil && isLoss && !rewritten && (has("tools") || has("fewer tools") || has("tier") || has("lost") || has("shorter")) &&
		!has("model") && f.now.Sub(f.baseAt) < f.opts.Cache.TTL && f.had > 2*leastCached {
		fail("nothing is said")
	}
	if rewritten { // a part is its own
		can["winnow"] = true
		can["host"] = can["host"] || has("edit")
	}
	sum := 0
	for whose, n := range map[string]int{"winnow": d.Rewritten, "host": d.Changed, "time": d.Expired, "provider": d.Lost} {
		sum += n
		if n > 0 {
			f.seen[whose]++
		}
		if f.had > 2*leastCached && float64(n) > .1*float64(f.had) && !can[whose] {
			fail("wrong count of %s", whose)
		}
	}
	if isLoss && f.had > 2*leastCached && sum != lost {
		fail("the counts are %d of %d lost", sum, lost)
	}
}

// sums compares what was read with the bill.
func (f *faulty) sums() {
	if use := f.m.CacheUse(); use.Read != f.read {
		f.wrong = append(f.wrong, fmt.Sprintf("the sum is %d, the bill %d", use.Read, f.read))
	}
}

var twinsFrom = flag.Uint64("twins.seed", 1_000, "the first of the conversations with a twin that are played")

// TestPromiseTwin plays conversations with a twin, and one or two faults at a time: who is blamed could have done it, alone.
func TestPromiseTwin(t *testing.T) {
	wrong, seen := 0, map[string]int{}
	for seed := *twinsFrom; seed < *twinsFrom+times.Of(uint64(40)); seed++ {
		f := playTwin(t, seed)
		for what, n := range f.seen {
			seen[what] += n
		}
		for _, w := range f.wrong {
			wrong++
			if wrong < 30 {
				t.Logf("seed %d: %s", seed, w)
			}
		}
	}
	t.Log(seen)
	assert.Zero(t, wrong)
	for _, what := range []string{
		"tools", "fewer tools", "model", "tier", "edit", "lost", "shorter", "pause", "longer", "two at once", "again",
		"recovered", "restored", "winnow", "host", "time", "provider",
	} {
		assert.Positive(t, seen[what], "%s: it never happened, and the test says nothing of it", what)
	}
}
