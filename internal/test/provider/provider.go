// Package provider is an LLM provider for tests, as strict as the real ones: an [http.Handler] that
// speaks Anthropic Messages and OpenAI Chat Completions, with and without streaming. It refuses each
// request that breaks a rule of the API that it speaks, in that API's words, refuses what is larger than
// its context window, bills tokens with a prompt cache, and remembers every request.
//
//	p := provider.New(provider.Options{Window: 8000, Model: func(r *provider.Request) provider.Answer {
//		return provider.Answer{Text: "four"}
//	}})
//	server := httptest.NewServer(p)
//	defer server.Close()
//	// let a client loose on server.URL, then look at p.Exchanges()
//
// An Anthropic client takes server.URL as its base URL, an OpenAI client server.URL + "/v1".
package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options describe a provider. The zero value answers "ok" to each valid request of up to 200 000 tokens.
type Options struct {
	// Model answers; it is called for requests that the provider accepts, from several goroutines if
	// there are several clients. nil: it says "ok".
	Model func(*Request) Answer

	Vendor Vendor // whose rules and words Chat Completions have (OpenAI's)

	Window          int     // context window, tokens (200 000); no answer tells it unless the wording does
	Overflow        Wording // what is refused as too long, and how (the dialect's own: see [Wordings])
	MaxOutput       int     // largest max_tokens that may be asked for (0: any)
	MaxBytes        int     // of a request body (Anthropic 32 MB, OpenAI 512 MB)
	TokensPerMinute int     // rate limit (0: none); the room that a request asks for its answer counts

	Cache Cache            // of prompts
	Count func(string) int // tokens of a text (its bytes / 4, rounded up); safe for concurrent use
	Now   func() time.Time // the clock of the cache and the rate limit (time.Now)

	// Prefill accepts an assistant message at the end of an Anthropic request, as older models do.
	Prefill bool
	// BindThinking makes the signature of Anthropic thinking fail when anything before it was changed.
	BindThinking bool
}

// Cache describes the prompt cache: Anthropic's stores what cache_control marks, OpenAI's everything.
type Cache struct {
	None      bool          // nothing is cached
	TTL       time.Duration // of an entry that is not read (5 min; Anthropic's 1 h where a request asks for it)
	MinTokens int           // shorter prefixes are not cached (1 024)
}

// Provider is the server. It is safe for concurrent use.
type Provider struct {
	o Options

	mu        sync.Mutex
	exchanges []*Exchange
	made      int             // ids given out
	cache     promptCache     //
	rate      rateLimit       //
	thought   map[string]bool // ids of the calls that thinking led to
}

// New returns a provider that is ready to serve.
func New(o Options) *Provider {
	if o.Model == nil {
		o.Model = func(*Request) Answer { return Answer{Text: "ok"} }
	}
	if o.Window == 0 {
		o.Window = 200_000
	}
	if o.Count == nil {
		o.Count = func(text string) int { return (len(text) + 3) / 4 }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cache.TTL == 0 {
		o.Cache.TTL = 5 * time.Minute
	}
	if o.Cache.MinTokens == 0 {
		o.Cache.MinTokens = 1024
	}
	return &Provider{o: o, thought: map[string]bool{}, cache: promptCache{}}
}

// Exchange is one request and what became of it.
type Exchange struct {
	Request *Request // nil if the body could not be read
	Body    []byte   // as it came
	Error   *Error   // the refusal; nil: it was answered
	Answer  Answer   // with ids; of an accepted request
	Usage   Usage    // as billed
	Status  int      // of HTTP
}

// Exchanges returns all requests so far, in the order of their arrival.
func (p *Provider) Exchanges() []Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Exchange, len(p.exchanges))
	for i, x := range p.exchanges {
		out[i] = *x
	}
	return out
}

// Repeats returns the positions of exchanges whose body is, byte for byte, one that the provider had
// refused before: sending it again cannot help. Errors that [Answer.Error] put there do not count.
func (p *Provider) Repeats() []int {
	var out []int
	refused := map[string]bool{}
	for i, x := range p.Exchanges() {
		if refused[string(x.Body)] {
			out = append(out, i)
		}
		if x.Error != nil && x.Error.Rule != "" {
			refused[string(x.Body)] = true
		}
	}
	return out
}

