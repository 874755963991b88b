package eino

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// diner is Eino's example of a react agent with a memory: a system prompt that the modifier writes for each request, a
// streamed turn, and a history of the messages that the agent's future has. The wrapper stands around its model.
type diner struct {
	agent   *react.Agent
	ctx     context.Context
	history []*schema.Message
}

func newDiner(ctx context.Context, url string, o *framework.Options, history any) adaptertest.Process {
	type page struct {
		Page int `json:"page"`
	}
	dishes, err := utils.InferTool("read", "Reads a page of the menu.", func(_ context.Context, p page) (string, error) {
		return adaptertest.Page(p.Page, (p.Page+2)/3*3), nil
	})
	if err != nil {
		panic(err) // of a tool that is none
	}
	var chat model.ToolCallingChatModel = chatAt(url, http.DefaultClient)
	if o != nil {
		chat = Wrap(chat, o)
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: chat, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{dishes}},
		StreamToolCallChecker: hasCalls,
		MessageModifier: func(_ context.Context, in []*schema.Message) []*schema.Message {
			return append([]*schema.Message{schema.SystemMessage("You know all restaurants.")}, in...)
		},
	})
	if err != nil {
		panic(err)
	}
	d := &diner{agent: agent, ctx: ctx}
	d.history, _ = history.([]*schema.Message)
	return adaptertest.Process{Ask: d.ask, History: func() any { return d.history }}
}

func (d *diner) ask(question string) error {
	input := append(slices.Clip(d.history), schema.UserMessage(question))
	option, future := react.WithMessageFuture()
	failed := make(chan error, 1)
	go func() {
		stream, err := d.agent.Stream(d.ctx, input, option)
		if err == nil {
			stream.Close()
		}
		failed <- err
	}()
	messages := future.GetMessageStreams()
	for {
		stream, ok, err := messages.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		m, err := schema.ConcatMessageStream(stream)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		m.ResponseMeta, m.Extra = nil, nil // usage, and the id of the request
		input = append(input, m)
	}
	d.history = input
	return <-failed
}

func TestMemoryExample(t *testing.T) {
	adaptertest.CheckExample(t, adaptertest.Example{Start: newDiner, Turns: 15,
		Model: adaptertest.Reader(`{"page":%d}`)})
}
