package eino

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/provider"
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
	request := map[string]any{"model": "gpt", "messages": wire(in)}
	if n := model.GetCommonOptions(nil, options...).MaxTokens; n != nil {
		request["max_completion_tokens"] = *n
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
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("error, status code: %d, message: %s", response.StatusCode, body)
	}
	var answer struct {
		Choices []struct {
			FinishReason string         `json:"finish_reason"`
			Message      schema.Message `json:"message"`
		} `json:"choices"`
		Usage schema.TokenUsage `json:"usage"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	m := &answer.Choices[0].Message
	m.ResponseMeta = &schema.ResponseMeta{FinishReason: answer.Choices[0].FinishReason, Usage: &answer.Usage}
	return m, nil
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

func (r *remote) Stream(ctx context.Context, in []*schema.Message, options ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := r.Generate(ctx, in, options...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
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

func TestConversations(t *testing.T) {
	chatOf := func(url string) *remote { return &remote{client: http.DefaultClient, url: url} }
	summarizer := func(url string) winnow.Summarizer { return NewSummarizer(chatOf(url), 0) }
	adaptertest.CheckConversations(t, func(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
		answer, err := chatOf(url).Generate(ctx, Export(messages))
		if err != nil {
			return winnow.Message{}, err
		}
		return Response(answer), nil
	}, summarizer)
}
