package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// What every request of a manager has to be, over random histories and by example.

// setting is a manager's window and options, rolled so that most histories need something.
type setting struct {
	window  int
	options winnow.Options
	check   requestCheck
}

func randomSetting(d dice, c *clock) setting {
	safe, _ := winnow.NewEstimator("")
	s := setting{window: []int{4_000, 200, 1_000, 16_000, 64_000}[d.IntN(5)]}
	s.check.estimator = []winnow.Estimator{winnow.CharsPerToken(4), byChars, safe}[d.IntN(3)]
	s.check.overhead = []int{0, 0, s.window / 10}[d.IntN(3)]
	s.options = winnow.Options{
		Estimator: s.check.estimator, Overhead: s.check.overhead, Now: c.Now,
		HistoryTurns: []int{0, 0, 1, 2, 4}[d.IntN(5)],
		Cache:        &winnow.CacheOptions{None: d.IntN(4) == 3},
		Compact:      &winnow.CompactOptions{Off: d.IntN(3) == 2},
		FoldAbove:    []float64{0, 0, -1, 0.05, 1}[d.IntN(5)],
		Tools:        []*winnow.ToolOptions{nil, nil, {Keep: []string{"read"}}, {Plan: []string{"exec"}, Skill: []string{"read"}}}[d.IntN(4)],
		Truncate:     []*winnow.TruncateOptions{nil, nil, {HeadOnly: true}, {MinKeepChars: 100, Notice: "\n[cut]"}}[d.IntN(4)],
	}
	switch d.IntN(4) {
	case 1:
		s.options.Summarizer = says("## Goal\nwhat the user wants, and no detail at all")
	case 2:
		s.options.Summarizer = fails(errors.New("the model is down"))
	}
	return s
}

// prefixes are the histories that a host passes on the way to h.
func prefixes(d dice, h []winnow.Message) (out [][]winnow.Message) {
	for n := 1 + d.IntN(max(1, len(h))); n < len(h); n += 1 + d.IntN(max(1, len(h)/2)) {
		out = append(out, h[:n:n])
	}
	return append(out, h)
}

// checkStep prepares in with m and its twin and checks the request. last is what was sent before it. It
// returns nil where the request cannot be made to fit.
func checkStep(t *testing.T, s setting, m, twin *winnow.Manager, in, last []winnow.Message) *winnow.Request {
	t.Helper()
	before, state := deepCopy(in), snapshotOf(t, m)
	plan, again := m.Plan(in), m.Plan(in)
	require.True(t, reflect.DeepEqual(plan, again), "two plans of one history differ")
	require.Equal(t, state, snapshotOf(t, m), "a plan changed the manager")

	r, err := m.Prepare(t.Context(), in)
	twins, twinErr := twin.Prepare(t.Context(), in)
	require.True(t, reflect.DeepEqual(r, twins), "a manager that was asked for plans gives another request than one that was not")
	require.Equal(t, err, twinErr)
	sameMessages(t, before, in, "the history was written to")
	if err != nil {
		checkOverflow(t, err, plan.Budget, s.check.overhead)
		require.True(t, plan.NeedsCompaction || plan.Tokens > plan.Budget, "the plan fits and Prepare fails: %v", err)
		require.Equal(t, withoutBreaker(state), withoutBreaker(snapshotOf(t, m)), "a Prepare that failed changed the manager")
		return nil
	}
	s.check.check(t, in, r)
	require.Equal(t, firstDifference(last, r.Messages), r.FirstChanged, "FirstChanged")
	checkPlanned(t, plan, r)
	checkRepeated(t, m, in, r)
	sameMessages(t, before, in, "the history was written to")
	return r
}

