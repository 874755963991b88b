package transport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
)

const overflow = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 13000 tokens > 12000 maximum"}}`

// messages is a body of n turns with tools.
func messages(name string, n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":500,"messages":[`)
	for i := range n {
		fmt.Fprintf(&b, `{"role":"user","content":"Read %d."},{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]},{"role":"assistant","content":"Done."},`, i, i, i, page(name, i))
	}
	fmt.Fprintf(&b, `{"role":"user","content":"Read %d."}]}`, n)
	return b.String()
}

// A request with more images than the provider takes is answered with the newest of them.
func TestTooManyImages(t *testing.T) {
	t.Parallel()
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	body := `{"model":"m","max_tokens":500,"messages":[{"role":"user","content":"Click."},`
	for i := range 30 {
		body += fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"click","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":[%s]}]},`, i, i, image)
	}
	var sent []int
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		n := bytes.Count(text, []byte(`"type":"image"`))
		if sent = append(sent, n); n > 20 {
			return answer(400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"messages: too many images and documents: 30 + 0 > 20"}}`), nil
		}
		return answer(200, "application/json", "{}"), nil
	}), &transport.Options{Manager: func(*http.Request, string) (int, *winnow.Options) {
		return 200_000, &winnow.Options{FoldAbove: 1}
	}})
	require.NoError(t, err)
	status, text := post(t, tr, "/v1/messages", strings.TrimSuffix(body, ",")+"]}")
	assert.Equal(t, 200, status, text)
	assert.Equal(t, []int{30, 10}, sent)
}

// What is no overflow passes through as it is, and so does an overflow that nothing helps against.
func TestErrorsPassThrough(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status    int
		kind      string
		body      string
		exchanges int // at least
	}{
		{429, "application/json", `{"type":"error","error":{"type":"rate_limit_error","message":"too many requests"}}`, 1},
		{529, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, 1},
		{401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, 1},
		{400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}}`, 1},
		{500, "text/html", "<html>it broke", 1},
		{200, "text/event-stream", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", 1},
		{200, "text/event-stream", "", 1},
		{400, "application/json", overflow, 2},
		{200, "text/event-stream", "event: error\ndata: " + overflow + "\n\n", 2},
	} {
		n := 0
		tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
			n++
			return answer(tt.status, tt.kind, tt.body), nil
		}), options(window, 0))
		require.NoError(t, err)
		status, body := post(t, tr, "/v1/messages", messages("book", 30))
		assert.Equal(t, tt.status, status)
		assert.Equal(t, tt.body, body)
		assert.GreaterOrEqual(t, n, tt.exchanges, tt.body)
		assert.LessOrEqual(t, n, 4, tt.body)
		if tt.exchanges == 1 {
			assert.Equal(t, 1, n, tt.body)
		}
	}
	broken := errors.New("connection reset")
	var log bytes.Buffer
	o := options(window, 0)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) { return nil, broken }), o)
	require.NoError(t, err)
	for _, r := range []*http.Request{request("/v1/messages", messages("book", 3)), request("/v1/messages", "{")} {
		log.Reset()
		_, err = tr.RoundTrip(r)
		assert.Same(t, broken, err, "clients ask its type")
		assert.Regexp(t, `does not answer" conversation=\S+ host=\S+ path=/v1/messages error="connection reset"`, log.String())
	}
	log.Reset()
	_, err = tr.RoundTrip(request("/v1/models", ""))
	assert.Same(t, broken, err)
	assert.Contains(t, log.String(), `does not answer" host=`, "it is of no conversation")
}

// Other requests, and those that cannot be read, are sent as they came.
func TestPassesOn(t *testing.T) {
	t.Parallel()
	long := messages("book", 60)
	var log bytes.Buffer
	o := options(window, 0)
	o.Logger, o.MaxBody = slog.New(slog.NewTextHandler(&log, nil)), int64(len(long)+100)
	var got []byte
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		got = read(r)
		return answer(200, "application/json", "{}"), nil
	}), o)
	require.NoError(t, err)
	compressed := request("/v1/messages", long)
	compressed.Header.Set("Content-Encoding", "gzip")
	stateful := strings.Replace(strings.Replace(long, `"messages"`, `"input"`, 1), `{"model"`, `{"previous_response_id":"r","model"`, 1)
	for name, r := range map[string]*http.Request{
		"count_tokens": request("/v1/messages/count_tokens", long), "batches": request("/v1/messages/batches", long), "models": request("/v1/models", long),
		"no JSON": request("/v1/messages", long[:len(long)-1]), "a list": request("/v1/messages", "["+long+"]"), "two objects": request("/v1/messages", long+long),
		"a name twice": request("/v1/messages", `{"messages":[],`+long[1:]), "a string": request("/v1/responses", `{"input":"hi"}`), "stateful": request("/v1/responses", stateful),
		"large": request("/v1/messages", long+strings.Repeat(" ", 101)), "empty": request("/v1/messages", ""), "compressed": compressed,
		"null": request("/v1/messages", `{"messages":null}`),
	} {
		want := read(r)
		r.Body = io.NopCloser(bytes.NewReader(want))
		log.Reset()
		res, err := tr.RoundTrip(r)
		require.NoError(t, err, name)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, string(want), string(got), name)
		if !strings.Contains("count_tokens batches models compressed", name) {
			assert.Equal(t, 1, strings.Count(log.String(), "\n"), "%s: %s", name, &log)
			assert.NotContains(t, log.String(), "chapter")
		}
	}
}

