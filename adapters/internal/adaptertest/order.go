package adaptertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// CheckOrder checks that what users say, records and summaries leave an adapter in the order of Request.Messages, in
// recorded sessions, of which it reads as many as CheckCorpus, and in others that were made up. join makes neighbours
// of the user one value, as agents do that say something beside results (nil: the API has no such values).
func CheckOrder[T any](t *testing.T, a winnowtest.Adapter[T], join func([]T) []T) {
	t.Helper()
	check := func(t *testing.T, history []winnow.Message, prefixes int) (compacted bool) {
		t.Helper()
		values := a.Export(history)
		if join != nil {
			values = join(values)
		}
		whole, half := meaning(a.Import(values)), meaning(a.Import(values[:len(values)/2]))
		for i := range len(half) - 1 { // the newest message may go on
			require.Equal(t, half[i], whole[i], "message %d of a history that has grown", i)
		}
		return checkOrder(t, a, values, prefixes)
	}
	t.Run("results in a record", func(t *testing.T) {
		check(t, besideResult(3, 36, 60), 40)
	})
	t.Run("results in a summary", func(t *testing.T) {
		assert.True(t, check(t, besideResult(2, 0, 0), 1), "nothing is compacted")
	})
	t.Run("whose", func(t *testing.T) { checkWhose(t, a, join) })
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("made up %d", seed), func(t *testing.T) {
			check(t, madeUp(rand.New(rand.NewPCG(seed, 1))), 20)
		})
	}
	t.Run("recorded", func(t *testing.T) {
		EachSession(t, func(t *testing.T, history []winnow.Message) { check(t, withReminders(history), 3) })
	})
}

// checkWhose checks which messages of the user an import takes for a person's.
func checkWhose[T any](t *testing.T, a winnowtest.Adapter[T], join func([]T) []T) {
	const reminder = "<system-reminder>The date has changed.</system-reminder>"
	for _, tt := range []struct {
		first, beside string
		batch         bool // the host imports the results alone, with what stands beside them
		want          []bool
		reason        string
	}{
		{"Do it.", "Tokens left: 5", false, []bool{true, false}, "the client's, in whatever form"},
		{reminder, "Do it.", false, []bool{false, true}, "nothing else could be the request"},
		{reminder, reminder, false, []bool{false, false}, "a reminder never is"},
		{"Do it.", "Tokens left: 5", true, []bool{false}, "the request is in the history that the host has"},
	} {
		values := a.Export([]winnow.Message{
			question(tt.first), callOf("call_1"), result("call_1", "done"), question(tt.beside),
		})
		if join != nil {
			values = join(values)
		}
		if len(values) > 3 && tt.beside != reminder {
			continue // a message of its own may be a person's
		}
		if tt.batch {
			values = values[2:]
		}
		var persons []bool
		for _, m := range a.Import(values) {
			if m.Role == winnow.RoleUser {
				persons = append(persons, !m.Injected)
			}
		}
		assert.Equal(t, tt.want, persons, tt.reason)
	}
}

// checkOrder prepares several prefixes of a conversation in windows that it outgrows, sends it whole, and compacts it.
func checkOrder[T any](t *testing.T, a winnowtest.Adapter[T], values []T, prefixes int) (compacted bool) {
	t.Helper()
	tokens := 0
	for _, m := range a.Import(values) {
		tokens += winnow.CharsPerToken(4).Estimate(m)
	}
	inOrder := func(r *winnow.Request, err error) []T {
		t.Helper()
		var overflow *winnow.OverflowError
		if errors.Is(err, winnow.ErrNothingToCompact) || errors.As(err, &overflow) {
			return nil
		}
		require.NoError(t, err)
		sent := a.Export(r.Messages)
		require.NoError(t, a.Valid(sent))
		require.NoError(t, sameOrder(r.Messages, a.Import(sent)))
		return sent
	}
	for _, window := range []int{max(tokens/3, 8_000), 30_000} {
		m, err := winnow.New(window, &winnow.Options{NoMinify: true})
		require.NoError(t, err)
		for n := range prefixes {
			history := a.Import(values)
			end := (n + 1) * len(history) / prefixes
			for end < len(history) && (end == 0 || history[end].Role != winnow.RoleAssistant) {
				end++ // a prefix ends before an answer
			}
			inOrder(m.Prepare(t.Context(), history[:end]))
		}
	}
	m, err := winnow.New(10*tokens+100_000, &winnow.Options{NoMinify: true, FoldAbove: 1,
		Compact: &winnow.CompactOptions{KeepRecent: 100}})
	require.NoError(t, err)
	history := a.Import(values)
	r, err := m.Prepare(t.Context(), history)
	sent := inOrder(r, err)
	if len(r.Edits) == 0 {
		assert.Equal(t, written(t, values), written(t, sent), "nothing was edited")
	}
	return inOrder(m.Compact(t.Context(), history, "")) != nil
}

