// Package adaptertest holds the common test code of the adapters: recorded sessions, a scripted server and a
// conversation that is compacted.
package adaptertest

import (
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// recorded is for changes of an adapter; otherwise a sample suffices. SDKs take a second to write 50 MB.
var recorded = flag.Bool("recorded", false, "check every recorded session, not a sample of them")

// sample: one session of this many is read.
const sample = 20

// CheckCorpus checks an adapter with whole recorded sessions: exports are valid and come back unchanged, and after each
// stage unchanged messages stay the same and everything is valid. It reads every twentieth session, or every one with
// -recorded. Without sessions it skips the test.
func CheckCorpus[T any](t *testing.T, a winnowtest.Adapter[T]) {
	t.Helper()
	EachSession(t, func(t *testing.T, history []winnow.Message) { assert.NoError(t, a.CheckHistory(history)) })
}

// EachSession calls f for every twentieth recorded session, or for every one with -recorded. Without sessions it skips
// the test.
func EachSession(t *testing.T, f func(t *testing.T, history []winnow.Message)) {
	t.Helper()
	for i, file := range sessions(t) {
		if i%sample != 0 && !*recorded {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), func(t *testing.T) {
			f(t, answered(read(t, file)))
		})
	}
}

// sessions returns the files of the recorded sessions: those below $WINNOW_SHARED, or of a directory shared beside the
// repository, which an adapter is three or four directories below. Without sessions it skips the test.
func sessions(t *testing.T) []string {
	t.Helper()
	dirs := []string{os.Getenv("WINNOW_SHARED")}
	if dirs[0] == "" {
		dirs = []string{filepath.Join("..", "..", "..", "shared"), filepath.Join("..", "..", "..", "..", "shared")}
	}
	for _, dir := range dirs {
		if files, err := filepath.Glob(filepath.Join(dir, "corpus", "*.jsonl.gz")); err == nil && len(files) > 0 {
			return files
		}
	}
	t.Skipf("no recorded sessions in %v (set WINNOW_SHARED)", dirs)
	return nil
}

func read(t *testing.T, file string) []winnow.Message {
	t.Helper()
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	require.NoError(t, err)
	history, err := winnow.ReadMessages(unzipped)
	require.NoError(t, err)
	return history
}

// answered repairs history and answers the open calls at its end, as the host would have done before the next request.
func answered(history []winnow.Message) []winnow.Message {
	history, _ = winnow.RepairToolPairing(history)
	last := len(history) - 1
	for last >= 0 && history[last].Role == winnow.RoleTool {
		last--
	}
	if last < 0 || history[last].Role != winnow.RoleAssistant {
		return history
	}
	answered := map[string]bool{}
	for _, m := range history[last+1:] {
		answered[m.ToolCallID] = true
	}
	for _, p := range history[last].Parts {
		if p.Kind == winnow.KindToolCall && !answered[p.ID] { // the repair made ids unique
			history = append(history, winnow.Message{Role: winnow.RoleTool, ToolCallID: p.ID, ToolName: p.Name,
				Parts: []winnow.Part{{Text: "(to come)"}}})
		}
	}
	return history
}
