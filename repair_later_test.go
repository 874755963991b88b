package winnow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// said is a history in one line: the first letter of each role, calls with their ids, and the texts.
func said(h []winnow.Message) string {
	var out []string
	for _, m := range h {
		s := string(m.Role)[:1]
		for _, p := range m.Parts {
			if p.Kind == winnow.KindToolCall {
				s += "[" + p.ID + "]"
			}
		}
		if m.Role == winnow.RoleTool {
			s += ":" + m.ToolCallID
		}
		out = append(out, strings.TrimSpace(s+" "+fullText(m)))
	}
	return strings.Join(out, "; ")
}

// A request shows each result of a call that says something else: where it stands, or in the place of the first one if
// that was never sent.
func TestLaterResults(t *testing.T) {
	q, again := userSays("q"), userSays("and now?")
	pending, done := toolSays("a", "pending"), toolSays("a", "done")
	failedRun := toolSays("a", "no space left")
	failedRun.IsError = true
	const head = "[A later result of exec, call a:]"
	later := "u " + head + "done"
	for _, tt := range []struct {
		name   string
		in     []winnow.Message
		want   string // of a host that sends a request at the end
		steps  string // of one that sends a request after each message; "": the same
		reason string
	}{
		{"after an answer", list(q, modelCalls("a"), pending, modelSays("I wait."), done, modelSays("Good."), again), "u q; a[a]; t:a pending; a I wait.; " + later + "; a Good.; u and now?", "", "where it stands"},
		{"at the end", list(q, modelCalls("a"), pending, modelSays("I wait."), done), "u q; a[a]; t:a pending; a I wait.; " + later, "", "the newest of all"},
		{"before an answer", list(q, modelCalls("a"), pending, done, modelSays("Good.")), "u q; a[a]; t:a done; a Good.", "u q; a[a]; t:a pending; " + later + "; a Good.", "in the place of the first, unless that was sent"},
		{"behind a person's message", list(q, modelCalls("a"), pending, again, done), "u q; a[a]; t:a done; u and now?", "u q; a[a]; t:a pending; u and now?; " + later, "no answer was made from the first"},
		{"equal", list(q, modelCalls("a"), pending, modelSays("I wait."), pending, again), "u q; a[a]; t:a pending; a I wait.; u and now?", "", "it says nothing new"},
		{"three", list(q, modelCalls("a"), pending, modelSays("I wait."), toolSays("a", "half"), toolSays("a", "half"), modelSays("Still."), done), "u q; a[a]; t:a pending; a I wait.; u " + head + "half; a Still.; " + later, "", "each that says something new"},
		{"the first once more", list(q, modelCalls("a"), pending, modelSays("I wait."), done, modelSays("Good."), pending), "u q; a[a]; t:a pending; a I wait.; " + later + "; a Good.; u " + head + "pending", "", "it differs from what was shown last"},
		{"failed", list(q, modelCalls("a"), pending, modelSays("I wait."), failedRun), "u q; a[a]; t:a pending; a I wait.; u [A later result of exec, call a, which failed:]no space left", "", "it is said"},
		{"among the results of another step", list(q, modelCalls("a"), pending, modelCalls("b"), done, toolSays("b", "B"), again), "u q; a[a]; t:a pending; a[b]; t:b B; " + later + "; u and now?", "", "behind them, because nothing may stand between a call and its result"},
		{"while other calls are open", list(q, modelCalls("a"), pending, modelCalls("b"), done), "u q; a[a]; t:a pending; a[b]", "", "it waits for their results"},
		{"both late", list(q, modelCalls("a"), modelSays("I wait."), pending, modelSays("I still wait."), done), "u q; a[a]; t:a pending; a I wait.; a I still wait.; " + later, "", "the first one goes to its call"},
		{"an id again", list(q, modelCalls("a"), toolSays("a", "A"), modelCalls("a"), pending, modelSays("I wait."), done), "u q; a[a]; t:a A; a[a_2]; t:a_2 pending; a I wait.; u [A later result of exec, call a_2:]done", "", "it is of the newest call"},
		{"of a failed turn", list(q, failed(modelCalls("a"), "aborted"), pending, modelSays("no"), done), "u q; a no", "", "the call is not sent"},
		{"of no call", list(q, modelSays("no"), done), "u q; a no", "", "nothing asked for it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.steps == "" {
				tt.steps = tt.want
			}
			for _, once := range []bool{true, false} {
				want, from := tt.want, len(tt.in)
				if !once {
					want, from = tt.steps, 1
				}
				in := deepCopy(tt.in)
				m, err := winnow.New(100_000, nil)
				require.NoError(t, err)
				var r *winnow.Request
				for n := from; n <= len(in); n++ {
					r, err = m.Prepare(t.Context(), in[:n])
					require.NoError(t, err)
				}
				assert.Equal(t, want, said(r.Messages), tt.reason)
				for _, sent := range r.Messages {
					if strings.HasPrefix(fullText(sent), head) {
						assert.True(t, sent.Injected, "no person wrote it")
					}
				}
				// What was decided stays: in later requests, and after a restart.
				state, err := m.Snapshot()
				require.NoError(t, err)
				restored, err := winnow.New(100_000, nil)
				require.NoError(t, err)
				require.NoError(t, restored.Restore(state))
				if strings.HasSuffix(want, "a[b]") {
					return // the end of the request is still open
				}
				in = append(in, modelSays("more"), userSays("last"))
				for _, m := range []*winnow.Manager{m, restored} {
					next, err := m.Prepare(t.Context(), in)
					require.NoError(t, err)
					assert.Equal(t, want+"; a more; u last", said(next.Messages), "as it was sent")
				}
				sameMessages(t, tt.in, in[:len(tt.in)], "the input is not written to")
			}
		})
	}
}

