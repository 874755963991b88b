package adaptertest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// Copying makes of typed values those that mean the same in another form.
type Copying[T any] struct {
	Name string
	Copy func([]T) ([]T, error)
}

// CheckForms imports the recorded sessions in all forms: they mean the same. It reads as many of them as CheckCorpus.
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

// meaning is all of the messages but their sources.
func meaning(t *testing.T, messages []winnow.Message) []string {
	t.Helper()
	out := make([]string, len(messages))
	for i := range messages {
		b, err := json.Marshal(&messages[i])
		if err != nil { // arguments that are no JSON
			b = []byte(err.Error())
		}
		out[i] = string(b)
	}
	return out
}

func head(s string) string { return s[:min(len(s), 600)] }
