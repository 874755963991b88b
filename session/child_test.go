package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

func childStore(t *testing.T, dir string) *session.Store {
	t.Helper()
	store, err := session.OpenDirectory(dir, &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 64_000, &winnow.Options{Recall: true, Reserve: 8_000}
	}})
	require.NoError(t, err)
	return store
}

// words is an answer of n characters, with a line that no other answer has.
func words(name string, n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var b strings.Builder
	for b.Len() < n/2 {
		fmt.Fprintf(&b, "%s found item %d in place %d.\n", name, r.IntN(1_000), r.IntN(1_000_000))
	}
	fmt.Fprintf(&b, "The door code of %s is %d.\n", name, n)
	for b.Len() < n {
		fmt.Fprintf(&b, "%s found item %d in place %d.\n", name, r.IntN(1_000), r.IntN(1_000_000))
	}
	return b.String()
}

// Seven long results of sub-agents in one step fit together, and each can be read whole: by lines, by words, behind a
// restart, in forks, and behind a summary of the parent.
func TestChildren(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := open(t, childStore(t, dir), "agent:main:main")
	require.NoError(t, s.Append(ctx, session.User("Search all seven houses.")))
	step := winnow.Message{Role: winnow.RoleAssistant}
	for i := range 7 {
		step.Parts = append(step.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: fmt.Sprint("c", i), Name: "task",
			Arguments: json.RawMessage(fmt.Sprintf(`{"name":"house-%d"}`, i))})
	}
	require.NoError(t, s.Append(ctx, step))
	for i, call := range step.Parts {
		name := fmt.Sprint("house-", i)
		child, err := s.Child(ctx, name)
		require.NoError(t, err)
		assert.Equal(t, "agent:main:main:subagent:"+name, child.Key())
		require.NoError(t, child.Append(ctx, session.User("Search "+name)))
		early, err := s.Capsule(ctx, name, call)
		require.NoError(t, err)
		assert.True(t, early.IsError, "it has not answered")
		require.NoError(t, child.Append(ctx, answer(words(name, 15_000+i*3_600))))
		require.NoError(t, child.Close())
		capsule, err := s.Capsule(ctx, name, call)
		require.NoError(t, err)
		assert.Equal(t, call.ID, capsule.ToolCallID)
		assert.False(t, capsule.IsError)
		assert.Less(t, len(capsule.Parts[0].Text), 64_000/16*4+500)
		require.NoError(t, s.Append(ctx, capsule))
	}
	r, err := s.Prepare(ctx)
	require.NoError(t, err)
	shown, all := 0, 0
	for i := range 7 {
		text := r.Messages[2+i].Parts[0].Text
		shown += len(text)
		all += 15_000 + i*3_600
		assert.Contains(t, text, fmt.Sprintf("recall subagent:house-%d shows", i))
	}
	t.Logf("of %d characters the parent gets %d", all, shown)
	assert.Less(t, shown, 7*(64_000/16*4+500))

	recall := func(s *session.Session, arguments string) winnow.Message {
		t.Helper()
		m, ok, err := s.RunTool(ctx, winnow.Part{Kind: winnow.KindToolCall, ID: "r", Name: "recall", Arguments: json.RawMessage(arguments)})
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, "r", m.ToolCallID)
		return m
	}
	check := func(s *session.Session, when string) {
		t.Helper()
		for i := range 7 {
			want := fmt.Sprintf("The door code of house-%d is %d.", i, 15_000+i*3_600)
			for _, by := range []string{`"words":"door code"`, `"pattern":"door code"`} {
				m := recall(s, fmt.Sprintf(`{"handle":"subagent:house-%d",%s}`, i, by))
				assert.Contains(t, m.Parts[0].Text, want, when)
				assert.NotContains(t, m.Parts[0].Text, fmt.Sprintf("The door code of house-%d", i+1), when)
			}
		}
	}
	check(s, "at once")
	var read strings.Builder // all of it, piece by piece
	for from := 1; from > 0; {
		text := recall(s, fmt.Sprintf(`{"handle":"recall subagent:house-6","from":%d}`, from)).Parts[0].Text
		_, body, _ := strings.Cut(text, ">\n")
		body, end, _ := strings.Cut(body, "\n</recalled>")
		read.WriteString(body + "\n")
		from = 0
		if _, next, found := strings.Cut(end, "give from "); found {
			_, err := fmt.Sscanf(next, "%d", &from)
			require.NoError(t, err)
		}
	}
	assert.Contains(t, strings.ReplaceAll(read.String(), "\n", ""), strings.ReplaceAll(words("house-6", 15_000+6*3_600), "\n", ""))

	require.NoError(t, s.Append(ctx, answer("Done."), session.User("Thanks.")))
	_, err = s.Compact(ctx, "")
	require.NoError(t, err)
	check(s, "behind a summary")
	require.NoError(t, s.Close())
	s = open(t, childStore(t, dir), "agent:main:main")
	check(s, "behind a restart")
	leaf := s.Leaf()
	require.NoError(t, s.Close())
	require.NoError(t, childStore(t, dir).Fork(ctx, "agent:main:main", leaf, "fork"))
	require.NoError(t, childStore(t, dir).Fork(ctx, "fork", "", "fork of fork"))
	fork := open(t, childStore(t, dir), "fork of fork")
	check(fork, "in a fork of a fork")
	require.NoError(t, fork.Close())
}

