package transport

import (
	"context"
	"errors"
	"net/http"
	"path"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	openaisdk "github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	genaisdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/adapters/openai"
	"github.com/winnowgo/winnow/adapters/openai/responses"
)

// callerKey is the key of a client's request in a context.
type callerKey struct{}

// summarizerFor returns a summarizer for the conversations of an API. It asks the provider as the client does whose
// request needs the summary: at the same address, with the same headers, and so with the client's key.
func (t *Transport) summarizerFor(f *form) winnow.Summarizer {
	client := &http.Client{Transport: asCaller{t.base}}
	const key = "the client's" // replaces it
	switch f {
	case messagesForm:
		return anthropic.NewSummarizer(anthropicsdk.NewClient(anthropicoption.WithHTTPClient(client),
			anthropicoption.WithAPIKey(key)), anthropicsdk.Model(t.o.Summarize), 0)
	case chatForm:
		return openai.NewSummarizer(openaisdk.NewClient(openaioption.WithHTTPClient(client),
			openaioption.WithAPIKey(key)), t.o.Summarize, 0)
	case responseForm:
		return responses.NewSummarizer(openaisdk.NewClient(openaioption.WithHTTPClient(client),
			openaioption.WithAPIKey(key)), t.o.Summarize, 0)
	}
	c, err := genaisdk.NewClient(context.Background(), &genaisdk.ClientConfig{
		APIKey: key, Backend: genaisdk.BackendGeminiAPI, HTTPClient: client,
	})
	if err != nil { // it only reads its configuration
		return nil
	}
	return genai.NewSummarizer(c, t.o.Summarize, 0, nil)
}

// asCaller sends the requests of an SDK as the client in their context sends its own.
type asCaller struct{ base http.RoundTripper }

func (a asCaller) RoundTrip(r *http.Request) (*http.Response, error) {
	of, ok := r.Context().Value(callerKey{}).(*http.Request)
	if !ok {
		return nil, errors.New("transport: a summary that no request asked for")
	}
	out := r.Clone(r.Context())
	address := *of.URL
	if formOf(of) == contentForm { // the path names the model
		address.Path = path.Join(path.Dir(address.Path), path.Base(r.URL.Path))
		address.RawPath, address.RawQuery = "", withoutStream(of)
	}
	out.URL, out.Host = &address, of.Host
	out.Header = of.Header.Clone()
	for _, name := range []string{"Content-Length", "Accept", "Accept-Encoding", "Content-Encoding"} {
		out.Header.Del(name)
	}
	out.Header.Set("Content-Type", "application/json")
	return a.base.RoundTrip(out)
}

// withoutStream returns the query of r without what asks for a stream: the rest may have the key.
func withoutStream(r *http.Request) string {
	q := r.URL.Query()
	q.Del("alt")
	return q.Encode()
}
