package winnow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Where the provider has compacted the conversation itself, the request begins.

// sealedAs is a compaction that only its provider reads: an item of its own.
func sealedAs(text string) winnow.Message {
	m := hostSays("")
	m.Parts = []winnow.Part{{Kind: winnow.KindOpaque, MediaType: winnow.MediaCompaction, Signature: text, Bytes: 900}}
	return m
}

// compactsAnd is an answer in which the provider has compacted, in plain text.
func compactsAnd(parts ...winnow.Part) winnow.Message {
	summary := winnow.Part{Kind: winnow.KindOpaque, MediaType: winnow.MediaCompaction, Text: "So far all went well.", Bytes: 60}
	return modelSends(append([]winnow.Part{summary}, parts...)...)
}

// TestBeginsAtCompaction: a history with a compaction of the provider is prepared as the history from it on, request by
// request.
func TestBeginsAtCompaction(t *testing.T) {
	t.Parallel()
	for seed := range count(60, 40) {
		front := randomHistory(uint64(2 * seed))
		front = slices.DeleteFunc(front, func(m winnow.Message) bool { return m.Role == winnow.RoleSystem })
		for i := range front { // no pins, and no result behind is one of a call in front
			m := &front[i]
			m.Pinned, m.Parts = false, slices.Clone(m.Parts)
			for k := range m.Parts {
				if m.Parts[k].Kind == winnow.KindToolCall {
					m.Parts[k].ID = "front" + m.Parts[k].ID
				}
			}
			if m.Role == winnow.RoleTool {
				m.ToolCallID = "front" + m.ToolCallID
			}
		}
		if seed%3 == 0 { // an older one
			front = slices.Insert(front, len(front)/2, pinned(sealedAs("old")))
		}
		behind := randomHistory(uint64(2*seed + 1))
		compaction := sealedAs("new")
		if seed%2 == 0 {
			compaction = compactsAnd(textPart("I go on."), callPart("go-on", "read"))
			behind = append(list(toolSays("go-on", strings.Repeat("a line\n", 50))), behind...)
		}
		whole := slices.Concat(front, list(compaction), behind)
		for i := range whole {
			if whole[i].ID = nameOf(i); whole[i].Role == winnow.RoleAssistant && seed%5 > 2 {
				whole[i].Usage = &winnow.Usage{Input: 100 + 30*i, CacheRead: 20 * i}
			}
		}
		for k, o := range []winnow.Options{
			{}, {FoldAbove: 1}, {FoldAbove: -1, HistoryTurns: 2}, {Thinking: winnow.ThinkingBound},
			{Summarizer: says("## Goal\n" + strings.Repeat("All goes well. ", 20)), Compact: &winnow.CompactOptions{KeepRecent: 200}},
			{Model: "gpt-5.2", Recall: true},
		} {
			window := []int{200_000, 400_000, 3_000, 200_000, 2_500, 400_000}[k]
			if o.Now = newClock().Now; o.Model == "" { // else by its own tokenizer, which forgets old reasoning
				o.Estimator = winnow.CharsPerToken(4)
			}
			a, b := newManager(t, window, &o), newManager(t, window, &o)
			for n := len(front) + 1; n <= len(whole); n += 1 + seed%4 {
				got, err := a.Prepare(t.Context(), whole[:n])
				want, wantErr := b.Prepare(t.Context(), whole[len(front):n])
				if wantErr != nil {
					require.Error(t, err)
					break
				}
				require.NoError(t, err)
				note := "seed " + itoa(seed) + ", options " + itoa(k) + ", " + itoa(n-len(front)) + " messages"
				sameMessages(t, want.Messages, got.Messages, note)
				require.Equal(t, want.Counts, got.Counts, note)
				require.Equal(t, []int{want.Tokens, want.Budget, want.Bytes, want.FirstChanged, want.Cached},
					[]int{got.Tokens, got.Budget, got.Bytes, got.FirstChanged, got.Cached}, note)
				require.Equal(t, []float64{want.Cost, want.CostUnedited}, []float64{got.Cost, got.CostUnedited}, note)
				checkFrontEdits(t, len(front), want.Edits, got.Edits, note)
			}
		}
	}
}

// checkFrontEdits: each message in front is gone by one edit, and the others have those that they have without it.
func checkFrontEdits(t *testing.T, front int, want, got []winnow.Edit, note string) {
	t.Helper()
	gone, rest := make([]int, front), []winnow.Edit{}
	for _, e := range got {
		if e.Index < front {
			gone[e.Index]++
			require.Equal(t, winnow.OpCompact, e.Op)
			require.Zero(t, e.After)
			continue
		}
		e.Index -= front
		rest = append(rest, e)
	}
	for i, n := range gone {
		require.Equal(t, 1, n, "edits of message %d, %s", i, note)
	}
	assert.ElementsMatch(t, want, rest, note)
}

