package adaptertest

import (
	"encoding/json"
	"slices"
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

// Reread returns values as a host has them that reads its history from a file.
func Reread[T any](values []T) (out []T, err error) {
	b, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(b, &out)
}

// Given returns a function that gives values as JSON, which keeps what the SDK does not know.
func Given[T any](override func(any) T) func([]T) ([]T, error) {
	return func(values []T) ([]T, error) {
		out := make([]T, len(values))
		for i := range values {
			raw, err := json.Marshal(values[i])
			if err != nil {
				return nil, err
			}
			out[i] = override(json.RawMessage(raw))
		}
		return out, nil
	}
}

// JSON returns a value as JSON.
func JSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// Bare returns m without what only its SDK knows.
func Bare(m winnow.Message) winnow.Message {
	m.Source, m.Parts = nil, slices.Clone(m.Parts)
	for k := range m.Parts {
		m.Parts[k].Source = nil
	}
	return m
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
