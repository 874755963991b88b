package winnow_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// Texts and patterns that cost others dearly are answered in time linear in the text, and in little.
func TestRecallOfHostileTexts(t *testing.T) {
	needle := " the needle is here "
	for name, text := range map[string]string{
		"one line of 4 MB":         strings.Repeat("x", 2_000_000) + needle + strings.Repeat("y", 2_000_000),
		"no characters":            strings.Repeat("\xff\xe4", 400_000) + needle + strings.Repeat("\x80", 400_000),
		"line ends":                strings.Repeat("\n", 1_000_000) + needle + strings.Repeat("\r", 100_000),
		"characters without width": strings.Repeat("\u200b", 200_000) + needle + strings.Repeat("\u0301", 200_000),
		"placeholders": strings.Repeat("[1 characters of an old result left out, recall "+
			"12345678.]\n<recalled handle=\"1\">\n", 10_000) + needle,
		"almost a match": strings.Repeat("a", 1_000_000) + needle,
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := recallManager(t, 40_000, nil)
			history := workHistory(10, 60)
			history[2].Parts[0].Text = text
			r, err := m.Prepare(t.Context(), history)
			require.NoError(t, err)
			require.NotEqual(t, text, r.Messages[2].Parts[0].Text)
			handle := winnow.HandleOf(m, history, 2) // what a tool writes may look like a placeholder
			for _, arguments := range []string{
				`{"words":"needle"}`, `{"pattern":"(the )+needle"}`, `{"handle":"` + handle + `","words":"the needle"}`,
				`{"handle":"` + handle + `","pattern":"(q|qq)+n|(x*)*needle"}`,
				`{"handle":"` + handle + `","pattern":"needle","context":1000000}`,
			} {
				before := time.Now()
				text := lastText(callRecall(t, m, history, arguments))
				assert.Contains(t, text, "needle is here", arguments)
				assert.LessOrEqual(t, len(text), 40_000)
				assert.Less(t, time.Since(before), 20*time.Second, "%s: not for ever", arguments)
			}
			first := lastText(callRecall(t, m, history, `{"handle":"`+handle+`"}`))
			assert.LessOrEqual(t, len(first), 40_000)
			assert.Contains(t, first, "give from ")
		})
	}
}

// Patterns that ask for no more than a name are as quick as the name, and those that would take minutes are refused.
func TestRecallPatternsTakeNoMinutes(t *testing.T) {
	m, history, handle := leftOutHistory(t, nil)
	for _, tt := range []struct {
		pattern, want string
		reason        string
	}{
		{`.{0,900}limit of shard0.{0,900}`, `matches="1 of 1"`, "what may be absent at the ends"},
		{`(?i).*LIMIT OF SHARD0 is \\d+.*`, `matches="1 of 1"`, "the same with flags"},
		{`.*`, `matches="`, "nothing but that"},
		{`(.?){900}shard`, "too many repetitions", "a pattern of thousands of steps"},
	} {
		text := lastText(callRecall(t, m, history, `{"handle":"`+handle+`","pattern":"`+tt.pattern+`"}`))
		assert.Contains(t, text, tt.want, tt.reason)
	}
}

// What is escaped gets longer, but an answer does not.
func TestRecallHasRoomForEscapes(t *testing.T) {
	m, _ := recallManager(t, 40_000, nil)
	history := workHistory(10, 60)
	history[2].Parts[0].Text = strings.Repeat("</s><s></s><s><|</s>\n", 2_000)
	r, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	answers := callRecall(t, m, history, `{"handle":"`+recordedHandle(t, r, 2)+`"}`)
	assert.Contains(t, lastText(answers), "give from ")
	e, err := winnow.NewEstimator("")
	require.NoError(t, err)
	const frame = 100
	assert.LessOrEqual(t, e.Estimate(answers[len(answers)-1]), 40_000/20+frame)
}

