package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// fetched is the request of an agent that has fetched pages, of which old ones become records.
func fetched(t *testing.T, book int, stream bool) string {
	t.Helper()
	messages := []any{map[string]any{"role": "user", "content": fmt.Sprintf("Fetch all pages of book %d.", book)}}
	for i := range 30 {
		id := fmt.Sprintf("toolu_%d", i)
		text := strings.Repeat(fmt.Sprintf("page %d of book %d is as it was\n", i, book), 120)
		messages = append(messages,
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "fetch", "input": map[string]any{"page": i}}}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": text}}})
	}
	body, err := json.Marshal(map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 5000, "messages": messages, "stream": stream,
		"tools": []any{map[string]any{"name": "fetch", "input_schema": map[string]any{"type": "object"}}}})
	require.NoError(t, err)
	return string(body)
}

// waitFor waits until the metrics say so.
func waitFor(t *testing.T, address, metric string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(get(t, address+"/metrics"), metric+"\n") },
		10*time.Second, 10*time.Millisecond, metric)
}

// TestShadow: behind the answer of a client the provider is asked once more, in turns with the client's own history and
// the same again; the client sees nothing of it, and the page and the metrics have the figures.
func TestShadow(t *testing.T) {
	for _, stream := range []bool{false, true} {
		p, h := strict(200_000)
		address, _ := start(t, h, Options{Window: 60_000, Shadow: 1, ShadowBudget: 10})
		for i, metric := range []string{"winnow_shadow_compared_total 1", "winnow_shadow_repeated_total 1"} {
			status, _ := post(t, address+"/v1/messages", fetched(t, i, stream))
			require.Equal(t, 200, status)
			waitFor(t, address, metric)
		}
		sent := p.Exchanges()
		require.Len(t, sent, 4, "one more for each")
		for i, x := range sent {
			require.Nil(t, x.Error)
			assert.Equal(t, secret, x.Request.Header.Get("X-Api-Key"), "the client's key")
			if i%2 == 1 {
				assert.Equal(t, shadowOutput, x.Request.MaxTokens)
				assert.False(t, x.Request.Stream)
			}
		}
		assert.Less(t, len(sent[0].Body), len(sent[1].Body), "the client's own history")
		assert.Equal(t, sent[2].Request.Messages, sent[3].Request.Messages, "the same again")
		metrics, page := get(t, address+"/metrics"), get(t, address+"/winnow/")
		for _, want := range []string{
			"winnow_shadow_same_total 1", "winnow_shadow_itself_total 1", "winnow_shadow_again_total 0",
			fmt.Sprint("winnow_shadow_prompt_tokens_total ", sent[0].Usage.Input+sent[0].Usage.CacheRead+sent[0].Usage.CacheWrite),
			fmt.Sprint("winnow_shadow_own_prompt_tokens_total ", sent[1].Usage.Input+sent[1].Usage.CacheRead+sent[1].Usage.CacheWrite),
			"winnow_requests_total 2", // the shadow is no request of a client
		} {
			assert.Contains(t, metrics, want+"\n")
		}
		assert.NotContains(t, metrics, "winnow_shadow_dollars_total 0\n")
		assert.Contains(t, page, "at up to $10.00 a day")
		assert.Contains(t, page, "own history: 1; the same step in 100 %")
	}
}

// TestShadowSees: a model that needs what is left out does something else with the client's own history, and reads again
// what is left out.
func TestShadowSees(t *testing.T) {
	p := provider.New(provider.Options{Model: func(r *provider.Request) provider.Answer {
		if strings.Count(fmt.Sprint(r.Messages), "page 2 of book") > 10 {
			return provider.Answer{Text: "Done."}
		}
		return provider.Answer{Calls: []provider.ToolCall{{Name: "fetch", Arguments: json.RawMessage(`{"page":2}`)}}}
	}})
	address, _ := start(t, http.StripPrefix("/base", p), Options{Window: 60_000, Shadow: 1, ShadowBudget: 10})
	for book := range 12 {
		status, answer := post(t, address+"/v1/messages", fetched(t, book, false))
		require.Equal(t, 200, status)
		assert.Contains(t, answer, "tool_use")
		waitFor(t, address, fmt.Sprint("winnow_shadow_compared_total ", (book+2)/2))
		waitFor(t, address, fmt.Sprint("winnow_shadow_repeated_total ", (book+1)/2))
	}
	metrics := get(t, address+"/metrics")
	for _, want := range []string{"winnow_shadow_itself_total 6", "winnow_shadow_same_total 0", "winnow_shadow_again_total 6", "winnow_shadow_again_only_total 6"} {
		assert.Contains(t, metrics, want+"\n")
	}
	assert.Contains(t, get(t, address+"/winnow/"), "It is worse than the whole history")
}

// TestShadowBudget: no more than the day's budget, nothing without a price, and nothing where nothing is left out.
func TestShadowBudget(t *testing.T) {
	p, h := strict(200_000)
	address, log := start(t, h, Options{Window: 60_000, Shadow: 1, ShadowBudget: 0.001})
	body := fetched(t, 1, false)
	for _, of := range []string{body, strings.Replace(body, "claude-sonnet-4-5", "nobody-knows-1", 1)} {
		status, _ := post(t, address+"/v1/messages", of)
		require.Equal(t, 200, status)
	}
	status, _ := post(t, address+"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":50,"messages":[{"role":"user","content":"Hello."}]}`)
	require.Equal(t, 200, status)
	require.Eventually(t, func() bool { return strings.Contains(get(t, address+"/metrics"), "winnow_shadow_unpaid_total 1") },
		10*time.Second, 10*time.Millisecond)
	assert.Contains(t, log.String(), "the price of the model is not known")
	assert.Len(t, p.Exchanges(), 3, "those of the client alone")
	assert.Contains(t, get(t, address+"/winnow/"), "1 were left out, because the day’s budget was spent")
}
