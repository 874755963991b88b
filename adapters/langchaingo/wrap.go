package langchaingo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
)

// Model is a model whose requests fit into the window of the one that it stands around: see [Wrap].
type Model struct {
	llm           llms.Model
	conversations *framework.Conversations
}

// Wrap returns a model for an agent, a chain or a loop, which asks llm. The context of a run names its conversation:
// see [framework.WithConversation]. Agents that call each other get one each.
//
// Chains that write everything into one prompt cannot be shortened here: use [NewMemory] for them.
func Wrap(llm llms.Model, o *framework.Options) *Model { return &Model{llm, framework.New(o)} }

// Close ends the work in the background: see [framework.Conversations].
func (m *Model) Close() error { return m.conversations.Close() }

// SupportsReasoning implements [llms.ReasoningModel].
func (m *Model) SupportsReasoning() bool { return llms.SupportsReasoningModel(m.llm) }

// Call implements [llms.Model].
func (m *Model) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, o...)
}

// GenerateContent implements [llms.Model]. In a stream, a refusal is recovered from as long as nothing came.
func (m *Model) GenerateContent(ctx context.Context, messages []llms.MessageContent, o ...llms.CallOption) (
	*llms.ContentResponse, error) {
	var begun bool
	o = append(o[:len(o):len(o)], func(o *llms.CallOptions) { watch(o, &begun) })
	answer, turn, err := framework.Do(ctx, m.conversations, Import(messages),
		func(ctx context.Context, messages []winnow.Message) (*llms.ContentResponse, error) {
			answer, err := m.llm.GenerateContent(ctx, Export(messages), o...)
			if err != nil && begun {
				err = framework.Begun(err)
			}
			return answer, err
		})
	if err != nil {
		return nil, err
	}
	turn.Answered(ctx, withArguments(Response(answer)))
	return answer, nil
}

// watch notes in begun that something of a stream was passed on.
func watch(o *llms.CallOptions, begun *bool) {
	if f := o.StreamingFunc; f != nil {
		o.StreamingFunc = func(ctx context.Context, chunk []byte) error {
			*begun = true
			return f(ctx, chunk)
		}
	}
	if f := o.StreamingReasoningFunc; f != nil {
		o.StreamingReasoningFunc = func(ctx context.Context, reasoning, chunk []byte) error {
			*begun = true
			return f(ctx, reasoning, chunk)
		}
	}
}

// withArguments returns an answer with the arguments of its calls as agents pass them on: LangChainGo's tools take a
// text, and agents.OpenAIFunctionsAgent has the model write it as {"__arg1": "…"}.
func withArguments(m winnow.Message) winnow.Message {
	for k := range m.Parts {
		var wrapped map[string]string
		if p := &m.Parts[k]; json.Unmarshal(p.Arguments, &wrapped) == nil {
			if text, ok := wrapped["__arg1"]; ok {
				p.Arguments = []byte(text)
			}
		}
	}
	return m
}

// Tools returns the tools that o.Recall and o.Notes of [Wrap] offer, for an agent.
func (m *Model) Tools() (list []tools.Tool) {
	for _, t := range m.conversations.Tools() {
		list = append(list, agentTool{t})
	}
	return list
}

// Definitions returns the same tools for [llms.WithTools], for a loop of your own that runs them with Tools.
func (m *Model) Definitions() (list []llms.Tool) {
	for _, t := range m.conversations.Tools() {
		list = append(list, Tool(t.Tool))
	}
	return list
}

// Tool turns a tool, such as [winnow.RecallTool], into one for [llms.WithTools].
func Tool(t winnow.Tool) llms.Tool {
	f := &llms.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema}
	return llms.Tool{Type: "function", Function: f}
}

type agentTool struct{ t framework.Tool }

// Name implements [tools.Tool].
func (t agentTool) Name() string { return t.t.Name }

// Description implements [tools.Tool]. An agent tells the model nothing else of the arguments.
func (t agentTool) Description() string {
	return t.t.Description + " The argument is JSON, with this schema: " + string(t.t.Schema)
}

// Call implements [tools.Tool].
func (t agentTool) Call(ctx context.Context, input string) (string, error) {
	text, err := t.t.Run(ctx, json.RawMessage(strings.TrimSpace(input)))
	if err != nil {
		return "", fmt.Errorf("langchaingo: %w", err)
	}
	return text, nil
}
