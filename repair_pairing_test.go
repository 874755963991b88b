package winnow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestRepairMissingResult(t *testing.T) {
	nameless := modelSends(winnow.Part{Kind: winnow.KindToolCall, ID: "b"})
	got, edits := winnow.RepairToolPairing(named(list(userSays("q"), modelCalls("a"), nameless, userSays("q"))))
	require.Equal(t, "u a[a] E:a a[b] E:b u", outline(got))
	assert.Equal(t, "exec", got[2].ToolName, "the tool of its call")
	assert.Equal(t, "unknown", got[4].ToolName, "providers want a name")
	assert.Contains(t, fullText(got[2]), "No result", "it says that there is none")
	assert.Nil(t, got[2].Source, "the host did not make it")
	assert.Empty(t, got[2].ID)
	for k, e := range edits {
		assert.Zero(t, e.Before, "inserted")
		assert.Positive(t, e.After)
		assert.Equal(t, []int{1, 2}[k], e.Index, "where its call is")
	}

	late := append(deepCopy(got[:5]), toolSays("a", "the real one"), userSays("q"))
	again, _ := winnow.RepairToolPairing(late)
	assert.Equal(t, "u a[a] t:a=the real one a[b] E:b u", outline(again), "a result that comes after all takes the place of the one that stood in for it")
}

// No provider has a form for a call in a message that is not the model's. An edit that kept one could not be restored.
func TestRepairDropsStrayCalls(t *testing.T) {
	stray := callWith("", "exec", `{"path":`)
	asks := withParts(userSays("what is on it?"), stray)
	only := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{callPart("c9", "exec")}}
	shows := withParts(toolSays("c1", strings.Repeat("a line of a file\n", 2_000)), stray, imagePart())
	h := named(list(asks, modelCalls("c1"), shows, only, modelSays("a cat"), userSays("and now?")))
	checkStage(t, repairStage, h)
	got, edits := winnow.RepairToolPairing(h)
	assert.Equal(t, " u a[c1] t:c1 a u", sketch(got))
	assert.Equal(t, []winnow.Part{h[0].Parts[0]}, got[0].Parts)
	assert.Equal(t, []winnow.Part{h[2].Parts[0], h[2].Parts[2]}, got[2].Parts)
	assert.Len(t, edits, 3)

	m := newManager(t, 8_000, &winnow.Options{Estimator: byChars, MaxBytes: 6_000})
	want := prepare(t, m, h)
	again := restarted(t, 8_000, &winnow.Options{Estimator: byChars, MaxBytes: 6_000}, snapshotOf(t, m))
	sameMessages(t, want.Messages, prepare(t, again, h).Messages, "restored")
}

