package eino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
)

// Model is a chat model whose requests fit into the window of the one that it stands around: see [Wrap].
type Model struct {
	chat          model.ToolCallingChatModel
	conversations *framework.Conversations
}

// Wrap returns a model for an agent, a graph or a chain, which asks chat. It takes the place of chat, and no message of
// the framework's changes. The context of a run names its conversation: see [framework.WithConversation].
//
// Agents that call each other, or hand over to each other, get one each.
func Wrap(chat model.ToolCallingChatModel, o *framework.Options) *Model {
	return &Model{chat, framework.New(o)}
}

// Tools returns the tools that o.Recall and o.Notes of [Wrap] offer. Give them to the agent beside its own.
func (m *Model) Tools() (tools []tool.BaseTool) {
	for _, t := range m.conversations.Tools() {
		tools = append(tools, invokable(t))
	}
	return tools
}

// Close ends the work in the background: see [framework.Conversations].
func (m *Model) Close() error { return m.conversations.Close() }

// WithTools implements [model.ToolCallingChatModel].
func (m *Model) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	chat, err := m.chat.WithTools(tools)
	if err != nil {
		return nil, err
	}
	return &Model{chat, m.conversations}, nil
}

// Generate implements [model.BaseChatModel].
func (m *Model) Generate(ctx context.Context, in []*schema.Message, o ...model.Option) (*schema.Message, error) {
	answer, turn, err := framework.Do(ctx, m.conversations, Import(in),
		func(ctx context.Context, messages []winnow.Message) (*schema.Message, error) {
			return m.chat.Generate(ctx, Export(messages), o...)
		})
	if err != nil {
		return nil, err
	}
	turn.Answered(ctx, Response(answer))
	return answer, nil
}

// Stream implements [model.BaseChatModel]. A refusal is recovered from as long as nothing was read of the stream.
func (m *Model) Stream(ctx context.Context, in []*schema.Message, o ...model.Option) (
	*schema.StreamReader[*schema.Message], error) {
	var first *schema.Message
	stream, turn, err := framework.Do(ctx, m.conversations, Import(in),
		func(ctx context.Context, messages []winnow.Message) (*schema.StreamReader[*schema.Message], error) {
			stream, err := m.chat.Stream(ctx, Export(messages), o...)
			if err != nil {
				return nil, err
			}
			if first, err = stream.Recv(); err != nil && !errors.Is(err, io.EOF) {
				stream.Close()
				return nil, err
			}
			return stream, nil
		})
	if err != nil {
		return nil, err
	}
	out, in2 := schema.Pipe[*schema.Message](1)
	go pass(ctx, stream, first, in2, turn)
	return out, nil
}

// pass passes on a stream, and tells turn the whole answer before its end.
func pass(ctx context.Context, from *schema.StreamReader[*schema.Message], first *schema.Message,
	to *schema.StreamWriter[*schema.Message], turn *framework.Turn) {
	defer from.Close()
	defer to.Close()
	var chunks []*schema.Message
	for chunk, err := first, error(nil); chunk != nil || err != nil; chunk, err = from.Recv() {
		switch {
		case errors.Is(err, io.EOF):
			if answer, err := schema.ConcatMessages(chunks); err == nil {
				turn.Answered(ctx, Response(answer))
			}
			return
		case err == nil:
			chunks = append(chunks, chunk)
		}
		if to.Send(chunk, err) || err != nil {
			return
		}
	}
}

// GetType implements components.Typer: it is that of the chat model.
func (m *Model) GetType() string {
	name, _ := components.GetType(m.chat)
	return name
}

// IsCallbacksEnabled implements components.Checker: a chat model that calls the callbacks itself tells them of the
// request that is sent.
func (m *Model) IsCallbacksEnabled() bool { return components.IsCallbacksEnabled(m.chat) }

// invokable is a tool that Eino runs.
type invokable framework.Tool

// Info implements [tool.BaseTool].
func (t invokable) Info(context.Context) (*schema.ToolInfo, error) { return Tool(t.Tool), nil }

// InvokableRun implements [tool.InvokableTool].
func (t invokable) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	text, err := t.Run(ctx, json.RawMessage(arguments))
	if err != nil {
		return "", fmt.Errorf("eino: %w", err)
	}
	return text, nil
}
