package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/transport"
)

// openings are how streams begin before the answer, with a refusal and an answer that may follow.
var openings = map[string]struct{ path, body, opening, refusal, answer string }{
	"messages": {"/v1/messages", talk("messages"),
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1}}}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n: waiting\n\n",
		"event: error\ndata: " + overflow + "\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"},
	"responses": {"/v1/responses", talk("input"),
		"event: response.created\r\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"status\":\"in_progress\",\"instructions\":\"say error: prompt is too long\",\"error\":null,\"output\":[]}}\r\n\r\n" +
			"event: response.in_progress\r\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":1,\"response\":{\"status\":\"in_progress\",\"error\":null,\"output\":[]}}\r\n\r\ndata: {\"type\":\"keepalive\",\"sequence_number\":2}\r\n\r\n",
		"event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"output\":[],\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n",
		"data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"content\":[]}}\n\n"},
	"chat": {"/v1/chat/completions", talk("messages"),
		"data: {\"choices\":[],\"prompt_filter_results\":[{\"filtered\":false}]}\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"finish_reason\":null}]}\n\n",
		"data: {\"error\":{\"message\":\"This model's maximum context length is 12000 tokens. However, your messages resulted in 19000 tokens.\",\"code\":\"context_length_exceeded\"}}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"It\"}}]}\n\n"},
	"gemini": {"/v1beta/models/m:streamGenerateContent", `{"contents":[` + strings.Repeat(`{"role":"user","parts":[{"text":"Read."}]},{"role":"model","parts":[{"text":"`+strings.Repeat("It is well. ", 300)+`"}]},`, 20) + `{"role":"user","parts":[{"text":"go on"}]}]}`,
		"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"\"}]}}],\"usageMetadata\":{\"promptTokenCount\":3}}\n\n",
		"data: {\"error\":{\"code\":400,\"message\":\"The input token count (19000) exceeds the maximum number of tokens allowed (12000).\",\"status\":\"INVALID_ARGUMENT\"}}\n\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"x\",\"args\":{}}}]}}]}\n\n"},
}

// talk is a body of some 20 000 tokens.
func talk(member string) string {
	return `{"model":"m","` + member + `":[` + strings.Repeat(`{"role":"user","content":"Read."},{"role":"assistant","content":"`+
		strings.Repeat("It is well. ", 300)+`"},`, 20) + `{"role":"user","content":"go on"}]}`
}

// A refusal behind the first events of a stream is recovered from, and the client sees the answer alone, wherever the
// stream is cut.
func TestLateRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range openings {
		for _, cut := range []int{1, 7, 100_000} {
			tried := 0
			tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
				res := answer(200, "text/event-stream", "")
				text := tt.opening + tt.answer
				if tried++; tried == 1 {
					text = tt.opening + tt.refusal
				}
				res.Body = io.NopCloser(inPieces{strings.NewReader(text), cut})
				return res, nil
			}), options(20*window, 0))
			require.NoError(t, err)
			status, got := post(t, tr, tt.path, tt.body)
			assert.Equal(t, 200, status)
			assert.Equal(t, tt.opening+tt.answer, got, "%s/%d", name, cut)
			assert.Equal(t, 2, tried, "%s/%d", name, cut)
		}
	}
}

type inPieces struct {
	io.Reader
	n int
}

func (r inPieces) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), r.n)]) }

// Nothing waits longer than five seconds for an answer to begin, and nothing at all once it has. A client that leaves
// ends the reading.
func TestStreamsDoNotWait(t *testing.T) {
	for name, tt := range openings {
		for _, pause := range []time.Duration{time.Second, time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				body, w := io.Pipe()
				tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
					res := answer(200, "text/event-stream", "")
					res.Body = body
					return res, nil
				}), options(20*window, 0))
				require.NoError(t, err)
				go func() {
					time.Sleep(time.Minute) // the first event takes as long as it takes
					_, _ = io.WriteString(w, tt.opening)
					time.Sleep(pause)
					_, _ = io.WriteString(w, tt.answer)
					_, _ = io.WriteString(w, "data: [DONE]\n\n") // never ends
				}()
				begin := time.Now()
				res, err := tr.RoundTrip(request(tt.path, tt.body))
				require.NoError(t, err)
				assert.Equal(t, time.Minute+min(pause, 5*time.Second), time.Since(begin), name)
				var got strings.Builder
				b := make([]byte, 10)
				for got.Len() < len(tt.opening) {
					n, err := res.Body.Read(b)
					require.NoError(t, err)
					got.Write(b[:n])
				}
				assert.Equal(t, time.Minute+min(pause, 5*time.Second), time.Since(begin), "what was held comes at once")
				for !strings.HasSuffix(got.String(), "[DONE]\n\n") {
					n, err := res.Body.Read(b)
					require.NoError(t, err)
					got.Write(b[:n])
				}
				assert.Equal(t, time.Minute+pause, time.Since(begin), "and the rest as it comes")
				assert.Equal(t, tt.opening+tt.answer+"data: [DONE]\n\n", got.String())
				require.NoError(t, res.Body.Close())
				_, err = res.Body.Read(b)
				assert.Error(t, err)
			})
		}
	}
}

// Errors that are no refusal for size, and streams that end early, are passed on as they came.
func TestOpeningsPassThrough(t *testing.T) {
	t.Parallel()
	for name, tt := range openings {
		for _, end := range []string{"", "data: {\"err", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			fmt.Sprintf("data: {\"type\":\"unknown\",\"text\":%q}\n\n", strings.Repeat("x", 2<<20))} {
			n := 0
			tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
				n++
				return answer(200, "text/event-stream", tt.opening+end), nil
			}), options(20*window, 0))
			require.NoError(t, err)
			_, got := post(t, tr, tt.path, tt.body)
			assert.True(t, tt.opening+end == got, "%s: %.80q", name, end)
			assert.Equal(t, 1, n)
		}
	}
}
