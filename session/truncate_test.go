package session_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
)

// longResult returns a result with a number of lines that all differ: repeated lines would be sent as one with a count.
func longResult(id string, lines int) winnow.Message {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "2026-03-01T10:%02d:%02dZ INFO request %d served in %d ms\n", n/60%60, n%60, 7_919*n%10_007, 12+31*n%89)
	}
	return session.Result(id, "exec", b.String()+"exit status 1")
}

func smallStore() *session.Store {
	return session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) { return 10_000, nil }})
}

func TestTruncateByHand(t *testing.T) {
	ctx := context.Background()
	store := smallStore()
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("look"), call("1", "exec"), longResult("1", 10), call("2", "exec"), longResult("2", 1000)))
	before := s.Leaf()
	require.NoError(t, store.SetLabel(ctx, "k", s.View().IDs[4], "the long one"))
	whole := texts(s.View())
	n, err := s.Truncate(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, n) // 30 % of 10 000 tokens are 12 000 characters: the other is within them
	cut := texts(s.View())
	assert.Equal(t, whole[:4], cut[:4])
	assert.Less(t, len(cut[4]), 13_000)
	assert.Contains(t, cut[4], "exit status 1")
	v := s.View()
	assert.Equal(t, "the long one", v.Labels[v.IDs[4]], "ids and labels stay")
	n, err = s.Truncate(ctx)
	require.NoError(t, err)
	assert.Zero(t, n)
	require.NoError(t, s.Close())
	s = open(t, store, "k")
	assert.Equal(t, cut, texts(s.View()))
	require.NoError(t, s.Rewind(ctx, before))
	assert.Equal(t, whole, texts(s.View()), "going back to before the edit shows the original")
}

// TestTruncateKeepsWhatACompactionKept cuts a result that a compaction kept. The reference rewrites the branch, which
// loses the messages before the result.
func TestTruncateKeepsWhatACompactionKept(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 10_000, &winnow.Options{Compact: &winnow.CompactOptions{KeepRecent: 100}}
	}})
	s := open(t, store, "k")
	pin := session.User("never forget this")
	pin.Pinned = true
	require.NoError(t, s.Append(ctx, pin))
	for n := range 30 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint("question ", n, strings.Repeat(" words", 50))), answer(strings.Repeat("more words ", 30))))
	}
	require.NoError(t, s.Append(ctx, session.User("look"), call("1", "exec"), longResult("1", 1000)))
	_, err := s.Compact(ctx, "")
	require.NoError(t, err)
	before := s.View()
	require.Positive(t, before.Counts.Compactions)
	n, err := s.Truncate(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	after := s.View()
	assert.Equal(t, before.IDs, after.IDs)
	assert.Equal(t, texts(before)[:len(before.IDs)-1], texts(after)[:len(after.IDs)-1])
	assert.Contains(t, texts(after), "never forget this")
	require.NoError(t, s.Close())
	s = open(t, store, "k")
	assert.Equal(t, after.History, s.View().History)
}

// TestRecoveryCutsForGood: after the provider refuses a request, results that recovery cuts are also cut in the log, as
// they were sent.
func TestRecoveryCutsForGood(t *testing.T) {
	ctx := context.Background()
	store := smallStore()
	s := open(t, store, "k")
	var lines strings.Builder // no two of them alike: those that repeat are sent as one
	for n := range 500 {
		sum := sha256.Sum256([]byte{byte(n), byte(n >> 8)})
		fmt.Fprintf(&lines, "%s is served from %x\n", wordsOf(n)[:20], sum[:8])
	}
	require.NoError(t, s.Append(ctx, session.User("look"), call("1", "exec"), session.Result("1", "exec", lines.String())))
	var sent [][]winnow.Message
	_, err := s.Do(ctx, func(_ context.Context, request []winnow.Message) (winnow.Message, error) {
		sent = append(sent, request)
		if tokens := len(request[2].Parts[0].Text) / 2; tokens > 2_000 { // a tokenizer that needs twice as many
			return winnow.Message{}, fmt.Errorf("prompt is too long: %d tokens > 2000 maximum", tokens)
		}
		return answer("I see."), nil
	})
	require.NoError(t, err)
	edits := 0
	for e, err := range store.Entries(ctx, "k") {
		require.NoError(t, err)
		if e.Type == entry.TypeEdit {
			edits++
		}
	}
	require.Greater(t, len(sent), 1)
	require.Positive(t, edits)
	last := sent[len(sent)-1]
	assert.Equal(t, last[2].Parts[0].Text, texts(s.View())[2], "stored as it was sent")
	require.NoError(t, s.Append(ctx, session.User("and now?")))
	r, err := s.Prepare(ctx)
	require.NoError(t, err)
	assert.Equal(t, len(last), r.FirstChanged, "the next request goes on behind it")
}

// textCodec keeps sources that are strings.
type textCodec struct{ fails bool }

func (textCodec) Name() string { return "text" }

func (c textCodec) Encode(messages []winnow.Message) ([]json.RawMessage, error) {
	if c.fails {
		return nil, errors.New("no")
	}
	out := make([]json.RawMessage, len(messages))
	for i, m := range messages {
		if text, ok := m.Source.(string); ok {
			out[i] = json.RawMessage(fmt.Sprintf("{ %q:\n%q }", "own", text))
		}
	}
	return out, nil
}

func (textCodec) Decode(messages []winnow.Message, sources []json.RawMessage) error {
	for i, source := range sources {
		var v struct{ Own string }
		if source == nil {
			continue
		}
		if err := json.Unmarshal(source, &v); err != nil {
			return err
		}
		messages[i].Source = v.Own
	}
	return nil
}

func TestCodecKeepsSources(t *testing.T) {
	ctx := context.Background()
	backend := session.NewMemory(nil).Backend()
	with := session.New(backend, &session.Options{Codec: textCodec{}})
	without := session.New(backend, nil)
	m := session.User("hi")
	m.Source = "mine"
	s := open(t, with, "k")
	require.NoError(t, s.Append(ctx, m, answer("plain")))
	assert.Equal(t, "mine", s.View().History[0].Source)
	require.NoError(t, s.Close())
	s = open(t, with, "k")
	assert.Equal(t, "mine", s.View().History[0].Source)
	assert.Nil(t, s.View().History[1].Source)
	other := session.User("edited")
	require.NoError(t, s.Edit(ctx, s.View().IDs[0], &other, ""))
	assert.Nil(t, s.View().History[0].Source, "the source is of another content")
	require.NoError(t, s.Close())

	s = open(t, without, "k2")
	require.NoError(t, s.Append(ctx, m))
	assert.Nil(t, s.View().History[0].Source, "what a restart would lose is not there before it")
	require.NoError(t, s.Close())
	v, err := without.Read(ctx, "k")
	require.NoError(t, err)
	assert.Nil(t, v.History[0].Source)

	failing := session.New(backend, &session.Options{Codec: textCodec{fails: true}})
	s = open(t, failing, "k3")
	require.ErrorContains(t, s.Append(ctx, m), "no")
	assert.Empty(t, s.View().History)
	require.NoError(t, s.Close())
}
