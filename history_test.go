package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestLimitHistoryTurns(t *testing.T) {
	q, a := userSays("question"), modelSays("answer")
	chat := list(q, a, q, a, q, a)
	for _, tt := range []struct {
		name   string
		in     []winnow.Message
		limit  int
		keep   []int // indexes of what is left
		reason string
	}{
		{"nothing", nil, 3, nil, "no history, no turns"},
		{"no limit", chat, 0, []int{0, 1, 2, 3, 4, 5}, "0 means no limit"},
		{"negative", chat, -2, []int{0, 1, 2, 3, 4, 5}, "a negative number means 0"},
		{"within", chat, 4, []int{0, 1, 2, 3, 4, 5}, "fewer turns than that"},
		{"just within", chat, 3, []int{0, 1, 2, 3, 4, 5}, "as many turns as that"},
		{"one too many", chat, 2, []int{2, 3, 4, 5}, "the oldest turn goes, question and answer"},
		{"one", chat, 1, []int{4, 5}, "the newest turn stays"},
		{"no user message", list(a, a, a), 1, []int{0, 1, 2}, "there is no turn to count"},
		{"an answer comes first", list(a, q, a, q), 1, []int{3}, "what is in front of the first turn is older than it"},
		{"an answer comes first, within", list(a, q, a), 1, []int{0, 1, 2}, "but is not dropped for itself"},
		{"injected", list(q, a, hostSays("cron"), a, q, a), 2, []int{0, 1, 2, 3, 4, 5}, "what the host says begins no turn"},
		{"injected goes with its turn", list(q, a, hostSays("cron"), a, q, a), 1, []int{4, 5}, "it belongs to the turn that it is in"},
		{"tool loop", list(q, modelCalls("a"), toolSays("a", "x"), a, q, modelCalls("b"), toolSays("b", "x")), 1, []int{4, 5, 6}, "calls and results go with their turn"},
		{"system", list(systemSays("be kind"), q, a, systemSays("now"), q, a), 1, []int{0, 3, 4, 5}, "system messages are never dropped"},
		{"summary", list(summarySays("so far"), q, a, q, a), 1, []int{0, 3, 4}, "it stands for older history"},
		{"summary begins no turn", list(summarySays("so far"), q, a), 1, []int{0, 1, 2}, "nobody asked it"},
		{"pinned question", list(pinned(q), a, q, a, q, a), 1, []int{0, 4, 5}, "a pin stays, alone"},
		{"pinned answer", list(q, pinned(a), q, a), 1, []int{0, 1, 2, 3}, "an answer without its question could come first"},
		{"pinned result", list(q, modelCalls("a", "b"), toolSays("a", "x"), pinned(toolSays("b", "y")), a, q, a), 1, []int{0, 1, 2, 3, 5, 6}, "it keeps its call, and that its other results"},
		{"pinned call", list(q, pinned(modelCalls("a")), toolSays("a", "x"), a, q), 1, []int{0, 1, 2, 4}, "a call keeps its results"},
		{"pinned result that is late", list(q, modelCalls("a"), modelCalls("b"), toolSays("b", "x"), pinned(toolSays("a", "y")), a, q), 1, []int{0, 1, 4, 6}, "the call that it answers is further up; others go"},
		{"pinned result behind the next question", list(q, modelCalls("a"), q, pinned(toolSays("a", "y")), a, q, a), 1, []int{0, 1, 3, 5, 6}, "it belongs to the question that its call belongs to"},
		{"pinned result two turns late", list(q, a, q, modelCalls("a"), q, a, q, pinned(toolSays("a", "y")), a, q), 1, []int{2, 3, 7, 9}, "however late"},
		{"pinned result within the limit", list(q, modelCalls("a"), q, pinned(toolSays("a", "y")), a), 1, []int{0, 1, 2, 3, 4}, "its call is not within it"},
		{"other results that are late", list(q, modelCalls("a", "b"), q, pinned(toolSays("a", "y")), a, toolSays("b", "z"), q), 1, []int{0, 1, 3, 5, 6}, "a call that is kept keeps all its results"},
		{"an id that is used again", list(q, modelCalls("a"), toolSays("a", "x"), q, modelCalls("a"), q, pinned(toolSays("a", "y")), q), 1, []int{3, 4, 6, 7}, "the newest call is meant"},
		{"pinned orphan", list(q, a, pinned(toolSays("ghost", "x")), q), 1, []int{0, 2, 3}, "a pin stays even where repair would drop it"},
		{"pinned behind the host", list(hostSays("boot"), pinned(a), q, a, q, a), 1, []int{0, 1, 4, 5}, "no person spoke before it, and it must not come first"},
		{"pinned behind a summary", list(summarySays("so far"), hostSays("boot"), pinned(a), q, a, q), 1, []int{0, 2, 5}, "a summary may come first"},
		{"pinned inside the limit", list(q, a, q, pinned(a)), 1, []int{2, 3}, "it is there anyway"},
		{"pinned system", list(pinned(systemSays("be kind")), q, a, q), 1, []int{0, 3}, "it needs no question"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := deepCopy(tt.in)
			named(in)
			var want []winnow.Message
			for _, i := range tt.keep {
				want = append(want, in[i])
			}
			got, edits := winnow.LimitHistoryTurns(in, tt.limit)
			sameMessages(t, want, got, tt.reason)
			require.Len(t, edits, len(in)-len(got), "an edit for each message that went")
			for _, e := range edits {
				assert.Equal(t, winnow.OpLimit, e.Op)
				assert.Equal(t, in[e.Index].ID, e.ID)
				assert.Equal(t, max(1, winnow.CharsPerToken(4).Estimate(in[e.Index])), e.Before)
				assert.Zero(t, e.After)
				assert.NotContains(t, tt.keep, e.Index)
			}
		})
	}
}
