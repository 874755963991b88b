package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// TestRecall: content that a request left out is found again in the session, even after a restart, a summary and a
// fork.
func TestRecall(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	store := func() *session.Store {
		store, err := session.OpenDirectory(dir, &session.Options{Manager: func(string) (int, *winnow.Options) {
			return 40_000, &winnow.Options{Recall: true, FoldAbove: -1, Compact: &winnow.CompactOptions{KeepRecent: 1}}
		}})
		require.NoError(t, err)
		return store
	}
	s := open(t, store(), "k")
	require.NoError(t, s.Append(ctx, session.User("Look through the logs.")))
	for i := range 10 {
		id := fmt.Sprint("c", i)
		require.NoError(t, s.Append(ctx, call(id, "exec"), session.Result(id, "exec", strings.Repeat("all is well\n", 300)+fmt.Sprintf("shard%d has limit %d\n", i, 40+i)+strings.Repeat("all is well\n", 300))))
	}
	var sent []winnow.Message
	ask := func(_ context.Context, messages []winnow.Message) (winnow.Message, error) {
		sent = messages
		return answer("ok"), nil
	}
	_, err := s.Do(ctx, ask)
	require.NoError(t, err)
	handle := regexp.MustCompile(`recall (\d+)`).FindStringSubmatch(sent[1].Parts[0].Text)
	require.NotNil(t, handle, "the record of what was folded names it: %s", sent[1].Parts[0].Text)
	check := func(s *session.Session, arguments, note string) {
		t.Helper()
		question := winnow.Part{Kind: winnow.KindToolCall, ID: "r", Name: "recall", Arguments: json.RawMessage(arguments)}
		result, err := s.Recall(ctx, question)
		require.NoError(t, err)
		assert.False(t, result.IsError, note)
		assert.Equal(t, "r", result.ToolCallID)
		assert.Contains(t, result.Parts[0].Text, "shard0 has limit 40", note)
	}
	byHandle, byWords := `{"handle":"`+handle[1]+`","pattern":"shard"}`, `{"words":"shard0 limit"}`
	check(s, byHandle, "in the session that left it out")
	require.NoError(t, s.Close())
	s = open(t, store(), "k")
	check(s, byHandle, "after a restart")
	check(s, byWords, "after a restart, by words")
	_, err = s.Compact(ctx, "")
	require.NoError(t, err)
	check(s, byHandle, "after a summary")
	require.NoError(t, s.Close())
	s = open(t, store(), "k")
	check(s, byWords, "after a summary and a restart")
	leaf := s.Leaf()
	require.NoError(t, s.Close())
	require.NoError(t, store().Fork(ctx, "k", leaf, "fork"))
	fork := open(t, store(), "fork")
	check(fork, byHandle, "in a fork")
	require.NoError(t, fork.Close())

	other := open(t, store(), "other")
	require.NoError(t, other.Append(ctx, session.User("What was the limit?")))
	result, err := other.Recall(ctx, winnow.Part{ID: "r", Arguments: json.RawMessage(byHandle)})
	require.NoError(t, err)
	assert.True(t, result.IsError, "nothing of another conversation is reachable")
	assert.NotContains(t, result.Parts[0].Text, "limit 40")
	require.NoError(t, other.Close())
}