// Both halves of a pair that the provider ran itself stay, or both go; what stands beside them stays as it is.
func TestHalvesOfPairsOfTheProvider(t *testing.T) {
	q, go_ := userSays("q"), userSays("go on")
	signed := winnow.Part{Kind: winnow.KindThinking, Text: "t", Signature: "S"}
	paused := failed(modelSends(signed, textPart("I look."), searchPart("1")), "pause_turn")
	for _, tt := range []struct {
		name, want string
		in         []winnow.Message
		reason     string
	}{
		{"a pair", "u q; a >1 <1 found; u go on", list(q, modelSends(searchPart("1"), foundPart("1"), textPart("found")), go_), "it is whole"},
		{"two results", "u q; a >1 <1 <1; u go on", list(q, modelSends(searchPart("1"), foundPart("1"), foundPart("1")), go_), "Gemini may write several for one code"},
		{"paused", "u q; a (tS) I look. >1", list(q, paused), "the provider goes on with it"},
		{"paused, and gone on", "u q; a (tS) I look. >1; a <1 found; u go on", list(q, paused, modelSends(foundPart("1"), textPart("found")), go_), "two answers of one turn"},
		{"paused twice", "u q; a (tS) I look. >1; a <1 >2; a <2 found; u go on", list(q, paused, modelSends(foundPart("1"), searchPart("2")), modelSends(foundPart("2"), textPart("found")), go_), "three answers of one turn"},
		{"paused, and a person spoke", "u q; a (tS) I look.; u go on", list(q, paused, go_), "nobody goes on with it any more"},
		{"paused, and the host spoke", "u q; a (tS) I look.; u note", list(q, paused, hostSays("note")), "the same"},
		{"paused, a blank text behind it", "u q; a (tS) I look. >1; a <1 found", list(q, paused, userSays(" "), modelSends(foundPart("1"), textPart("found"))), "the blank text is not sent"},
		{"the pause was taken back", "u q; a found; u go on", list(q, modelSends(foundPart("1"), textPart("found")), go_), "a result without its call"},
		{"the going on was taken back", "u q; a (tS) I look.; u go on; a done", list(q, paused, go_, modelSays("done")), "a call without its result"},
		{"result before call", "u q; a text; u go on", list(q, modelSends(foundPart("1"), textPart("text"), searchPart("1")), go_), "they do not belong together"},
		{"other ids", "u q; a text; u go on", list(q, modelSends(searchPart("1"), foundPart("2"), textPart("text")), go_), "two halves of two pairs"},
		{"in another turn", "u q; a I look.; u go on; a found", list(q, modelSends(textPart("I look."), searchPart("1")), go_, modelSends(foundPart("1"), textPart("found"))), "a person's message ends the turn"},
		{"aborted", "u q; a I look.; u go on", list(q, failed(modelSends(textPart("I look."), searchPart("1")), "aborted"), go_), "the call may be cut"},
		{"aborted, nothing behind", "u q; a I look.", list(q, failed(modelSends(textPart("I look."), searchPart("1")), "aborted")), "no provider goes on with it"},
		{"aborted, a pair before it", "u q; a >1 <1 text; u go on", list(q, failed(modelSends(searchPart("1"), foundPart("1"), textPart("text"), searchPart("2")), "error"), go_), "only what is half goes"},
		{"going on was aborted", "u q; a (tS) I look.; a part of it", list(q, paused, failed(modelSays("part of it"), "aborted")), "text behind an open call is not what the provider wrote"},
		{"going on was aborted at once", "u q; a (tS) I look. >1", list(q, paused, failed(modelSays(""), "aborted")), "nothing was said, so it may go on"},
		{"nothing else", "u q; u go on", list(q, modelSends(searchPart("1")), go_), "an empty message goes"},
		{"only thinking else", "u q; u go on", list(q, modelSends(signed, searchPart("1")), go_), "thinking alone is refused"},
		{"beside a call of the host's", "u q; a >1 [a]; t:a r; a <1 found; u go on", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r"), modelSends(foundPart("1"), textPart("found")), go_), "the provider runs its own when it has the host's result"},
		{"beside a call, not yet run", "u q; a >1 [a]; t:a r", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r")), "as before"},
		{"code that calls tools", "u q; a >1 [a]; t:a r; a [b]; t:b r", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r"), modelCalls("b"), toolSays("b", "r")), "its result comes when it has run to its end"},
		{"beside a call, interrupted", "u q; a look [a]; t:a r; u go on", list(q, modelSends(textPart("look"), searchPart("1"), callPart("a", "read")), toolSays("a", "r"), go_), "a person's message ends the turn"},
		{"approved by the host", "u q; a >1; u <1; a done; u go on", list(q, modelSends(searchPart("1")), winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{foundPart("1")}}, modelSays("done"), go_), "the host may write the result, too"},
		{"an approval alone", "u q; u go on", list(q, winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{foundPart("1")}}, go_), "of nothing that was asked"},
		{"not a half", "u q; a <; u go on", list(q, modelSends(winnow.Part{Kind: winnow.KindOpaque, Bytes: 9}), go_), "an opaque part without an id stands alone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := deepCopy(tt.in)
			pure, _ := winnow.RepairToolPairing(in)
			if tt.name != "paused, a blank text behind it" { // the pure stage keeps white space
				assert.Equal(t, tt.want, halvesIn(pure), tt.reason)
			}
			again, edits := winnow.RepairToolPairing(pure)
			assert.Empty(t, edits)
			sameMessages(t, pure, again, "repaired once and for all")
			// At once, and message by message, as an agent does it.
			for _, from := range []int{len(in), 1} {
				m := newManager(t, 100_000, nil)
				var r *winnow.Request
				for n := from; n <= len(in); n++ {
					r = prepare(t, m, in[:n])
				}
				assert.Equal(t, tt.want, halvesIn(r.Messages), tt.reason)
			}
			sameMessages(t, tt.in, in, "the input is not written to")
		})
	}
}

// A pin, the turn limit and the cut of a compaction do not divide the answers of a turn that has paused.
func TestNothingDividesPairsOfTheProvider(t *testing.T) {
	long := strings.Repeat("what was found. ", 400)
	paused := func(text string) []winnow.Message {
		return list(userSays("old "+text), failed(modelSends(textPart(long), searchPart("1")), "pause_turn"), modelSends(foundPart("1"), textPart(text)))
	}
	t.Run("pin", func(t *testing.T) {
		for _, at := range []int{1, 2} {
			h := append(paused("found"), userSays("new"), modelSays("done"))
			h[at] = pinned(h[at])
			out, _ := winnow.LimitHistoryTurns(h, 1)
			assert.Contains(t, halvesIn(out), ">1")
			assert.Contains(t, halvesIn(out), "<1")
		}
	})
	t.Run("compaction", func(t *testing.T) {
		for keep := 1; keep < 1_600; keep += 100 { // tokens
			h := append(paused("one"), userSays("two"))
			h = append(h, paused("three")[1:]...)
			h = append(h, userSays("four"), modelSays("done"), userSays("five"))
			m := newManager(t, 20_000, &winnow.Options{Summarizer: answers("## Goal\nFind it.\n\n## Progress\n### Done\nLooked for it."), Compact: &winnow.CompactOptions{KeepRecent: keep}})
			r := compact(t, m, h)
			sent := halvesIn(r.Messages)
			assert.Equal(t, strings.Count(sent, ">1"), strings.Count(sent, "<1"), "keep %d: %s", keep, sent)
		}
	})
}

