package session_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// The loop of the repository's README stands here between its marks.

func calls(id string) winnow.Message {
	call := winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "exec", Arguments: []byte("{}")}
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{call}}
}

func said(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}}
}

func readmeStore(dir string) (*session.Store, error) {
	// README
	store, err := session.OpenDirectory(dir, &session.Options{Manager: func(key string) (int, *winnow.Options) {
		return 0, &winnow.Options{Model: "claude-opus-4-8", Recall: true} // offer the model winnow.RecallTool() too
	}})
	// END
	return store, err
}

type (
	asks     = func(context.Context, []winnow.Message) (winnow.Message, error)
	runsTool = func(ctx context.Context, name string, arguments []byte) string
)

func readmeAgent(ctx context.Context, store *session.Store, key, text string, ask asks, runTool runsTool) (string, error) {
	// README
	s, err := store.Open(ctx, key)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if err := s.Begin(ctx, session.User(text)); err != nil { // on disk when it returns, and once, however often it is tried
		return "", err
	}
	for {
		answer, err := s.Do(ctx, ask) // prepare, call, recover from an overflow, append, go on after a pause
		if err != nil {
			return "", err // a *winnow.OverflowError says what fills the window
		}
		if len(answer.Calls()) == 0 {
			return answer.Text(), nil
		}
		for _, call := range answer.Calls() {
			result, isOwn, err := s.RunTool(ctx, call) // the recall tool is Winnow's own
			if err == nil && !isOwn {
				result = session.Result(call.ID, call.Name, runTool(ctx, call.Name, call.Arguments))
			}
			if err == nil {
				err = s.Append(ctx, result)
			}
			if err != nil {
				return "", err
			}
		}
	}
	// END
}

// The loop runs tools until the model is done, and continues in the next process, even if the last one ended with an
// open call.
func TestReadmeAgentRuns(t *testing.T) {
	ran := 0
	runTool := func(_ context.Context, name string, arguments []byte) string {
		ran++
		return name + string(arguments)
	}
	var recalled string
	ask := func(_ context.Context, messages []winnow.Message) (winnow.Message, error) {
		last := messages[len(messages)-1]
		switch {
		case last.Parts[0].Text == "What was it?":
			m := calls("own")
			m.Parts[0].Name, m.Parts[0].Arguments = winnow.RecallTool().Name, []byte(`{"words":"exec"}`)
			return m, nil
		case last.ToolCallID == "own":
			recalled = last.Parts[0].Text
			return said("I looked."), nil
		case last.Role == winnow.RoleUser && len(messages)%2 == 1:
			return calls("call_" + strconv.Itoa(len(messages))), nil
		}
		return said(strconv.Itoa(len(messages)) + " messages, then " + last.Parts[0].Text), nil
	}
	dir := t.TempDir()
	for _, want := range []string{"3 messages, then exec{}", "7 messages, then exec{}"} {
		store, err := readmeStore(dir)
		require.NoError(t, err)
		answer, err := readmeAgent(t.Context(), store, "chat", "Look.", ask, runTool)
		require.NoError(t, err)
		assert.Equal(t, want, answer)
		require.NoError(t, store.Close())
	}
	assert.Equal(t, 2, ran)
	store, err := readmeStore(dir)
	require.NoError(t, err)
	s, err := store.Open(t.Context(), "chat")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), session.User("Deploy."), calls("call_open"))) // and the process is killed
	require.NoError(t, s.Close())
	answer, err := readmeAgent(t.Context(), store, "chat", "And?", ask, runTool)
	require.NoError(t, err)
	assert.Contains(t, answer, "And?")
	assert.Equal(t, 2, ran, "nothing is run again by itself")

	answer, err = readmeAgent(t.Context(), store, "chat", "What was it?", ask, runTool)
	require.NoError(t, err)
	assert.Equal(t, "I looked.", answer)
	assert.NotEmpty(t, recalled, "the recall tool is not the host's")
	assert.Equal(t, 2, ran)
	require.NoError(t, store.Close())
}

// Usage is counted by the model that the manager's options name, unless the host names another one.
func TestModelOfTheOptions(t *testing.T) {
	store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 0, &winnow.Options{Model: "claude-opus-4-6"}
	}})
	ctx := context.Background()
	s, err := store.Open(ctx, "k")
	require.NoError(t, err)
	defer s.Close()
	ask := func(context.Context, []winnow.Message) (winnow.Message, error) {
		m := said("ok")
		m.Usage = &winnow.Usage{Input: 7, Output: 2}
		return m, nil
	}
	for range 2 {
		require.NoError(t, s.Append(ctx, session.User("hi")))
		_, err = s.Do(ctx, ask)
		require.NoError(t, err)
		s.UseModel("another")
	}
	models := s.View().Counts.Models
	assert.Equal(t, 1, models["claude-opus-4-6"].Calls)
	assert.Equal(t, 1, models["another"].Calls)
}

// A turn that failed, or was killed between a call and its result, is tried again with the same code: the text of the
// person is in the log once. Another text, and the same one behind an answer, is a turn of its own.
func TestTryAgain(t *testing.T) {
	dir := t.TempDir()
	fail := errors.New("overloaded")
	asked := 0
	var answers []winnow.Message
	ask := func(context.Context, []winnow.Message) (winnow.Message, error) {
		if asked++; asked > len(answers) || answers[asked-1].Role == "" {
			return winnow.Message{}, fail
		}
		return answers[asked-1], nil
	}
	var texts []string
	try := func(text string, want error, will ...winnow.Message) {
		t.Helper()
		asked, answers = 0, will
		store, err := session.OpenDirectory(dir, nil)
		require.NoError(t, err)
		defer store.Close()
		_, err = readmeAgent(t.Context(), store, "k", text, ask, func(context.Context, string, []byte) string { return "ran" })
		require.ErrorIs(t, err, want)
		view, err := store.Read(t.Context(), "k")
		require.NoError(t, err)
		texts = nil
		for _, m := range view.History {
			if m.Role == winnow.RoleUser {
				texts = append(texts, m.Parts[0].Text)
			}
		}
	}
	try("hello", fail)
	try("hello", fail, calls("c1"))
	try("hello", nil, said("done"))
	assert.Equal(t, []string{"hello"}, texts)
	try("hello", nil, said("again"))
	try("bye", fail)
	try("no, this", nil, said("well"))
	assert.Equal(t, []string{"hello", "hello", "bye", "no, this"}, texts)
}
