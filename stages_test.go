package winnow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// old is a history with the given results as old ones: three newer assistant messages protect nothing of them.
func old(results ...winnow.Message) []winnow.Message {
	h := list(userSays("go"))
	for i, r := range results {
		id := "old_" + itoa(i)
		call := modelCalls(id)
		call.Parts[0].Name = r.ToolName
		r.ToolCallID = id
		h = append(h, call, r)
	}
	return append(h, modelSays("one"), modelSays("two"), modelSays("three"))
}

// always prunes whatever the size of the history.
func always(o winnow.PruneOptions) *winnow.PruneOptions {
	o.SoftTrimRatio, o.HardClearRatio = -1, -1
	if o.MinPrunableToolChars == 0 {
		o.MinPrunableToolChars = -1
	}
	return &o
}

const cleared = "[Old tool result content cleared]"

// A history that is small enough is returned as it is, and nothing is allocated for it.
func TestStagesAllocateNothingForNothing(t *testing.T) {
	h := transcript(2000)
	for _, tt := range []struct {
		stage stage
		most  float64 // allocations
	}{
		{pruneStage("roomy", 20_000_000, nil), 2}, {truncateStage("roomy", 200_000, nil), 1},
		{limitStage(0), 0}, {limitStage(1000), 0}, {limitStage(1_000_000), 0},
	} {
		got, edits := tt.stage.run(h)
		assert.True(t, sharesMemory(h, got), tt.stage.name)
		assert.Nil(t, edits, tt.stage.name)
		assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { tt.stage.run(h) }), tt.most, tt.stage.name)
	}
}

func resultOf(m winnow.Message) []winnow.Message {
	m.ToolCallID = "a"
	return named(list(userSays("go"), modelCalls("a"), m, modelSays("done")))
}

// budget cuts texts to the given number of characters of one token each.
func budget(n int, o winnow.TruncateOptions) (int, *winnow.TruncateOptions) {
	o.Estimator, o.MaxShare = winnow.EstimatorFunc(chars), 1
	return n, &o
}

// What tools print, each with one form of redundancy.
var (
	viewedFile = func() string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "%6d\tline %c of the file\n", i+1, 'a'+i%26)
		}
		return b.String()
	}()
	progress = func() string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "\x1b[32mreceiving objects: %d%%\x1b[0m\r", i)
		}
		return b.String() + "done\nerror: the remote hung up\n"
	}()
)

// requireSameLines checks that each line of before stands in after, in order, with its number or without.
func requireSameLines(t *testing.T, before, after []winnow.Part, note string) {
	t.Helper()
	for k := range before {
		lines := strings.Split(after[k].Text, "\n")
		for want := range strings.SplitSeq(before[k].Text, "\n") {
			at := slices.IndexFunc(lines, func(l string) bool {
				return want == l || l != "[line numbers below 1000: only every 10th is shown]" && strings.HasSuffix(want, l)
			})
			require.GreaterOrEqual(t, at, 0, "%s: %q is gone", note, want)
			require.LessOrEqual(t, at, 1, "%s: before %q", note, want) // 1: a note
			lines = lines[at+1:]
		}
	}
}