// sameOrder returns an error unless the texts of the user, records and summaries of a request were sent in its order,
// and the last one last.
func sameOrder(request, sent []winnow.Message) error {
	texts := func(messages []winnow.Message) (texts []string) {
		for i := range messages {
			if m := &messages[i]; m.Role == winnow.RoleUser || m.Summary {
				for _, p := range m.Parts {
					if p.Kind == winnow.KindText && strings.TrimSpace(p.Text) != "" {
						texts = append(texts, strings.TrimSpace(p.Text))
					}
				}
			}
		}
		return texts
	}
	want, rest := texts(request), strings.Join(texts(sent), "\n")
	all := rest
	for i, text := range want {
		_, behind, found := strings.Cut(rest, text)
		if !found {
			return fmt.Errorf("text %d is not in its place: %.80q in %.2000q", i, text, all)
		}
		rest = behind
	}
	if n := len(want); n > 0 && !strings.HasSuffix(all, want[n-1]) {
		return fmt.Errorf("the last text is not %.80q", want[n-1])
	}
	return nil
}

// besideResult is a conversation in which the user said something beside the result of a call that soon is old.
func besideResult(before, after, lines int) []winnow.Message {
	history := []winnow.Message{question("FIRST: read the notes and tell me what they say.")}
	step := func(n, lines int) {
		id := fmt.Sprintf("call_%d", len(history))
		history = append(history, callOf(id), result(id, fmt.Sprintf("chapter %d\n%s", n,
			strings.Repeat(fmt.Sprintf("line %d of the notes\n", n), lines))))
	}
	for n := range before + 1 {
		step(n, 20)
	}
	history = append(history, question("LATER: mind the dates in them, too."))
	for n := range after {
		step(n+10, lines)
	}
	return history
}

func callOf(ids ...string) winnow.Message {
	m := winnow.Message{Role: winnow.RoleAssistant}
	for _, id := range ids {
		m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "read",
			Arguments: []byte(`{"path":"notes/` + id + `.md"}`)})
	}
	return m
}

// result is that of a call of callOf.
func result(id, text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "read", Parts: []winnow.Part{{Text: text}}}
}

// madeUp is a conversation of 60 steps with one to three calls. In some of them the user, or an agent in its name,
// says something behind the results, once or twice, or behind an answer.
func madeUp(r *rand.Rand) []winnow.Message {
	history := []winnow.Message{question("What do the notes say?")}
	for n := range 60 {
		var ids []string
		for k := range 1 + r.IntN(3) {
			ids = append(ids, fmt.Sprintf("call_%d_%d", n, k))
		}
		history = append(history, callOf(ids...))
		for k, id := range ids {
			history = append(history, result(id, strings.Repeat(fmt.Sprintf("%d.%d is well. ", n, k), 1+r.IntN(150))))
		}
		if r.IntN(6) == 0 {
			history = append(history,
				winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "I see."}}},
				question(fmt.Sprintf("Question %d: and the next?", n)))
		}
		for k := range r.IntN(3) {
			history = append(history, question(fmt.Sprintf("Remark %d.%d.", n, k)))
			history[len(history)-1].Injected = r.IntN(2) == 0
		}
	}
	return history
}

// withReminders puts a text behind the results of every third step.
func withReminders(history []winnow.Message) []winnow.Message {
	for i, n := len(history)-1, 0; i > 0; i-- {
		if history[i].Role == winnow.RoleAssistant && history[i-1].Role == winnow.RoleTool {
			if n++; n%3 == 0 {
				history = slices.Insert(history, i, question(fmt.Sprintf("Reminder %d: keep to the plan.", i)))
			}
		}
	}
	return history
}
