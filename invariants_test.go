package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// The invariants of the stages, over random histories and recorded ones.

// count returns how many random histories are tried, or of how many turns one is.
func count(usual, short int) int { return times.Of(sized(usual, short)) }

// sized returns how large something is of which more would be another test.
func sized(usual, short int) int {
	if testing.Short() {
		return short
	}
	return usual
}

func TestInvariantsRandom(t *testing.T) {
	t.Parallel()
	n := count(200, 200)
	acted := make([]int, len(stages))
	seed := 0
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d: %s", seed, sketch(randomHistory(uint64(seed))))
		}
	})
	for ; seed < n; seed++ {
		h := randomHistory(uint64(seed))
		for k, s := range stages {
			if checkStage(t, s, h) > 0 {
				acted[k]++
			}
		}
	}
	for k, s := range stages {
		if s.name != "limit 0" {
			assert.Greater(t, acted[k], n/50, "%s had nothing to do in almost all histories: the test says nothing of it", s.name)
		}
	}
}

func TestInvariantsRecorded(t *testing.T) {
	recorded := []stage{
		repairStage, limitStage(3), pruneStage("32 000", 32_000, nil), truncateStage("32 000", 32_000, nil),
		truncateStage("head", 8_000, &winnow.TruncateOptions{HeadOnly: true}),
	}
	recordedSessions(t, sized(18, 12), func(t *testing.T, name string, h []winnow.Message) {
		for _, s := range recorded {
			t.Run(s.name+"/"+name, func(t *testing.T) { checkStage(t, s, h) })
		}
	})
}

// What holds of every stage, whatever the history: the checks of the property tests and the fuzz targets.

// stage is one stage with its options.
type stage struct {
	name string
	op   winnow.Op // what its edits say; "" for those of pruning
	run  func([]winnow.Message) ([]winnow.Message, []winnow.Edit)
}

func limitStage(limit int) stage {
	return stage{"limit " + itoa(limit), winnow.OpLimit, func(h []winnow.Message) ([]winnow.Message, []winnow.Edit) {
		return winnow.LimitHistoryTurns(h, limit)
	}}
}

func pruneStage(name string, window int, o *winnow.PruneOptions) stage {
	return stage{"prune " + name, "", func(h []winnow.Message) ([]winnow.Message, []winnow.Edit) { return winnow.PruneContext(h, window, o) }}
}

func truncateStage(name string, window int, o *winnow.TruncateOptions) stage {
	return stage{"truncate " + name, winnow.OpTruncate, func(h []winnow.Message) ([]winnow.Message, []winnow.Edit) {
		return winnow.TruncateToolResults(h, window, o)
	}}
}

var repairStage = stage{"repair", winnow.OpRepair, winnow.RepairToolPairing}

// stages are tried on every history, with windows small enough that most have something to do.
var stages = []stage{
	repairStage,
	limitStage(0), limitStage(1), limitStage(2), limitStage(4),
	pruneStage("defaults", 2000, nil),
	pruneStage("eager", 500, &winnow.PruneOptions{KeepLastAssistants: -1, MinPrunableToolChars: -1, SoftTrimRatio: -1, HardClearRatio: 0.2}),
	pruneStage("odd sizes", 1000, &winnow.PruneOptions{KeepLastAssistants: 1, NoHardClear: true, SoftTrimMaxChars: 10, SoftTrimHeadChars: 7, SoftTrimTailChars: -1}),
	pruneStage("some tools", 300, &winnow.PruneOptions{MinPrunableToolChars: 100, AllowTools: []string{"*e*"}, DenyTools: []string{"read"}, Estimator: winnow.EstimatorFunc(quarterOfText)}),
	truncateStage("defaults", 1000, nil),
	truncateStage("small", 500, &winnow.TruncateOptions{MinKeepChars: -1}),
	truncateStage("head", 2000, &winnow.TruncateOptions{HeadOnly: true, MinKeepChars: 100, Notice: "\n[cut]"}),
	truncateStage("characters", 100_000, &winnow.TruncateOptions{MaxChars: 300, MinKeepChars: 50, Estimator: winnow.EstimatorFunc(quarterOfText)}),
}

