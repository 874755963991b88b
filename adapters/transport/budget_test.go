package transport

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestTaskBudget: what the model has used of a task's budget in steps that are left out is not given back to it.
func TestTaskBudget(t *testing.T) {
	step := func(id string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"read","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + strings.Repeat("line ", 800) + `"}]}`
	}
	list := `{"role":"user","content":"a"},` + step("before") + `,{"role":"assistant","content":"b"},{"role":"user","content":"c"},` + step("x") + `,` + step("y")
	for _, tt := range []struct {
		name, budget string
		from, to     int // messages that are left out
		want         int
	}{
		{"all is sent", `{"type":"tokens","total":64000}`, 0, 0, 0},
		{"a step of this task", `{"type":"tokens","total":64000}`, 5, 7, 64_000 - 1_000},
		{"null is as if it were not there", `{"type":"tokens","total":64000,"remaining":null}`, 5, 7, 64_000 - 1_000},
		{"the client has left out something, too", `{"type":"tokens","total":64000,"remaining":30000}`, 5, 7, 30_000 - 1_000},
		{"more than there was", `{"type":"tokens","total":64000,"remaining":500}`, 5, 7, 0},
		{"a step of the task before", `{"type":"tokens","total":64000}`, 1, 3, 0},
		{"no budget", `null`, 5, 7, 0},
	} {
		body := `{"model":"claude-opus-5-5","output_config":{"effort":"high","task_budget":` + tt.budget + `},"messages":[` + list + `]}`
		q, err := parse(httptest.NewRequest("POST", "/v1/messages", strings.NewReader("")), messagesForm, []byte(body))
		require.NoError(t, err, tt.name)
		got, _ := q.body(slices.Delete(slices.Clone(q.history), tt.from, tt.to), false)
		left := value(got).Get("output_config.task_budget.remaining")
		assert.LessOrEqual(t, strings.Count(string(got), `"remaining"`), 1, tt.name)
		assert.Equal(t, tt.want > 0 || tt.name == "more than there was", left.Exists(), tt.name)
		assert.InDelta(t, tt.want, left.Int(), 20, tt.name)
		assert.Equal(t, "high", value(got).Get("output_config.effort").Text(), tt.name)
	}
}

// TestBudgetIsSpent: what the model is shown of the budget never grows within a task, whatever becomes of old steps, and
// what it has had only in part is not counted whole.
func TestBudgetIsSpent(t *testing.T) {
	const total = 1_000_000
	var sent []byte
	tr, err := New(sender(func(r *http.Request) (*http.Response, error) {
		sent, _ = io.ReadAll(r.Body)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}), &Options{Manager: func(*http.Request, string) (int, *winnow.Options) { return 16_000, nil }})
	require.NoError(t, err)
	list := []string{`{"role":"user","content":"Read all of it."}`}
	shown, had, rewrites := total, map[string]int{}, 0
	for k := range 60 {
		body := fmt.Sprintf(`{"model":"claude-opus-5-5","output_config":{"task_budget":{"type":"tokens","total":%d}},"messages":[%s]}`, total, strings.Join(list, ","))
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(body))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		left, inIt := total, 0
		if remaining := value(sent).Get("output_config.task_budget.remaining"); remaining.Exists() {
			left = remaining.Int()
			rewrites++
		}
		for _, m := range value(sent).Get("messages").Elements() {
			if result := m.Get("content.0.tool_use_id").Text(); result != "" {
				n := len(m.Get("content.0.content").Text()) / 4
				inIt, had[result] = inIt+n, max(had[result], n)
			}
		}
		spent := 0
		for _, n := range had {
			spent += n
		}
		require.LessOrEqual(t, left-inIt, shown, k)
		shown = left - inIt
		assert.InDelta(t, total-spent, shown, float64(12*(k+1)), "request %d: but for the calls", k)
		list = append(list, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"read","input":{"path":"%[1]d.go"}}]}`, k),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, k, strings.Repeat(fmt.Sprintf("line of %d\n", k), 30+k%7*500)))
	}
	assert.Greater(t, rewrites, 10)
}

type sender func(*http.Request) (*http.Response, error)

func (f sender) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
