package winnow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
)

// idsAgain are providers by the ids that they give to their calls.
var idsAgain = []struct {
	name string
	id   func(n int) string
}{
	{"unique", func(n int) string { return fmt.Sprint("call_", n) }},
	{"one", func(int) string { return "call_0" }},
	{"eight", func(n int) string { return fmt.Sprint("call_", n%8) }},
	{"forty", func(n int) string { return fmt.Sprint("call_", n%40) }},
	{"none", func(int) string { return "" }},
	{"no text", func(n int) string { return fmt.Sprintf("\xff%d", n%3) }},
}

// hostsOfNames are hosts by what they go on with after a request.
var hostsOfNames = []struct {
	name string
	pins bool // some results are pinned
	next func(history []winnow.Message, r *winnow.Request) []winnow.Message
}{
	{"its log", true, func(history []winnow.Message, _ *winnow.Request) []winnow.Message { return history }},
	{"Request.History", true, func(_ []winnow.Message, r *winnow.Request) []winnow.Message { return slices.Clone(r.History) }},
	{"Request.History behind a compaction", true, func(history []winnow.Message, r *winnow.Request) []winnow.Message {
		if r.Compaction != nil {
			return slices.Clone(r.History)
		}
		return history
	}},
	{"what no summary stands for, and a little more", false, func(history []winnow.Message, r *winnow.Request) []winnow.Message {
		if r.Compaction == nil {
			return history
		}
		return without(history, r, r.Compaction.FirstKept-4)
	}},
	{"the summary and its own messages", true, func(history []winnow.Message, r *winnow.Request) []winnow.Message {
		return behindSummary(history, r, func() winnow.Message { return r.History[summaryAt(r.History)] })
	}},
	{"Compaction.Summary and its own messages", true, func(history []winnow.Message, r *winnow.Request) []winnow.Message {
		return behindSummary(history, r, func() winnow.Message { return summarySays(r.Compaction.Summary) })
	}},
}

// behindSummary returns history with a summary in the place of what r dropped of it.
func behindSummary(history []winnow.Message, r *winnow.Request, summary func() winnow.Message) []winnow.Message {
	if r.Compaction == nil {
		return history
	}
	return slices.Insert(without(history, r, len(history)), summaryAt(r.History), summary())
}

// without returns history without those of its first n messages that a summary stands for.
func without(history []winnow.Message, r *winnow.Request, n int) (rest []winnow.Message) {
	for i, m := range history {
		isGone := func(e winnow.Edit) bool { return e.Index == i && i < n && e.Op == winnow.OpCompact }
		if !slices.ContainsFunc(r.Edits, isGone) {
			rest = append(rest, m)
		}
	}
	return rest
}

// TestNamesStay: what a call was named stays its name, whatever its host goes on with, and in a process that goes on
// from the journal. The request behind a compaction begins with what was sent, and every handle is known.
func TestNamesStay(t *testing.T) {
	t.Parallel()
	for i, ids := range idsAgain {
		for k, host := range hostsOfNames {
			if (i+k)%times.Every(3) > 0 {
				continue
			}
			t.Run(ids.name+"/"+host.name, func(t *testing.T) {
				t.Parallel()
				testNames(t, ids.id, host.next, host.pins)
			})
		}
	}
}

