package winnow_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// TestFingerprint holds the bytes of everything that is made for a request to testdata/fingerprint.txt: the stages and
// the manager over the inputs of the conformance vectors, the stages over the outputs of tools, and
// every request of the sessions of the quickstart with its summaries, its recovery and its snapshot. Code that only
// moves changes none of it. A change of behaviour changes a line: write it again with -update in the same commit.
func TestFingerprint(t *testing.T) {
	if testing.Short() {
		t.Skip("compared in whole runs: two changes of behaviour that land side by side would each have the other's bytes")
	}
	t.Parallel()
	var b strings.Builder
	for _, part := range []struct {
		name string
		make func(*testing.T, hash.Hash)
	}{
		{"conformance", fingerprintConformance},
		{"outputs", fingerprintOutputs},
		{"sessions", fingerprintSessions},
	} {
		h := sha256.New()
		part.make(t, h)
		fmt.Fprintf(&b, "%-12s %x\n", part.name, h.Sum(nil))
	}
	goldenFile(t, "testdata/fingerprint.txt", b.String())
}

func fingerprintConformance(t *testing.T, h hash.Hash) {
	for _, group := range []string{"chunk", "history", "prune", "repair", "truncate"} {
		for line := range strings.Lines(string(unpack(t, filepath.Join("testdata", "conformance", group+".jsonl.gz")))) {
			var v struct {
				Name     string
				Messages []winnow.Message
			}
			require.NoError(t, json.Unmarshal([]byte(line), &v))
			io.WriteString(h, v.Name)
			writeStages(t, h, v.Messages)
			m := fingerprintManager(t, 16_000, true) // the reference sends results as they came
			r, err := m.Prepare(t.Context(), v.Messages)
			writeRequest(t, h, r, err)
		}
	}
}

func fingerprintOutputs(t *testing.T, h hash.Hash) {
	files, err := filepath.Glob("testdata/outputs/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var history []winnow.Message
		for i := range 5 {
			history = append(history, userSays("next"), modelSends(callPart("call"+itoa(i), "run")),
				toolSays("call"+itoa(i), strings.Repeat(string(text), 1+i)), modelSays("done"))
		}
		writeStages(t, h, history)
	}
}

// fingerprintSessions sends every request of the sessions, recovers from a refusal now and then, and restores.
func fingerprintSessions(t *testing.T, h hash.Hash) {
	files, err := filepath.Glob("examples/quickstart/sessions/*.jsonl.gz")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		history, err := recording.Read(readAll(t, file))
		require.NoError(t, err)
		for _, window := range []int{12_000, 40_000} {
			m := fingerprintManager(t, window, false)
			requests := 0
			for i := range history {
				if i+1 < len(history) && history[i+1].Role != winnow.RoleAssistant {
					continue
				}
				r, err := m.Prepare(t.Context(), history[:i+1])
				writeRequest(t, h, r, err)
				if requests++; err == nil && requests%15 == 0 {
					refused := fmt.Errorf("prompt is too long: %d tokens > %d maximum", window+window/20, window)
					r, err := m.Recover(t.Context(), history[:i+1], refused)
					writeRequest(t, h, r, err)
				}
			}
			state := snapshotOf(t, m)
			io.WriteString(h, state)
		}
	}
}

// fingerprintManager returns a manager of which every byte is determined: a summarizer that answers with what it was
// asked, a clock that stands still.
func fingerprintManager(t *testing.T, window int, noMinify bool) *winnow.Manager {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return newManager(t, window, &winnow.Options{
		Now: func() time.Time { return now }, NoMinify: noMinify,
		Summarizer: winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
			asked, err := json.Marshal(r)
			return fmt.Sprintf("## Goal\nAsked with %x.\n\n## Done\nWork.\n\n## Next\nMore work.", sha256.Sum256(asked)), err
		}),
	})
}

// writeStages runs the stages over a history, each on its own.
func writeStages(t *testing.T, w io.Writer, history []winnow.Message) {
	t.Helper()
	const window = 32_000
	for _, stage := range []func() ([]winnow.Message, []winnow.Edit){
		func() ([]winnow.Message, []winnow.Edit) { return winnow.LimitHistoryTurns(history, 5) },
		func() ([]winnow.Message, []winnow.Edit) { return winnow.PruneContext(history, window, nil) },
		func() ([]winnow.Message, []winnow.Edit) { return winnow.TruncateToolResults(history, window, nil) },
		func() ([]winnow.Message, []winnow.Edit) { return winnow.RepairToolPairing(history) },
	} {
		messages, edits := stage()
		require.NoError(t, winnow.WriteMessages(w, messages))
		require.NoError(t, json.NewEncoder(w).Encode(edits))
	}
}

func writeRequest(t *testing.T, w io.Writer, r *winnow.Request, failed error) {
	t.Helper()
	fmt.Fprintln(w, failed)
	if r == nil {
		return
	}
	require.NoError(t, winnow.WriteMessages(w, r.Messages))
	require.NoError(t, winnow.WriteMessages(w, r.History))
	rest := *r
	rest.Messages, rest.History = nil, nil
	require.NoError(t, json.NewEncoder(w).Encode(rest))
}

func readAll(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}
