package inspect

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// basisOf is the basis of a model that nobody knows.
func basisOf(window, overhead int) *Basis {
	b := Basis{Window: window, Overhead: &overhead}.complete(&recording.Session{}, letters{})
	return &b
}

// replayed replays messages that no program recorded.
func replayed(history []winnow.Message, window int) (*report, error) {
	return replay(&recording.Session{Messages: history}, Basis{Window: window})
}

// letters counts a token for each byte of text.
type letters struct{}

func (letters) Estimate(m winnow.Message) int { return len(allText(&m)) }

func says(role winnow.Role, tokens int) winnow.Message {
	return winnow.Message{Role: role, Parts: []winnow.Part{{Text: strings.Repeat("x", tokens)}}}
}

func TestHeadline(t *testing.T) {
	of := func(cost float64, refused int) outcome {
		return outcome{Requests: cost / 2, Answers: cost / 2, Summaries: cost, Refused: refused}
	}
	for _, tt := range []struct {
		ours, theirs outcome
		bill         bill
		want, why    string
	}{
		{of(500_000, 0), of(1_000_000, 0), bill{}, "$1.50 with winnow: 50 % less than $3.00 compacting at the limit", "summaries are not in it"},
		{of(1_500_000, 0), of(1_000_000, 0), bill{}, "$4.50 with winnow: 50 % more than $3.00 compacting at the limit", "what costs more is said to"},
		{of(100_000, 0), of(100_000, 0), bill{}, "$0.300 with winnow: as much as $0.300 compacting at the limit", "nothing happened"},
		{of(0, 0), of(0, 0), bill{}, "$0.000 with winnow: as much as $0.000 compacting at the limit", "nothing is divided by nothing"},
		{of(100_000, 3), of(1_000_000, 0), bill{}, "$0.300 with winnow and $3.00 compacting at the limit, which is no comparison: 3 requests and 0 requests do not fit", "what was not sent costs nothing"},
		{of(1_000_000, 0), of(100_000, 1), bill{}, "$3.00 with winnow and $0.300 compacting at the limit, which is no comparison: 0 requests and 1 request do not fit", "the other host likewise"},
		{of(500_000, 0), of(9_000_000, 1), bill{Calls: 2, Prompts: 2, Answers: 1, Modeled: 2.02, Winnow: 1.01}, "$2.00 with winnow: 33 % less than $3.00 that was billed", "what was paid is what counts, in the proportion of the model"},
		{of(500_000, 0), of(9_000_000, 0), bill{Calls: 1, Prompts: 2, Answers: 1, Modeled: 2, Winnow: 1}, "$2.00 with winnow: 33 % less than $3.00 that was billed for 1 of 2 requests", "of how many requests is said"},
		{of(500_000, 0), of(9_000_000, 0), bill{Calls: 2, Prompts: 2, Answers: 1, Modeled: 1, Winnow: 1}, "$3.00 with winnow: as much as $3.00 that was billed", "what the model cannot explain is no saving"},
		{of(500_000, 0), of(9_000_000, 0), bill{Calls: 2, Prompts: 2, Answers: 1, Modeled: 1, Winnow: .9}, "$2.80 with winnow and $3.00 that was billed: they differ by less than what the model of the cache cannot explain", "the model is no better than this"},
	} {
		r := report{Basis: Basis{Price: 3, priceFrom: "as set"}, Winnow: tt.ours, Limit: tt.theirs, Recorded: tt.bill, Requests: make([]request, 2)}
		assert.Equal(t, tt.want, r.headline(), tt.why)
	}
	r := report{Basis: Basis{Price: 1}, Winnow: of(500_000, 0), Limit: of(1_000_000, 0)}
	assert.Equal(t, "500,000 uncached tokens with winnow: 50 % less than 1,000,000 uncached tokens compacting at the limit", r.headline(), "a model that nobody knows has no dollars")
}

// The other host sends everything, and pays for it as the cache has it.
func TestLimitHostCost(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := newLimitHost(basisOf(40_000, 0), letters{})
	history := []winnow.Message{says(winnow.RoleSystem, 1_000), says(winnow.RoleUser, 1_000)}
	h.next(history, noon, 0)
	assert.InDelta(t, 1.25*2_000, h.out.Total(), 1e-6, "all is written")
	history = append(history, says(winnow.RoleAssistant, 500), says(winnow.RoleUser, 500))
	h.next(history, noon.Add(time.Minute), 0)
	assert.InDelta(t, 1.25*2_000+0.1*2_000+1.25*1_000, h.out.Total(), 1e-6, "what was sent is read")
	before := h.out.Total()
	h.next(history, noon.Add(time.Hour), 0)
	assert.InDelta(t, 1.25*3_000, h.out.Total()-before, 1e-6, "the cache has expired")
	assert.Zero(t, h.out.Calls)
	assert.Zero(t, h.out.Rewrites)
}

