package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// callerKey is the key of a client's request in a context.
type callerKey struct{}

// summarizerFor returns a summarizer for the conversations of an API. It asks the provider as the client does whose
// request needs the summary: at the same address, with the same headers, and so with the client's key.
func (t *Transport) summarizerFor(f *form) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		of, ok := ctx.Value(callerKey{}).(*http.Request)
		if !ok {
			return "", errors.New("transport: a summary that no request asked for")
		}
		res, err := t.base.RoundTrip(t.summaryRequest(ctx, f, of, &req))
		if err != nil {
			return "", adapter.Failed(f.name, err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(res.Body, mostRead))
		if err != nil {
			return "", adapter.Failed(f.name, err)
		}
		if res.StatusCode != http.StatusOK {
			return "", adapter.Failed(f.name, &refused{res, http.StatusText(res.StatusCode) + " " + string(body)})
		}
		answer, ok := jsonedit.Parse(body)
		if !ok || adapter.IsError(body) {
			return "", adapter.Failed(f.name, fmt.Errorf("%.400q", body))
		}
		m := f.summaryIn(answer)
		return adapter.Summary(ctx, f.name, &m, "end_turn", "stop", "completed", "STOP")
	})
}

// summaryRequest returns the request for a summary. The client whose conversation it is has sent of.
func (t *Transport) summaryRequest(ctx context.Context, f *form, of *http.Request,
	req *winnow.SummaryRequest) *http.Request {
	out := of.Clone(ctx)
	body := f.summaryBody(t.o.Summarize, req)
	method := ":generateContent"
	if isVertex(of.URL.Path) {
		method = ":rawPredict"
		body = value(body).Delete("model").Set("anthropic_version", jsonedit.Quote("vertex-2023-10-16"))
	}
	if modelInPath(of.URL.Path) != "" { // the query may have the key
		out.URL.Path = path.Join(path.Dir(of.URL.Path), t.o.Summarize+method)
		out.URL.RawPath = ""
		q := of.URL.Query()
		q.Del("alt")
		out.URL.RawQuery = q.Encode()
	}
	own := []string{"Accept", "Accept-Encoding", "Content-Encoding", "Idempotency-Key"}
	for _, name := range append(own, digests...) {
		out.Header.Del(name)
	}
	out.Header.Set("Content-Type", "application/json")
	return withBytes(out, body)
}

// summaryBody asks a model for a summary.
func (f *form) summaryBody(model string, req *winnow.SummaryRequest) []byte {
	most := strconv.AppendInt(nil, int64(adapter.AnswerTokens(req, 0)), 10)
	said := func(role, text string) []byte { return jsonedit.Object("role", role, "content", text) }
	parts := func(text string) []byte { return jsonedit.List(jsonedit.Object("text", text)) }
	switch f {
	case messagesForm:
		return jsonedit.Object("model", model, "max_tokens", most, "system", req.System(),
			"messages", jsonedit.List(said("user", req.Prompt())))
	case chatForm:
		return jsonedit.Object("model", model, "max_completion_tokens", most,
			"messages", jsonedit.List(said("system", req.System()), said("user", req.Prompt())))
	case responseForm:
		return jsonedit.Object("model", model, "max_output_tokens", most, "instructions", req.System(),
			"input", req.Prompt(), "store", []byte("false"))
	}
	return jsonedit.Object("systemInstruction", jsonedit.Object("parts", parts(req.System())),
		"contents", jsonedit.List(jsonedit.Object("role", "user", "parts", parts(req.Prompt()))),
		"generationConfig", jsonedit.Object("maxOutputTokens", most))
}

// summaryIn returns an answer as one message. With a refusal, or an item that no summary has, it ends with that.
func (f *form) summaryIn(answer value) winnow.Message {
	usage := tap{}
	usage.note(answer)
	m := winnow.Message{StopReason: answer.Get(f.answer.ended).Text(), Usage: &usage.usage}
	for _, of := range wire.Read(f.api, f.answer.asHistory(answer)).Messages {
		m.Parts = append(m.Parts, of.Parts...)
	}
	if answer.Get("choices.0.message.refusal").Text() != "" {
		m.StopReason = "refusal"
	}
	for _, item := range answer.Get("output").Elements() {
		if typ := item.Get("type").Text(); typ != "message" && typ != "reasoning" {
			m.StopReason = typ
		}
		if item.Get("content.0.type").Text() == "refusal" {
			m.StopReason = "refusal"
		}
	}
	return m
}