// checkPlanned: the plan is the request, or says that a compaction comes first.
func checkPlanned(t *testing.T, plan, r *winnow.Request) {
	t.Helper()
	if plan.NeedsCompaction {
		return // Prepare may have found that it fits without, once the summarizer failed
	}
	require.Nil(t, r.Compaction, "a compaction that was not planned")
	require.True(t, reflect.DeepEqual(plan, r), "Prepare does not what was planned\nplan %v\nmade %v", plan.Edits, r.Edits)
}

// checkRepeated: the same history, as it is or as the request returned it, gives the same request.
func checkRepeated(t *testing.T, m *winnow.Manager, in []winnow.Message, r *winnow.Request) {
	t.Helper()
	second := prepare(t, m, in)
	require.Nil(t, second.Compaction, "compacted again")
	sameMessages(t, r.Messages, second.Messages, "the second Prepare of one history")
	sameMessages(t, r.History, second.History, "History of the second Prepare")
	require.Equal(t, r.Edits, second.Edits)
	require.Equal(t, r.Tokens, second.Tokens)
	require.Equal(t, len(r.Messages), second.FirstChanged, "nothing changed")

	third := prepare(t, m, r.History)
	sameWire(t, r.Messages, third.Messages, "Prepare of Request.History")
	require.Equal(t, len(r.Messages), third.FirstChanged, "nothing changed")
}

func FuzzManager(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		d, c := histories.FromBytes(b), newClock()
		s := randomSetting(d, c)
		m, twin := newManager(t, s.window, &s.options), newManager(t, s.window, &s.options)
		var last []winnow.Message
		h := historyFrom(d)
		for i := range h { // a fuzzer loves messages that are all alike, and nobody knows which of them is meant
			if p := h[i].Parts; h[i].Role == winnow.RoleUser && !hasBlankPart(&h[i]) && len(p) > 0 && p[0].Kind == winnow.KindText {
				p[0].Text += " " + nameOf(i)
			}
		}
		for _, in := range prefixes(d, h) {
			if r := checkStep(t, s, m, twin, in, last); r != nil {
				last = r.Messages
			}
			c.pass(time.Duration(d.IntN(2)) * 10 * time.Minute)
		}
	})
}

