package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/internal/test/provider"
)

const secret = "sk-secret-0123456789"

// start starts a proxy in front of h, and returns its address and its log.
func start(t *testing.T, h http.Handler, o Options) (address string, log *safeBuffer) {
	t.Helper()
	upstream := httptest.NewServer(h)
	t.Cleanup(upstream.Close)
	to, err := url.Parse(upstream.URL + "/base")
	require.NoError(t, err)
	log = &safeBuffer{}
	o.To, o.Logger = []*url.URL{to}, slog.New(slog.NewTextHandler(log, nil))
	p, err := New(o)
	require.NoError(t, err)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return server.URL, log
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// strict is the strict provider below /base.
func strict(window int) (*provider.Provider, http.Handler) {
	p := provider.New(provider.Options{Window: window, Model: answerTo})
	return p, http.StripPrefix("/base", p)
}

// answerTo is a model that calls a tool, and ends the turn behind its result.
func answerTo(r *provider.Request) provider.Answer {
	if len(r.Last().Results) > 0 || r.Last().Role == "tool" {
		return provider.Answer{Text: "That is it."}
	}
	return provider.Answer{Text: "I read it.", Calls: []provider.ToolCall{{Name: "read"}}}
}

func post(t *testing.T, to, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", secret)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

func get(t *testing.T, from string) string {
	t.Helper()
	res, err := http.Get(from)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(b)
}

// converse plays an agent that sends its whole history each time.
func converse(t *testing.T, address string, turns int) {
	t.Helper()
	var history []json.RawMessage
	ask := func(content string) map[string]any {
		history = append(history, json.RawMessage(`{"role":"user","content":`+content+`}`))
		body, err := json.Marshal(map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": history,
			"tools": []any{map[string]any{"name": "read", "input_schema": map[string]any{"type": "object"}}}})
		require.NoError(t, err)
		status, text := post(t, address+"/v1/messages", string(body))
		require.Equal(t, 200, status, text)
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		content2, err := json.Marshal(m["content"])
		require.NoError(t, err)
		history = append(history, json.RawMessage(`{"role":"assistant","content":`+string(content2)+`}`))
		return m
	}
	for n := range turns {
		m := ask(fmt.Sprintf(`"Read chapter %d."`, n))
		id := m["content"].([]any)[1].(map[string]any)["id"]
		page := strings.Repeat(fmt.Sprintf("line %d is well\n", n), 200)
		ask(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%q}]`, id, page))
	}
}

// A conversation of many times the window goes on, and the figures say what was saved. No key is kept anywhere.
func TestProxy(t *testing.T) {
	p, h := strict(12_000)
	dir := t.TempDir()
	address, log := start(t, h, Options{Window: 24_000, FoldAbove: 1, Dir: dir, MarkCache: true})
	converse(t, address, 30)
	refusals := 0
	for _, x := range p.Exchanges() {
		if x.Error != nil {
			refusals++
			assert.Equal(t, provider.RuleWindow, x.Error.Rule)
		}
		assert.Equal(t, secret, x.Request.Header.Get("X-Api-Key"), "the client's key")
	}
	assert.Positive(t, refusals)
	metrics := get(t, address+"/metrics")
	assert.Contains(t, metrics, "winnow_requests_total 60\n")
	assert.Contains(t, metrics, fmt.Sprintf("winnow_overflows_recovered_total %d\n", refusals))
	assert.NotContains(t, metrics, "winnow_cache_expected_tokens_total 0\n")
	assert.NotContains(t, metrics, "winnow_cache_rewritten_tokens_total 0\n")
	assert.Contains(t, metrics, "winnow_cache_missed_tokens_total 0\n", "the provider does what it says")
	page := get(t, address+"/winnow/")
	assert.Contains(t, page, "<td>Go-http-client/1.1<td>claude-sonnet-4-5<td>60")
	assert.Equal(t, "ok\n", get(t, address+"/healthz"))

	kept := log.String() + page + metrics
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var b []byte
			b, err = os.ReadFile(path)
			kept += path + string(b)
		}
		return err
	}))
	assert.NotContains(t, kept, secret)
}

// The page of a conversation is that of winnow inspect, for those who ask for it at this machine's address.
func TestInspect(t *testing.T) {
	_, h := strict(24_000)
	address, _ := start(t, h, Options{Window: 24_000, Inspect: true})
	converse(t, address, 12)
	name := regexp.MustCompile(`href="(\w+)"`).FindStringSubmatch(get(t, address+"/winnow/"))
	require.NotNil(t, name)
	page := get(t, address+"/winnow/"+name[1])
	assert.Contains(t, page, "Winnow inspect")
	assert.Contains(t, page, "Read chapter 11.")
	assert.Contains(t, get(t, address+"/winnow/unknown"), "no such conversation")

	address, _ = start(t, soldAs("priority", h), Options{Window: 24_000, Inspect: true})
	converse(t, address, 2)
	name = regexp.MustCompile(`href="(\w+)"`).FindStringSubmatch(get(t, address+"/winnow/"))
	require.NotNil(t, name)
	assert.Contains(t, get(t, address+"/winnow/"+name[1]), "no price known for it", "nobody knows what is paid for this tier")

	address, _ = start(t, h, Options{})
	converse(t, address, 1)
	assert.NotContains(t, get(t, address+"/winnow/"), "href")
	assert.Contains(t, get(t, address+"/winnow/x"), "404", "and nothing of it goes to the provider")
}

// soldAs is a provider that sells its answers in another way than h.
func soldAs(tier string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = io.WriteString(w, strings.Replace(answer.Body.String(), `"usage":{`, `"usage":{"service_tier":"`+tier+`",`, 1))
	})
}

// The model recalls what the proxy left out, and the client knows nothing of it.
func TestRecall(t *testing.T) {
	n := 0
	p := provider.New(provider.Options{Window: 12_000, Model: func(r *provider.Request) provider.Answer {
		if n++; n == 46 {
			return provider.Answer{Calls: []provider.ToolCall{{Name: "recall", Arguments: json.RawMessage(`{"words":"line 1"}`)}}}
		}
		return answerTo(r)
	}})
	address, _ := start(t, http.StripPrefix("/base", p), Options{Window: 12_000, Recall: true})
	converse(t, address, 25)
	metrics := get(t, address+"/metrics")
	assert.Contains(t, metrics, "winnow_recalls_total 1\n")
	assert.Contains(t, metrics, "winnow_requests_total 51\n")
}

// Nothing leaves the provider's address, and nothing of a hostile client reaches it.
func TestHostile(t *testing.T) {
	var mu sync.Mutex
	var paths []string
	address, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
		_, _ = io.Copy(w, r.Body)
	}), Options{MaxBody: 1 << 20})
	host := strings.TrimPrefix(address, "http://")
	for raw, want := range map[string]string{
		"GET /../secret HTTP/1.1\r\nHost: x\r\n\r\n":                                                                     "400",
		"GET /v1/%2e%2e/%2e%2e/secret HTTP/1.1\r\nHost: x\r\n\r\n":                                                       "400",
		"GET http://169.254.169.254/latest HTTP/1.1\r\nHost: x\r\n\r\n":                                                  "400",
		"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n":                                                            "400",
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n":                                     "431",
		"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef":                  "400",
		"POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n":                 "501",
		"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 104857600\r\n\r\n" + strings.Repeat("{", 2<<20):        "413",
		"POST /v1/messages HTTP/1.1\r\nHost: 169.254.169.254\r\nContent-Length: 8\r\nConnection: close\r\n\r\n{\"broken": "200",
	} {
		c, err := net.Dial("tcp", host)
		require.NoError(t, err)
		require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		go func() { _, _ = io.WriteString(c, raw) }()
		b := make([]byte, 12)
		_, err = io.ReadFull(c, b)
		require.NoError(t, err, "%.60q", raw)
		assert.Equal(t, "HTTP/1.1 "+want, string(b), "%.90q", raw)
		_ = c.Close()
	}
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{"/base/v1/messages"}, paths, "only what cannot be read, unchanged")
}

// Deep JSON, invalid JSON and a body that ends early pass on or fail, and the proxy goes on.
func TestBadBodies(t *testing.T) {
	address, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, n)
	}), Options{})
	for _, body := range []string{
		strings.Repeat("[", 1<<20), `{"messages":` + strings.Repeat("[", 1<<20), `{"messages":[{"role":"user","content":` + strings.Repeat(`{"a":`, 1<<16),
		`{"messages":[` + strings.Repeat(`{},`, 1<<16) + `{}]}`, `{"messages":[1,null,"x"]}`, "\xff\xfe", `{"messages":[{"role":"user","content":"` + "\xff" + `"}]}`,
	} {
		for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:generateContent"} {
			status, text := post(t, address+path, body)
			assert.Equal(t, 200, status, "%.40q", body)
			assert.NotEmpty(t, text)
		}
	}
}

// A body in zstd, as Codex may send it, is managed.
func TestZstd(t *testing.T) {
	var got []byte
	address, log := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		assert.Empty(t, r.Header.Get("Content-Encoding"))
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":7}}`)
	}), Options{})
	const body = `{"model":"gpt-5","input":[{"role":"user","content":"hi"}]}`
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	r, err := http.NewRequest(http.MethodPost, address+"/v1/responses", bytes.NewReader(z.EncodeAll([]byte(body), nil)))
	require.NoError(t, err)
	r.Header.Set("Content-Encoding", "zstd")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, body, string(got))
	assert.Empty(t, log.String())
}

// A slow reader holds back nobody else, and a stream reaches the client as it comes.
func TestStreams(t *testing.T) {
	next := make(chan string)
	address, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for text := range next {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
	}), Options{})
	r, err := http.NewRequest(http.MethodPost, address+"/v1/messages", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	require.NoError(t, err)
	go func() { next <- "event: a\ndata: 1\n\n" }()
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	b := make([]byte, 100)
	for _, want := range []string{"event: a\ndata: 1\n\n", "event: b\n", "data: 2\n\n"} {
		if want[7] != 'a' {
			next <- want
		}
		n, err := res.Body.Read(b)
		require.NoError(t, err)
		assert.Equal(t, want, string(b[:n]), "as it came")
		assert.Equal(t, "ok\n", get(t, address+"/healthz"), "while a stream is open")
	}
	close(next)
}

// A request for a host that may be somebody else's is refused, whatever it asks for: a page of another site could make
// a browser send it.
func TestHosts(t *testing.T) {
	n := 0
	address, log := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n++ }), Options{Names: []string{"llm.example.com"}})
	for host, want := range map[string]int{
		"rebound.example.com": 403, "rebound.example.com:8080": 403, "127.0.0.1.example.com": 403, "localhost.example.com": 403,
		"": 200, "localhost": 200, "localhost:9": 200, "x.localhost": 200, "127.0.0.1": 200, "[::1]:8080": 200, "10.1.2.3": 200, "winnow:8080": 200,
		"LLM.example.com": 200,
	} {
		for _, path := range []string{"/v1/messages", "/winnow/", "/metrics", "/healthz"} {
			r, err := http.NewRequest(http.MethodGet, address+path, nil)
			require.NoError(t, err)
			r.Host = host
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			assert.Equal(t, want, res.StatusCode, host+path)
		}
	}
	assert.Equal(t, 9, n)
	assert.Contains(t, log.String(), `reason="it asks for another host" host=rebound.example.com`)
}

