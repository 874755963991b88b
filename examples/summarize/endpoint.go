package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/winnowgo/winnow"
)

// endpoint is a winnow.Summarizer that asks an OpenAI-compatible endpoint: OpenAI itself, Ollama, vLLM,
// llama.cpp, LM Studio, OpenRouter and most gateways. It is safe for concurrent use.
type endpoint struct {
	url    string // of the API, such as https://api.openai.com/v1
	model  string
	key    string // sent as a bearer token; "": none
	client *http.Client
}

// statusError is a refusal. winnow.ClassifyError reads its status and text, so that a retry can tell a rate limit from
// a wrong key and a prompt that is too long.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string   { return fmt.Sprintf("status %d: %s", e.status, e.body) }
func (e *statusError) StatusCode() int { return e.status }

type chatRequest struct {
	Model     string        `json:"model"`
	Messages  []chatMessage `json:"messages"`
	MaxTokens int           `json:"max_tokens,omitempty"` // newer OpenAI models require max_completion_tokens instead
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatResponse struct {
	Choices []struct {
		Message      chatMessage `json:"message"`
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
}

// maxAnswer limits how much of an answer is read, in bytes.
const maxAnswer = 8 << 20

// headroom is the factor by which a model may exceed req.MaxTokens: thinking counts against the same limit, and a cut
// answer is useless.
const headroom = 2

// Summarize sends System and Prompt unchanged, without tools, and accepts an answer only if the model finished it.
func (e *endpoint) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	body, err := json.Marshal(chatRequest{
		Model:     e.model,
		Messages:  []chatMessage{{"system", req.System()}, {"user", req.Prompt()}},
		MaxTokens: headroom * req.MaxTokens,
	})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.url, "/")+"/chat/completions",
		bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		r.Header.Set("Authorization", "Bearer "+e.key)
	}
	resp, err := e.client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", &statusError{resp.StatusCode, string(answer[:min(len(answer), 2_000)])}
	}
	return completeAnswer(answer)
}

// completeAnswer returns the text of a finished answer.
func completeAnswer(answer []byte) (string, error) {
	var c chatResponse
	if err := json.Unmarshal(answer, &c); err != nil {
		return "", fmt.Errorf("the answer is not a chat completion: %w", err)
	}
	if len(c.Choices) == 0 {
		return "", errors.New("the answer has no choices")
	}
	// only "stop" is good: "length", "content_filter", "tool_calls" and "" are not
	if reason := c.Choices[0].FinishReason; reason != "stop" {
		return "", fmt.Errorf("finish reason %q: %w", reason, winnow.ErrIncomplete)
	}
	return c.Choices[0].Message.Content, nil
}