// protocol is what the dialects differ in.
type protocol interface {
	parse(p *Provider, body []byte) (*Request, *Error) // reads and checks a request
	answer(x *Exchange, id string) any                 // the JSON of an answer
	events(x *Exchange, id string) []event             // the same as a stream
	failure(e *Error) any                              // the JSON of a refusal
	failureEvent(e *Error) event                       // the same within a stream
	maxBytes() int                                     // of a body
	anonymous(h http.Header) *Error                    // no key was sent
	tooLong() Wording
	// rateLimited refuses n tokens when used ones of the limit are spent; used -1: whatever was spent.
	rateLimited(model string, limit, used, n int, wait time.Duration) *Error
	reason(a *Answer, why cutReason) string // the word for why an answer ends
}

// ServeHTTP answers POST /v1/messages, /v1/messages/count_tokens and /v1/chat/completions.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	var proto protocol = anthropic{}
	if path == "/chat/completions" {
		proto = chat{}
	} else if path != "/messages" && path != "/messages/count_tokens" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	x := &Exchange{Status: http.StatusOK}
	p.mu.Lock()
	p.exchanges = append(p.exchanges, x)
	p.made++
	id := fmt.Sprintf("%08d", p.made)
	p.mu.Unlock()

	req, err := p.read(proto, x, r)
	switch {
	case err != nil:
		p.refuse(w, proto, x, err)
	case path == "/messages/count_tokens":
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": req.Tokens})
	default:
		p.serve(w, r, proto, x, id)
	}
}

// read takes a request in and checks everything that the API's rules say about it.
func (p *Provider) read(proto protocol, x *Exchange, r *http.Request) (*Request, *Error) {
	body, err := readBody(r, or(p.o.MaxBytes, proto.maxBytes()))
	p.mu.Lock()
	x.Body = body
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := proto.anonymous(r.Header); err != nil {
		return nil, err
	}
	req, err := proto.parse(p, body)
	if req != nil {
		req.Header = r.Header
		p.mu.Lock()
		x.Request = req
		p.mu.Unlock()
	}
	return req, err
}

// serve lets the model answer a valid request.
func (p *Provider) serve(w http.ResponseWriter, r *http.Request, proto protocol, x *Exchange, id string) {
	if err := p.admit(proto, x.Request); err != nil {
		p.refuse(w, proto, x, err)
		return
	}
	a := p.o.Model(x.Request)
	if a.Delay > 0 {
		select {
		case <-time.After(a.Delay):
		case <-r.Context().Done():
			return
		}
	}
	if a.Error != nil && !a.Late {
		p.refuse(w, proto, x, a.Error)
		return
	}
	p.finish(proto, x, a, id)
	if x.Request.Stream {
		stream(w, proto, x, id)
		return
	}
	if a.Error != nil {
		p.refuse(w, proto, x, a.Error)
		return
	}
	body, _ := json.Marshal(proto.answer(x, id))
	if a.Cut {
		cut(w, body)
	}
	writeJSON(w, http.StatusOK, json.RawMessage(body))
}

// admit compares a request with the window and the rate limit.
func (p *Provider) admit(proto protocol, r *Request) *Error {
	wording := p.o.Overflow
	if wording == nil {
		wording = proto.tooLong()
	}
	if err := wording(Size{Input: r.Tokens, Output: r.MaxTokens, Window: p.o.Window, Model: r.Model}); err != nil {
		err.Rule = RuleWindow
		return err
	}
	return p.limitRate(proto, r)
}

// refuse answers with an error.
func (p *Provider) refuse(w http.ResponseWriter, proto protocol, x *Exchange, err *Error) {
	status := or(err.Status, http.StatusBadRequest)
	p.mu.Lock()
	x.Error, x.Status = err, status
	p.mu.Unlock()
	for k, v := range err.Header {
		w.Header()[k] = v
	}
	if err.Body != "" {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(err.Body))
		return
	}
	writeJSON(w, status, proto.failure(err))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

// or returns n, or the default if n is 0.
func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}
