package responses

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/prompt"
)

var weatherTools = []prompt.Tool{
	{Tool: winnow.Tool{Name: "read"}, Always: true},
	{Tool: winnow.Tool{Name: "get_weather", Description: "The weather of a city."}},
}

func TestOnDemand(t *testing.T) {
	assert.JSONEq(t, `[{"type":"function","name":"read","description":"","strict":false,"parameters":{"type":"object"}},
		{"type":"function","name":"get_weather","description":"The weather of a city.","strict":false,"parameters":{"type":"object"},"defer_loading":true},
		{"type":"tool_search"}]`, jsonOf(t, OnDemand(weatherTools)))
	assert.Len(t, OnDemand(weatherTools[:1]), 1, "there is nothing to find")
}

// The answer to each request of a person: a search, what it found, and a call of that.
const (
	toolSearch = `{"id":"tsc_%[1]d","type":"tool_search_call","call_id":null,"execution":"server","status":"completed","arguments":{"paths":["get_weather"]}}`
	toolFound  = `{"id":"tso_%[1]d","type":"tool_search_output","call_id":null,"execution":"server","status":"completed","tools":[{"type":"function","name":"get_weather","description":"The weather of a city.","defer_loading":true,"parameters":{"type":"object"},"strict":false}]}`
	toolCalled = `{"id":"fc_%[1]d","type":"function_call","call_id":"call_%[1]d","name":"get_weather","arguments":"{}","status":"completed"}`
	toolAnswer = `{"id":"msg_%[1]d","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It rains.","annotations":[]}]}`
)

// TestToolSearch: what the API's search for tools returned goes back byte for byte and is never separated, whatever is
// folded, summarized, opened again or forked.
func TestToolSearch(t *testing.T) {
	requests, pairs := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		var sent struct{ Input []json.RawMessage }
		assert.NoError(t, json.Unmarshal(body, &sent))
		list, err := json.Marshal(sent.Input)
		assert.NoError(t, err)
		assert.NoError(t, adaptertest.ValidItems(list))
		for i, item := range sent.Input {
			var n int
			if _, err := fmt.Sscanf(string(item), `{"id":"tsc_%d"`, &n); err == nil {
				pairs++
				assert.Equal(t, fmt.Sprintf(toolSearch, n), string(item))
				assert.Equal(t, fmt.Sprintf(toolFound, n), string(sent.Input[i+1]))
			}
		}
		requests++
		output := fmt.Sprintf(toolSearch+","+toolFound+","+toolCalled, requests)
		if strings.Contains(string(sent.Input[len(sent.Input)-1]), "function_call_output") {
			output = fmt.Sprintf(toolAnswer, requests)
		}
		w.Header().Set("Content-Type", "application/json")
		_, err = fmt.Fprintf(w, `{"id":"resp_%d","status":"completed","output":[%s]}`, requests, output)
		assert.NoError(t, err)
	}))
	defer server.Close()
	client := clientOf(server.URL)
	adaptertest.Rounds(t, Codec(), func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
		return asMessage(client.Responses.New(ctx, input(Export(messages), OnDemand(weatherTools)...))) // with the search
	})
	assert.Equal(t, 32, requests)
	assert.Greater(t, pairs, 40, "hardly anything was kept: the test says nothing")
}
