// Package adaptertest holds what the tests of all adapters need: recorded sessions, a scripted server and a
// conversation that is compacted.
package adaptertest

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// stride is how many sessions there are for each that is looked at closely: SDKs take a second to write 50 MB.
const stride = 20

// CheckCorpus holds an adapter to every session below $WINNOW_SHARED/corpus, or ../../../shared/corpus from the
// directory of an adapter: what is exported is valid and comes back as it is. Every twentieth session is
// checked in full; with -short the others are left out. It skips the test where there are no sessions.
func CheckCorpus[T any](t *testing.T, a winnowtest.Adapter[T]) {
	t.Helper()
	each(t, func(t *testing.T, history []winnow.Message, closely bool) {
		history = answered(history)
		if closely {
			if err := a.CheckHistory(history); err != nil {
				t.Error(err)
			}
			return
		}
		values := a.Export(history)
		if err := a.Valid(values); err != nil {
			t.Errorf("not valid: %v", err)
		}
		if err := a.CheckRoundTrip(values); err != nil {
			t.Errorf("round trip: %v", err)
		}
	})
}

// each calls f in a subtest for every session.
func each(t *testing.T, f func(t *testing.T, history []winnow.Message, closely bool)) {
	t.Helper()
	dir := os.Getenv("WINNOW_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(dir, "corpus", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Skipf("no recorded sessions in %s (set WINNOW_SHARED)", dir)
	}
	for i, file := range files {
		closely := i%stride == 0
		if testing.Short() && !closely {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), func(t *testing.T) {
			f(t, read(t, file), closely)
		})
	}
}

func read(t *testing.T, file string) []winnow.Message {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	history, err := winnow.ReadMessages(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// answered repairs history and answers the calls that wait at its end, as the host would have done before
// the next request.
func answered(history []winnow.Message) []winnow.Message {
	history, _ = winnow.RepairToolPairing(history)
	last := len(history) - 1
	for last >= 0 && history[last].Role == winnow.RoleTool {
		last--
	}
	if last < 0 || history[last].Role != winnow.RoleAssistant {
		return history
	}
	answered := len(history) - 1 - last
	for _, p := range history[last].Parts {
		if p.Kind != winnow.KindToolCall {
			continue
		}
		if answered--; answered >= 0 { // results are in call order
			continue
		}
		history = append(history, winnow.Message{Role: winnow.RoleTool, ToolCallID: p.ID, ToolName: p.Name, Parts: []winnow.Part{{Text: "(to come)"}}})
	}
	return history
}