// A request goes to the provider whose host its path begins with, or to the first; without any, to the maker of its API.
func TestProviders(t *testing.T) {
	parse := func(list ...string) (urls []*url.URL) {
		for _, s := range list {
			u, err := url.Parse(s)
			require.NoError(t, err)
			urls = append(urls, u)
		}
		return urls
	}
	for _, tt := range []struct {
		to                 []*url.URL
		path, header, want string
	}{
		{nil, "/v1/messages", "", "https://api.anthropic.com/v1/messages"},
		{nil, "/v1/models", "X-Api-Key", "https://api.anthropic.com/v1/models"},
		{nil, "/v1/models", "Anthropic-Version", "https://api.anthropic.com/v1/models"},
		{nil, "/v1/models", "Authorization", "https://api.openai.com/v1/models"},
		{nil, "/v1/responses", "", "https://api.openai.com/v1/responses"},
		{nil, "/v1/chat/completions", "", "https://api.openai.com/v1/chat/completions"},
		{nil, "/v1beta/models/m:generateContent", "", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"},
		{nil, "/v1.0/models", "X-Goog-Api-Key", "https://generativelanguage.googleapis.com/v1.0/models"},
		{nil, "/api.mistral.ai/v1/chat/completions", "", "https://api.mistral.ai/v1/chat/completions"},
		{nil, "/openrouter.ai/api/v1/messages", "X-Api-Key", "https://openrouter.ai/api/v1/messages"},
		{nil, "/api.mistral.ai/v1/models/a%2Fb", "", "https://api.mistral.ai/v1/models/a%2Fb"},
		{parse("http://one.example/base"), "/v1/models/a%2Fb", "", "http://one.example/base/v1/models/a%2Fb"},
		{nil, "/127.0.0.1/v1/messages", "", "https://api.anthropic.com/127.0.0.1/v1/messages"},
		{nil, "/localhost/v1/messages", "", "https://api.anthropic.com/localhost/v1/messages"},
		{nil, "/a.b@evil.com/v1/messages", "", "https://api.anthropic.com/a.b@evil.com/v1/messages"},
		{parse("http://one.example/base"), "/v1/messages", "", "http://one.example/base/v1/messages"},
		{parse("http://one.example/base"), "/api.openai.com/v1/messages", "", "http://one.example/base/api.openai.com/v1/messages"},
		{parse("http://one.example", "http://localhost:11434/x"), "/localhost:11434/v1/chat/completions", "", "http://localhost:11434/x/v1/chat/completions"},
		{parse("http://one.example", "http://localhost:11434/x"), "/v1/chat/completions", "", "http://one.example/v1/chat/completions"},
	} {
		var got string
		h, err := New(Options{To: tt.to, Logger: slog.New(slog.DiscardHandler), Base: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			assert.Equal(t, r.URL.Host, cmp.Or(r.Host, r.URL.Host))
			return &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}}, nil
		})})
		require.NoError(t, err)
		r := httptest.NewRequest(http.MethodPost, tt.path, strings.NewReader(`{}`))
		r.Host = "localhost"
		if tt.header != "" {
			r.Header.Set(tt.header, "x")
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		assert.Equal(t, tt.want, got, tt.path)
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// -max-body is what is managed, and a larger request is refused with a word.
func TestMaxBody(t *testing.T) {
	size := 0
	address, log := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		size = len(b)
	}), Options{MaxBody: 80 << 20, Window: 12_000})
	ask := func(n int) (int, string) {
		text := strings.Repeat("word ", n/5)
		return post(t, address+"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"Read."},`+
			`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"read","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"`+text+`"}]}]}`)
	}
	status, _ := ask(70 << 20)
	assert.Equal(t, 200, status)
	assert.Less(t, size, 1<<20, "it is managed")
	status, why := ask(81 << 20)
	assert.Equal(t, 413, status)
	assert.Contains(t, why, "-max-body")
	assert.Contains(t, log.String(), "it is larger than -max-body")
}