// checkStage fails where s breaks an invariant on h. It returns how many edits s made.
func checkStage(t testing.TB, s stage, h []winnow.Message) int {
	t.Helper()
	room := append(append(make([]winnow.Message, 0, len(h)+2), h...), userSays("guard"), userSays("guard"))
	in, before := room[:len(h)], deepCopy(room)

	out, edits := s.run(in)
	again, editsAgain := s.run(in)
	require.True(t, reflect.DeepEqual(out, again) && reflect.DeepEqual(edits, editsAgain), "%s is not deterministic", s.name)
	_ = append(out, userSays("appended"))
	sameMessages(t, before, room, s.name+" wrote to its input")

	twice, more := s.run(out)
	require.Empty(t, more, "%s finds something to do in its own output", s.name)
	sameMessages(t, out, twice, s.name+" changes its own output")

	checkSources(t, s, in, out)
	checkAccount(t, s, in, out, edits)
	checkVerbatim(t, in, out)
	if s.op == winnow.OpTruncate || s.op == "" {
		checkSmaller(t, s, in, out)
	}
	if validText(in) && (s.op == winnow.OpRepair || wire.Rules{Lead: true}.Check(in) == nil) {
		rules := wire.Rules{Lead: leads(in)}
		require.NoError(t, rules.Check(out), "%s leaves what a provider refuses", s.name)
	}
	return len(edits)
}

// checkSources: what was not changed keeps its Source, and what was changed or made has no Source.
func checkSources(t testing.TB, s stage, in, out []winnow.Message) {
	t.Helper()
	for k := range out {
		m := &out[k]
		i, ok := originOf(m)
		if !ok {
			require.Nil(t, m.Source, "%s: message %d was made and has a Source", s.name, k)
			continue
		}
		if in[i].Source == nil {
			continue // the host has no Source
		}
		if sameContent(&in[i], m) != (m.Source != nil) {
			t.Fatalf("%s: message %d (input %d) has the Source %v", s.name, k, i, m.Source)
		}
		for q, p := range m.Parts {
			if at, ok := p.Source.([2]int); ok {
				if !reflect.DeepEqual(in[at[0]].Parts[at[1]], p) {
					t.Fatalf("%s: message %d part %d was changed and keeps its Source", s.name, k, q)
				}
			} else if p.Source == nil && p.Kind != winnow.KindText && p.Kind != winnow.KindToolCall {
				t.Fatalf("%s: message %d part %d (%s) lost its Source", s.name, k, q, p.Kind)
			}
		}
	}
}

// originOf finds the input message that m is, or was made from, by the ID that named gave it.
func originOf(m *winnow.Message) (int, bool) {
	i, err := strconv.Atoi(strings.TrimPrefix(m.ID, "m"))
	return i, err == nil
}

// checkAccount: kept + edited + dropped = input, and one edit says of each message which is which.
func checkAccount(t testing.TB, s stage, in, out []winnow.Message, edits []winnow.Edit) {
	t.Helper()
	made, edited := 0, map[int]bool{}
	for k := range out {
		if _, ok := originOf(&out[k]); !ok {
			made++
		}
	}
	for _, e := range edits {
		require.True(t, e.Op == s.op || s.op == "" && (e.Op == winnow.OpTrim || e.Op == winnow.OpClear), "%s: %+v", s.name, e)
		require.True(t, 0 <= e.Index && e.Index < len(in) && e.Before >= 0 && e.After >= 0, "%s: %+v", s.name, e)
		if e.Before == 0 {
			made--
			continue
		}
		require.False(t, edited[e.Index], "%s: two edits of message %d", s.name, e.Index)
		edited[e.Index] = true
	}
	require.Zero(t, made, "%s: messages that were made, without those that edits insert", s.name)
	checkEdits(t, in, &winnow.Request{Messages: out, Edits: edits})
}

// misplaced returns the numbers that stand in front of a lower one.
func misplaced(order []int) map[int]bool {
	out := map[int]bool{}
	lowest := math.MaxInt
	for _, i := range slices.Backward(order) {
		if i > lowest {
			out[i] = true
		}
		lowest = min(lowest, i)
	}
	return out
}

// checkSmaller: only texts of results change, and none gets longer or is cut inside a character.
func checkSmaller(t testing.TB, s stage, in, out []winnow.Message) {
	t.Helper()
	require.Len(t, out, len(in), s.name)
	for i := range in {
		if sameContent(&in[i], &out[i]) {
			continue
		}
		a, b := in[i], out[i]
		require.Equal(t, winnow.RoleTool, a.Role, "%s: message %d is not a result and was changed", s.name, i)
		require.LessOrEqual(t, chars(b), chars(a), "%s: message %d got longer", s.name, i)
		if utf8.ValidString(fullText(a)) {
			require.True(t, utf8.ValidString(fullText(b)), "%s: message %d was cut inside a character", s.name, i)
		}
		a.Parts, b.Parts, a.Source, b.Source = nil, nil, nil, nil
		require.True(t, reflect.DeepEqual(a, b), "%s: more than the parts of message %d was changed", s.name, i)
	}
}

// hooks are code of the host that panics, or fails where it may, at one of its calls.
type hooks struct {
	name   string // of the one that does
	left   int    // its calls until then; 0: it does not
	panics bool
}

func (x *hooks) call(name string) error {
	if name != x.name || x.left == 0 {
		return nil
	}
	if x.left--; x.left > 0 {
		return nil
	}
	if x.panics {
		panic("index out of range")
	}
	return errors.New("it does not work")
}

