package transport_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/transport"
)

// Whatever a provider streams, the client gets it to the byte if no call of the tool is in it, and gets something that
// ends in any case.
func FuzzRecall(f *testing.F) {
	for _, text := range []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"recall\",\"input\":{}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"id\":\"a\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"recall\",\"arguments\":\"{\"}}]}}]}\r\n\r\n" +
			": comment\r\n\r\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\ndata: [DONE]\r\n\r\n",
		"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":-1,\"output_index\":7,\"item\":{\"type\":\"reasoning\"}}\n\n" +
			"data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"function_call\",\"name\":\"recall\",\"call_id\":\"c\",\"arguments\":\"{}\"}]}}",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"recall\"}},{\"text\":\"x\"}]},\"finishReason\":\"STOP\"}]}\n\n",
		"data: x\ndata: y\n\n", "", "\n\n\n", "data:{\"choices\":[]}\n\n", "{\"type\":\"response.completed\"",
	} {
		f.Add([]byte(text))
	}
	bodies := map[string]string{
		"/v1/messages":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read","input_schema":{}}]}`,
		"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"read"}}]}`,
		"/v1/responses":        `{"model":"m","input":[{"role":"user","content":"hi"}],"tools":[{"type":"function","name":"read"}]}`,
		"/v1beta/models/m:streamGenerateContent?alt=sse": `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}]}`,
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for path, body := range bodies {
			for _, kind := range []string{"text/event-stream", "application/json"} {
				o := options(window, 0)
				o.Recall = true
				n := 0
				tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
					n++
					return answer(200, kind, string(text)), nil
				}), o)
				require.NoError(t, err)
				_, got := post(t, tr, path, body)
				assert.LessOrEqual(t, n, 12, "an answer, and at most six more, each of which may be refused")
				if !bytes.Contains(text, []byte("recall")) && !strings.Contains(string(text), `\u`) && n == 1 {
					assert.Equal(t, string(text), got, path)
				}
			}
		}
	})
}
