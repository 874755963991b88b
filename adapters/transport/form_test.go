package transport

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The markers that a client sets are what its requests cost.
func TestPrices(t *testing.T) {
	const hour = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	for _, tt := range []struct {
		name, model, block, beside string
		mark                       bool
		want                       *winnow.CacheOptions
	}{
		{"five minutes", "claude-opus-4-5", `"cache_control":{"type":"ephemeral"}`, "", false, nil},
		{"an hour", "claude-opus-4-5", hour, "", false, &winnow.CacheOptions{TTL: time.Hour, WritePrice: 2}},
		{"automatic", "claude-opus-4-5", `"x":1`, hour, false, &winnow.CacheOptions{TTL: time.Hour, WritePrice: 2}},
		{"none", "claude-opus-4-5", `"x":1`, "", false, &winnow.CacheOptions{None: true}},
		{"none but in the system prompt", "claude-opus-4-5", `"x":1`, `"system":[{"type":"text","text":"s",` + hour + `}]`, true, &winnow.CacheOptions{None: true}},
		{"none, and they are set here", "claude-opus-4-5", `"x":1`, "", true, nil},
		{"another model caches by itself", "glm-5", `"x":1`, "", false, nil},
	} {
		body := `{"model":"` + tt.model + `","messages":[{"role":"user","content":[{"type":"text","text":"a",` + tt.block + `}]}]`
		if tt.beside != "" {
			body += "," + tt.beside
		}
		q, err := parse(httptest.NewRequest("POST", "/v1/messages", strings.NewReader("")), messagesForm, []byte(body+"}"))
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.want, q.prices(tt.mark), tt.name)
	}
}

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
		assert.Equal(t, tt.want > 0 || tt.name == "more than there was", left.Exists(), tt.name)
		assert.InDelta(t, tt.want, left.Int(), 20, tt.name)
		assert.Equal(t, "high", value(got).Get("output_config.effort").Text(), tt.name)
	}
}
