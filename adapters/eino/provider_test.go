package eino

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// remote is a chat model that speaks Chat Completions, as most of Eino's components do.
type remote struct {
	client *http.Client
	url    string
}

// wireMessage is a message of Chat Completions.
type wireMessage struct {
	Role       schema.RoleType   `json:"role"`
	Content    any               `json:"content"` // a text or parts
	ToolCalls  []schema.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
}

func (r *remote) Generate(ctx context.Context, in []*schema.Message, options ...model.Option) (*schema.Message, error) {
	reply, err := r.post(ctx, in, false, options)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	body, err := io.ReadAll(reply)
	if err != nil {
		return nil, err
	}
	var answer wireAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	m := &answer.Choices[0].Message
	m.ResponseMeta = &schema.ResponseMeta{FinishReason: answer.Choices[0].FinishReason, Usage: answer.Usage}
	return m, nil
}

// post sends a request and returns the body of the reply.
func (r *remote) post(ctx context.Context, in []*schema.Message, stream bool, options []model.Option) (io.ReadCloser, error) {
	request := map[string]any{"model": "gpt", "messages": wire(in)}
	if stream {
		request["stream"], request["stream_options"] = true, map[string]any{"include_usage": true}
	}
	common := model.GetCommonOptions(nil, options...)
	if common.MaxTokens != nil {
		request["max_completion_tokens"] = *common.MaxTokens
	}
	if len(common.Tools) > 0 {
		request["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": common.Tools[0].Name}}}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Authorization", "Bearer none")
	response, err := r.client.Do(post)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return nil, errors.Join(fmt.Errorf("error, status code: %d, message: %s", response.StatusCode, body), err)
	}
	return response.Body, nil
}

// wireAnswer is an answer, or a chunk of one.
type wireAnswer struct {
	Choices []struct {
		FinishReason string         `json:"finish_reason"`
		Message      schema.Message `json:"message"`
		Delta        schema.Message `json:"delta"`
	} `json:"choices"`
	Usage *schema.TokenUsage `json:"usage"`
}

// wire returns messages as Chat Completions has them. Images are in messages of the user only.
func wire(messages []*schema.Message) []wireMessage {
	out := make([]wireMessage, len(messages))
	for i, m := range messages {
		out[i] = wireMessage{Role: m.Role, Content: m.Content, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID}
		var parts []map[string]any
		for _, p := range m.UserInputMultiContent {
			if p.Type == schema.ChatMessagePartTypeText || m.Role != schema.User {
				parts = append(parts, map[string]any{"type": "text", "text": p.Text})
			} else {
				parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,aGk="}})
			}
		}
		if parts != nil {
			out[i].Content = parts
		}
	}
	return out
}

// Stream sends a message for each chunk, as Eino's components do.
func (r *remote) Stream(ctx context.Context, in []*schema.Message, options ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	reply, err := r.post(ctx, in, true, options)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	var chunks []*schema.Message
	lines := bufio.NewScanner(reply)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk wireAnswer
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return nil, err
		}
		m := &schema.Message{ResponseMeta: &schema.ResponseMeta{Usage: chunk.Usage}}
		for i := range chunk.Choices {
			m = &chunk.Choices[i].Delta
			m.ResponseMeta = &schema.ResponseMeta{FinishReason: chunk.Choices[i].FinishReason, Usage: chunk.Usage}
		}
		chunks = append(chunks, m)
	}
	return schema.StreamReaderFromArray(chunks), lines.Err()
}

// validAtProvider sends messages to the strict provider.
func validAtProvider(messages []*schema.Message) error {
	if len(messages) == 0 {
		return nil
	}
	p := provider.New(provider.Options{Window: adaptertest.HugeWindow, MaxBytes: adaptertest.HugeWindow})
	_, err := (&remote{client: adaptertest.Direct(p), url: "http://provider"}).Generate(context.Background(), messages)
	return err
}

var asMessage = adaptertest.Answer(Response)

func whole(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage((&remote{client: http.DefaultClient, url: url}).Generate(ctx, Export(messages)))
}

func streamed(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	stream, err := (&remote{client: http.DefaultClient, url: url}).Stream(ctx, Export(messages), model.WithTools([]*schema.ToolInfo{{Name: "read"}}))
	if err != nil {
		return winnow.Message{}, err
	}
	return asMessage(schema.ConcatMessageStream(stream))
}

func TestConversations(t *testing.T) {
	adaptertest.CheckConversations(t, whole, func(url string) winnow.Summarizer {
		return NewSummarizer(&remote{client: http.DefaultClient, url: url}, 0)
	})
}

// TestAgent: the loop of the README over restarts, streaming.
func TestAgent(t *testing.T) {
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "messages", Send: streamed})
}
