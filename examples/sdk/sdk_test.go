package sdk_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// api is what a program's provider streams: a call of read, and a text.
type api struct{ base, call, text string }

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		if name, _, ok := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`); ok && strings.HasPrefix(e, `{"type"`) {
			fmt.Fprintf(&b, "event: %s\n", name)
		}
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

var apis = map[string]api{
	"anthropic": {
		base: "ANTHROPIC_BASE_URL=%s",
		call: sse(`{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a.txt\"}"}}`,
			`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`),
		text: sse(`{"type":"message_start","message":{"id":"m2","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It says hello."}}`,
			`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`),
	},
	"openai": {
		base: "OPENAI_BASE_URL=%s/v1",
		call: sse(`{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"path\":\"a.txt\"}","status":"completed"}],"usage":{"input_tokens":9}}}`),
		text: sse(`{"type":"response.output_text.delta","delta":"It says hello."}`,
			`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It says hello.","annotations":[]}]}],"usage":{"input_tokens":9}}}`),
	},
	"gemini": {
		base: "GOOGLE_GEMINI_BASE_URL=%s",
		call: sse(`{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"a.txt"}},"thoughtSignature":"c2ln"}]}}],"usageMetadata":{"promptTokenCount":9}}`),
		text: sse(`{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"text":"It says hello."}]}}],"usageMetadata":{"promptTokenCount":9}}`),
	},
}

// An agent that is killed while the model answers goes on with the same request.
func TestKilled(t *testing.T) {
	for name, a := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			program := filepath.Join(work, "agent.exe")
			out, err := exec.Command("go", "build", "-o", program, "./"+name).CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.NoError(t, os.WriteFile(filepath.Join(work, "a.txt"), []byte("hello"), 0o600))

			bodies, killed := make(chan string, 9), make(chan bool)
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				requests++
				bodies <- string(body)
				switch requests {
				case 1:
					_, _ = io.WriteString(w, a.call)
				case 2:
					<-killed
				default:
					_, _ = io.WriteString(w, a.text)
				}
			}))
			defer server.Close()
			start := func(in io.Reader) (*exec.Cmd, *strings.Builder) {
				c := exec.Command(program, "-dir", work, "-state", filepath.Join(work, "state"))
				c.Env = append(os.Environ(), fmt.Sprintf(a.base, server.URL), "ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k", "GEMINI_API_KEY=k")
				said := &strings.Builder{}
				c.Stdin, c.Stdout, c.Stderr = in, said, said
				require.NoError(t, c.Start())
				return c, said
			}
			next := func() string {
				select {
				case b := <-bodies:
					return b
				case <-time.After(20 * time.Second):
					t.Fatal("no request")
					return ""
				}
			}
			c, said := start(strings.NewReader("What does a.txt say?\n"))
			next()
			second := next()
			require.NoError(t, c.Process.Kill())
			_ = c.Wait()
			close(killed)
			assert.Contains(t, said.String(), "[read a.txt]")
			assert.Contains(t, second, "hello")

			c, said = start(strings.NewReader(""))
			require.NoError(t, c.Wait(), said)
			assert.Equal(t, second, next(), "the same request")
			assert.Equal(t, "[going on where it was]\nIt says hello.\n", said.String())

			c, said = start(strings.NewReader("Sure?\n"))
			require.NoError(t, c.Wait(), said)
			assert.Contains(t, next(), "It says hello.")
			assert.Equal(t, "It says hello.\n", said.String())
		})
	}
}
