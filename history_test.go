package winnow_test

import (
	"encoding/json"
	"strings"
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

func TestLimitHistoryTurnsAllocatesNothing(t *testing.T) {
	h := transcript(2000, clean)
	for _, limit := range []int{0, 1000, 1_000_000} {
		assert.Zero(t, testing.AllocsPerRun(10, func() { winnow.LimitHistoryTurns(h, limit) }), "limit %d drops nothing", limit)
		got, edits := winnow.LimitHistoryTurns(h, limit)
		assert.True(t, sharesMemory(h, got), "limit %d: the same list", limit)
		assert.Nil(t, edits)
	}
}

func TestForSession(t *testing.T) {
	n := func(n int) *int { return &n }
	limits := winnow.HistoryLimits{
		"telegram": {DMHistoryLimit: n(20), HistoryLimit: n(50), DMs: map[string]winnow.DMLimits{
			"123": {HistoryLimit: n(5)}, "vip": {HistoryLimit: n(0)}, "a:b": {HistoryLimit: n(7)}, "plain": {},
		}},
		"slack": {HistoryLimit: n(8)},
	}
	for _, tt := range []struct {
		key    string
		limit  int
		ok     bool
		reason string
	}{
		{"telegram:dm:999", 20, true, "the channel's limit of direct messages"},
		{"telegram:direct:999", 20, true, "another word for dm"},
		{"telegram:dm:123", 5, true, "the user's own limit"},
		{"telegram:dm:vip", 0, true, "0 is a choice: no limit"},
		{"telegram:dm:plain", 20, true, "a user without a limit has the channel's"},
		{"telegram:dm:a:b", 7, true, "an id may hold colons"},
		{"agent:main:telegram:dm:123", 5, true, "the prefix of an agent is cut off"},
		{"telegram:dm:123:thread:42", 5, true, "a thread is the same user"},
		{"telegram:dm:123:topic:7", 5, true, "and so is a topic"},
		{"telegram:dm:123:THREAD:42", 5, true, "in any case"},
		{"telegram:dm:123:thread:abc", 20, true, "a thread has a number: this is an id of its own"},
		{"telegram:group:-100", 50, true, "groups"},
		{"telegram:channel:news", 50, true, "channels"},
		{"Telegram:DM:123", 5, true, "channel and kind in any case"},
		{"telegram:dm:VIP", 20, true, "ids are case-sensitive"},
		{"telegram:dm", 20, true, "no id"},
		{"::telegram::dm::123", 5, true, "empty segments do not count"},
		{"slack:dm:u1", 0, false, "no limit of direct messages is set"},
		{"slack:group:g1", 8, true, "one of groups is"},
		{"telegram:unknown:1", 0, false, "a kind that has no limits"},
		{"discord:dm:1", 0, false, "a channel that has none"},
		{"main", 0, false, "no key of a channel"},
		{"", 0, false, "no key"},
		{"agent:main", 0, false, "nothing behind the agent"},
	} {
		limit, ok := limits.ForSession(tt.key)
		assert.Equal(t, tt.ok, ok, "%q: %s", tt.key, tt.reason)
		assert.Equal(t, tt.limit, limit, "%q: %s", tt.key, tt.reason)
	}
	_, ok := winnow.HistoryLimits(nil).ForSession("telegram:dm:1")
	assert.False(t, ok, "no limits at all")

	long := strings.Repeat("x:", 1<<20) + "y" // a million segments that were joined one by one would never end
	limits["telegram"].DMs[long] = winnow.DMLimits{HistoryLimit: n(3)}
	limit, ok := limits.ForSession("telegram:dm:" + long + ":topic:1")
	assert.True(t, ok)
	assert.Equal(t, 3, limit, "an id of a million segments")
}

func TestHistoryLimitsJSON(t *testing.T) {
	var limits winnow.HistoryLimits
	require.NoError(t, json.Unmarshal([]byte(`{"telegram":{"dmHistoryLimit":20,"dms":{"123":{"historyLimit":0}}}}`), &limits))
	limit, ok := limits.ForSession("telegram:dm:123")
	assert.True(t, ok, "a limit of 0 is not the same as none")
	assert.Zero(t, limit)
	limit, ok = limits.ForSession("telegram:dm:9")
	assert.True(t, ok)
	assert.Equal(t, 20, limit)
	_, ok = limits.ForSession("telegram:group:9")
	assert.False(t, ok, "groups have none")
}
