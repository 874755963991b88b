package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
)

// grown returns a body of n turns that fill a small window.
func grown(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"role":"user","content":"Read %[1]d."},{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"read","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":%[2]q}]},{"role":"assistant","content":"Done."},`, i, strings.Repeat(fmt.Sprintf("chapter %d ", i), 200))
	}
	return `{"model":"claude-opus-4-5","max_tokens":50,"messages":[` + b.String() + fmt.Sprintf(`{"role":"user","content":"Read %d."}]}`, n)
}

// A request that is sent again, after an error or an answer that broke off, is the same one: of the same conversation,
// with the same bytes, in the same file.
func TestRetries(t *testing.T) {
	for _, status := range []int{429, 529, 500, 200} {
		var got []string
		names := map[string]bool{}
		dir := t.TempDir()
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			b, _ := io.ReadAll(r.Body)
			now := status
			if got = append(got, string(b)); len(got)%3 == 0 {
				now = http.StatusOK
			}
			return &http.Response{StatusCode: now, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
		}), &transport.Options{Dir: dir, Done: func(x transport.Exchange) { names[x.Conversation] = true },
			Manager: func(*http.Request, string) (int, *winnow.Options) { return 12_000, nil }})
		require.NoError(t, err)
		for turns := 10; turns < 14; turns++ {
			for range 3 {
				r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(grown(turns)))
				require.NoError(t, err)
				res, err := tr.RoundTrip(r)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
			}
			n := len(got)
			assert.Equal(t, got[n-3], got[n-1], status)
			assert.Less(t, len(got[n-1]), len(grown(turns)))
		}
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, names, 1, status)
		assert.Len(t, files, 1, status)
	}
}

// Which requests are of one conversation, one after the other and at once.
func TestConversations(t *testing.T) {
	for _, tt := range []struct{ name, requests, want string }{ // a to t are answers, numbers calls with their results, S and T of the system
		{"turns", "u uau uauau", "1 1 1"},
		{"something is asked aside", "ua uau uav uavau uavaw", "1 1 1 1 1"},
		{"the newest message has another reminder", "uau uav uavau", "1 1 1"},
		{"two that begin alike take turns", "u u uau ubu uauau ububu uauauau", "1 1 1 2 1 2 1"},
		{"back to a turn before", "uau uauau uav", "1 1 2"},
		{"the client changes an old text", "uau1 uav12 uav123", "1 1 1"},
		{"a text of the client's is always before the newest answer", "u1w2 u12w3 u123w4", "1 1 1"},
		{"an answer that paused goes on", "uau uaub uaucu", "1 1 1"},
		{"the system prompt has the time in it", "Su Tuau Suauau", "1 1 1"},
		{"at once", "uau uau|uav uavau uauau", "1 1|2 2 1"},
	} {
		var mu sync.Mutex
		dir := t.TempDir()
		names := map[string]string{} // of conversations, by the history
		numbers := map[string]string{}
		both := make(chan struct{})
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Wait") != "" {
				both <- struct{}{}
				<-both
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
		}), &transport.Options{Dir: dir, Done: func(x transport.Exchange) {
			mu.Lock()
			defer mu.Unlock()
			if numbers[x.Conversation] == "" {
				numbers[x.Conversation] = strconv.Itoa(len(numbers) + 1)
			}
			names[x.HTTP.Header.Get("History")] = numbers[x.Conversation]
		}})
		require.NoError(t, err)
		send := func(history, wait string) {
			var list []string
			for _, c := range history {
				role := "user"
				switch {
				case c < 'A':
					list = append(list, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"c%c","name":"read","input":{}}]}`, c),
						fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%c","content":"read"}]}`, c))
					continue
				case c < 'a':
					role = "system"
				case c < 'u':
					role = "assistant"
				}
				list = append(list, fmt.Sprintf(`{"role":%q,"content":"%c"}`, role, c))
			}
			r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(`{"model":"m","messages":[`+strings.Join(list, ",")+`]}`))
			require.NoError(t, err)
			r.Header.Set("History", history)
			r.Header.Set("Wait", wait)
			res, err := tr.RoundTrip(r)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
		}
		var got []string
		for _, history := range strings.Fields(tt.requests) {
			first, second, isBoth := strings.Cut(history, "|")
			if isBoth {
				var wait sync.WaitGroup
				wait.Go(func() { send(first, "yes") })
				<-both // the first has been sent
				send(second, "")
				both <- struct{}{}
				wait.Wait()
				got = append(got, names[first]+"|"+names[second])
				continue
			}
			send(first, "")
			got = append(got, names[first])
		}
		assert.Equal(t, tt.want, strings.Join(got, " "), tt.name)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, files, len(numbers), tt.name)
	}
}

// What does not fit is said once of a conversation, under its name, however the sizes grow.
func TestOverflowIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	var seen []transport.Exchange
	tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}), &transport.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Done: func(x transport.Exchange) { seen = append(seen, x) },
		Manager: func(*http.Request, string) (int, *winnow.Options) { return 12, nil }})
	require.NoError(t, err)
	for turns := range 3 {
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(grown(turns+1)))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
	require.Len(t, seen, 3)
	for _, text := range []string{seen[2].Conversation, "not managed"} {
		assert.Equal(t, 1, strings.Count(log.String(), text), "%s", &log)
	}
	assert.Contains(t, seen[0].Passed, "tokens and")
}