// A call of the provider's own may wait over several steps, as code that calls the host's tools does. No record, summary
// or cut divides it from its result.
func TestPairsOverSeveralSteps(t *testing.T) {
	history := list(userSays("q"))
	for n := range 6 {
		id := string(rune('a' + n))
		history = append(history, modelSends(searchPart(id), callPart(id+"1", "read")), toolSays(id+"1", strings.Repeat("a line of it ", 120)))
		for k := range 3 {
			call := id + string(rune('2'+k))
			history = append(history, modelCalls(call), toolSays(call, strings.Repeat("another line ", 120)))
		}
		history = append(history, modelSends(foundPart(id), textPart("found")), userSays("go on"))
	}
	summarizer := answers("## Goal\nfind")
	check := func(r *winnow.Request, err error) {
		t.Helper()
		require.NoError(t, err)
		open := map[string]bool{}
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				switch {
				case p.Kind == winnow.KindOpaque && p.Name != "":
					open[p.ID] = true
				case p.Kind == winnow.KindOpaque:
					require.True(t, open[p.ID], "a result without its call: %s", halvesIn(r.Messages))
					delete(open, p.ID)
				}
			}
			require.False(t, m.Role == winnow.RoleUser && len(open) > 0, "divided: %s", halvesIn(r.Messages))
		}
	}
	for _, window := range []int{6_000, 12_000, 200_000} {
		for _, above := range []float64{-1, 1} {
			m := newManager(t, window, &winnow.Options{FoldAbove: above, Summarizer: summarizer, Reserve: 500})
			for n := range history {
				if n > 0 && history[n-1].Role != winnow.RoleAssistant {
					check(m.Prepare(t.Context(), history[:n]))
				}
			}
			for _, keep := range []int{200, 2_000} {
				m := newManager(t, window, &winnow.Options{FoldAbove: above, Summarizer: summarizer, Reserve: 500, Compact: &winnow.CompactOptions{KeepRecent: keep}})
				check(m.Compact(t.Context(), history[:len(history)-3], ""))
			}
		}
	}
}