func TestLimitHostCompacts(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := newLimitHost(basisOf(40_000, 0), letters{})
	history := []winnow.Message{says(winnow.RoleSystem, 2_000)}
	for range 14 {
		history = append(history, says(winnow.RoleUser, 1_000), says(winnow.RoleAssistant, 1_000))
	}
	require.Len(t, h.next(history, noon, 0), 29, "30 000 tokens of 40 000 are as much as it sends")
	history = append(history, says(winnow.RoleUser, 1))
	prompts := h.out.Requests
	sent := h.next(history, noon.Add(time.Second), 0)
	require.True(t, sent[1].Summary, "the system prompt stays in front")
	require.Len(t, sent, 1+1+10, "a quarter of the window is kept: 9 messages of 1 000 and the last")
	assert.Equal(t, 1, h.out.Calls)
	assert.Greater(t, h.out.Summaries, 19_000.0, "the call is billed for what it read")
	assert.Equal(t, 1, h.out.Rewrites)
	assert.InDelta(t, 0.1*2_000+1.25*float64(h.sent-2_000), h.out.Requests-prompts, 1e-6, "of the prefix the system prompt is left")

	call := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "c", Name: "read", Arguments: []byte("{}")}}}
	result := says(winnow.RoleTool, 60_000)
	result.ToolCallID = "c"
	sent = h.next(append(history, call, result), noon.Add(time.Minute), 0)
	require.NotEmpty(t, sent, "a result that is too large is cut")
	last := sent[len(sent)-2:]
	assert.Equal(t, []winnow.Role{winnow.RoleAssistant, winnow.RoleTool}, []winnow.Role{last[0].Role, last[1].Role}, "and stays with its call")
	assert.LessOrEqual(t, h.tokens(), 30_000)
	assert.Len(t, result.Parts[0].Text, 60_000, "the history is not written to")

	h = newLimitHost(basisOf(4_000, 0), letters{})
	assert.Empty(t, h.next([]winnow.Message{says(winnow.RoleUser, 10_000)}, noon, 0))
	assert.Equal(t, 1, h.out.Refused, "a question that is too large does not fit")

	h = newLimitHost(basisOf(20_000, 0), letters{})
	history = []winnow.Message{says(winnow.RoleUser, 6_000), says(winnow.RoleAssistant, 6_000)}
	h.next(history, noon, 0)
	history = append(history, says(winnow.RoleUser, 16_000))
	require.Empty(t, h.next(history, noon.Add(time.Second), 0))
	require.NotNil(t, h.summary, "it tried")
	prompts = h.out.Requests
	history[2] = says(winnow.RoleUser, 1_000)
	h.sizes[2] = 1_000
	require.NotEmpty(t, h.next(history, noon.Add(2*time.Second), 0))
	assert.InDelta(t, 1.25*float64(h.sent), h.out.Requests-prompts, 1e-6, "what was compacted for a refused request is cached no more")
}

func TestQuotes(t *testing.T) {
	q := quotes{}
	text := "See `examples/inspect/main.go`: openCalls, max_tokens at a8063ce4. Otherwise nothing Particular happened, v1."
	names := slices.Sorted(maps.Keys(q.in(text).names))
	assert.Equal(t, []string{"a8063ce4", "examples/inspect/main.go", "max_tokens", "openCalls"}, names)

	history := []winnow.Message{
		says(winnow.RoleUser, 0),
		{Role: winnow.RoleTool, Parts: []winnow.Part{{Text: "   12\t\tif openCalls > 0 { return }\n   13\t}\n"}}},
	}
	k := known{map[string]bool{}, map[string]bool{}}
	for i := range history {
		k.add(q.of(&history[i]))
	}
	answer := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
		{Text: "openCalls and closeCalls, openCalls"},
		{Kind: winnow.KindToolCall, Name: "edit", Arguments: []byte(`{"old":"\tif openCalls > 0 { return }","new":"if closeCalls > 0 { return }"}`)},
	}}
	need := q.needed(&answer, k)
	assert.Equal(t, map[string]bool{"openCalls": true}, need.names, "once, and only what was known")
	assert.Equal(t, map[string]bool{"if openCalls > 0 { return }": true}, need.lines, "a viewer's number is not part of it")
	assert.Empty(t, q.missing(need, history).lines)
	gone := q.missing(need, history[:1])
	assert.Len(t, gone.lines, 1)
	assert.Len(t, gone.names, 1)
}

func TestDifference(t *testing.T) {
	same := strings.Repeat("s", 200)
	was, is := difference(same+"old", same+"new")
	assert.Equal(t, "… "+same[:shownBefore]+"old", was, "from shortly before where they differ")
	assert.Equal(t, "… "+same[:shownBefore]+"new", is)
	was, is = difference("text", "")
	assert.Equal(t, "text", was)
	assert.Empty(t, is, "not sent")
	was, _ = difference(strings.Repeat("字", 500), "")
	assert.Equal(t, strings.Repeat("字", 160)+" … 340 characters more", was, "characters stay whole")
	was, _ = difference("a\x1b[2Jb\nc", "")
	assert.Equal(t, "a[2Jb\nc", was, "what does something in a terminal is left out")
}

// An opened row shows each message as sent before and as sent now.
func TestTextsOfEdits(t *testing.T) {
	r, err := replayed(hostile(), 2_000)
	require.NoError(t, err)
	shown := 0
	for _, q := range r.Requests {
		for _, g := range q.Edits {
			for _, m := range g.Messages {
				require.NotEqual(t, m.Was, m.Is, "request %d, message %d was %s", q.Number, m.Index, g.Op)
				if g.Op == winnow.OpCompact || g.Op == winnow.OpLimit {
					require.Empty(t, m.Is, "it is not sent")
				}
				shown++
			}
		}
	}
	require.NotZero(t, shown)
}