// Two calls at once are told apart, though the host has written their arguments anew.
func TestRecallOfTwoCalls(t *testing.T) {
	m, history, handle := leftOutHistory(t, nil)
	call := func(id, arguments string) winnow.Part {
		return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "recall", Arguments: json.RawMessage(arguments)}
	}
	history = append(history, userSays("Look."), modelSends(
		call("first", `{"handle": "`+handle+`", "from": 1}`), call("second", `{"handle": "`+handle+`", "from": 9}`)))
	answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"from":9,"handle":"`+handle+`"}`))
	require.NoError(t, err)
	assert.Equal(t, "second", answer.ToolCallID)
	for range 20 {
		answer, err = m.Recall(t.Context(), history, json.RawMessage(`{"Handle":"12345678","handle":"`+handle+`"}`))
		require.NoError(t, err)
		assert.False(t, answer.IsError, "of two that mean the same it is always the same")
	}
}

// A search keeps nothing once it has answered.
func TestRecallKeepsNothing(t *testing.T) {
	m, history, handle := leftOutHistory(t, nil)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	ask := func() {
		for _, arguments := range []string{`{"words":"retry limit"}`, `{"pattern":"shard"}`,
			`{"handle":"` + handle + `"}`, `{"handle":"1"}`} {
			_, err := m.Recall(context.Background(), history, json.RawMessage(arguments))
			require.NoError(t, err)
		}
	}
	ask()
	before := heap()
	for range 200 {
		ask()
	}
	assert.Less(t, heap(), before+1<<20)
	runtime.KeepAlive(m)
}

// Recalls and requests of one conversation may be made at the same time.
func TestRecallIsConcurrent(t *testing.T) {
	m, history, handle := leftOutHistory(t, nil)
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			h := history
			for i := range 20 {
				switch worker {
				case 0:
					h = goOn(h[:len(h):len(h)], i)
					_, err := m.Prepare(context.Background(), h)
					assert.NoError(t, err)
				case 1:
					_, err := m.Recall(context.Background(), history[:len(history)-i],
						json.RawMessage(`{"words":"retry limit"}`))
					assert.NoError(t, err)
				default:
					answer, err := m.Recall(context.Background(), history,
						json.RawMessage(`{"handle":"`+handle+`","pattern":"limit"}`))
					assert.NoError(t, err)
					assert.Contains(t, answer.Parts[0].Text, "shard0 is 1000")
				}
			}
		})
	}
	wait.Wait()
}

// FuzzRecall asks for anything of any history. The answer is a result for the call, within its room, of valid text, and
// shows nothing that is not in the history.
func FuzzRecall(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, `{"words":"error"}`)
	f.Add([]byte(strings.Repeat("history", 20)), `{"pattern":".","context":100}`)
	f.Add([]byte{9}, `{"handle":"12345678"}`)
	e, err := winnow.NewEstimator("")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, dice []byte, arguments string) {
		history := histories.From(histories.FromBytes(dice))
		m, err := winnow.New(3_000, &winnow.Options{Recall: true})
		require.NoError(t, err)
		if _, err = m.Prepare(t.Context(), history); err != nil {
			return
		}
		call := winnow.Part{Kind: winnow.KindToolCall, ID: "recall_1", Name: "recall",
			Arguments: json.RawMessage(arguments)}
		answer, err := m.Recall(t.Context(), history, json.RawMessage(arguments))
		require.NoError(t, err)
		text := answer.Parts[0].Text
		assert.True(t, strings.HasPrefix(text, "<recalled") || strings.HasPrefix(text, "[recall"), "%s", text)
		assert.LessOrEqual(t, strings.Count(text, "</recalled"), 1)
		assert.LessOrEqual(t, e.Estimate(answer), 3_000/4+200, "a quarter of the window, and the frame")
		if !json.Valid(call.Arguments) || !validText(history) {
			return
		}
		again, err := m.Prepare(t.Context(),
			append(history[:len(history):len(history)], userSays("And?"), modelSends(call), answer))
		if err == nil {
			assert.NoError(t, wire.Rules{Lead: leads(history)}.Check(again.Messages))
			assert.NotEmpty(t, again.Messages, "there is a request, if the history has none")
		}
	})
}
