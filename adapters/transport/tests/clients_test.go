package transport_test

import (
	"context"
	"net/http"
	"slices"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	openaisdk "github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	responsessdk "github.com/openai/openai-go/v3/responses"
	genaisdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/adapters/openai"
	"github.com/winnowgo/winnow/adapters/openai/responses"
)

// An agent has a loop of its own, and sends its whole history each time.
type agent struct {
	send    func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error)
	history []winnow.Message
	calls   []winnow.Part // in the last answer
}

// fork returns an agent with the same history.
func (a *agent) fork() *agent { return &agent{a.send, slices.Clone(a.history), a.calls} }

// ask sends a text, or the results of the calls in the last answer, and returns the answer's text and calls.
func (a *agent) ask(ctx context.Context, text string, results []string) (answer string, calls int, err error) {
	history := slices.Clone(a.history)
	for i, result := range results {
		history = append(history, winnow.Message{Role: winnow.RoleTool, ToolCallID: a.calls[i].ID, Parts: []winnow.Part{{Text: result}}})
	}
	if text != "" {
		history = append(history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}})
	}
	said, err := a.send(ctx, history)
	if err != nil {
		return "", 0, err
	}
	a.history, a.calls = append(history, said...), nil
	for _, m := range said {
		for _, p := range m.Parts {
			switch p.Kind {
			case winnow.KindText:
				answer += p.Text
			case winnow.KindToolCall:
				a.calls = append(a.calls, p)
			}
		}
	}
	return answer, len(a.calls), nil
}

// clients are agents on the real SDKs, by their names.
func clients(url string, c *http.Client) map[string]func(stream bool) *agent {
	return map[string]func(stream bool) *agent{
		"anthropic":          func(stream bool) *agent { return messagesAgent(url, c, stream, false) },
		"anthropic thinking": func(stream bool) *agent { return messagesAgent(url, c, stream, true) },
		"chat":               func(stream bool) *agent { return chatAgent(url, c, stream) },
		"responses":          func(stream bool) *agent { return responsesAgent(url, c, stream) },
		"gemini":             func(stream bool) *agent { return geminiAgent(url, c, stream) },
	}
}

// list is an answer that is one message.
func list(m winnow.Message, err error) ([]winnow.Message, error) { return []winnow.Message{m}, err }

func messagesAgent(url string, c *http.Client, stream, thinks bool) *agent {
	client := anthropicsdk.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0), anthropicoption.WithHTTPClient(c))
	asMessage := adaptertest.Answer(anthropic.Response)
	return &agent{send: func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		params := anthropicsdk.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 2_000, Messages: anthropic.Export(messages), System: anthropic.SystemBlocks("Be brief."),
			Tools: []anthropicsdk.ToolUnionParam{{OfTool: &anthropicsdk.ToolParam{Name: "read"}}}}
		if thinks {
			params.Thinking = anthropicsdk.ThinkingConfigParamOfEnabled(1_024)
		}
		if stream {
			return list(asMessage(anthropic.Collect(client.Messages.NewStreaming(ctx, params), nil)))
		}
		return list(asMessage(client.Messages.New(ctx, params)))
	}}
}

func openaiClient(url string, c *http.Client) openaisdk.Client {
	return openaisdk.NewClient(openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0), openaioption.WithHTTPClient(c))
}

func chatAgent(url string, c *http.Client, stream bool) *agent {
	client, asMessage := openaiClient(url, c), adaptertest.Answer(openai.Response)
	return &agent{send: func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		params := openaisdk.ChatCompletionNewParams{Model: "gpt-4o", MaxCompletionTokens: openaisdk.Int(1_000),
			Messages: slices.Concat([]openaisdk.ChatCompletionMessageParamUnion{openaisdk.SystemMessage("Be brief.")}, openai.Export(messages)),
			Tools:    []openaisdk.ChatCompletionToolUnionParam{openaisdk.ChatCompletionFunctionTool(openaisdk.FunctionDefinitionParam{Name: "read"})}}
		if stream {
			params.StreamOptions.IncludeUsage = openaisdk.Bool(true)
			return list(asMessage(openai.Collect(client.Chat.Completions.NewStreaming(ctx, params), nil)))
		}
		return list(asMessage(client.Chat.Completions.New(ctx, params)))
	}}
}

func responsesAgent(url string, c *http.Client, stream bool) *agent {
	client := openaiClient(url, c)
	return &agent{send: func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		params := responsessdk.ResponseNewParams{Model: "gpt-4o", MaxOutputTokens: openaisdk.Int(1_000), Store: openaisdk.Bool(false),
			Input: responsessdk.ResponseNewParamsInputUnion{OfInputItemList: responses.Export(messages)},
			Tools: []responsessdk.ToolUnionParam{{OfFunction: &responsessdk.FunctionToolParam{Name: "read"}}}}
		var answer *responsessdk.Response
		var err error
		if stream {
			answer, err = responses.Collect(client.Responses.NewStreaming(ctx, params), nil)
		} else {
			answer, err = client.Responses.New(ctx, params)
		}
		if err != nil {
			return nil, err
		}
		return responses.Response(answer), nil
	}}
}

func geminiAgent(url string, c *http.Client, stream bool) *agent {
	client, err := genaisdk.NewClient(context.Background(), &genaisdk.ClientConfig{APIKey: "k", HTTPClient: c,
		Backend: genaisdk.BackendGeminiAPI, HTTPOptions: genaisdk.HTTPOptions{BaseURL: url}})
	if err != nil {
		panic(err)
	}
	config := &genaisdk.GenerateContentConfig{SystemInstruction: genaisdk.NewContentFromText("Be brief.", genaisdk.RoleUser),
		Tools: []*genaisdk.Tool{{FunctionDeclarations: []*genaisdk.FunctionDeclaration{{Name: "read"}}}}}
	asMessage := adaptertest.Answer(genai.Response)
	return &agent{send: func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		if stream {
			return list(asMessage(genai.Collect(client.Models.GenerateContentStream(ctx, "gemini-2.5-pro", genai.Export(messages), config), nil)))
		}
		return list(asMessage(client.Models.GenerateContent(ctx, "gemini-2.5-pro", genai.Export(messages), config)))
	}}
}
