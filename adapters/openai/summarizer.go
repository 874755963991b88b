package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// NewSummarizer returns a summarizer that asks model. maxTokens limits the answer; 0 means the limit that each request
// asks for. It sends no tools. If the model did not finish its answer, the error wraps [winnow.ErrIncomplete]. Errors
// of the SDK are wrapped.
//
// The limit is sent as max_completion_tokens. For a server that knows only max_tokens, pass
// option.WithJSONDel("max_completion_tokens") and option.WithJSONSet("max_tokens", n).
func NewSummarizer(client sdk.Client, model sdk.ChatModel, maxTokens int,
	options ...option.RequestOption) winnow.Summarizer {
	return &summarizer{client, model, maxTokens, options}
}

type summarizer struct {
	client    sdk.Client
	model     sdk.ChatModel
	maxTokens int
	options   []option.RequestOption
}

// Summarize implements [winnow.Summarizer].
func (s *summarizer) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	answer, err := s.client.Chat.Completions.New(ctx, sdk.ChatCompletionNewParams{
		Model:               s.model,
		MaxCompletionTokens: sdk.Int(int64(adapter.AnswerTokens(&req, s.maxTokens))),
		Messages: []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage(req.System()),
			sdk.UserMessage(req.Prompt())},
	}, s.options...)
	if err != nil {
		return "", adapter.Failed("openai", err)
	}
	if u := usage(&answer.Usage); u != nil {
		winnow.ReportUsage(ctx, *u)
	}
	if len(answer.Choices) == 0 {
		return "", adapter.Incomplete("openai", "no choices")
	}
	choice := &answer.Choices[0]
	switch {
	case choice.FinishReason != "stop":
		return "", adapter.Incomplete("openai", choice.FinishReason)
	case choice.Message.Refusal != "":
		return "", adapter.Incomplete("openai", "refusal")
	case len(choice.Message.ToolCalls) > 0: // some servers say "stop" then
		return "", adapter.Incomplete("openai", "tool_calls")
	}
	return choice.Message.Content, nil
}
