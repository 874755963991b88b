package winnow_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A pause in the middle of a turn leaves the work as it was: the file that it is about stays whole. Behind a new request
// of a person it does not.
func TestFilesInWorkStayOverAPause(t *testing.T) {
	t.Parallel()
	for _, newTurn := range []bool{false, true} {
		m := newManager(t, 1_000_000, &winnow.Options{FoldAbove: 0.001, Estimator: byChars, Now: newClock().Now, NoMinify: true})
		h := runs(40) // seen for the first time, so that nothing is in the prompt cache
		h[61].Parts[1].Name, h[62].ToolName = "read", "read"
		h[61].Parts[1].Arguments = []byte(`{"path":"main.go"}`)
		if newTurn {
			h = named(append(h, modelSays("Done."), userSays("And now?")))
		}
		r := prepare(t, m, h)
		assert.Equal(t, !newTurn, holds(r, &h[62]))
		assert.False(t, holds(r, &h[60]), "what a command said is folded")
		requestCheck{estimator: byChars}.check(t, h, r)
	}
}

// An agent reads 70 files of 1 700 tokens. What it has read in one turn is bounded, whatever it does then.
func TestFilesInWorkAreBounded(t *testing.T) {
	t.Parallel()
	const reads = 70
	type outcome struct {
		largest int
		cost    float64
		first   bool // the first file is whole in the last request
	}
	play := func(turns int, tool string, edits bool, change func(o *winnow.Options)) (out outcome) {
		c := newClock()
		o := &winnow.Options{Estimator: byChars, Now: c.Now, NoMinify: true, Tools: &winnow.ToolOptions{}}
		change(o)
		m := newManager(t, 200_000, o)
		h := list(userSays("Look at all of it."))
		for k := range reads {
			id := "call_" + itoa(k)
			arguments := `{"path":"src/part` + itoa(k) + `.go"}`
			h = named(append(h, callOf(id, tool, arguments, "part "+itoa(k)+"\n"+asciiText[k*37%1_000:][:6_800])...))
			if edits && k >= 40 && k%4 == 0 {
				h = named(append(h, callOf("edit_"+itoa(k), "edit", `{"path":"src/part0.go","old":"part 0","new":"part 00"}`, "ok")...))
			}
			r := prepare(t, m, h)
			requestCheck{estimator: byChars}.check(t, h, r)
			out.largest, out.cost, out.first = max(out.largest, r.Tokens), out.cost+r.Cost, holds(r, &h[2])
			if turns > 1 && k%(reads/turns) == reads/turns-1 {
				h = named(append(h, modelSays("So far all is green."), userSays("Go on.")))
			}
			c.pass(10 * time.Second)
		}
		return out
	}
	keep := func(*winnow.Options) {}
	one, five, grep := play(1, "read", false, keep), play(5, "read", false, keep), play(1, "grep", false, keep)
	fold := play(1, "read", false, func(o *winnow.Options) { o.Tools.FoldFiles = true })
	always := play(1, "read", false, func(o *winnow.Options) { o.FoldAbove = -1 })
	t.Logf("one turn %+v, five %+v, grep %+v, FoldFiles %+v, FoldAbove -1 %+v", one, five, grep, fold, always)
	assert.Less(t, one.largest, 90_000)
	assert.Less(t, one.cost, 1.5*five.cost)
	assert.False(t, one.first)
	assert.True(t, play(1, "read", true, keep).first, "what the agent changes stays")
	assert.InEpsilon(t, grep.largest, fold.largest, .01, "files are work like any other, but no record counts their lines")
	assert.Less(t, always.largest, 30_000)
}

