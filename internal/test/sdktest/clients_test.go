package sdktest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// reply is what the tests look at of an answer, whichever SDK read it.
type reply struct {
	text   string
	calls  []provider.ToolCall
	reason string
	usage  provider.Usage
}

// client is an official SDK, asked in one way.
type client struct {
	name string
	ask  func(ctx context.Context, url string, prompt string) (reply, error)
	err  func(err error) bool // it is the SDK's own error type
}

// clients are both SDKs, with and without streaming.
func clients() []client {
	isAnthropic := func(err error) bool { return errors.As(err, new(*anthropic.Error)) }
	isOpenAI := func(err error) bool { return errors.As(err, new(*openai.Error)) }
	return []client{
		{"anthropic", func(ctx context.Context, url, prompt string) (reply, error) {
			return askMessages(ctx, url, messageParams(prompt))
		}, isAnthropic},
		{"anthropic stream", func(ctx context.Context, url, prompt string) (reply, error) {
			return streamMessages(ctx, url, messageParams(prompt))
		}, isAnthropic},
		{"openai", func(ctx context.Context, url, prompt string) (reply, error) {
			return askChat(ctx, url, chatParams(prompt))
		}, isOpenAI},
		{"openai stream", func(ctx context.Context, url, prompt string) (reply, error) {
			return streamChat(ctx, url, chatParams(prompt))
		}, isOpenAI},
	}
}

// serve starts a provider for the length of a test.
func serve(t *testing.T, o provider.Options) (*provider.Provider, string) {
	t.Helper()
	p := provider.New(o)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, server.URL
}

func anthropicClient(url string) anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("test"), anthropicoption.WithMaxRetries(0))
}

func messageParams(prompt string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 1000,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))}}
}

func askMessages(ctx context.Context, url string, params anthropic.MessageNewParams) (reply, error) {
	c := anthropicClient(url)
	m, err := c.Messages.New(ctx, params)
	if err != nil {
		return reply{}, err
	}
	return messageReply(m), nil
}

func streamMessages(ctx context.Context, url string, params anthropic.MessageNewParams) (reply, error) {
	c := anthropicClient(url)
	stream := c.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			return reply{}, err
		}
	}
	return messageReply(&m), stream.Err()
}

func messageReply(m *anthropic.Message) reply {
	r := reply{reason: string(m.StopReason), usage: provider.Usage{Input: int(m.Usage.InputTokens), Output: int(m.Usage.OutputTokens),
		CacheRead: int(m.Usage.CacheReadInputTokens), CacheWrite: int(m.Usage.CacheCreationInputTokens)}}
	for _, b := range m.Content {
		r.text += b.Text
	}
	return r
}

func openaiClient(url string) openai.Client {
	return openai.NewClient(openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("test"), openaioption.WithMaxRetries(0))
}

func chatParams(prompt string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "gpt-4o", MaxCompletionTokens: openai.Int(1000),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)}}
}

func askChat(ctx context.Context, url string, params openai.ChatCompletionNewParams) (reply, error) {
	c := openaiClient(url)
	m, err := c.Chat.Completions.New(ctx, params)
	if err != nil {
		return reply{}, err
	}
	return chatReply(m), nil
}

func streamChat(ctx context.Context, url string, params openai.ChatCompletionNewParams) (reply, error) {
	c := openaiClient(url)
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		acc.AddChunk(stream.Current())
	}
	return chatReply(&acc.ChatCompletion), stream.Err()
}

func chatReply(m *openai.ChatCompletion) reply {
	cached := int(m.Usage.PromptTokensDetails.CachedTokens)
	r := reply{usage: provider.Usage{Input: int(m.Usage.PromptTokens) - cached, CacheRead: cached, Output: int(m.Usage.CompletionTokens)}}
	if len(m.Choices) == 0 {
		return r
	}
	c := m.Choices[0]
	r.text, r.reason = c.Message.Content, c.FinishReason
	for _, call := range c.Message.ToolCalls {
		r.calls = append(r.calls, provider.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
	}
	return r
}

// soon is a context that ends before a test would hang.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