func testNames(t *testing.T, id func(n int) string, next func([]winnow.Message, *winnow.Request) []winnow.Message, pins bool) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := &winnow.Options{
		Recall: true, Now: func() time.Time { return now },
		Compact:    &winnow.CompactOptions{KeepRecent: 1_500},
		Summarizer: answers("## Goal\nAll files are read.\n" + strings.Repeat("Each has lines. ", 40)),
	}
	restored := *o
	var deltas [][]byte
	o.Journal = func(delta []byte) error { deltas = append(deltas, delta); return nil }
	m := newManager(t, 6_000, o)
	var history, last []winnow.Message
	compactions, handles, lastTokens, goingOn := 0, 0, 0, 0
	names := map[string]string{} // of the calls and results of a message, by its ID
	wasCompacted := false
	for n := range sized(100, 60) {
		now = now.Add(time.Second)
		before := len(history)
		history = append(history, stepOfNames(n, id(n), pins)...)
		r := prepare(t, m, history)
		kept := next(history, r)
		for i := range r.Messages {
			is := namesOf(&r.Messages[i])
			if was, known := names[r.Messages[i].ID]; known && r.Messages[i].ID != "" {
				require.Equal(t, was, is, "step %d: message %s", n, r.Messages[i].ID)
			}
			names[r.Messages[i].ID] = is
			for _, found := range handlePattern.FindAllStringSubmatch(messageText(&r.Messages[i]), -1) {
				answer, err := m.Recall(t.Context(), kept, json.RawMessage(`{"handle":"`+found[1]+`"}`))
				require.NoError(t, err)
				handles++
				if isGone := len(kept) < len(history); answer.IsError && !isGone {
					require.Fail(t, "a handle that is not known", "step %d: %s\n%s", n, answer.Parts[0].Text, sketch(r.Messages))
				}
			}
		}
		// Where what is new does not fit behind the last request, that is rewritten.
		goesOn := lastTokens+estimateAll(estimatorOf(t, ""), history[before:]) <= r.Budget
		lastTokens = r.Tokens
		if wasCompacted && r.Compaction == nil && goesOn {
			goingOn++
			require.Equal(t, len(last), r.FirstChanged, "step %d", n)
		}
		if wasCompacted = r.Compaction != nil; wasCompacted {
			compactions++
		}
		last, history = r.Messages, kept
		twin := restarted(t, 6_000, &restored, "", deltas...)
		for _, manager := range []*winnow.Manager{m, twin} {
			again := prepare(t, manager, history)
			require.Nil(t, again.Compaction, "step %d", n)
			require.Equal(t, len(last), again.FirstChanged, "asked twice, step %d", n)
			require.Len(t, again.Messages, len(last), "asked twice, step %d", n)
		}
	}
	assert.Greater(t, compactions, 2)
	assert.Positive(t, goingOn, "requests behind a compaction that go on from it")
	assert.Positive(t, handles)
}

// stepOfNames is a call with its result, and sometimes a request of the user.
func stepOfNames(n int, id string, pins bool) (step []winnow.Message) {
	if n%3 == 0 {
		step = append(step, user("Read the next files. "+strings.Repeat("Mind them. ", 60)))
	}
	c, r := call(id, "read", `{"path":"main.go"}`), result(id, "read", "there is no such file")
	if n%4 > 0 { // else the same as before
		c.Parts[0].Arguments = fmt.Appendf(nil, `{"path":"file_%d.go"}`, n)
		r.Parts[0].Text = fmt.Sprintf("file %d\n%s", n, strings.Repeat(fmt.Sprintf("line %d of it\n", n), 60))
	}
	if n%7 == 3 { // too large: it is sent cut from the beginning
		r.Parts[0].Text += strings.Repeat(fmt.Sprintf("more of %d\n", n), 1_000)
	}
	r.Pinned = pins && n%60 == 5
	c.ID, r.ID = fmt.Sprint("c", n), fmt.Sprint("r", n)
	return append(step, c, r)
}

// namesOf returns the ids of the calls of m, and of the call that it answers.
func namesOf(m *winnow.Message) string {
	ids := []string{m.ToolCallID}
	for _, p := range m.Parts {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, " ")
}

// TestNamesBehindTheSameSummary: a summary that reads like an earlier one has no names of that. The host keeps
// Request.History, in which ids are used again and then are not.
func TestNamesBehindTheSameSummary(t *testing.T) {
	o := &winnow.Options{
		Compact:    &winnow.CompactOptions{KeepRecent: 1_200},
		Summarizer: answers("## Goal\nto go on"),
	}
	restored := *o
	var deltas [][]byte
	o.Journal = func(delta []byte) error { deltas = append(deltas, delta); return nil }
	m := newManager(t, 6_000, o)
	var history []winnow.Message
	for n := range 60 {
		id := fmt.Sprint("call_", n%8)
		if n%3 == 0 {
			history = append(history, user("Go on. "+strings.Repeat("and on ", 20)))
		}
		history = append(history, call(id, "ls", `{}`), result(id, "ls", "the same "+strings.Repeat("x ", 100)), assistant("ok"))
		r, err := m.Prepare(t.Context(), history)
		if n%9 == 8 {
			r, err = m.Compact(t.Context(), history, "")
		}
		require.NoError(t, err)
		history = slices.Clone(r.History)
		twin := restarted(t, 6_000, &restored, "", deltas...)
		for _, manager := range []*winnow.Manager{m, twin} {
			again := manager.Plan(history)
			require.Equal(t, sketch(r.Messages), sketch(again.Messages), "step %d", n)
			require.Equal(t, len(r.Messages), again.FirstChanged, "step %d", n)
		}
	}
}