// Where a request does not fit, files in work go last and the largest first. As long as the turn has changed no file,
// more of them stay.
func TestFilesInWorkGoLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		tools []string // of the calls, the oldest first; each reads or changes a file of its own, or lists
		lines []int    // of their results, 100 tokens each
		whole []int    // the calls whose results are whole
	}{
		{"what a command said goes first, but for the newest two steps", []string{"read", "ls", "ls", "ls"}, []int{20, 30, 30, 30}, []int{0, 2, 3}},
		{"of files, the largest goes", []string{"read", "read", "read", "ls"}, []int{15, 60, 15, 15}, []int{0, 2, 3}},
		{"as much goes as must, and no more", []string{"read", "read", "read", "read", "ls"}, []int{40, 30, 21, 20, 10}, []int{2, 3, 4}},
		{"of a turn with an edit, more goes", []string{"edit", "read", "read", "read", "read", "ls"}, []int{1, 40, 30, 21, 20, 10}, []int{0, 4, 5}},
		{"… but no more than that", []string{"edit", "read", "read", "read", "read", "ls"}, []int{1, 40, 30, 18, 17, 10}, []int{0, 3, 4, 5}},
		{"an edit that a record stands for counts", []string{"edit", "ls", "ls", "ls", "ls", "read", "read", "read", "read", "ls"},
			[]int{1, 2, 2, 2, 2, 40, 30, 21, 20, 10}, []int{8, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newManager(t, 10_000, &winnow.Options{
				Reserve: 1, Estimator: byChars, Now: newClock().Now, NoMinify: true,
				Compact:  &winnow.CompactOptions{Off: true},
				Truncate: &winnow.TruncateOptions{MaxShare: 1},
			})
			h := []winnow.Message{userSays("go")}
			for k, tool := range tt.tools {
				text := strings.Repeat(strings.Repeat("x", 399)+"\n", tt.lines[k])
				h = append(h, callOf(itoa(k), tool, `{"path":"`+itoa(k)+`.go"}`, text)...)
			}
			h = named(h)
			r := prepare(t, m, h)
			var whole []int
			for k := range tt.tools {
				if holds(r, &h[2*k+2]) {
					whole = append(whole, k)
				}
			}
			assert.Equal(t, tt.whole, whole)
			requestCheck{estimator: byChars}.check(t, h, r)
		})
	}
}

// Steps whose results fill most of the room are no reason for a summary every few requests: no summary stands for the
// newest results, and the next epoch drops them.
func TestLargeStepsNeedFewSummaries(t *testing.T) {
	t.Parallel()
	const steps, results = 40, 8
	summaries := 0
	m := newManager(t, 30_000, &winnow.Options{
		Reserve: 2000, Estimator: byChars, Now: newClock().Now, NoMinify: true,
		Summarizer: answers(strings.Repeat("What was done. ", 100)),
	})
	h := []winnow.Message{userSays("Look at all files.")}
	for k := range steps {
		var parts []winnow.Part
		var said []winnow.Message
		for p := range results {
			id := itoa(results*k + p)
			parts = append(parts, callWith(id, "read", `{"path":"`+id+`.go"}`))
			text := ""
			for line := range 100 {
				text += strings.Repeat("z", 80) + " line_" + id + "_" + itoa(line) + "\n"
			}
			said = append(said, toolOf(id, "read", text))
		}
		h = append(append(h, modelSends(parts...)), said...)
		r := prepare(t, m, named(h))
		if r.Compaction != nil {
			summaries++
		}
	}
	assert.LessOrEqual(t, summaries, steps/4, "where results may take half of the room, there are 7")
}

// Where the newest steps alone fill the room, all but the last of them become records before a model is asked for a
// summary. Not so before a digest, which costs no call. While records will make room a host is not asked to save what a
// summary may lose, and no summary is begun in the background.
func TestNewestStepsFoldBeforeASummary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		summarizer winnow.Summarizer
		off        bool
		lines      int // of a large step
		whole      int // of the three large steps
		summary    bool
	}{
		{"records instead of a summary", says("## Goal\na summary"), false, 910, 1, false},
		{"they fit, and little else does", says("## Goal\na summary"), false, 830, 3, false},
		{"a digest", nil, false, 910, 1, true},
		{"no compaction", says("## Goal\na summary"), true, 910, 3, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			clock, near := newClock(), &flushes{}
			m := newManager(t, 20_000, &winnow.Options{Estimator: byChars, Now: clock.Now, NoMinify: true, Reserve: 1_000, Summarizer: tt.summarizer,
				Compact: &winnow.CompactOptions{Off: tt.off, BeforeCompact: near.beforeCompact}})
			h := runs(8)
			for i := range 3 { // 5 000 or 4 600 tokens each, in a room of 17 100
				h[12+2*i].Parts[0].Text = strings.Repeat("one of the files is "+itoa(i)+"\n", tt.lines)
			}
			var r *winnow.Request
			for n := 1; n <= len(h); n += 2 {
				clock.pass(time.Second)
				r = prepare(t, m, h[:n])
				requestCheck{estimator: byChars}.check(t, h[:n], r)
			}
			whole := 0
			for i := 12; i < len(h); i += 2 {
				if holds(r, &h[i]) {
					whole++
				}
			}
			assert.Equal(t, tt.whole, whole)
			assert.Equal(t, tt.summary, summaryAt(r.Messages) >= 0)
			assert.Equal(t, tt.summary, len(near.lengths) > 0)
		})
	}
}

