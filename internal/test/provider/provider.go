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
	"cmp"
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

	Window    int     // context window, tokens (200 000); no answer tells it unless the wording does
	Overflow  Wording // what is refused as too long, and how (the dialect's own: see [Wordings])
	MaxOutput int     // largest max_tokens that may be asked for (0: any)
	MaxBytes  int     // of a request body (Anthropic 32 MB, OpenAI 512 MB)

	// Prefill accepts an assistant message at the end of an Anthropic request, as older models do.
	Prefill bool
	// BindThinking makes the signature of Anthropic thinking fail when anything before it was changed.
	BindThinking bool
}

// Provider is the server. It is safe for concurrent use.
type Provider struct {
	o Options

	mu        sync.Mutex
	exchanges []*Exchange
	cache     promptCache
	thought   map[string]bool // ids of the calls that thinking led to
}

// New returns a provider that is ready to serve.
func New(o Options) *Provider {
	if o.Model == nil {
		o.Model = func(*Request) Answer { return Answer{Text: "ok"} }
	}
	o.Window = cmp.Or(o.Window, 200_000)
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
	reason(a *Answer, why cutReason) string // the word for why an answer ends
}

// ServeHTTP answers POST /v1/messages and /v1/chat/completions.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	var proto protocol = anthropic{}
	if path == "/chat/completions" {
		proto = chat{}
	} else if path != "/messages" {
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
	id := fmt.Sprintf("%08d", len(p.exchanges))
	p.mu.Unlock()

	if err := p.read(proto, x, r); err != nil {
		p.refuse(w, proto, x, err)
		return
	}
	p.serve(w, r, proto, x, id)
}

// read takes a request in and checks everything that the API's rules say about it.
func (p *Provider) read(proto protocol, x *Exchange, r *http.Request) *Error {
	body, err := readBody(r, cmp.Or(p.o.MaxBytes, proto.maxBytes()))
	p.mu.Lock()
	x.Body = body
	p.mu.Unlock()
	if err == nil {
		err = proto.anonymous(r.Header)
	}
	if err != nil {
		return err
	}
	req, err := proto.parse(p, body)
	if req != nil {
		req.Header = r.Header
		p.mu.Lock()
		x.Request = req
		p.mu.Unlock()
	}
	return err
}

// serve lets the model answer a valid request.
func (p *Provider) serve(w http.ResponseWriter, r *http.Request, proto protocol, x *Exchange, id string) {
	wording, q := p.o.Overflow, x.Request
	if wording == nil {
		wording = proto.tooLong()
	}
	if err := wording(Size{Input: q.Tokens, Output: q.MaxTokens, Window: p.o.Window, Model: q.Model}); err != nil {
		err.Rule = RuleWindow
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

// refuse answers with an error.
func (p *Provider) refuse(w http.ResponseWriter, proto protocol, x *Exchange, err *Error) {
	status := cmp.Or(err.Status, http.StatusBadRequest)
	p.mu.Lock()
	x.Error, x.Status = err, status
	p.mu.Unlock()
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
