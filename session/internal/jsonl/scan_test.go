package jsonl_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
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

// TestHeadOfAnyLine: the head of a line is read whole, wherever its members stand and whatever else is called "message".
func TestHeadOfAnyLine(t *testing.T) {
	summed := func(line string) []byte {
		return fmt.Appendf(nil, `%s,"crc":"%08x"}`, line, crc32.Checksum([]byte(line), jsonl.Castagnoli))
	}
	for _, line := range []string{
		`{"seq":2,"id":"e2","parentId":"e1","type":"message","message":{"role":"user"}`,
		`{"seq":2,"id":"e2","type":"message","message":{"role":"user"},"parentId":"e1"`,
		`{"seq":2,"id":"e2","parentId":"e1","type":"message","at":null`,
	} {
		l, reason := jsonl.ParseLine(summed(line))
		require.Empty(t, reason, line)
		var e entry.Entry
		l.GiveHead(&e)
		assert.Equal(t, entry.Entry{Seq: 2, ID: "e2", ParentID: "e1", Type: entry.TypeMessage}, e, line)
	}
	log := summed(`{"seq":1,"id":"e1","type":"session","format":1,"key":"k"`)
	log = append(append(log, '\n'), summed(
		`{"seq":2,"id":"e2","type":"status","full":{"info":{"pinned":true},"labels":{"a":"b","message":"c"}}`)...)
	log = append(log, '\n')
	info, err := jsonl.ReadInfo(context.Background(), sizedLog{bytes.NewReader(log)}, nil)
	require.NoError(t, err)
	require.NotNil(t, info.Info.Pinned, "an import may have brought an entry with the id message")
}

type sizedLog struct{ *bytes.Reader }

func (l sizedLog) Size() (int64, error) { return l.Reader.Size(), nil }