// Enabled, Handle, WithAttrs and WithGroup make it a handler of logs.
func (x *hooks) Enabled(context.Context, slog.Level) bool  { return true }
func (x *hooks) Handle(context.Context, slog.Record) error { return x.call("log") }
func (x *hooks) WithAttrs([]slog.Attr) slog.Handler        { return x }
func (x *hooks) WithGroup(string) slog.Handler             { return x }

// whatMayChange are the fields of a snapshot that a call changes though it comes to nothing: the summarizer failed, the
// host has saved, and a delta may have been written.
var whatMayChange = []string{"breaker", "digestAt", "flushed", "deltas"}

func unchanging(t *testing.T, snapshot string) map[string]any {
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(snapshot), &fields))
	for _, name := range whatMayChange {
		delete(fields, name)
	}
	return fields
}

// TestPanicsOfTheHostChangeNothing lets each of the host's functions panic at each of its calls after a refusal. A host
// that recovers from the panic goes on with the manager as it was. Where a function may fail, a panic is the same as an
// error.
func TestPanicsOfTheHostChangeNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, panicsOfTheHost) // a summarizer that failed is left alone for a second
}

func panicsOfTheHost(t *testing.T) {
	x, c := &hooks{}, newClock()
	o := &winnow.Options{
		Estimator: winnow.EstimatorFunc(func(m winnow.Message) int { _ = x.call("estimator"); return quarterOfText(m) }),
		Now:       func() time.Time { _ = x.call("clock"); return c.Now() },
		Logger:    slog.New(x),
		Summarizer: winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
			return "## Goal\nGet it done.\n\n## Progress\nMuch was looked into.", x.call("summarizer")
		}),
		Compact: &winnow.CompactOptions{KeepRecent: 500, BeforeCompact: func(context.Context, []winnow.Message) error {
			return x.call("flush")
		}},
	}
	m, h := newManager(t, 20_000, o), longSession()
	prepare(t, m, h)
	recovered(t, m, h, errNoNumbers)
	state := snapshotOf(t, m)
	then := func(more ...winnow.Message) []winnow.Message { return append(h[:len(h):len(h)], more...) }
	answered, other := then(modelSays("Done."), userSays("Next.")), then(userSays("No."))
	large := then(userSays(numbered(3_000)))
	full := append(then(modelSays("Done.")), chat(40, 2_000)...)
	calls := map[string]func(m *winnow.Manager){
		"accepted":   func(m *winnow.Manager) { _, _ = m.Prepare(t.Context(), answered) },
		"given up":   func(m *winnow.Manager) { _, _ = m.Prepare(t.Context(), other) },
		"too large":  func(m *winnow.Manager) { _, _ = m.Prepare(t.Context(), large) },
		"full":       func(m *winnow.Manager) { _, _ = m.Prepare(t.Context(), full) },
		"refused":    func(m *winnow.Manager) { _, _ = m.Recover(t.Context(), h, errNoNumbers) },
		"compacted":  func(m *winnow.Manager) { _, _ = m.Compact(t.Context(), answered, "") },
		"only asked": func(m *winnow.Manager) { m.Plan(other) },
		"recalled":   func(m *winnow.Manager) { _, _ = m.Recall(t.Context(), other, json.RawMessage(`{"words":"step"}`)) },
		"restored":   func(m *winnow.Manager) { _ = m.Restore([]byte(state)) },
	}
	places := map[string]int{}
	// after returns the state behind the call, in which the hook called name fails at its call number `at`.
	after := func(call func(m *winnow.Manager), name string, at int, panics bool) (now string, isReached, hasPanicked bool) {
		if o.Journal = nil; name == "journal" { // with one, lists are shared less
			o.Journal = func([]byte) error { return x.call("journal") }
		}
		m := restarted(t, 20_000, o, state)
		*x = hooks{name: name, left: at, panics: panics}
		func() {
			defer func() { hasPanicked = recover() != nil }()
			call(m)
		}()
		isReached = x.left == 0
		*x = hooks{}
		return snapshotOf(t, m), isReached, hasPanicked
	}
	for what, call := range calls {
		for _, name := range []string{"estimator", "clock", "log", "journal", "summarizer", "flush"} {
			for at := 1; ; at += 1 + at/8 {
				now, isReached, hasPanicked := after(call, name, at, true)
				if !isReached {
					break
				}
				places[name]++
				if hasPanicked {
					require.Equal(t, unchanging(t, state), unchanging(t, now), "%s: call %d of %s", what, at, name)
					continue
				}
				failed, _, _ := after(call, name, at, false)
				require.JSONEq(t, failed, now, "%s: call %d of %s", what, at, name)
			}
		}
	}
	assert.Len(t, places, 6, "%v", places)
}
