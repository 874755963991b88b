package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/prompt"
	"github.com/winnowgo/winnow/session"
)

// weatherTools are a tool that is always sent and two that are found.
var weatherTools = []prompt.Tool{
	{Tool: winnow.Tool{Name: "read"}, Always: true},
	{Tool: winnow.Tool{Name: "get_weather", Description: "The weather of a city."}},
	{Tool: winnow.Tool{Name: "get_tides", Description: "The tides of a port."}},
}

// The search tool comes last, and only where there is something to find.
func TestOnDemand(t *testing.T) {
	want := `[{"input_schema":{"type":"object"},"name":"read","description":""},` +
		`{"input_schema":{"type":"object"},"name":"get_weather","description":"The weather of a city.","defer_loading":true},` +
		`{"input_schema":{"type":"object"},"name":"get_tides","description":"The tides of a port.","defer_loading":true},` +
		`{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}]`
	assert.JSONEq(t, want, jsonOf(t, OnDemand(weatherTools)))
	assert.JSONEq(t, want, jsonOf(t, OnDemandBeta(weatherTools)))
	assert.Len(t, OnDemand(weatherTools[:1]), 1)
	assert.Len(t, OnDemandBeta(weatherTools[:1]), 1)
}

// toolSearcher searches a tool, is shown it, and calls it, in one answer. Then it says how it is.
func toolSearcher(r *provider.Request) provider.Answer {
	if len(r.Last().Results) > 0 {
		return provider.Answer{Thinking: []string{"so"}, Text: "It rains."}
	}
	n := len(r.Messages)
	id := fmt.Sprint("srvtoolu_", n)
	return provider.Answer{
		Thinking: []string{"which tool"}, Text: "I look for a tool.",
		Served: []any{
			map[string]any{"type": "server_tool_use", "id": id, "name": "tool_search_tool_bm25", "input": map[string]any{"query": "weather"}},
			map[string]any{"type": "tool_search_tool_result", "tool_use_id": id, "content": map[string]any{
				"type": "tool_search_tool_search_result", "tool_references": []any{map[string]any{"type": "tool_reference", "tool_name": "get_weather"}}}},
		},
		Calls: []provider.ToolCall{{Name: "get_weather", Arguments: json.RawMessage(`{"city":"Oslo"}`)}},
	}
}

// TestToolSearch: what the API's search for tools returned goes back byte for byte and is never separated, whatever is
// folded, summarized, opened again or forked. The strict provider accepts every request.
func TestToolSearch(t *testing.T) {
	p := provider.New(provider.Options{Model: toolSearcher})
	server := httptest.NewServer(p)
	defer server.Close()
	client := clientOf(server.URL)
	pairs, requests := 0, 0
	check := func(messages any) {
		body := jsonOf(t, messages)
		requests++
		n := strings.Count(body, `"server_tool_use"`)
		pairs += n
		assert.Equal(t, n, strings.Count(body, `"content":{"tool_references":[{"tool_name":"get_weather","type":"tool_reference"}],"type":"tool_search_tool_search_result"}`), "%s", body)
	}
	requestOf := func(messages []winnow.Message) sdk.MessageNewParams {
		p := params(messages)
		p.Tools = OnDemand(weatherTools)
		check(p.Messages)
		return p
	}
	calls := map[string]session.Call{
		"whole": func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
			return asMessage(client.Messages.New(ctx, requestOf(messages)))
		},
		"streamed": func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
			return asMessage(Collect(client.Messages.NewStreaming(ctx, requestOf(messages)), nil))
		},
		"beta": func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
			params := sdk.BetaMessageNewParams{Model: "claude", MaxTokens: 4_000, Tools: OnDemandBeta(weatherTools),
				Thinking: sdk.BetaThinkingConfigParamOfEnabled(1_024), Messages: ExportBeta(messages)}
			check(params.Messages)
			return asBetaMessage(client.Beta.Messages.New(ctx, params))
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) { adaptertest.Rounds(t, Codec(), call) })
	}
	for i, x := range p.Exchanges() {
		if x.Error != nil {
			t.Errorf("request %d: %v", i, x.Error)
		}
	}
	assert.Greater(t, requests, 90)
	assert.Greater(t, pairs, 100, "hardly anything was kept: the test says nothing")
}