// The page says no "less" that the provider's counts do not support.
func TestBill(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	// x is an answered request of a history of so many tokens, of which so many were sent.
	x := func(history, sent int, u winnow.Usage) *transport.Exchange {
		return &transport.Exchange{Model: "claude-sonnet-4-5", History: history, Usage: u,
			Request: &winnow.Request{Tokens: sent, Counts: []int{sent}}}
	}
	for _, tt := range []struct {
		name string
		list []*transport.Exchange
		want string
	}{
		{"nothing is counted", []*transport.Exchange{x(9_000, 900, winnow.Usage{})}, "the provider counts nothing"},
		{"nothing is left out", []*transport.Exchange{x(9_000, 9_000, winnow.Usage{CacheWrite: 9_000}),
			x(10_000, 10_000, winnow.Usage{CacheRead: 9_000, CacheWrite: 1_000})}, "as much"},
		{"nothing is left out, and some stands behind the last marker", []*transport.Exchange{x(9_000, 9_000, winnow.Usage{Input: 4_000, CacheWrite: 5_000})}, "as much"},
		{"nothing is left out, with markers of an hour", []*transport.Exchange{x(9_000, 9_000, winnow.Usage{CacheWrite: 9_000, LongWrite: 9_000})}, "as much"},
		{"half is left out at once, and the cache is read", []*transport.Exchange{x(9_000, 9_000, winnow.Usage{CacheWrite: 9_000}),
			x(29_000, 19_000, winnow.Usage{CacheRead: 9_000, CacheWrite: 10_000})}, "34 % less"},
		{"half is left out, but the cache is missed", []*transport.Exchange{x(90_000, 90_000, winnow.Usage{CacheWrite: 90_000}),
			x(91_000, 45_000, winnow.Usage{CacheWrite: 45_000})}, "37 % more; 44,000 tokens more were not read from the cache"},
		{"no cache at all", []*transport.Exchange{x(10_000, 5_000, winnow.Usage{Input: 5_000}), x(20_000, 10_000, winnow.Usage{Input: 10_000})}, "50 % less"},
		{"what an earlier process left out was written before", []*transport.Exchange{x(150_000, 50_000, winnow.Usage{CacheRead: 49_000, CacheWrite: 1_000})}, "62 % less"},
		{"it would not have fit", []*transport.Exchange{x(250_000, 50_000, winnow.Usage{CacheWrite: 50_000})}, "1 request would not have fit"},
		{"passed on", []*transport.Exchange{{Model: "claude-sonnet-4-5", Passed: "so", Usage: winnow.Usage{CacheWrite: 9_000}}}, "as much"},
		{"a call to recall is paid", []*transport.Exchange{x(9_000, 9_000, winnow.Usage{CacheWrite: 9_000}),
			{Model: "claude-sonnet-4-5", Recalls: 1, Request: &winnow.Request{}, Usage: winnow.Usage{CacheRead: 9_000}}}, "8 % more"},
	} {
		var b bill
		for i, of := range tt.list {
			b.add(of, 0, begin.Add(time.Duration(i)*time.Minute))
		}
		assert.Equal(t, tt.want, b.Verdict(), tt.name)
	}
	for soldAs, want := range map[string]string{"gpt-5.5": "$0.500", "gpt-5.5-flex": "$0.250", "gpt-5.5-priority": "–"} {
		var b bill
		b.add(&transport.Exchange{Model: "gpt-5.5", SoldAs: soldAs, Request: &winnow.Request{}, Usage: winnow.Usage{Input: 100_000}}, 0, begin)
		assert.Equal(t, want, b.Cost(), soldAs)
	}
}

func TestNew(t *testing.T) {
	for _, to := range []string{"", "ftp://x", "http://", "x"} {
		u, err := url.Parse(to)
		require.NoError(t, err)
		_, err = New(Options{To: []*url.URL{u}})
		assert.Error(t, err, to)
	}
}
