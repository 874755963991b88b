package transport_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// window is that of the servers, in tokens of four bytes.
const window = 12_000

// server speaks all four APIs. It refuses what breaks a rule, what is larger than its window, and a request with texts
// of two conversations.
type server struct {
	t      *testing.T
	strict *provider.Provider // Anthropic and Chat Completions

	// model answers the texts of a request, the newest of which is a result or not.
	model func(said string, isResult bool) (text string, calls []string)

	mu       sync.Mutex
	bodies   [][]byte // of accepted requests
	refusals int

	summaries []string // models that were asked for one
	made      int
}

func newServer(t *testing.T) *server {
	s := &server{t: t, model: answerTo}
	s.strict = provider.New(provider.Options{Window: window, Model: func(r *provider.Request) provider.Answer {
		if strings.Contains(r.System, "You write the summary") {
			s.asked(r.Model)
			return provider.Answer{Text: summary}
		}
		var said strings.Builder
		for _, m := range r.Messages {
			if m.Role != "tool" { // its text stands in its results too
				said.WriteString(m.Text)
			}
			for _, result := range m.Results {
				said.WriteString(result.Text)
			}
		}
		text, calls := s.model(said.String(), len(r.Last().Results) > 0 || r.Last().Role == "tool")
		a := provider.Answer{Text: text}
		if r.Thinking {
			a.Thinking = []string{"Hm."}
		}
		for _, name := range calls {
			a.Calls = append(a.Calls, provider.ToolCall{Name: name, Arguments: json.RawMessage(arguments(name))})
		}
		return a
	}})
	return s
}

// arguments are those of a model's call.
func arguments(name string) string {
	if name == "recall" {
		return `{"words":"chapter 1"}`
	}
	return `{"path":"a.go"}`
}

// summary is what a model writes that is asked for one.
const summary = "## Goal\nTo read the book.\n\n## Progress\n### Done\nchapters of canary-free text: all is well."

// asked notes the model of a request for a summary.
func (s *server) asked(model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.summaries = append(s.summaries, model)
}

// answerTo is what the model answers: a call to a question, and a text to its result.
func answerTo(_ string, isResult bool) (text string, calls []string) {
	if isResult {
		return "That is it.", nil
	}
	return "I read it.", []string{"read"}
}

var canary = regexp.MustCompile(`canary-\w+`)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	names := map[string]bool{}
	for _, name := range canary.FindAllString(string(body), -1) {
		names[name] = true
	}
	if len(names) > 1 {
		s.t.Errorf("a request has texts of %d conversations: %v", len(names), names)
	}
	s.mu.Lock()
	s.made++
	id := s.made
	s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/responses"):
		s.responses(w, body, id)
	case strings.Contains(r.URL.Path, "enerateContent"):
		s.gemini(w, r, body)
	default:
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		before := len(s.strict.Exchanges())
		s.strict.ServeHTTP(w, r)
		for _, x := range s.strict.Exchanges()[before:] { // a client may go on before this returns
			if bytes.Equal(x.Body, body) {
				s.note(body, x.Error == nil)
				break
			}
		}
	}
}

func (s *server) note(body []byte, accepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if accepted {
		s.bodies = append(s.bodies, body)
	} else {
		s.refusals++
	}
}

func (s *server) tooLong(w http.ResponseWriter, body []byte, text string) bool {
	n := len(body) / 4
	s.note(body, n <= window)
	if n <= window {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, text)
	return true
}

func (s *server) responses(w http.ResponseWriter, body []byte, id int) {
	var q struct {
		Stream              bool
		Model, Instructions string
		Input               json.RawMessage
	}
	if err := json.Unmarshal(body, &q); err != nil {
		s.t.Errorf("responses: %v", err)
	}
	var items []struct{ Type string }
	if json.Unmarshal(q.Input, &items) == nil { // else it is a text
		assert.NoError(s.t, adaptertest.ValidItems(q.Input))
	}
	if s.tooLong(w, body, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.",`+
		`"type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`) {
		return
	}
	text, calls := s.model(string(body), len(items) > 0 && items[len(items)-1].Type == "function_call_output")
	if strings.Contains(q.Instructions, "You write the summary") {
		s.asked(q.Model)
		text, calls = summary, nil
	}
	output := []any{map[string]any{"type": "message", "id": fmt.Sprint("msg_", id), "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}}
	for i, name := range calls {
		output = append(output, map[string]any{"type": "function_call", "id": fmt.Sprint("fc_", id, "_", i), "call_id": fmt.Sprint("call_", id, "_", i),
			"name": name, "arguments": arguments(name), "status": "completed"})
	}
	reply := map[string]any{"id": fmt.Sprint("resp_", id), "object": "response", "status": "completed", "output": output,
		"usage": map[string]any{"input_tokens": len(body) / 4, "output_tokens": 9}}
	if q.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		event(w, "response.created", map[string]any{"type": "response.created", "response": map[string]any{"id": reply["id"]}})
		for i, item := range output {
			for _, kind := range []string{"response.output_item.added", "response.output_item.done"} {
				event(w, kind, map[string]any{"type": kind, "output_index": i, "item": item})
			}
		}
		event(w, "response.completed", map[string]any{"type": "response.completed", "response": reply})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

func event(w io.Writer, name string, data any) {
	text, _ := json.Marshal(data)
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
}

func (s *server) gemini(w http.ResponseWriter, r *http.Request, body []byte) {
	var q struct{ Contents json.RawMessage }
	var contents []struct{ Parts []map[string]any }
	assert.NoError(s.t, json.Unmarshal(body, &q))
	assert.NoError(s.t, json.Unmarshal(q.Contents, &contents))
	assert.NoError(s.t, adaptertest.ValidContents(q.Contents))
	if s.tooLong(w, body, `{"error":{"code":400,"message":"The input token count (99999) exceeds the maximum number of tokens allowed `+
		fmt.Sprintf("(%d)", window)+`.","status":"INVALID_ARGUMENT"}}`) {
		return
	}
	last := contents[len(contents)-1].Parts
	text, wanted := s.model(string(body), last[0]["functionResponse"] != nil)
	if strings.Contains(string(body), "You write the summary") {
		s.asked(strings.Split(path.Base(r.URL.Path), ":")[0])
		text, wanted = summary, nil
	}
	parts := []any{map[string]any{"text": text}}
	for _, name := range wanted {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"name": name, "args": json.RawMessage(arguments(name))}})
	}
	reply := map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": map[string]any{"promptTokenCount": len(body) / 4, "candidatesTokenCount": 9}}
	if strings.Contains(r.URL.Path, ":stream") {
		w.Header().Set("Content-Type", "text/event-stream")
		event(w, "", reply)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}