// A stream is passed on as it comes, to the byte, however it is cut; a stream that ends early ends so for the client.
func TestStreamsPassThrough(t *testing.T) {
	t.Parallel()
	stream := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":40,\"cache_read_input_tokens\":2,\"output_tokens\":1}}}\n\n" +
		"event: ping\ndata: {\"type\": \"ping\"}\n\nevent: message_delta\ndata: {\"usage\":{\"output_tokens\":17}}\n\nevent: message_stop\ndata: {}\n\n"
	for n := 1; n < len(stream); n += 7 {
		pieces, w := io.Pipe()
		go func() {
			for text := stream; text != ""; {
				k := min(n, len(text))
				_, _ = io.WriteString(w, text[:k])
				text = text[k:]
			}
			_ = w.CloseWithError(io.ErrUnexpectedEOF)
		}()
		var seen []transport.Exchange
		o := options(window, 0)
		o.Done = func(x transport.Exchange) { seen = append(seen, x) }
		tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
			res := answer(200, "text/event-stream; charset=utf-8", "")
			res.Body = pieces
			return res, nil
		}), o)
		require.NoError(t, err)
		res, err := tr.RoundTrip(request("/v1/messages", messages("book", 2)))
		require.NoError(t, err)
		got, err := io.ReadAll(res.Body)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, stream, string(got))
		require.NoError(t, res.Body.Close())
		require.Len(t, seen, 1)
		assert.Equal(t, 42, seen[0].Usage.Prompt())
		assert.Equal(t, 17, seen[0].Usage.Output)
	}
}

// Each API counts in its own way what it read from its cache and wrote to it, and what the model thought.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, body, answer string }{
		{"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, `{"usageMetadata":{"promptTokenCount":5,"toolUsePromptTokenCount":-5}}`}, // counts nothing
		{"/v1/messages", messages("book", 1), `{"usage":{"input_tokens":5,"cache_read_input_tokens":30,"cache_creation_input_tokens":7,"output_tokens":9}}`},
		{"/v1/messages", messages("book", 1), `{"usage":{"input_tokens":5,"cache_read_input_tokens":30,"cache_creation_input_tokens":7,"output_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":4}}}`},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}]}`, `{"usage":{"prompt_tokens":42,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":30,"cache_write_tokens":7}}}`},
		{"/v1/responses", `{"input":[{"role":"user","content":"hi"}]}`, `{"usage":{"input_tokens":42,"output_tokens":9,"input_tokens_details":{"cached_tokens":30,"cache_write_tokens":7}}}`},
		{"/v1/responses", `{"input":[{"role":"user","content":"hi"}]}`, `{"usage":{"input_tokens":42,"output_tokens":9,"input_tokens_details":{"cached_tokens":30,"cache_write_tokens":7,"cache_write_tokens_details":{"ttl_12h_tokens":4}}}}`},
		{"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, `{"usageMetadata":{"promptTokenCount":32,"toolUsePromptTokenCount":10,"cachedContentTokenCount":30,"candidatesTokenCount":4,"thoughtsTokenCount":5}}`},
	} {
		var got transport.Exchange
		o := options(window, 0)
		o.Done = func(x transport.Exchange) { got = x }
		tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
			return answer(200, "application/json", tt.answer), nil
		}), o)
		require.NoError(t, err)
		_, _ = post(t, tr, tt.path, tt.body)
		want := winnow.Usage{Input: 5, CacheRead: 30, CacheWrite: 7, Output: 9}
		switch {
		case strings.Contains(tt.answer, "-5"):
			want = winnow.Usage{}
		case strings.Contains(tt.path, "models"):
			want.Input, want.CacheWrite = 12, 0 // Gemini does not say it
		case strings.Contains(tt.answer, "h_"):
			want.LongWrite = 4
		}
		assert.Equal(t, want, got.Usage, tt.path)
	}
}

// A process that is killed after any request is followed by one that sends the same bytes.
func TestRestarts(t *testing.T) {
	t.Parallel()
	play := func(dir string, restart func(n int) bool) (all []string) {
		var got []byte
		open := func() *transport.Transport {
			o := options(window, 0)
			o.Dir = dir
			tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
				got = read(r)
				return answer(200, "application/json", `{"usage":{"input_tokens":`+fmt.Sprint(len(got)/4)+`}}`), nil
			}), o)
			require.NoError(t, err)
			return tr
		}
		tr := open()
		for n := range 60 {
			if restart(n) {
				tr = open()
			}
			_, _ = post(t, tr, "/v1/messages", messages("book", n))
			all = append(all, string(got))
		}
		return all
	}
	never := func(int) bool { return false }
	want := play("", never)
	dir := t.TempDir()
	for i, got := range play(dir, func(int) bool { return true }) {
		require.Equal(t, want[i], got, "restarted before every request, at request %d", i)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.Len(t, files, 1, "one conversation, one file")
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], data[:len(data)-3], 0o600), "a write that a kill cut")
	play(dir, func(n int) bool { return n == 0 }) // still works
	assert.NotEqual(t, want, play("", func(int) bool { return true }), "without a directory a restart forgets")
}

