package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// maxErrorBody is how much of a refusal is kept, in bytes.
const maxErrorBody = 64 << 10

// KeepErrors is an option of the client for servers that only partly speak OpenAI's API. If the member error of a
// refusal is a text or a list instead of an object (Ollama, LM Studio), the SDK reports a decoding error, and the text
// is lost. With this option the text becomes the message of the SDK's error. Refusals without such a member need no
// option: [winnow.ClassifyError] reads the body that the SDK keeps.
//
// Some servers refuse a stream with status 200 and an error in JSON, in which the SDK finds no events. With this option
// [Collect] returns that error.
func KeepErrors() option.RequestOption {
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		answer, err := next(r)
		if err != nil || answer == nil || answer.Body == nil {
			return answer, err
		}
		if answer.StatusCode < http.StatusBadRequest {
			return refusedStream(r, answer)
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
		_ = answer.Body.Close()
		if err != nil {
			return nil, err
		}
		jsontext.Members(body, func(key string, value []byte) {
			if key != "error" || value[0] == '{' || string(value) == "null" {
				return
			}
			text := jsontext.Text(value)
			if text == "" {
				text = string(value)
			}
			body, err = json.Marshal(map[string]any{"error": map[string]any{"message": text}})
		})
		answer.Body = io.NopCloser(bytes.NewReader(body))
		answer.ContentLength = int64(len(body))
		return answer, err
	})
}

// refusedStream makes an event of an error that came with status 200 instead of a stream.
func refusedStream(r *http.Request, answer *http.Response) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind != "application/json" || !asksForStream(r) {
		return answer, nil
	}
	in := bufio.NewReader(answer.Body)
	begin, _ := in.Peek(1)
	rest := io.Reader(in)
	if string(begin) == "{" { // and not a stream under a wrong name
		body, err := io.ReadAll(io.LimitReader(in, maxErrorBody))
		if err != nil {
			_ = answer.Body.Close()
			return nil, err
		}
		event := bytes.NewBufferString("data: ")
		if adapter.IsError(body) && json.Compact(event, body) == nil {
			event.WriteString("\n\n")
			body = event.Bytes()
		}
		rest = io.MultiReader(bytes.NewReader(body), in)
	}
	answer.ContentLength = -1
	answer.Body = struct {
		io.Reader
		io.Closer
	}{rest, answer.Body}
	return answer, nil
}

// asksForStream reads the member "stream" of a request.
func asksForStream(r *http.Request) bool {
	if r.GetBody == nil {
		return false
	}
	sent, err := r.GetBody()
	if err != nil {
		return false
	}
	defer sent.Close()
	body, err := io.ReadAll(sent)
	if err != nil {
		return false
	}
	asks := false
	jsontext.Members(body, func(key string, value []byte) { asks = asks || key == "stream" && string(value) == "true" })
	return asks
}