// A capsule takes no more of the window in a script that has more tokens for each character.
func TestCapsuleOfOtherScripts(t *testing.T) {
	ctx := context.Background()
	s := open(t, childStore(t, t.TempDir()), "k")
	require.NoError(t, s.Append(ctx, session.User("Search.")))
	child, err := s.Child(ctx, "c")
	require.NoError(t, err)
	require.NoError(t, child.Append(ctx, session.User("Search."), answer(strings.Repeat("在第三层找到了钥匙。\n", 2_000))))
	require.NoError(t, child.Close())
	capsule, err := s.Capsule(ctx, "c", winnow.Part{ID: "c1", Name: "task"})
	require.NoError(t, err)
	e, err := winnow.NewEstimator("")
	require.NoError(t, err)
	assert.LessOrEqual(t, e.Estimate(capsule), 64_000/16+100)
}

// Neither a sub-agent nor a text that a model reads can name a session that is not below its own.
func TestChildNames(t *testing.T) {
	ctx := context.Background()
	store := childStore(t, t.TempDir())
	secret := open(t, store, "agent:main:subagent:secret")
	require.NoError(t, secret.Append(ctx, session.User("the password"), answer("is swordfish")))
	require.NoError(t, secret.Close())
	for _, parent := range []string{"agent:main", "agent:main:subagent:other"} {
		s := open(t, store, parent)
		require.NoError(t, s.Append(ctx, session.User("hello")))
		for _, name := range []string{"", ".", "..", "../secret", "a/b", "a:b", "x:subagent:y", ":subagent:secret", "a b", "a\x00", "a\n", "é",
			strings.Repeat("a", 65), "-a", "agent:main:subagent:secret"} {
			_, err := s.Child(ctx, name)
			assert.ErrorIs(t, err, session.ErrKey, "%q", name)
			_, err = s.Capsule(ctx, name, winnow.Part{})
			assert.ErrorIs(t, err, session.ErrKey, "%q", name)
			arguments, err := json.Marshal(map[string]string{"handle": "subagent:" + name})
			require.NoError(t, err)
			m, ok, err := s.RunTool(ctx, winnow.Part{ID: "r", Name: "recall", Arguments: arguments})
			require.NoError(t, err)
			assert.True(t, ok)
			assert.True(t, m.IsError)
			assert.NotContains(t, m.Parts[0].Text, "swordfish", "%q", name)
		}
		_, err := s.Capsule(ctx, "unknown", winnow.Part{})
		assert.ErrorIs(t, err, session.ErrNotFound)
		m, _, err := s.RunTool(ctx, winnow.Part{ID: "r", Name: "recall", Arguments: json.RawMessage(`{"handle":"subagent:secret"}`)})
		require.NoError(t, err)
		assert.Equal(t, parent == "agent:main", strings.Contains(m.Parts[0].Text, "swordfish"), "its own sub-agent alone: %s", parent)
		require.NoError(t, s.Close())
	}
}

func ExampleSession_Capsule() {
	ctx := context.Background()
	store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 200_000, &winnow.Options{Recall: true}
	}})
	parent, err := store.Open(ctx, "agent:main:main")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer parent.Close()
	call := winnow.Part{Kind: winnow.KindToolCall, ID: "c1", Name: "task", Arguments: json.RawMessage(`{"name":"tests"}`)}
	if err := parent.Append(ctx, session.User("Why do the tests fail?"),
		winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{call}}); err != nil {
		fmt.Println(err)
		return
	}

	child, err := parent.Child(ctx, "tests") // a conversation of its own, with its own loop
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := child.Append(ctx, session.User("Find out why the tests fail."),
		winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "The clock is mocked twice."}}}); err != nil {
		fmt.Println(err)
		return
	}
	if err := child.Close(); err != nil {
		fmt.Println(err)
		return
	}

	capsule, err := parent.Capsule(ctx, "tests", call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(capsule.Parts[0].Text)
	// Output:
	// The clock is mocked twice.
	// [sub-agent tests, 2 messages: recall subagent:tests shows them, in part with words, a pattern or lines]
}
