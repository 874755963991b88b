package transport_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/transport"
)

// Calls that servers of other makers write in their own way are sent as they came, but for ids that say nothing.
func TestCallsOfOtherServers(t *testing.T) {
	const (
		asked = `{"role":"user","content":"q"},`
		named = `{"id":"","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"","type":"function","function":{"name":"b","arguments":"{}"}}`
	)
	for _, tt := range []struct{ name, path, body, want string }{
		{"arguments are an object", "/v1/chat/completions", `{"messages":[` + asked + `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"a","arguments":{"x": 1e400}}}]},{"role":"tool","tool_name":"a","content":"A"}]}`, ""},
		{"an empty one", "/v1/chat/completions", `{"messages":[` + asked + `{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"a","arguments":{}}}]},{"role":"tool","tool_call_id":"c","content":"A"}]}`, ""},
		{"none", "/v1/chat/completions", `{"messages":[` + asked + `{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"a","arguments":null}}]},{"role":"tool","tool_call_id":"c","content":"A"}]}`, ""},
		{"in Responses", "/v1/responses", `{"input":[` + asked + `{"type":"function_call","call_id":"","name":"a","arguments":{"x":1}},{"type":"function_call_output","call_id":"","output":"A"}]}`,
			`{"input":[` + asked + `{"type":"function_call","call_id":"call_1","name":"a","arguments":{"x":1}},{"type":"function_call_output","call_id":"call_1","output":"A"}]}`},
		{"empty ids: results are in the order of their calls", "/v1/chat/completions", `{"messages":[` + asked + `{"role":"assistant","content":"","tool_calls":[` + named + `]},{"role":"tool","tool_call_id":"","content":"A"},{"role":"tool","tool_call_id":"","content":"B"}]}`,
			`{"messages":[` + asked + `{"role":"assistant","content":"","tool_calls":[` + strings.Replace(strings.Replace(named, `"id":""`, `"id":"call_1"`, 1), `"id":""`, `"id":"call_2"`, 1) +
				`]},{"role":"tool","tool_call_id":"call_1","content":"A"},{"role":"tool","tool_call_id":"call_2","content":"B"}]}`},
	} {
		var got string
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			b, _ := io.ReadAll(r.Body)
			got = string(b)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
		}), nil)
		require.NoError(t, err)
		r, err := http.NewRequest(http.MethodPost, "http://x"+tt.path, strings.NewReader(tt.body))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		if tt.want == "" {
			tt.want = tt.body
		}
		assert.Equal(t, tt.want, got, tt.name)
	}
}