// Clients rewrite their newest message later. It is still the same conversation, which keeps its bytes.
func TestNewestMessageChanges(t *testing.T) {
	t.Parallel()
	var seen []transport.Exchange
	o := options(window, 0)
	o.Done = func(x transport.Exchange) { seen = append(seen, x) }
	o.Dir = t.TempDir()
	var tr *transport.Transport
	open := func() {
		var err error
		tr, err = transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(200, "application/json", "{}"), nil
		}), o)
		require.NoError(t, err)
	}
	open()
	for n := 1; n < 40; n++ {
		if n%5 == 0 {
			open()
		}
		body := messages("book", n)
		reminded := strings.TrimSuffix(body, `."}]}`) + `. <system-reminder>Be kind.</system-reminder>"}]}`
		_, _ = post(t, tr, "/v1/messages", reminded)
	}
	names := map[string]bool{}
	for _, x := range seen {
		names[x.Conversation] = true
	}
	assert.Len(t, seen, 39)
	assert.Len(t, names, 1, "one conversation")
}

// Conversations take as much memory as they may: what is measured of the heap is at most a third more than the option.
func TestMemory(t *testing.T) {
	const most = 8 << 20
	o := options(window, 0)
	o.Memory = most
	names := map[string]int{}
	o.Done = func(x transport.Exchange) { names[x.Conversation]++ }
	tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
		return answer(200, "application/json", "{}"), nil
	}), o)
	require.NoError(t, err)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	_, _ = post(t, tr, "/v1/messages", messages("chapter", 50)) // what is loaded once
	clear(names)
	before := heap()
	for n := range 300 { // 150 KB each
		_, _ = post(t, tr, "/v1/messages", messages(fmt.Sprint("book ", n), 50))
	}
	assert.Less(t, heap()-before, int64(most*4/3))
	_, _ = post(t, tr, "/v1/messages", messages("book 299", 51))
	assert.Len(t, names, 300, "the newest is still known")
	_, _ = post(t, tr, "/v1/messages", messages("book 0", 51))
	assert.Len(t, names, 301, "the first is not")
	runtime.KeepAlive(tr)
}

// With a key of the host's, its conversations are what the keys say.
func TestKey(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	o := options(window, 0)
	o.Key = func(r *http.Request) string { return r.Header.Get("X-Chat") }
	o.Done = func(x transport.Exchange) { names[x.Conversation] = true }
	tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
		return answer(200, "application/json", "{}"), nil
	}), o)
	require.NoError(t, err)
	for n := range 6 {
		r := request("/v1/messages", messages("book", n/2))
		r.Header.Set("X-Chat", fmt.Sprint(n%2))
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	assert.Len(t, names, 2)
}

func request(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://provider.test"+path, strings.NewReader(body))
	r.RequestURI = ""
	return r
}

// Summaries are written by the model that is configured, asked as the client asks, with its key.
func TestSummaries(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"anthropic", "chat", "responses", "gemini"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			var keys []string
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization")+r.Header.Get("X-Goog-Api-Key"))
				s.ServeHTTP(w, r)
			}))
			defer h.Close()
			o := options(window, 1)
			o.Summarize = "a-small-model"
			o.Manager = func(*http.Request, string) (int, *winnow.Options) {
				return window, &winnow.Options{FoldAbove: 1, Tools: &winnow.ToolOptions{Keep: []string{"*"}}}
			}
			a := clients(h.URL, transportFor(t, o))[name](true)
			for n := range 30 {
				require.NoError(t, turn(t.Context(), a, fmt.Sprintf("Read chapter %d.", n), page("book", n)), "turn %d", n)
			}
			require.NotEmpty(t, s.summaries)
			for _, model := range s.summaries {
				assert.Equal(t, "a-small-model", model)
			}
			assert.Contains(t, string(s.bodies[len(s.bodies)-1]), "To read the book.")
			for _, key := range keys {
				assert.Equal(t, keys[0], key)
			}
		})
	}
}

// A client that sends the same request several times at once gets the same bytes sent for each.
func TestHedgedRequests(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	sent := map[string]int{}
	o := options(window, 0)
	o.Dir = t.TempDir()
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		sent[string(read(r))]++
		return answer(200, "application/json", `{"usage":{"input_tokens":9}}`), nil
	}), o)
	require.NoError(t, err)
	for n := range 30 {
		clear(sent)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				res, err := tr.RoundTrip(request("/v1/messages", messages("book", n)))
				if assert.NoError(t, err) {
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
			})
		}
		wait.Wait()
		assert.Len(t, sent, 1, "request %d", n)
	}
}
