package genkit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firebase/genkit/go/ai"
	gk "github.com/firebase/genkit/go/genkit"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Wrapper keeps the requests of an agent inside the window of its model: see [Wrap].
type Wrapper struct{ conversations *framework.Conversations }

// Wrap returns the middleware and the tools for an agent. The context of a run names its conversation: see
// [framework.WithConversation]; with Genkit's sessions set Options.Key. Agents that call each other get one each.
func Wrap(o *framework.Options) *Wrapper { return &Wrapper{framework.New(o)} }

// Close ends the work in the background: see [framework.Conversations].
func (w *Wrapper) Close() error { return w.conversations.Close() }

// Middleware is an [ai.ModelMiddleware], for [ai.WithMiddleware]. What it sends is in no message of Genkit's: the
// request in a response is that of the caller, so that [ai.ModelResponse.History] is whole. In a stream, a refusal is
// recovered from as long as nothing came.
func (w *Wrapper) Middleware(next ai.ModelFunc) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, each ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		begun := false
		watched := each
		if each != nil {
			watched = func(ctx context.Context, chunk *ai.ModelResponseChunk) error {
				begun = true
				return each(ctx, chunk)
			}
		}
		answer, turn, err := framework.Do(ctx, w.conversations, Import(req.Messages),
			func(ctx context.Context, messages []winnow.Message) (*ai.ModelResponse, error) {
				sent := *req
				sent.Messages, sent.Tools = Export(messages), sorted(req.Tools)
				answer, err := next(ctx, &sent, watched)
				if err != nil && begun {
					err = framework.Begun(err)
				}
				return answer, err
			})
		if err != nil {
			return nil, err
		}
		answer.Request = req
		turn.Answered(ctx, Response(answer))
		return answer, nil
	}
}

// sorted returns tools in the order of their names. Genkit gives them in another order at each run, and they stand
// before the messages: the provider would read nothing from its cache.
func sorted(tools []*ai.ToolDefinition) []*ai.ToolDefinition {
	return slices.SortedFunc(slices.Values(tools), func(a, b *ai.ToolDefinition) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// Tools returns the tools that o.Recall and o.Notes of [Wrap] offer, for [ai.WithTools] beside the agent's own.
func (w *Wrapper) Tools() (tools []ai.ToolRef) {
	for _, t := range w.conversations.Tools() {
		run := func(ctx *ai.ToolContext, input any) (string, error) {
			arguments, err := json.Marshal(input)
			if err != nil {
				return "", fmt.Errorf("genkit: %w", err)
			}
			return t.Run(ctx.Context, arguments)
		}
		tools = append(tools, ai.NewTool(t.Name, t.Description, run, ai.WithInputSchema(adapter.Schema(t.Tool))))
	}
	return tools
}

// NewSummarizer returns a summarizer that asks a model without tools. o names the model, and limits its answer in the
// way of its plugin. If the finish reason does not say that the model finished, the error wraps
// [winnow.ErrIncomplete].
func NewSummarizer(g *gk.Genkit, o ...ai.GenerateOption) winnow.Summarizer {
	return winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		prompt := ai.WithMessages(ai.NewSystemTextMessage(req.System()), ai.NewUserTextMessage(req.Prompt()))
		answer, err := gk.Generate(ctx, g, append([]ai.GenerateOption{prompt}, o...)...)
		if err != nil || answer == nil {
			return "", adapter.Failed("genkit", err)
		}
		m := Response(answer)
		return adapter.Summary(ctx, "genkit", &m, string(ai.FinishReasonStop))
	})
}
