package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/winnowgo/winnow"
)

// The APIs that the agent speaks.
const (
	apiAnthropic = "anthropic"
	apiOpenAI    = "openai"
)

// endpoint is a model behind HTTP.
type endpoint struct {
	api    dialect
	client *http.Client
	url    string
	key    string
	model  string
}

// dialect is the wire format of an API. Programs with an SDK use an adapter instead; see adapters/.
type dialect interface {
	path() string
	sign(h http.Header, key string)
	request(model string, q question) any
	response(body []byte) (winnow.Message, error)
}

func newEndpoint(c config) *endpoint {
	e := &endpoint{api: messagesAPI{}, client: http.DefaultClient, url: "https://api.anthropic.com/v1",
		key: os.Getenv("ANTHROPIC_API_KEY"), model: c.model}
	if c.api == apiOpenAI {
		e.api, e.url, e.key = chatAPI{}, "https://api.openai.com/v1", os.Getenv("OPENAI_API_KEY")
	}
	if c.url != "" {
		e.url = strings.TrimSuffix(c.url, "/")
	}
	return e
}

// refusal is an error response. winnow.ClassifyError reads the status and the body.
type refusal struct {
	status int
	body   string
}

func (r *refusal) Error() string   { return fmt.Sprintf("%d: %s", r.status, r.body) }
func (r *refusal) StatusCode() int { return r.status }

// message returns the text for people.
func (r *refusal) message() string {
	var body struct {
		Error struct{ Message string }
	}
	if json.Unmarshal([]byte(r.body), &body) != nil || body.Error.Message == "" {
		return r.Error()
	}
	return body.Error.Message
}

func (e *endpoint) ask(ctx context.Context, q question) (winnow.Message, error) {
	body, err := json.Marshal(e.api.request(e.model, q))
	if err != nil {
		return winnow.Message{}, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+e.api.path(), bytes.NewReader(body))
	if err != nil {
		return winnow.Message{}, err
	}
	post.Header.Set("Content-Type", "application/json")
	e.api.sign(post.Header, e.key)
	answer, err := e.client.Do(post)
	if err != nil {
		return winnow.Message{}, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	if err != nil {
		return winnow.Message{}, err
	}
	if answer.StatusCode != http.StatusOK {
		return winnow.Message{}, &refusal{answer.StatusCode, strings.TrimSpace(string(body))}
	}
	return e.api.response(body)
}

// textOf returns the texts of a message.
func textOf(m *winnow.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
