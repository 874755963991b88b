package adaptertest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

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
	EachSession(t, func(t *testing.T, history []winnow.Message) {
		values := a.Export(history)
		want := meaning(a.Import(values))
		for _, form := range forms {
			copied, err := form.Copy(values)
			require.NoError(t, err)
			same(t, form.Name, want, meaning(a.Import(copied)))
		}
	})
}

// meaning returns the messages without their sources.
func meaning(messages []winnow.Message) []string {
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
