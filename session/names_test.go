package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestNamesOfCallsStay: the request behind a compaction begins with the bytes of the one that was sent, however often a
// provider uses its ids again. So it is when it is asked for twice, and in a process that takes over.
func TestNamesOfCallsStay(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		id   func(n int) string
	}{
		{"unique", func(n int) string { return fmt.Sprint("call_", n) }},
		{"one", func(int) string { return "call_0" }},
		{"eight", func(n int) string { return fmt.Sprint("call_", n%8) }},
		{"forty", func(n int) string { return fmt.Sprint("call_", n%40) }},
		{"none", func(int) string { return "" }},
		{"like the names that are given", func(n int) string { return []string{"a", "a", "a_2", "a_3", ""}[n%5] }},
		{"no text", func(n int) string { return fmt.Sprintf("\xff%d", n%3) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := sessiontest.NewCrashFS()
			now := time.Unix(1_700_000_000, 0)
			clock := func() time.Time { return now }
			opts := &session.Options{Now: clock, Manager: func(string) (int, *winnow.Options) {
				return 6_000, &winnow.Options{
					Now: clock, FoldAbove: 1, Compact: &winnow.CompactOptions{KeepRecent: 1_500},
					Summarizer: winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
						return "## Goal\nAll files are read.\n\n## Progress\n" + fmt.Sprint(len(r.Messages)) + strings.Repeat(" files were read", 30), nil
					}),
				}
			}}
			store, err := sessiontest.OpenFiles(fsys, opts)
			require.NoError(t, err)
			s := open(t, store, "k")
			var last []winnow.Message
			compactions, isBehindOne := 0, false
			for n := range 160 {
				now = now.Add(time.Second)
				if n%3 == 0 {
					require.NoError(t, s.Append(ctx, session.User("Read the next files. "+strings.Repeat("Mind them. ", 60))))
				}
				id := tt.id(n)
				asked, result := call(id, "read"), session.Result(id, "read", fmt.Sprintf("file %d: %s", n, strings.Repeat("x ", 200)))
				result.Pinned = n%70 == 7
				if n%5 > 0 { // else the same call, with the same result
					asked.Parts[0].Arguments = fmt.Appendf(nil, `{"file":%d}`, n)
				} else {
					result.Parts[0].Text = "there is no such file"
				}
				require.NoError(t, s.Append(ctx, asked, result))
				r, err := s.Prepare(ctx)
				require.NoError(t, err)
				if isBehindOne && r.Compaction == nil {
					require.Equal(t, len(last), r.FirstChanged, "step %d", n)
					require.Equal(t, bytesOf(last), bytesOf(r.Messages[:len(last)]), "step %d", n)
				}
				if isBehindOne = r.Compaction != nil; isBehindOne {
					compactions++
				}
				last = r.Messages
				again, err := s.Prepare(ctx)
				require.NoError(t, err)
				require.Equal(t, bytesOf(last), bytesOf(again.Messages), "asked twice, step %d", n)
				if n%times.Every(4) > 0 && !isBehindOne {
					continue
				}
				other, err := sessiontest.OpenFiles(fsys.Kill(), opts)
				require.NoError(t, err)
				taken, err := other.Resume(ctx, "k")
				require.NoError(t, err)
				again, err = taken.Prepare(ctx)
				require.NoError(t, err)
				require.Equal(t, bytesOf(last), bytesOf(again.Messages), "behind a kill, step %d", n)
				require.NoError(t, taken.Close())
			}
			assert.Greater(t, compactions, 3)
		})
	}
}
