package adaptertest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// Copying copies typed values into another form with the same meaning.
type Copying[T any] struct {
	Name string
	Copy func([]T) ([]T, error)
}

// CheckForms imports the recorded sessions in all forms, which must mean the same. It reads as many of them as
// CheckCorpus.
func CheckForms[T any](t *testing.T, a winnowtest.Adapter[T], forms ...Copying[T]) {
	t.Helper()
	for i, file := range sessions(t) {
		if i%sample != 0 && !*recorded {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), func(t *testing.T) {
			values := a.Export(answered(read(t, file)))
			want := meaning(t, a.Import(values))
			for _, form := range forms {
				copied, err := form.Copy(values)
				if err != nil {
					t.Fatal(err)
				}
				got := meaning(t, a.Import(copied))
				if len(got) != len(want) {
					t.Fatalf("%s: %d messages instead of %d", form.Name, len(got), len(want))
				}
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s: message %d means %s\ninstead of %s", form.Name, i, head(got[i]), head(want[i]))
					}
				}
			}
		})
	}
}

// meaning returns the messages without their sources.
func meaning(t *testing.T, messages []winnow.Message) []string {
	t.Helper()
	out := make([]string, len(messages))
	for i := range messages {
		b, err := json.Marshal(&messages[i])
		if err != nil { // arguments that are not JSON
			b = []byte(err.Error())
		}
		out[i] = string(b)
	}
	return out
}

func head(s string) string { return s[:min(len(s), 600)] }