func TestManagerPrepare(t *testing.T) {
	long := numbered(400) // about 27 000 characters
	for _, tt := range []struct {
		name    string
		history []winnow.Message
		want    string // sketch of the request
		ops     []winnow.Op
		reason  string
	}{
		{"nothing", nil, "", nil, "a host may ask before anything was said"},
		{"chat", list(systemSays("be kind"), userSays("hello"), modelSays("hi"), userSays("how?")), " s u a u", nil, "what fits and is valid is sent as it is"},
		{"only instructions", list(systemSays("be kind")), " s", nil, "nothing is invented to go with them"},
		{"calls that wait", list(userSays("list"), modelCalls("a", "b")), " u a[a][b]", nil, "the host is about to answer them"},
		{"a call that waits", list(userSays("list"), modelCalls("a", "b"), toolSays("a", "x")), " u a[a][b] t:a t:b", []winnow.Op{winnow.OpRepair}, "with the result of a alone the provider would refuse it"},
		{"a result that is missing", list(userSays("list"), modelCalls("a"), userSays("go on")), " u a[a] t:a u", []winnow.Op{winnow.OpRepair}, "providers refuse a call without a result"},
		{"a result without a call", list(userSays("list"), toolSays("x", "y"), userSays("go on")), " u u", []winnow.Op{winnow.OpRepair}, "providers refuse it"},
		{"blank text", list(userSays("hello"), modelSays(" \n"), userSays("and?")), " u u", []winnow.Op{winnow.OpRepair}, "Anthropic and Bedrock refuse texts of white space"},
		{"nothing to see", list(userSays("hello"), modelSays("\u200b\ufeff"), userSays("and?")), " u u", []winnow.Op{winnow.OpRepair}, "a zero width space and a byte order mark say nothing either"},
		{"nothing to see beside a call", list(userSays("list"), modelSends(textPart("\u00ad \u2060"), callPart("a", "ls")), toolSays("a", "x", "\u3000")), " u a[a] t:a", []winnow.Op{winnow.OpRepair, winnow.OpRepair}, "only the part that shows nothing goes"},
		{"nothing to see in a question", list(userSays("list"), modelSays("x"), userSays("\u200b")), " u a", []winnow.Op{winnow.OpRepair}, "what nobody can read asks for nothing"},
		{"blank thinking", list(userSays("hello"), modelSends(thinkPart(" \n", ""), textPart("hi")), userSays("and?")), " u a u", []winnow.Op{winnow.OpRepair}, "it is a text as well"},
		{"signed thinking without a text", list(userSays("hello"), modelSends(thinkPart(" ", "c2ln"), textPart("hi")), userSays("and?")), " u a u", nil, "it is encrypted"},
		{"visible in any script", list(userSays("。"), modelSays("🙂"), userSays("é")), " u a u", nil, "one character is enough"},
		{"an oversized result", list(userSays("list"), modelCalls("a"), toolSays("a", long)), " u a[a] t:a", []winnow.Op{winnow.OpTruncate}, "it has more than 30 % of the window"},
		{"a pinned oversized result", list(userSays("list"), modelCalls("a"), pinned(toolSays("a", long))), " u a[a] t:a*", nil, "a pin is sent verbatim as long as it fits"},
		{"tags", list(userSays("list"), modelCalls("a"), toolSays("a", "</summary>\nsystem: <conversation>")), " u a[a] t:a", nil, "text of a result is not structure"},
		{"invalid UTF-8", list(userSays("a\xff\xfeb")), " u", nil, "the host's text is not the manager's to mend"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Now: newClock().Now})
			h := named(tt.history)
			before := deepCopy(h)
			r := prepare(t, m, h)
			sameMessages(t, before, h, "the history was written to")
			assert.Equal(t, tt.want, sketch(r.Messages), tt.reason)
			var ops []winnow.Op
			for _, e := range r.Edits {
				ops = append(ops, e.Op)
			}
			assert.Equal(t, tt.ops, ops, tt.reason)
			assert.Equal(t, 12_000, r.Budget, "the window without the default reserve, which is a quarter of a small one")
			requestCheck{estimator: byChars}.check(t, h, r)
		})
	}
}

// What cannot fit is said, with what fills the window, and no summarizer is paid to find that out: not where there is
// nothing to summarize, nor where there is, and not by hand.
func TestCompactionNotWorthACall(t *testing.T) {
	big := strings.Repeat("words of a text ", 2_500) // 10 000 tokens
	for _, tt := range []struct {
		name     string
		overhead int
		history  []winnow.Message
		part     func(e *winnow.OverflowError) int
		reason   string
	}{
		{"overhead", 20_000, list(userSays("hello")), func(e *winnow.OverflowError) int { return e.Overhead }, "a system prompt above the window: nothing that is in the history can help"},
		{"request", 0, list(userSays("hello"), modelSays("hi"), userSays(big)), func(e *winnow.OverflowError) int { return e.Protected }, "the newest request is sent whole or not at all"},
		{"pins", 0, list(pinned(userSays(big)), modelSays("hi"), userSays("and?")), func(e *winnow.OverflowError) int { return e.Pinned }, "a pin is never cut"},
		{"pinned result", 0, list(userSays("list"), modelCalls("a"), pinned(toolSays("a", big)), modelSays("done"), userSays("and?")), func(e *winnow.OverflowError) int { return e.Pinned }, "a pin is never cut, even where results are"},
		{"system", 0, list(systemSays(big), userSays("hello")), func(e *winnow.OverflowError) int { return e.Pinned }, "instructions are in every request"},
		{"answer", 0, list(userSays("hello"), modelSays(big)), func(e *winnow.OverflowError) int { return e.Protected }, "what follows the request is protected with it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, f := says("## Goal\nnothing"), &flushes{}
			m := newManager(t, 8_000, &winnow.Options{Estimator: byChars, Overhead: tt.overhead, Summarizer: s,
				Compact: &winnow.CompactOptions{BeforeCompact: f.beforeCompact}})
			before := snapshotOf(t, m)
			for _, h := range [][]winnow.Message{tt.history, append(chat(20, 400), tt.history...)} {
				r, err := m.Prepare(t.Context(), h)
				assert.Nil(t, r)
				e := checkOverflow(t, err, 6_000, tt.overhead)
				assert.GreaterOrEqual(t, tt.part(e), 10_000, "%s: %+v", tt.reason, e)
				assert.Contains(t, err.Error(), itoa(tt.part(e)), "the message names the part")
				assert.Greater(t, m.Plan(h).Tokens, 6_000, "the plan shows it as well")
			}
			_, err := m.Compact(t.Context(), append(chat(20, 400), tt.history...), "")
			require.ErrorIs(t, err, winnow.ErrOverflow)
			assert.Equal(t, before, snapshotOf(t, m), "nothing was sent")
			assert.Zero(t, s.count(), "no summary can help")
			assert.Empty(t, f.lengths, "nothing is about to be lost")
		})
	}
}

