package jsonl_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
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
	tree, err := jsonl.NewTree(context.Background(), bytes.NewReader(log.Bytes()), int64(log.Len()), nil, nil)
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
	x := jsonl.Encoder{}
	last := &entry.Entry{Seq: 1, ID: "e1", Type: entry.TypeSession, Format: jsonl.FormatVersion, Key: "k"}
	require.NoError(t, x.Append(last))
	for _, n := range []int{200, 3, 2000} { // more than a window, and more than is spared
		for i := range n {
			m := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: strings.Repeat(fmt.Sprint(i, " "), 500)}}}
			e := &entry.Entry{Type: entry.TypeMessage, Message: &m}
			if i%7 == 3 {
				e = &entry.Entry{Type: entry.TypeCustom, Name: "n", Data: []byte(`1`)}
			}
			e.Seq, e.ParentID, e.Batch = last.Seq+1, last.ID, [2]int64{int64(i) + 1, int64(n)}
			e.ID = fmt.Sprint("e", e.Seq)
			require.NoError(t, x.Append(e))
			last = e
		}
	}
	log, size := bytes.NewReader(x.Lines), int64(len(x.Lines))
	tree, err := jsonl.NewTree(ctx, log, size, nil, nil)
	require.NoError(t, err)
	require.Empty(t, tree.Scan.Damage)
	i := 0
	require.NoError(t, jsonl.NewScanner(log, size, nil).Scan(ctx, func(l *jsonl.Line) error {
		got, err := tree.Line(i)
		require.NoError(t, err)
		require.Equal(t, string(l.Data), string(got.Data))
		require.Equal(t, l.Head, got.Head)
		i++
		return nil
	}))
	require.Equal(t, i, len(tree.Lines))
}