// A later result is sent as a text of the host. It ends the turn, so a call of the provider's own in front of it does
// not stay open.
func TestLaterResultBehindAPause(t *testing.T) {
	history := list(userSays("q"), modelCalls("a"), toolSays("a", "pending"), modelSends(textPart("I look."), searchPart("1")),
		toolSays("a", "done"), modelSends(foundPart("1"), textPart("found")), userSays("go on"))
	m, err := winnow.New(100_000, nil)
	require.NoError(t, err)
	r, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	assert.Equal(t, "u q; a [a]; t pending; a I look.; u [A later result of exec, call a:] done; a found; u go on", halvesIn(r.Messages))
	r, err = m.Prepare(t.Context(), append(history[:4:4], toolSays("a", "pending")))
	require.NoError(t, err)
	assert.Equal(t, "u q; a [a]; t pending; a I look. >1", halvesIn(r.Messages), "it says nothing new: the provider goes on")
}

// A later result is as little too large as any other one, and a record, a summary and Recall know it.
func TestLaterResultsLikeOthers(t *testing.T) {
	long := numbered(4_000)
	history := func(text string) []winnow.Message {
		return list(userSays("Start the build."), modelCalls("a"), toolSays("a", "pending"), modelSays("It runs."), toolSays("a", text))
	}
	t.Run("too large", func(t *testing.T) {
		m, err := winnow.New(8_000, nil)
		require.NoError(t, err)
		r, err := m.Prepare(t.Context(), history(long))
		require.NoError(t, err)
		require.LessOrEqual(t, r.Tokens, r.Budget)
		last := fullText(r.Messages[len(r.Messages)-1])
		assert.True(t, strings.HasPrefix(last, "[A later result of exec, call a:]"), "%.80s", last)
		assert.Less(t, len(last), len(long)/2)
	})
	t.Run("recall", func(t *testing.T) {
		for _, tt := range []struct {
			window int
			whole  bool
		}{{400_000, true}, {8_000, false}} {
			m, err := winnow.New(tt.window, &winnow.Options{Recall: true})
			require.NoError(t, err)
			h := history(long)
			_, err = m.Prepare(t.Context(), h)
			require.NoError(t, err)
			h = append(h, modelSends(winnow.Part{Kind: winnow.KindToolCall, ID: "r", Name: winnow.RecallTool().Name, Arguments: []byte(`{"words":"1999"}`)}))
			answer, err := m.Recall(t.Context(), h, []byte(`{"words":"1999"}`))
			require.NoError(t, err)
			assert.Equal(t, !tt.whole, strings.Contains(fullText(answer), "line 1999 of"), "window %d: %.200s", tt.window, fullText(answer))
		}
	})
	t.Run("record", func(t *testing.T) {
		h := history(numbered(400))
		for i := range 40 {
			id := "c" + itoa(i)
			h = append(h, modelCalls(id), toolSays(id, numbered(100)))
		}
		m, err := winnow.New(30_000, nil)
		require.NoError(t, err)
		r, err := m.Prepare(t.Context(), h)
		require.NoError(t, err)
		require.Contains(t, said(r.Messages), "A later result of exec, call a", "the record names it")
		assert.NotContains(t, said(r.Messages), numbered(400))
	})
	t.Run("summary", func(t *testing.T) {
		var asked string
		m, err := winnow.New(30_000, &winnow.Options{
			Compact: &winnow.CompactOptions{KeepRecent: 10},
			Summarizer: winnow.SummarizerFunc(func(_ context.Context, req winnow.SummaryRequest) (string, error) {
				asked += req.Prompt()
				return "## Goal\nBuild it.\n\n## Progress\n### Done\nStarted the build.", nil
			}),
		})
		require.NoError(t, err)
		h := append(history("built in 7 seconds"), modelSays("It is built. "+strings.Repeat("All is well with it. ", 200)), userSays("Good."), modelSays("Yes."))
		_, err = m.Compact(t.Context(), h, "")
		require.NoError(t, err)
		assert.Contains(t, asked, "pending")
		assert.Contains(t, asked, "built in 7 seconds", "the summarizer reads both")
	})
}