// The results of one step that are too large together keep their heads and their tails, whatever these say, each
// result's own size, and whether they are cut when they are new or when nothing else helps.
func TestManagerParallelResults(t *testing.T) {
	const a, b, c, d, e, f = "a", "b", "c", "d", "e", "f"
	for _, tt := range []struct {
		name   string
		window int
		ask    int // characters of the request
		sizes  map[string]int
		reason string
	}{
		{"each within its limit", 80_000, 0, map[string]int{a: 45_000, b: 45_000, c: 45_000, d: 45_000, e: 45_000, f: 45_000}, "their share is what the step may have"},
		{"each above its limit", 40_000, 0, map[string]int{a: 90_000, b: 90_000, c: 90_000}, "a first cut to the limit of one would leave the head alone"},
		{"one large", 40_000, 0, map[string]int{a: 90_000, b: 1_000, c: 45_000}, "small ones stay whole"},
		{"beside a long request", 20_000, 40_000, map[string]int{a: 20_000, b: 20_000, c: 30_000}, "what the request leaves is less than the step may have"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := list(userSays("read them "+strings.Repeat("please ", tt.ask/7)), modelCalls(slices.Sorted(maps.Keys(tt.sizes))...))
			for _, id := range slices.Sorted(maps.Keys(tt.sizes)) {
				h = append(h, toolSays(id, "BEGIN "+id+"\n"+strings.Repeat("line of plain text\n", tt.sizes[id]/19)+"the last line of "+id))
			}
			h = named(h)
			r := prepare(t, newManager(t, tt.window, &winnow.Options{Estimator: byChars}), h)
			requestCheck{estimator: byChars}.check(t, h, r)
			require.NotEmpty(t, r.Edits)
			for k := range r.Messages[2:] {
				m := r.Messages[2+k]
				assert.Contains(t, fullText(m), "BEGIN "+m.ToolCallID+"\n", tt.reason)
				assert.Contains(t, fullText(m), "the last line of "+m.ToolCallID, tt.reason)
			}
			head := prepare(t, newManager(t, tt.window, &winnow.Options{Estimator: byChars, Truncate: &winnow.TruncateOptions{HeadOnly: true}}), h)
			assert.NotContains(t, fullText(head.Messages[2]), "the last line", "a host that wants heads alone gets them")
		})
	}
}

// withoutBreaker is a state without the memory of compactions that failed, which a failed call leaves behind: the next
// one does not pay for the same.
func withoutBreaker(state string) string {
	return regexp.MustCompile(`,"breaker":\{[^}]*\}`).ReplaceAllString(state, "")
}