// An answer that was sold in another way or place than usual has another price.
func TestSoldAs(t *testing.T) {
	for _, tt := range []struct{ path, model, answer, want string }{
		{"responses", "gpt-5.5", `{"service_tier":"flex","usage":{"input_tokens":9,"output_tokens":1}}`, "gpt-5.5-flex"},
		{"chat/completions", "gpt-5.5", `{"service_tier":"default","usage":{"prompt_tokens":9,"completion_tokens":1}}`, "gpt-5.5"},
		{"messages", "claude-opus-5-5", `{"usage":{"input_tokens":9,"output_tokens":1,"speed":"fast","service_tier":"standard","inference_geo":"us"}}`,
			"us.anthropic.claude-opus-5-5-fast"},
		{"messages", "claude-opus-5-5", `{"usage":{"input_tokens":9,"output_tokens":1,"speed":"standard","inference_geo":"not_available"}}`, "claude-opus-5-5"},
	} {
		got := ""
		tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(tt.answer))}, nil
		}), &transport.Options{Done: func(x transport.Exchange) { got = x.SoldAs }})
		require.NoError(t, err)
		body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Hi."}],"input":"Hi."}`, tt.model)
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/"+tt.path, strings.NewReader(body))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		assert.Equal(t, tt.want, got, tt.answer)
	}
}

// The usage of an answer has what its provider left out of the thinking, and why its cache was missed.
func TestProvidersSay(t *testing.T) {
	const dropped = `"input_transformations":[{"type":"thinking_dropped","reason":"prefix_binding_mismatch"},{"type":"thinking_dropped","reason":"model_mismatch"}]`
	for _, tt := range []struct {
		name, path, answer string
		want               winnow.Usage
	}{
		{"a stream of Anthropic: the last event has the counts again", "messages", `data: {"type":"message_start","message":{` + dropped +
			`,"diagnostics":{"cache_miss_reason":{"type":"tools_changed"}},"usage":{"input_tokens":9,"output_tokens":1}}}` + "\n\n" +
			`data: {"type":"message_delta","usage":{"input_tokens":9,"output_tokens":7}}` + "\n\n",
			winnow.Usage{Input: 9, Output: 7, ThinkingDropped: 1, CacheMiss: "tools_changed"}},
		{"in the last event, after another model had to answer", "messages", `data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}` + "\n\n" +
			`data: {"type":"message_delta",` + dropped + `,"usage":{"output_tokens":7}}` + "\n\n", winnow.Usage{Input: 9, Output: 7, ThinkingDropped: 1}},
		{"a stream of OpenAI", "responses", `data: {"type":"response.completed","response":{"input_transformations":[{"reason":"prefix_mismatch"},{"reason":"prefix_mismatch"}],` +
			`"prompt_cache_diagnostics":{"reason":"model_changed"},"usage":{"input_tokens":9,"output_tokens":7}}}` + "\n\n",
			winnow.Usage{Input: 9, Output: 7, ThinkingDropped: 2, CacheMiss: "model_changed"}},
	} {
		var got winnow.Usage
		tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
			header := http.Header{"Content-Type": {"text/event-stream"}}
			return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(tt.answer))}, nil
		}), &transport.Options{Done: func(x transport.Exchange) { got = x.Usage }})
		require.NoError(t, err)
		body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi."}],"input":"Hi."}`
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/"+tt.path, strings.NewReader(body))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		assert.Equal(t, tt.want, got, tt.name)
	}
}

// Few tools do not show by the size of the prompt, nor does the time in a system prompt, but the transport sees them: what
// is missed is the client's. Some providers leave out of the system prompt what varies.
func TestFrontChanged(t *testing.T) {
	var log bytes.Buffer
	read := 0
	tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
		answer := fmt.Sprintf(`{"usage":{"input_tokens":10,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":9}}`, read, 20_000-read)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
	}), &transport.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), MarkCache: true})
	require.NoError(t, err)
	tool := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":{"type":"object"}}`, name, strings.Repeat("It reads. ", 40))
	}
	for i, tt := range []struct {
		tools, time string
		read        int
		want        string
	}{
		{tool("read"), "9:00", 0, ""},
		{tool("read"), "9:00", 19_000, ""},
		{tool("read") + "," + tool("grep"), "9:00", 0, "whose=host reason=tools_changed"},
		{tool("read") + "," + tool("grep"), "9:00", 0, "whose=provider"},
		{tool("read"), "9:00", 9_000, "whose=provider"}, // what stands behind them was read
		{tool("read") + `,{"name":"late","defer_loading":true}`, "9:00", 0, "whose=provider"},
		{tool("read"), "9:07", 0, "whose=host reason=system_changed"},
		{tool("read"), "9:08", 19_000, ""},
		{tool("read"), "9:09", 0, "whose=provider"},
	} {
		log.Reset()
		read = tt.read
		body := strings.Replace(grown(i+1), `"messages"`, `"tools":[`+tt.tools+`],"system":"It is `+tt.time+`.","messages"`, 1)
		body = strings.Replace(body, `"model":"m"`, `"model":"claude-opus-4-6"`, 1)
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(body))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		_, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		if tt.want == "" {
			assert.NotContains(t, log.String(), "whose=", i)
		} else {
			assert.Contains(t, log.String(), tt.want, i)
		}
	}
}