// begun returns what a manager sends of h, by the beginnings of texts; "*" is a compaction of the provider.
func begun(t *testing.T, m *winnow.Manager, h []winnow.Message) string {
	t.Helper()
	return strings.Join(beginnings(prepare(t, m, h).Messages), " ")
}

func beginnings(messages []winnow.Message) (words []string) {
	for _, m := range messages {
		var parts []string
		for _, p := range m.Parts {
			word, _, _ := strings.Cut(p.Text, " ")
			switch p.Kind {
			case winnow.KindToolCall:
				word = "call:" + p.ID
			case winnow.KindOpaque:
				word = "*" + p.Signature
			}
			parts = append(parts, word)
		}
		words = append(words, strings.Join(parts, "+"))
	}
	return words
}

func TestWhatStandsAtACompaction(t *testing.T) {
	t.Parallel()
	call, result := modelCalls("a"), toolSays("a", "RESULT of a")
	failedThere := failed(compactsAnd(textPart("LATER")), "aborted")
	nothing := compactsAnd(textPart("LATER"))
	nothing.Parts[0].Text = ""
	for _, tt := range []struct {
		name  string
		h     []winnow.Message
		model string
		want  string
	}{
		{"all before it goes", list(userSays("Q"), modelSays("A"), sealedAs("1"), userSays("Q2")), "", "*1 Q2"},
		{"the newest counts", list(userSays("Q"), sealedAs("1"), userSays("Q2"), pinned(sealedAs("2")), userSays("Q3")), "", "*2 Q3"},
		{"system messages stay in front", list(systemSays("S"), userSays("Q"), systemSays("S2"), modelSays("A"), sealedAs("1"), userSays("Q2")), "", "S S2 *1 Q2"},
		{"a pin stays, where it is read", list(pinned(userSays("PIN")), modelSays("A"), sealedAs("1"), userSays("Q2")), "", "*1 PIN Q2"},
		{"a pinned result stays with its call", list(userSays("Q"), call, pinned(result), modelSays("A"), sealedAs("1"), userSays("Q2")), "", "*1 call:a RESULT Q2"},
		{"what the provider returned with it stays in front", list(pinned(userSays("Q")), pinned(userSays("Q2")), sealedAs("1"), userSays("Q3")), "", "Q Q2 *1 Q3"},
		{"the result comes later", list(userSays("Q"), call, sealedAs("1"), result, userSays("Q2")), "", "*1 call:a RESULT Q2"},
		{"one of two results comes later", list(userSays("Q"), modelCalls("a", "b"), result, sealedAs("1"), toolSays("b", "RESULT-B"), userSays("Q2")), "", "*1 call:a+call:b RESULT RESULT-B Q2"},
		{"ids begin anew", list(userSays("Q"), call, result, sealedAs("1"), call, result, userSays("Q2")), "", "*1 call:a RESULT Q2"},
		{"within an answer", list(userSays("Q"), modelSends(append([]winnow.Part{textPart("EARLIER")}, compactsAnd(textPart("LATER")).Parts...)...), userSays("Q2")), "", "*+LATER Q2"},
		{"behind a call in the same answer", list(userSays("Q"), modelSends(append(modelCalls("a").Parts, compactsAnd().Parts...)...), result, userSays("Q2")), "", "Q call:a+* RESULT Q2"},
		{"the answer failed", list(userSays("Q"), failedThere, userSays("Q2")), "", "Q *+LATER Q2"},
		{"the provider could not", list(userSays("Q"), nothing, userSays("Q2")), "", "Q *+LATER Q2"},
		{"sealed, and the model is of its provider", list(userSays("Q"), modelSays("A"), sealedAs("1"), userSays("Q2")), "gpt-5.2", "*1 Q2"},
		{"sealed, and the model is of another", list(userSays("Q"), modelSays("A"), sealedAs("1"), userSays("Q2")), "claude-opus-4-6", "Q A Q2"},
		{"text that every model reads", list(userSays("Q"), compactsAnd(textPart("LATER")), userSays("Q2")), "gpt-5.2", "*+LATER Q2"},
		{"the newest that it reads", list(userSays("Q"), compactsAnd(textPart("LATER")), userSays("Q2"), sealedAs("1"), userSays("Q3")), "gemini-3-pro", "*+LATER Q2 Q3"},
	} {
		m := newManager(t, 200_000, &winnow.Options{Model: tt.model, Estimator: winnow.CharsPerToken(4)})
		assert.Equal(t, tt.want, begun(t, m, tt.h), tt.name)
		kept := prepare(t, m, tt.h).History
		assert.Equal(t, tt.want, begun(t, m, kept), "%s: from the history of the request", tt.name)
	}
}

