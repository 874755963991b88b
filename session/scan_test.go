package session

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// TestIndexOf: entries are found by their ids, which are those of their numbers or what an import brought.
func TestIndexOf(t *testing.T) {
	var log bytes.Buffer
	for _, e := range []struct {
		seq int
		id  string
	}{{1, "e1"}, {3, "e3"}, {4, "x"}, {5, "e9"}, {6, "e06"}, {7, "e"}, {8, "e3"}, {9, "e9"}, {10, "e10"}, {11, "e4"}} {
		fmt.Fprintf(&log, `{"seq":%d,"id":%q,"parentId":"e1","type":"custom"}`+"\n", e.seq, e.id)
	}
	tree, err := jsonl.NewTree(context.Background(), memoryOf{bytes.NewReader(log.Bytes())}, int64(log.Len()), nil, nil)
	require.NoError(t, err)
	want := []string{"e1", "e3", "x", "e9", "e06", "e", "e10", "e4"}
	for i, id := range want {
		at, ok := tree.IndexOf(id)
		assert.True(t, ok, id)
		assert.Equal(t, i, at, id)
	}
	for _, id := range []string{"", "e2", "e5", "e8", "e11", "e12", "e01", "e9999999999999999999", "y"} {
		_, ok := tree.IndexOf(id)
		assert.False(t, ok, id)
	}
	require.Len(t, tree.Scan.Damage, 2)
	for i, id := range []string{"e3", "e9"} {
		assert.Equal(t, id, tree.Scan.Damage[i].ID)
		assert.Equal(t, "another entry has this id", tree.Scan.Damage[i].Reason)
	}
}

// TestTreeSkipsTexts: a batch whose texts are not read again is in the tree as it lies in the log, beside one whose
// texts are.
func TestTreeSkipsTexts(t *testing.T) {
	ctx := context.Background()
	store := NewMemory(nil)
	s, err := store.Open(ctx, "k")
	require.NoError(t, err)
	for _, n := range []int{200, 3, 2000} { // more than a window, and more than is spared
		batch := make([]*entry.Entry, n)
		for i := range batch {
			m := User(strings.Repeat(fmt.Sprint(i, " "), 500))
			batch[i] = &entry.Entry{Type: entry.TypeMessage, Message: &m}
			if i%7 == 3 {
				batch[i] = &entry.Entry{Type: entry.TypeCustom, Name: "n", Data: []byte(`1`)}
			}
		}
		require.NoError(t, s.write(ctx, true, batch...))
	}
	size, err := s.log.Size()
	require.NoError(t, err)
	tree, err := jsonl.NewTree(ctx, s.log, size, nil, nil)
	require.NoError(t, err)
	require.Empty(t, tree.Scan.Damage)
	i := 0
	require.NoError(t, jsonl.NewScanner(s.log, size, nil).Scan(ctx, func(l *jsonl.Line) error {
		got, err := tree.Line(i)
		require.NoError(t, err)
		require.Equal(t, string(l.Data), string(got.Data))
		require.Equal(t, l.Head, got.Head)
		i++
		return nil
	}))
	require.Equal(t, i, len(tree.Lines))
	require.NoError(t, s.Close())
}