// A request shows each result of a call that says something else: where it stands, or in the place of the first one if
// that was never sent.
func TestLaterResults(t *testing.T) {
	q, again := userSays("q"), userSays("and now?")
	pending, done := toolSays("a", "pending"), toolSays("a", "done")
	failedRun := erroneous(toolSays("a", "no space left"))
	const head = "[A later result of exec, call a:]"
	later := "u " + head + " done"
	for _, tt := range []struct {
		name   string
		in     []winnow.Message
		want   string // of a host that sends a request at the end
		steps  string // of one that sends a request after each message; "": the same
		reason string
	}{
		{"after an answer", list(q, modelCalls("a"), pending, modelSays("I wait."), done, modelSays("Good."), again), "u q; a [a]; t:a pending; a I wait.; " + later + "; a Good.; u and now?", "", "where it stands"},
		{"at the end", list(q, modelCalls("a"), pending, modelSays("I wait."), done), "u q; a [a]; t:a pending; a I wait.; " + later, "", "the newest of all"},
		{"before an answer", list(q, modelCalls("a"), pending, done, modelSays("Good.")), "u q; a [a]; t:a done; a Good.", "u q; a [a]; t:a pending; " + later + "; a Good.", "in the place of the first, unless that was sent"},
		{"behind a person's message", list(q, modelCalls("a"), pending, again, done), "u q; a [a]; t:a done; u and now?", "u q; a [a]; t:a pending; u and now?; " + later, "no answer was made from the first"},
		{"equal", list(q, modelCalls("a"), pending, modelSays("I wait."), pending, again), "u q; a [a]; t:a pending; a I wait.; u and now?", "", "it says nothing new"},
		{"three", list(q, modelCalls("a"), pending, modelSays("I wait."), toolSays("a", "half"), toolSays("a", "half"), modelSays("Still."), done), "u q; a [a]; t:a pending; a I wait.; u " + head + " half; a Still.; " + later, "", "each that says something new"},
		{"the first once more", list(q, modelCalls("a"), pending, modelSays("I wait."), done, modelSays("Good."), pending), "u q; a [a]; t:a pending; a I wait.; " + later + "; a Good.; u " + head + " pending", "", "it differs from what was shown last"},
		{"failed", list(q, modelCalls("a"), pending, modelSays("I wait."), failedRun), "u q; a [a]; t:a pending; a I wait.; u [A later result of exec, call a, which failed:] no space left", "", "it is said"},
		{"among the results of another step", list(q, modelCalls("a"), pending, modelCalls("b"), done, toolSays("b", "B"), again), "u q; a [a]; t:a pending; a [b]; t:b B; " + later + "; u and now?", "", "behind them, because nothing may stand between a call and its result"},
		{"while other calls are open", list(q, modelCalls("a"), pending, modelCalls("b"), done), "u q; a [a]; t:a pending; a [b]", "", "it waits for their results"},
		{"both late", list(q, modelCalls("a"), modelSays("I wait."), pending, modelSays("I still wait."), done), "u q; a [a]; t:a pending; a I wait.; a I still wait.; " + later, "", "the first one goes to its call"},
		{"an id again", list(q, modelCalls("a"), toolSays("a", "A"), modelCalls("a"), pending, modelSays("I wait."), done), "u q; a [a]; t:a A; a [a_2]; t:a_2 pending; a I wait.; u [A later result of exec, call a_2:] done", "", "it is of the newest call"},
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
				m := newManager(t, 100_000, nil)
				var r *winnow.Request
				for n := from; n <= len(in); n++ {
					r = prepare(t, m, in[:n])
				}
				assert.Equal(t, want, halvesIn(r.Messages), tt.reason)
				for _, sent := range r.Messages {
					if strings.HasPrefix(fullText(sent), head) {
						assert.True(t, sent.Injected, "no person wrote it")
					}
				}
				// What was decided stays: in later requests, and after a restart.
				restored := restarted(t, 100_000, nil, snapshotOf(t, m))
				if strings.HasSuffix(want, "a [b]") {
					return // the end of the request is still open
				}
				in = append(in, modelSays("more"), userSays("last"))
				for _, m := range []*winnow.Manager{m, restored} {
					next := prepare(t, m, in)
					assert.Equal(t, want+"; a more; u last", halvesIn(next.Messages), "as it was sent")
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
	m := newManager(t, 100_000, nil)
	r := prepare(t, m, history)
	assert.Equal(t, "u q; a [a]; t:a pending; a I look.; u [A later result of exec, call a:] done; a found; u go on", halvesIn(r.Messages))
	r = prepare(t, m, append(history[:4:4], toolSays("a", "pending")))
	assert.Equal(t, "u q; a [a]; t:a pending; a I look. >1", halvesIn(r.Messages), "it says nothing new: the provider goes on")
}

// A later result is as little too large as any other one, and a record, a summary and Recall know it.
func TestLaterResultsLikeOthers(t *testing.T) {
	long := numbered(4_000)
	history := func(text string) []winnow.Message {
		return list(userSays("Start the build."), modelCalls("a"), toolSays("a", "pending"), modelSays("It runs."), toolSays("a", text))
	}
	t.Run("too large", func(t *testing.T) {
		m := newManager(t, 8_000, nil)
		r := prepare(t, m, history(long))
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
			m := newManager(t, tt.window, &winnow.Options{Recall: true})
			h := history(long)
			prepare(t, m, h)
			answer := lastText(callRecall(t, m, h, `{"words":"1999"}`))
			assert.Equal(t, !tt.whole, strings.Contains(answer, "line 1999 of"), "window %d: %.200s", tt.window, answer)
		}
	})
	t.Run("record", func(t *testing.T) {
		h := history(numbered(400))
		for i := range 40 {
			h = append(h, callOf("c"+itoa(i), "exec", `{}`, numbered(100))...)
		}
		m := newManager(t, 30_000, nil)
		r := prepare(t, m, h)
		require.Contains(t, halvesIn(r.Messages), "A later result of exec, call a", "the record names it")
		assert.NotContains(t, halvesIn(r.Messages), numbered(400))
	})
	t.Run("summary", func(t *testing.T) {
		var asked string
		m := newManager(t, 30_000, &winnow.Options{
			Compact: &winnow.CompactOptions{KeepRecent: 10},
			Summarizer: winnow.SummarizerFunc(func(_ context.Context, req winnow.SummaryRequest) (string, error) {
				asked += req.Prompt()
				return "## Goal\nBuild it.\n\n## Progress\n### Done\nStarted the build.", nil
			}),
		})
		h := append(history("built in 7 seconds"), modelSays("It is built. "+strings.Repeat("All is well with it. ", 200)), userSays("Good."), modelSays("Yes."))
		compact(t, m, h)
		assert.Contains(t, asked, "pending")
		assert.Contains(t, asked, "built in 7 seconds", "the summarizer reads both")
	})
}
