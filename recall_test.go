package winnow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// recallManager returns a manager with Recall whose clock goes on by what the returned function is given.
func recallManager(t testing.TB, window int, change func(*winnow.Options)) (*winnow.Manager, func(time.Duration)) {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := &winnow.Options{Recall: true, Now: func() time.Time { return now }, Summarizer: winnow.SummarizerFunc(
		func(context.Context, winnow.SummaryRequest) (string, error) {
			return "## Goal\nGo on with the work.", nil
		})}
	if change != nil {
		change(o)
	}
	m, err := winnow.New(window, o)
	require.NoError(t, err)
	return m, func(d time.Duration) { now = now.Add(d) }
}

// workHistory returns steps of an agent, each of which has a result of so many lines with a word of its own.
func workHistory(steps, lines int) []winnow.Message {
	history := []winnow.Message{userSays("Look through the logs.")}
	for i := range steps {
		var b strings.Builder
		for k := range lines {
			fmt.Fprintf(&b, "line %d of step %d: nothing happened\n", k+1, i)
			if k == lines/2 {
				fmt.Fprintf(&b, "the retry limit of shard%d is %d\n", i, 1_000+i)
			}
		}
		id := "call_" + itoa(i)
		call := winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "exec", Arguments: json.RawMessage(fmt.Sprintf(`{"cmd":"cat %d.log"}`, i))}
		history = append(history, modelSends(call), winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "exec", Parts: []winnow.Part{{Text: b.String()}}})
	}
	return history
}

// callRecall appends a call of the recall tool and its answer.
func callRecall(t testing.TB, m *winnow.Manager, history []winnow.Message, arguments string) []winnow.Message {
	t.Helper()
	call := winnow.Part{Kind: winnow.KindToolCall, ID: fmt.Sprint("recall_", len(history)), Name: "recall", Arguments: json.RawMessage(arguments)}
	history = append(history[:len(history):len(history)], modelSends(call))
	answer, err := m.Recall(t.Context(), history, call.Arguments)
	require.NoError(t, err)
	assert.Equal(t, call.ID, answer.ToolCallID)
	assert.Equal(t, winnow.RoleTool, answer.Role)
	return append(history, answer)
}

func lastText(history []winnow.Message) string { return history[len(history)-1].Parts[0].Text }

var handlePattern = regexp.MustCompile(`, recall (\d+)`)

// clearedHandle returns the handle in the placeholder of the message at index i of a request.
func clearedHandle(t testing.TB, r *winnow.Request, i int) string {
	t.Helper()
	found := handlePattern.FindStringSubmatch(r.Messages[i].Parts[0].Text)
	require.NotNil(t, found, "%s", r.Messages[i].Parts[0].Text)
	return found[1]
}

func TestRecallByHandle(t *testing.T) {
	m, _ := recallManager(t, 20_000, nil)
	history := workHistory(12, 60)
	r, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	handle := clearedHandle(t, r, 2)
	t.Log(r.Messages[2].Parts[0].Text)
	history = callRecall(t, m, history, `{"handle":"`+handle+`"}`)
	t.Log(lastText(history))
	history = callRecall(t, m, history, `{"handle":`+handle+`,"from":30,"to":32}`)
	t.Log(lastText(history))
	history = callRecall(t, m, history, `{"handle":`+handle+`,"words":"retry limit"}`)
	t.Log(lastText(history))
	history = callRecall(t, m, history, `{"words":"retry limit shard3"}`)
	t.Log(lastText(history))
	history = callRecall(t, m, history, `{"pattern":"shard[34]"}`)
	t.Log(lastText(history))
	history = callRecall(t, m, history, `{"handle":"12345678"}`)
	t.Log(lastText(history))
	history = callRecall(t, m, history, `{"pattern":"("}`)
	t.Log(lastText(history))
	_, err = m.Compact(t.Context(), history, "")
	require.NoError(t, err)
	r, err = m.Prepare(t.Context(), history)
	require.NoError(t, err)
	for _, msg := range r.Messages {
		if msg.Summary {
			t.Log(msg.Parts[0].Text)
			handle = regexp.MustCompile(`recall (\d+) lists`).FindStringSubmatch(msg.Parts[0].Text)[1]
		}
	}
	history = callRecall(t, m, history, `{"handle":"`+handle+`"}`)
	t.Log(lastText(history))
}