// namelessHistory is what the usual loop makes: the results of each step are imported on their own, and know nothing
// but the ids of their calls. Every second call is of a tool whose results are not to be pruned.
func namelessHistory(steps int, ids bool) []winnow.Message {
	h := list(userSays("Look around."))
	for i := range steps {
		tool, id := "memory_get", "call_"+itoa(i)
		if i%2 == 1 {
			tool = "exec"
		}
		if !ids {
			id = ""
		}
		result := toolOf(id, "", tool+" says\n"+numbered(300))
		h = append(h, modelSends(callPart(id, tool)), result)
	}
	return append(h, userSays("And now?"))
}

// protectedResults counts the results of the tool that is protected, and those of them that are whole.
func protectedResults(messages []winnow.Message) (all, whole int) {
	for i := 1; i < len(messages); i++ {
		if messages[i].Role != winnow.RoleTool || messages[i-1].Parts[0].Name != "memory_get" {
			continue
		}
		all++
		if text := fullText(messages[i]); strings.HasPrefix(text, "memory_get says\n") && strings.HasSuffix(text, numbered(300)) {
			whole++
		}
	}
	return all, whole
}

func TestToolNamesOfNamelessResults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		prune  winnow.PruneOptions
		ids    bool
		reason string
	}{
		{"denied", winnow.PruneOptions{DenyTools: []string{"memory_*"}}, true, "the call says which tool it is"},
		{"not allowed", winnow.PruneOptions{AllowTools: []string{"exec"}}, true, "the same the other way round"},
		{"denied, no ids", winnow.PruneOptions{DenyTools: []string{"memory_*"}}, false, "calls without ids are answered in order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := namelessHistory(40, tt.ids)
			o := tt.prune
			o.SoftTrimRatio, o.HardClearRatio = 0.01, 0.01
			pruned, edits := winnow.PruneContext(h, 60_000, &o)
			all, whole := protectedResults(pruned)
			assert.Equal(t, 20, all)
			assert.Equal(t, all, whole, "%s: PruneContext", tt.reason)
			assert.NotEmpty(t, edits, "others are pruned: the test proves something")

			if len(tt.prune.AllowTools) > 0 {
				return // a manager is told which tools are kept, and not which are not
			}
			m := newManager(t, 150_000, &winnow.Options{Tools: &winnow.ToolOptions{Keep: tt.prune.DenyTools}, Compact: &winnow.CompactOptions{Off: true}})
			request := prepare(t, m, h)
			all, whole = protectedResults(request.Messages)
			assert.Equal(t, 20, all)
			assert.Equal(t, all, whole, "%s: Prepare", tt.reason)
			assert.NotEmpty(t, request.Edits)
		})
	}
}

// TestToolNamesInSummaries has the tool of a failure in the digest and in what a summarizer is sent.
func TestToolNamesInSummaries(t *testing.T) {
	h := namelessHistory(40, true)
	for i := range h {
		h[i].IsError = h[i].Role == winnow.RoleTool
	}
	s := &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) { return "## Goal\nLook around.", nil }}
	o := &winnow.Options{Summarizer: s, Compact: &winnow.CompactOptions{KeepRecent: 1_000}}
	m := newManager(t, 60_000, o)
	request := compact(t, m, h)
	assert.Contains(t, request.Compaction.Summary, "- memory_get: memory_get says")
	require.NotEmpty(t, s.calls)
	for i := range s.calls[0].Messages {
		if result := &s.calls[0].Messages[i]; result.Role == winnow.RoleTool {
			assert.Contains(t, []string{"memory_get", "exec"}, result.ToolName)
		}
	}
}