// turnsOf are n turns of a question, a call with a long result, and an answer.
func turnsOf(n int, word string) (h []winnow.Message) {
	for i := range n {
		id := word + itoa(i)
		h = append(h, userSays(word+itoa(i)+" asks"), modelCalls(id), toolSays(id, strings.Repeat(word+" was read here. ", 40)), modelSays("done "+word+itoa(i)))
	}
	return h
}

// TestCompactsBehindACompaction: a summary stands behind the provider's own, which no summarizer reads, and another
// provider is then sent what stands before that, with the summary.
func TestCompactsBehindACompaction(t *testing.T) {
	t.Parallel()
	front := turnsOf(10, "front")
	h := slices.Concat(list(systemSays("S")), front, list(sealedAs("1")), turnsOf(20, "behind"))
	summarizer := says("## Goal\n" + strings.Repeat("All goes well. ", 20))
	options := func(model string) *winnow.Options {
		return &winnow.Options{Model: model, Estimator: winnow.CharsPerToken(4), Summarizer: summarizer, Compact: &winnow.CompactOptions{KeepRecent: 300}}
	}
	m := newManager(t, 100_000, options("gpt-5.2"))
	r := compact(t, m, h)
	sent := beginnings(r.Messages)
	assert.Equal(t, []string{"S", "*1"}, sent[:2])
	assert.True(t, r.Messages[2].Summary)
	assert.Less(t, len(sent), 20)
	for _, call := range summarizer.calls {
		assert.NotContains(t, call.Prompt(), "front", "no summary is made of what the provider has summarized")
	}
	assert.Equal(t, h[:len(front)+2], r.History[:len(front)+2], "what stands before it can still be recalled")
	assert.True(t, r.History[len(front)+2].Summary)

	h = append(h, userSays("More?"))
	for _, history := range [][]winnow.Message{h, append(slices.Clip(r.History), userSays("More?"))} {
		again := prepare(t, m, history)
		assert.Equal(t, append(slices.Clip(sent), "More?"), beginnings(again.Messages))
		assert.GreaterOrEqual(t, again.FirstChanged, len(sent))
		other := restarted(t, 100_000, options("claude-opus-4-6"), snapshotOf(t, m))
		all := prepare(t, other, history)
		words := beginnings(all.Messages)
		assert.NotContains(t, words, "*1")
		assert.Contains(t, strings.Join(words, " "), "front9", "what another provider cannot read is sent as it was")
		assert.Equal(t, append([]string{sent[2]}, append(slices.Clip(sent[3:]), "More?")...), words[len(words)-len(sent)+1:])
	}
}

// TestRecallBeforeACompaction: what the provider has summarized is found, and what is behind it is in the request.
func TestRecallBeforeACompaction(t *testing.T) {
	t.Parallel()
	h := slices.Concat(turnsOf(2, "front"), list(sealedAs("1")), turnsOf(1, "behind"), list(userSays("And?")))
	m := newManager(t, 100_000, &winnow.Options{Recall: true})
	prepare(t, m, h)
	answer := lastText(callRecall(t, m, h, `{"query":"read here"}`))
	assert.Contains(t, answer, "front was read")
	assert.NotContains(t, answer, "behind was read")
}

// TestCompactedMeanwhile: the provider compacts in an answer to a request of this manager. The next request begins
// there, with the thinking of that answer, and what the provider counts from then on counts.
func TestCompactedMeanwhile(t *testing.T) {
	t.Parallel()
	o := &winnow.Options{Model: "claude-opus-4-6", Thinking: winnow.ThinkingBound, Estimator: winnow.CharsPerToken(4), Now: newClock().Now}
	m := newManager(t, 100_000, o)
	h := turnsOf(8, "front")
	h = append(h, userSays("Q"))
	steps(h, func(in []winnow.Message) { prepare(t, m, in) })
	answer := compactsAnd(thinkPart("Hm.", "signed"), textPart("LATER"), callPart("x", "read"))
	h = append(h, billed(answer, winnow.Usage{Input: 90_000}), toolSays("x", "RESULT"))
	r := prepare(t, m, h)
	assert.Equal(t, "*+Hm.+LATER+call:x RESULT", strings.Join(beginnings(r.Messages), " "))
	assert.Less(t, r.Tokens, 1_000, "its usage is of the request before it")
	prepare(t, m, h)
	h = append(h, billed(modelSays("done"), winnow.Usage{Input: 5_000}), userSays("Q2"))
	r = prepare(t, m, h)
	assert.Equal(t, "*+Hm.+LATER+call:x RESULT done Q2", strings.Join(beginnings(r.Messages), " "))
	assert.Greater(t, r.Tokens, 5_000, "this one is of what is sent now")
	assert.Equal(t, 2, r.FirstChanged)
	sameMessages(t, r.Messages, prepare(t, restarted(t, 100_000, o, snapshotOf(t, m)), h).Messages, "after a restart")
}
