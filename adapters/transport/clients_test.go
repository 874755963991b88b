package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	openaiparam "github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// An agent has a loop of its own, and sends its whole history each time.
type agent interface {
	// ask sends a text, or the results of the calls in the last answer, and returns the answer's text and calls.
	ask(ctx context.Context, text string, results []string) (answer string, calls int, err error)
	fork() agent // with the same history
}

// clients are agents on the real SDKs, by their names.
func clients(url string, c *http.Client) map[string]func(stream bool) agent {
	return map[string]func(stream bool) agent{
		"anthropic": func(stream bool) agent {
			return &messagesAgent{client: anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"),
				anthropicoption.WithMaxRetries(0), anthropicoption.WithHTTPClient(c)), stream: stream}
		},
		"chat": func(stream bool) agent {
			return &chatAgent{client: openaiClient(url, c), stream: stream}
		},
		"responses": func(stream bool) agent {
			return &responsesAgent{client: openaiClient(url, c), stream: stream}
		},
		"gemini": func(stream bool) agent {
			client, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "k", HTTPClient: c,
				Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
			if err != nil {
				panic(err)
			}
			return &geminiAgent{client: client, stream: stream}
		},
	}
}

func openaiClient(url string, c *http.Client) openai.Client {
	return openai.NewClient(openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0),
		openaioption.WithHTTPClient(c))
}

type messagesAgent struct {
	client  anthropic.Client
	thinks  bool
	stream  bool
	history []anthropic.MessageParam
	calls   []string
}

func (a *messagesAgent) fork() agent {
	b := *a
	b.history = append([]anthropic.MessageParam(nil), a.history...)
	return &b
}

func (a *messagesAgent) ask(ctx context.Context, text string, results []string) (string, int, error) {
	var blocks []anthropic.ContentBlockParamUnion
	for i, r := range results {
		blocks = append(blocks, anthropic.NewToolResultBlock(a.calls[i], r, false))
	}
	if text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(text))
	}
	history := append(a.history[:len(a.history):len(a.history)], anthropic.NewUserMessage(blocks...))
	params := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 1_000, Messages: history,
		System: []anthropic.TextBlockParam{{Text: "Be brief.", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Tools:  []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read", InputSchema: anthropic.ToolInputSchemaParam{}}}}}
	if a.thinks {
		params.MaxTokens = 2_000
		params.Thinking = anthropic.ThinkingConfigParamOfEnabled(1_024)
	}
	var m *anthropic.Message
	var err error
	if a.stream {
		s := a.client.Messages.NewStreaming(ctx, params)
		m = &anthropic.Message{}
		for s.Next() {
			if err := m.Accumulate(s.Current()); err != nil {
				return "", 0, err
			}
		}
		err = s.Err()
	} else {
		m, err = a.client.Messages.New(ctx, params)
	}
	if err != nil {
		return "", 0, err
	}
	a.history, a.calls = append(history, m.ToParam()), nil
	answer := ""
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			answer += b.Text
		case "tool_use":
			a.calls = append(a.calls, b.ID)
		}
	}
	return answer, len(a.calls), nil
}

type chatAgent struct {
	client  openai.Client
	stream  bool
	history []openai.ChatCompletionMessageParamUnion
	calls   []string
}

func (a *chatAgent) fork() agent {
	b := *a
	b.history = append([]openai.ChatCompletionMessageParamUnion(nil), a.history...)
	return &b
}

