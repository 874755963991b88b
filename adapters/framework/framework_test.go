package framework

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func message(role winnow.Role, text string) winnow.Message {
	return winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}}
}

// history has a system prompt, questions and answers in turn.
func history(system string, texts ...string) []winnow.Message {
	out := []winnow.Message{message(winnow.RoleSystem, system)}
	for i, text := range texts {
		out = append(out, message([]winnow.Role{winnow.RoleUser, winnow.RoleAssistant}[i%2], text))
	}
	return out
}

func nothing(context.Context, []winnow.Message) (int, error) { return 0, nil }

// A summary that was sent in front of all else begins no conversation.
func TestSentAsHistory(t *testing.T) {
	c := New(nil)
	turn := ask(t, c, "a", history("s", "q", "a", "q1"))
	c.threads.sent(turn.conversation, history("s", "the summary", "a", "q1"))
	_, _, err := Do(WithConversation(t.Context(), "a"), c, history("s", "the summary", "a", "q1"), nothing)
	assert.ErrorIs(t, err, winnow.ErrSentAsHistory)
	ask(t, c, "b", history("s", "the summary", "a", "q1"))
}

// ask returns the turn of a request.
func ask(t *testing.T, c *Conversations, key string, h []winnow.Message) *Turn {
	t.Helper()
	_, turn, err := Do(WithConversation(t.Context(), key), c, h, nothing)
	require.NoError(t, err)
	return turn
}

// Which requests have a manager in common.
func TestConversation(t *testing.T) {
	for _, tt := range []struct {
		name       string
		key        string
		history    []winnow.Message
		isSame     bool
		afterStore bool
	}{
		{"goes on", "a", history("s", "q", "a", "q2"), true, true},
		{"rewound", "a", history("s", "q"), true, true},
		{"another prompt, as with the time in it", "a", history("s2", "q", "a", "q1", "a", "q3"), true, true},
		{"another key", "b", history("s", "q", "a", "q2"), false, false},
		{"an agent that was called as a tool", "a", history("s", "work"), false, false},
		{"an agent that was handed the conversation", "a", history("s2", "q", "told by another", "go on"), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := Directory(t.TempDir())
			c := New(&Options{Store: store})
			first := ask(t, c, "a", history("s", "q", "a", "q1"))
			assert.Equal(t, tt.isSame, first.conversation == ask(t, c, tt.key, tt.history).conversation)

			managers := 0
			c = New(&Options{Store: store, Manager: func(string) (int, *winnow.Options) {
				managers++
				return 0, nil
			}})
			again := ask(t, c, "a", history("s", "q", "a", "q1"))
			assert.Len(t, again.thread.list, managers)
		})
	}
	_, _, err := Do(t.Context(), New(nil), history("s", "q"), nothing)
	assert.ErrorIs(t, err, ErrNoConversation)
}

func TestMemoryIsBounded(t *testing.T) {
	c := New(&Options{Conversations: 2})
	first := ask(t, c, "a", history("s", "q")).conversation
	ask(t, c, "b", history("s", "q"))
	assert.Same(t, first, ask(t, c, "a", history("s", "q")).conversation)
	ask(t, c, "c", history("s", "q")) // b goes
	assert.Same(t, first, ask(t, c, "a", history("s", "q")).conversation)
	assert.Len(t, c.threads.of, 2)
	for i := range 2 * mostAlike {
		ask(t, c, "a", history(fmt.Sprint("system ", i), "q", fmt.Sprint("told ", i), "go on"))
	}
	assert.Len(t, ask(t, c, "a", history("s", "q")).thread.list, mostAlike)
	assert.NoError(t, c.Close())
}

// failing is a store whose disk is full.
type failing struct{}

func (failing) Get(context.Context, string) ([]byte, bool, error) {
	return nil, false, errors.New("the disk is gone")
}
func (failing) Set(context.Context, string, []byte) error { return errors.New("the disk is full") }

// A store that fails, or has something else, costs no request.
func TestStoreFails(t *testing.T) {
	var said bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&said, nil))
	ask(t, New(&Options{Store: failing{}, Logger: logger}), "a", history("s", "q"))
	assert.Contains(t, said.String(), "the disk is gone")
	assert.Contains(t, said.String(), "the disk is full")

	dir := t.TempDir()
	c := New(&Options{Store: Directory(dir)})
	name := ask(t, c, "a", history("s", "q")).thread.name
	for _, damaged := range []string{"", "{", `[{"state":{"winnow":99}}]`, `[{"length":-3,"state":{"winnow":1}}]`} {
		said.Reset()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(damaged), 0o600))
		ask(t, New(&Options{Store: Directory(dir), Logger: logger}), "a", history("s", "q", "a", "q1"))
		assert.Equal(t, !strings.Contains(damaged, `"winnow":1}`), strings.Contains(said.String(), "cannot be restored"), damaged)
	}
}

// A stream that broke after its beginning is not asked for again.
func TestBegun(t *testing.T) {
	refusal := errors.New("prompt is too long: 215000 tokens > 200000 maximum")
	calls := 0
	_, _, err := Do(WithConversation(t.Context(), "a"), New(nil), history("s", "q"), func(context.Context, []winnow.Message) (int, error) {
		calls++
		return 0, Begun(refusal)
	})
	assert.Equal(t, refusal, err)
	assert.Equal(t, 1, calls)
}

// The tools answer in texts. A note that was refused is none, though the framework has no field that says so.
func TestTools(t *testing.T) {
	c := New(&Options{Recall: true, Notes: true})
	tools := map[string]Tool{}
	for _, tool := range c.Tools() {
		tools[tool.Name] = tool
	}
	require.Len(t, tools, 3)
	note, ctx := tools[winnow.NotesTool().Name], WithConversation(t.Context(), "a")
	called := func(arguments string) winnow.Message {
		return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "1", Name: note.Name, Arguments: []byte(arguments)}}}
	}
	h := history("s", "q")
	for _, tt := range []struct {
		arguments string
		counts    bool
	}{{`{"name":"goal","text":"win"}`, true}, {`{"name":"","text":"lose"}`, false}} {
		answer := called(tt.arguments)
		ask(t, c, "a", h).Answered(ctx, answer)
		text, err := note.Run(ctx, json.RawMessage(strings.ReplaceAll(tt.arguments, ":", " : ")))
		require.NoError(t, err)
		result := winnow.Message{Role: winnow.RoleTool, ToolCallID: "1", ToolName: note.Name, Parts: []winnow.Part{{Text: text}}}
		whole := append(append(history("s", "q"), answer), result)
		turn := ask(t, c, "a", whole)
		assert.Equal(t, tt.counts, len(winnow.Notes(turn.conversation.history)) > 0, text)
		assert.False(t, whole[3].IsError, "the framework's own list")
	}
	_, err := note.Run(WithConversation(t.Context(), "b"), json.RawMessage(`{"name":"goal","text":"win"}`))
	assert.Error(t, err, "of nobody")
	_, err = tools[winnow.RecallTool().Name].Run(t.Context(), json.RawMessage(`{"handle":"1"}`))
	assert.Error(t, err, "of nobody")
}