// A host that changes an old message has everything behind it written to the cache again. What is stale there is dropped
// at once, because that costs nothing more.
func TestEpochBehindAChange(t *testing.T) {
	t.Parallel()
	tokens := map[bool]int{}
	for _, changes := range []bool{false, true} {
		c := newClock()
		m := newManager(t, 200_000, &winnow.Options{FoldAbove: -1, Estimator: byChars, Now: c.Now})
		h := named(append(list(winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{textPart("It is late.")}}), runs(60)...))
		for n := 2; n <= len(h); n += 2 {
			if changes {
				h = slices.Clone(h)
				h[0].Parts = []winnow.Part{textPart("It is minute " + itoa(n) + ".")}
			}
			c.pass(time.Second)
			r := prepare(t, m, h[:n])
			requestCheck{estimator: byChars}.check(t, h[:n], r)
			tokens[changes] += r.Tokens
		}
	}
	assert.Less(t, float64(tokens[true]), 0.9*float64(tokens[false]))
}

// Where the host wants all that fits, a request that no longer fits goes down to half of the room, the oldest first,
// and not further.
func TestAllThatFitsStays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		o     winnow.Options
		lines int
	}{
		{"warm", winnow.Options{}, 80},
		{"with a summarizer", winnow.Options{Summarizer: says("## Goal\nto go on")}, 80},
		{"small results", winnow.Options{}, 10},
		{"no cache", winnow.Options{Cache: &winnow.CacheOptions{None: true}}, 80},
		{"recall", winnow.Options{Recall: true}, 80},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.o
			o.FoldAbove, o.Now = 1, newClock().Now
			m := newManager(t, 60_000, &o)
			h := list(userSays("Look through the files."))
			before := prepare(t, m, h)
			for i, epochs := 0, 0; epochs < 3; i++ {
				id := "call_" + itoa(i)
				h = named(append(h, modelCalls(id), toolSays(id, "file "+itoa(i)+"\n"+numbered(tt.lines))))
				r := prepare(t, m, h)
				require.Nil(t, r.Compaction)
				if r.Tokens > before.Tokens {
					require.Equal(t, len(before.Messages), r.FirstChanged, "nothing is rewritten as long as all fits")
				} else {
					epochs++
					require.Greater(t, before.Tokens, r.Budget*19/20)
					require.Greater(t, r.Tokens, r.Budget/3)
					require.Less(t, r.Tokens, r.Budget*3/4, "the next requests fit too")
					require.True(t, holds(r, &h[len(h)-5]), "the newest steps stay")
				}
				before = r
			}
		})
	}
}

// With FoldAbove 1 nothing is folded while the request fits, also where the provider bills less than was estimated.
func TestNothingGoesWhileItFitsByTheBill(t *testing.T) {
	c := newClock()
	m := newManager(t, 100_000, &winnow.Options{FoldAbove: 1, Estimator: byChars, Now: c.Now, NoMinify: true})
	var h []winnow.Message
	last := 0
	for _, x := range runs(280) { // 140 000 tokens by the estimate
		if x.Role == winnow.RoleAssistant {
			r := prepare(t, m, h)
			require.Less(t, r.Tokens, r.Budget)
			require.Empty(t, recordsIn(r.Messages), "%d messages, %d tokens", len(h), r.Tokens)
			last = r.Tokens
			x.Usage = &winnow.Usage{Input: estimateAll(byChars, r.Messages) / 2, Output: 10}
			c.pass(time.Second)
		}
		h = append(h, x)
	}
	require.Greater(t, estimateAll(byChars, h), 100_000)
	require.Less(t, last, 80_000)
}

// Below the fold images stay too, but those of more than twenty, which a provider may refuse.
func TestImagesBelowTheFold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		steps int
		fold  float64
		want  int
	}{{20, 0.7, 20}, {21, 0.7, 3}, {20, 0.01, 3}, {21, 1, 21}} {
		m := newManager(t, 1_000_000, &winnow.Options{FoldAbove: tt.fold, Now: newClock().Now, NoMinify: true})
		r := prepare(t, m, append(screenshots(tt.steps, 1_000), modelSays("Done."), userSays("And now?")))
		images, _ := imagesOf(r.Messages)
		assert.Equal(t, tt.want, images, "%+v", tt)
	}
}