func (a *chatAgent) ask(ctx context.Context, text string, results []string) (string, int, error) {
	history := a.history[:len(a.history):len(a.history)]
	if len(history) == 0 {
		history = append(history, openai.SystemMessage("Be brief."))
	}
	for i, r := range results {
		history = append(history, openai.ToolMessage(r, a.calls[i]))
	}
	if text != "" {
		history = append(history, openai.UserMessage(text))
	}
	params := openai.ChatCompletionNewParams{Model: "gpt-4o", MaxCompletionTokens: openai.Int(1_000), Messages: history,
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "read"})}}
	var m openai.ChatCompletionMessage
	if a.stream {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		s := a.client.Chat.Completions.NewStreaming(ctx, params)
		var acc openai.ChatCompletionAccumulator
		for s.Next() {
			acc.AddChunk(s.Current())
		}
		if s.Err() != nil {
			return "", 0, s.Err()
		}
		m = acc.Choices[0].Message
	} else {
		res, err := a.client.Chat.Completions.New(ctx, params)
		if err != nil {
			return "", 0, err
		}
		m = res.Choices[0].Message
	}
	a.history, a.calls = append(history, m.ToParam()), nil
	for _, c := range m.ToolCalls {
		a.calls = append(a.calls, c.ID)
	}
	return m.Content, len(a.calls), nil
}

type responsesAgent struct {
	client  openai.Client
	stream  bool
	history []responses.ResponseInputItemUnionParam
	calls   []string
}

func (a *responsesAgent) fork() agent {
	b := *a
	b.history = append([]responses.ResponseInputItemUnionParam(nil), a.history...)
	return &b
}

func (a *responsesAgent) ask(ctx context.Context, text string, results []string) (string, int, error) {
	history := a.history[:len(a.history):len(a.history)]
	for i, r := range results {
		item := responses.ResponseInputItemParamOfFunctionCallOutput(r)
		item.OfFunctionCallOutput.CallID = openai.String(a.calls[i])
		history = append(history, item)
	}
	if text != "" {
		history = append(history, responses.ResponseInputItemParamOfMessage(text, "user"))
	}
	params := responses.ResponseNewParams{Model: "gpt-4o", MaxOutputTokens: openai.Int(1_000), Store: openai.Bool(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: history},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "read"}}}}
	var m *responses.Response
	if a.stream {
		s := a.client.Responses.NewStreaming(ctx, params)
		for s.Next() {
			if e := s.Current(); e.Type == "response.completed" {
				m = &e.Response
			}
		}
		if s.Err() != nil {
			return "", 0, s.Err()
		}
		if m == nil {
			return "", 0, fmt.Errorf("no answer")
		}
	} else {
		var err error
		if m, err = a.client.Responses.New(ctx, params); err != nil {
			return "", 0, err
		}
	}
	a.calls = nil
	for _, item := range m.Output {
		history = append(history, openaiparam.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		if item.Type == "function_call" {
			a.calls = append(a.calls, item.CallID)
		}
	}
	a.history = history
	return m.OutputText(), len(a.calls), nil
}

type geminiAgent struct {
	client  *genai.Client
	stream  bool
	history []*genai.Content
	calls   int
}

func (a *geminiAgent) fork() agent {
	b := *a
	b.history = append([]*genai.Content(nil), a.history...)
	return &b
}

func (a *geminiAgent) ask(ctx context.Context, text string, results []string) (string, int, error) {
	c := &genai.Content{Role: genai.RoleUser}
	for _, r := range results {
		c.Parts = append(c.Parts, genai.NewPartFromFunctionResponse("read", map[string]any{"output": r}))
	}
	if text != "" {
		c.Parts = append(c.Parts, genai.NewPartFromText(text))
	}
	history := append(a.history[:len(a.history):len(a.history)], c)
	config := &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read"}}}}}
	answer := &genai.Content{Role: genai.RoleModel}
	if a.stream {
		for piece, err := range a.client.Models.GenerateContentStream(ctx, "gemini-2.5-pro", history, config) {
			if err != nil {
				return "", 0, err
			}
			answer.Parts = append(answer.Parts, piece.Candidates[0].Content.Parts...)
		}
	} else {
		res, err := a.client.Models.GenerateContent(ctx, "gemini-2.5-pro", history, config)
		if err != nil {
			return "", 0, err
		}
		answer.Parts = res.Candidates[0].Content.Parts
	}
	a.history, a.calls = append(history, answer), 0
	said := ""
	for _, p := range answer.Parts {
		if said += p.Text; p.FunctionCall != nil {
			a.calls++
		}
	}
	return said, a.calls, nil
}