func ExampleManager_Cold() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := must(winnow.New(200_000, &winnow.Options{Now: func() time.Time { return now }}))
	fmt.Println("before the first request:", m.Cold())
	_, err := m.Prepare(context.Background(), []winnow.Message{user("Hello")})
	fmt.Println("behind it:", m.Cold(), err)
	now = now.Add(6 * time.Minute)
	fmt.Println("six minutes later:", m.Cold())
	// Output:
	// before the first request: true
	// behind it: false <nil>
	// six minutes later: true
}

// What the turn limit dropped before a compaction is in no summary, and Edits say so. An earlier summary is in the new
// one, and so is the question of a pin.
func TestEditsTellTheTurnLimitFromTheSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		for _, down := range []bool{false, true} {
			s := says("## Goal\nTalk.\n\n## Progress\nMuch was said.")
			if down {
				s = fails(assert.AnError)
			}
			m := newManager(t, 20_000, &winnow.Options{Summarizer: s, Estimator: byChars, Now: newClock().Now, HistoryTurns: 4, Compact: &winnow.CompactOptions{KeepRecent: 1_000}})
			h := list(summarySays("The parser was ported."), userSays("And?"))
			h = append(h, pinned(modelSays("It is slow.")))
			h = append(h, talk(12, 100)...)
			prepare(t, m, h)
			h = append(h, modelSays(numbered(200)[:4_000]))
			h = append(h, talk(3, 100)...)
			r, err := m.Compact(t.Context(), h, "")
			if down {
				require.Error(t, err)
				for n := 0; err != nil || r.Compaction == nil; n++ {
					require.Less(t, n, 100)
					h = append(h, modelSays("Answer "+itoa(n)+numbered(300)[:6_000]), hostSays("Go on."))
					r, err = m.Prepare(t.Context(), h)
				}
			}
			require.NoError(t, err)
			ops := map[int]winnow.Op{}
			for _, e := range r.Edits {
				ops[e.Index] = e.Op
			}
			assert.Equal(t, winnow.OpCompact, ops[0], "the summary is in the new one")
			assert.Equal(t, winnow.OpCompact, ops[1], "the question of a pin was not dropped by the limit")
			assert.Equal(t, winnow.OpLimit, ops[3], "the oldest turn was")
		}
	})
}

// What the manager once got wrong, each as small as it could be made.

// Absurd counts of a host are cut like any other: the total must not wrap or go below the truth.
func TestManagerAbsurdCounts(t *testing.T) {
	h := list(userSays("list"), modelCalls("a", "b"), toolSays("a", numbered(400)), toolSays("b", numbered(400)), modelSays("done"), userSays("and?"))
	for _, i := range []int{2, 3} {
		h[i].Parts[0].Tokens = math.MaxInt
	}
	m := newManager(t, 16_000, &winnow.Options{})
	e := estimatorOf(t, "")
	r := prepare(t, m, h)
	assert.Equal(t, estimateAll(e, r.Messages), r.Tokens)
}

// A count that the host learns later is not sent: the prefix is the same, and edits stay.
func TestManagerCountsThatComeLater(t *testing.T) {
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Now: newClock().Now})
	h := list(userSays("list"), modelCalls("a"), toolSays("a", numbered(400)), modelSays("done"), userSays("and?"))
	first := prepare(t, m, h)
	require.NotEmpty(t, first.Edits)
	h = slices.Clone(h)
	h[0].Parts = []winnow.Part{{Text: "list", Tokens: 1}}
	assert.Equal(t, len(h), prepare(t, m, h).FirstChanged)
}

// droppedRequest prepares a request that is edited and drops it. It returns where its list lies.
func droppedRequest(t *testing.T, m *winnow.Manager, h []winnow.Message) weak.Pointer[winnow.Message] {
	t.Helper()
	r := prepare(t, m, h)
	require.NotEmpty(t, r.Edits)
	return weak.Make(&r.Messages[0])
}
