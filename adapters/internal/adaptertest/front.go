package adaptertest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Front puts an API that the strict provider does not speak in front of it.
type Front struct {
	Wording string // how the API refuses a request that is too long; see provider.Wordings

	// Read checks a request by the rules of the API.
	Read func(r *http.Request, body []byte) (FrontRequest, error)

	// Answer returns the body of an answer, or the events of a stream.
	Answer func(answer *winnow.Message, stream bool) []byte

	// Refuse returns the body of a refusal.
	Refuse func(status int, text string) []byte
}

// FrontRequest is what a provider needs to know about a request.
type FrontRequest struct {
	System    string
	Messages  []winnow.Message
	MaxTokens int
	Tools     bool
	Stream    bool
}

// handler answers requests of the API with the provider's answers in Chat Completions.
func (f *Front) handler(t *testing.T, provider http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		request, err := f.Read(r, body)
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			t.Errorf("a request is not valid: %v", err)
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(f.Refuse(http.StatusBadRequest, err.Error()))
			return
		}
		answer, status, text := askChat(t, provider, &request)
		if status != http.StatusOK {
			w.WriteHeader(status)
			_, _ = w.Write(f.Refuse(status, text))
			return
		}
		if request.Stream {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, _ = w.Write(f.Answer(&answer, request.Stream))
	})
}

// askChat sends a request in Chat Completions. A refusal has a status and a text.
func askChat(t *testing.T, provider http.Handler, q *FrontRequest) (answer winnow.Message, status int, text string) {
	messages := [][]byte{jsonedit.Object("role", "system", "content", q.System)}
	b := wire.ChatBuilder{IDs: adapter.IDRule{MaxLength: 64}, Given: func(any) []byte { return nil }}
	for _, m := range b.Build(q.Messages) {
		messages = append(messages, m.JSON)
	}
	request := []any{"model", "m", "messages", jsonedit.List(messages...)}
	if q.MaxTokens > 0 {
		request = append(request, "max_completion_tokens", strconv.AppendInt(nil, int64(q.MaxTokens), 10))
	}
	if q.Tools {
		request = append(request, "tools", []byte(`[{"type":"function","function":{"name":"read"}}]`))
	}
	post := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(jsonedit.Object(request...)))
	post.Header.Set("Authorization", "Bearer none")
	w := httptest.NewRecorder()
	provider.ServeHTTP(w, post)
	reply, _ := jsonedit.Parse(w.Body.Bytes())
	if w.Code != http.StatusOK {
		return answer, w.Code, reply.Get("error.message").Text()
	}
	said := []jsonedit.Value{reply.Get("choices.0.message")}
	answer = wire.Import(wire.Chat{}, said, func(m *jsonedit.Value) []byte { return *m })[0]
	answer.ID, answer.StopReason = reply.Get("id").Text(), reply.Get("choices.0.finish_reason").Text()
	answer.Usage = &winnow.Usage{Input: reply.Get("usage.prompt_tokens").Int(),
		Output: reply.Get("usage.completion_tokens").Int()}
	return answer, http.StatusOK, ""
}
