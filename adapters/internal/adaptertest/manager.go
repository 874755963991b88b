package adaptertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// Steps make a conversation from the host's own values. Step n asks something, calls the tool read twice and answers.
// result is a long text.
type Steps[T any] struct {
	Question func(n int) []T                // everything before the results
	Results  func(n int, result string) []T // results of both calls: the second says "b"
	Answer   func(n int) []T
}

// CheckManager keeps the host's values as the only history and imports a copy of them before each request. The manager
// has to recognize messages that it has seen, and its requests have to be valid.
func CheckManager[T any](t *testing.T, a winnowtest.Adapter[T], s Steps[T]) {
	t.Helper()
	m, err := winnow.New(8_000, nil)
	require.NoError(t, err)
	var log []T
	var before []string // the previous request
	sent, compactions, appended := 0, 0, 0
	for n := range 40 {
		log = append(log, s.Question(n)...)
		log = append(log, s.Results(n, strings.Repeat(fmt.Sprintf("line %d of it; ", n), 40+n*10))...)
		history := imported(t, a, log)
		req, err := m.Prepare(t.Context(), history)
		if err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		values := a.Export(req.Messages)
		if err := a.Valid(values); err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		if req.Compaction != nil {
			compactions++
		}
		now := written(t, values)
		if req.FirstChanged == sent { // no sent message is changed
			appended++
			for i := range before {
				if before[i] != now[i] {
					t.Errorf("request %d: value %d is changed\nfrom %s\nto   %s", n, i, before[i], now[i])
				}
			}
		}
		before, sent = now, len(req.Messages)
		log = append(log, s.Answer(n)...)
	}
	if compactions == 0 || appended < 10 {
		t.Errorf("%d requests compacted and %d only appended: the test proves nothing", compactions, appended)
	}
}

// imported returns the history from a copy of log.
func imported[T any](t *testing.T, a winnowtest.Adapter[T], log []T) []winnow.Message {
	t.Helper()
	if a.Copy != nil {
		again, err := a.Copy(log)
		require.NoError(t, err)
		return a.Import(again)
	}
	b, err := json.Marshal(log)
	require.NoError(t, err)
	var again []T
	require.NoError(t, json.Unmarshal(b, &again))
	return a.Import(again)
}

func written[T any](t *testing.T, values []T) []string {
	t.Helper()
	out := make([]string, len(values))
	for i := range values {
		b, err := json.Marshal(values[i])
		require.NoError(t, err)
		out[i] = string(b)
	}
	return out
}
