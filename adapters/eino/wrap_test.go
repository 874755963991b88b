package eino

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

type page struct {
	Page int `json:"page"`
}

func readTool(read func(page string) string) tool.BaseTool {
	t, err := utils.InferTool("read", "Reads a page.", func(_ context.Context, p page) (string, error) { return read(fmt.Sprint(p.Page)), nil })
	if err != nil {
		panic(err)
	}
	return t
}

// recorder notes what is sent.
type recorder struct {
	model.ToolCallingChatModel
	sent *[]*schema.Message
}

func (r recorder) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	chat, err := r.ToolCallingChatModel.WithTools(tools)
	return recorder{chat, r.sent}, err
}

func (r recorder) Generate(ctx context.Context, in []*schema.Message, o ...model.Option) (*schema.Message, error) {
	*r.sent = in
	return r.ToolCallingChatModel.Generate(ctx, in, o...)
}

// leaky makes the mistake: it writes what was sent into the list of the framework.
type leaky recorder

func (l leaky) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	chat, err := l.ToolCallingChatModel.WithTools(tools)
	return leaky{chat, l.sent}, err
}

func (l leaky) Generate(ctx context.Context, in []*schema.Message, o ...model.Option) (*schema.Message, error) {
	answer, err := l.ToolCallingChatModel.Generate(ctx, in, o...)
	copy(in, *l.sent)
	return answer, err
}

// runReact runs Eino's react agent.
func runReact(ctx context.Context, r adaptertest.Run) (any, error) {
	chat, tools := chatAt(r.URL, r.Client), []tool.BaseTool{readTool(r.Read)}
	var sent []*schema.Message
	if r.Options != nil {
		wrapped := Wrap(recorder{chat, &sent}, r.Options)
		tools = append(tools, wrapped.Tools()...)
		if chat = wrapped; r.Mistake {
			chat = leaky{wrapped, &sent}
		}
	}
	var history []*schema.Message
	config := &react.AgentConfig{
		ToolCallingModel: chat, ToolsConfig: compose.ToolsNodeConfig{Tools: tools}, MaxStep: 2*r.Steps + 10,
		StreamToolCallChecker: hasCalls,
	}
	if !r.Mistake {
		config.MessageModifier = func(_ context.Context, in []*schema.Message) []*schema.Message {
			history = in
			return in
		}
	}
	a, err := react.NewAgent(ctx, config)
	if err != nil {
		return nil, err
	}
	before, _ := r.History.([]*schema.Message)
	input := append(slices.Clip(before), schema.UserMessage(r.Question))
	var answer *schema.Message
	if r.Stream {
		var stream *schema.StreamReader[*schema.Message]
		if stream, err = a.Stream(ctx, input); err == nil {
			answer, err = schema.ConcatMessageStream(stream)
		}
	} else {
		answer, err = a.Generate(ctx, input)
	}
	if err != nil {
		return nil, err
	}
	var out []*schema.Message
	for _, m := range append(slices.Clone(history), answer) {
		copied := *m
		copied.ResponseMeta, copied.Extra = nil, nil // usage, and the id of the request
		out = append(out, &copied)
	}
	return out, nil
}

// hasCalls reads a whole answer, because the model says something before it calls.
func hasCalls(_ context.Context, stream *schema.StreamReader[*schema.Message]) (bool, error) {
	defer stream.Close()
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil || len(m.ToolCalls) > 0 {
			return err == nil, err
		}
	}
}

func TestReact(t *testing.T) {
	adaptertest.CheckFramework(t, adaptertest.FrameworkAgent{Run: runReact, Arguments: `{"page":%d}`})
}

// TestTransport: the same agent without a wrapper.
func TestTransport(t *testing.T) {
	adaptertest.CheckUnderTransport(t, adaptertest.FrameworkAgent{Run: runReact, Arguments: `{"page":%d}`})
}

// An agent that stopped to ask a person goes on in another process, from Eino's checkpoint, with what was sent before.
func TestCheckpoint(t *testing.T) {
	p := provider.New(provider.Options{Window: 32_000, Model: func(r *provider.Request) provider.Answer {
		n := len(r.Last().Results) // a question has none
		for _, result := range r.Last().Results {
			_, err := fmt.Sscanf(result.Text, "page %d", &n)
			assert.NoError(t, err)
		}
		if n == 30 {
			return provider.Answer{Text: "Done."}
		}
		return provider.Answer{Calls: []provider.ToolCall{{ID: fmt.Sprint("call_", n+1), Name: "read", Arguments: fmt.Appendf(nil, `{"page":%d}`, n+1)}}}
	}})
	server := httptest.NewServer(p)
	defer server.Close()
	store := framework.Directory(t.TempDir()) // for Eino's checkpoints too
	process := func(ctx context.Context, input []*schema.Message, o ...compose.Option) (*schema.Message, error) {
		read, err := utils.InferTool("read", "Reads a page.", func(ctx context.Context, p page) (string, error) {
			if isResumed, _, _ := compose.GetInterruptState[any](ctx); p.Page == 25 && !isResumed {
				return "", compose.Interrupt(ctx, "may it read page 25?")
			}
			return fmt.Sprintf("page %d\n", p.Page) + strings.Repeat("All is well on it.\n", 300), nil
		})
		require.NoError(t, err)
		chat := Wrap(chatAt(server.URL, http.DefaultClient), &framework.Options{Store: store, Manager: func(string) (int, *winnow.Options) {
			return 32_000, &winnow.Options{NoMinify: true}
		}})
		a, err := react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: chat, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}, MaxStep: 100})
		require.NoError(t, err)
		of, options := a.ExportGraph()
		g := compose.NewGraph[[]*schema.Message, *schema.Message]()
		require.NoError(t, g.AddGraphNode("agent", of, options...))
		require.NoError(t, g.AddEdge(compose.START, "agent"))
		require.NoError(t, g.AddEdge("agent", compose.END))
		whole, err := g.Compile(ctx, compose.WithCheckPointStore(store))
		require.NoError(t, err)
		return whole.Invoke(ctx, input, append(o, compose.WithCheckPointID("42"))...)
	}
	ctx := framework.WithConversation(t.Context(), "42")
	_, err := process(ctx, []*schema.Message{schema.UserMessage("Read all 30 pages.")})
	stopped, ok := compose.ExtractInterruptInfo(err)
	require.True(t, ok, "%v", err)
	before := p.Exchanges()
	ctx = compose.Resume(ctx, stopped.InterruptContexts[0].ID)
	answer, err := process(ctx, nil)
	require.NoError(t, err)
	assert.Equal(t, "Done.", answer.Content)
	x := p.Exchanges()
	require.Len(t, x, 31)
	for i := range x {
		require.Nil(t, x[i].Error)
	}
	adaptertest.SamePrefix(t, before[len(before)-1], x[len(before)])
}

// An agent that is called as a tool has the context of its caller, and a conversation of its own.
func TestSubAgents(t *testing.T) {
	p := provider.New(provider.Options{Window: 32_000, Model: func(r *provider.Request) provider.Answer {
		n := 0
		for _, m := range r.Messages {
			n += len(m.Results)
		}
		isSub := strings.Contains(r.System, "reader")
		switch last := r.Last(); {
		case isSub && len(last.Results) == 0: // new work
			return provider.Answer{Calls: []provider.ToolCall{{ID: fmt.Sprint("call_read_", len(r.Messages)), Name: "read", Arguments: []byte(`{"page":1}`)}}}
		case isSub:
			return provider.Answer{Text: "It is the summary of a page."}
		case r.Tokens < 3_000 && !strings.Contains(r.Last().Text, "[Record") && n < 40:
			return provider.Answer{Calls: []provider.ToolCall{{ID: fmt.Sprint("call_", n), Name: "reader", Arguments: fmt.Appendf(nil, `{"request":"part %d %s"}`, n, strings.Repeat("please ", 40))}}}
		}
		return provider.Answer{Text: "Done."}
	}})
	server := httptest.NewServer(p)
	defer server.Close()
	ctx := framework.WithConversation(t.Context(), "c")
	chats := 0
	chat := Wrap(chatAt(server.URL, http.DefaultClient), &framework.Options{Manager: func(string) (int, *winnow.Options) {
		chats++
		return 32_000, nil
	}})
	sub, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: "reader", Description: "Reads.", Instruction: "You are a reader.", Model: chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{readTool(func(string) string { return strings.Repeat("All is well.\n", 100) })}}}})
	require.NoError(t, err)
	main, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: "main", Description: "Works.", Instruction: "You lead.", Model: chat, MaxIterations: 100,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{adk.NewAgentTool(ctx, sub)}}}})
	require.NoError(t, err)
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: main}).Run(ctx, []adk.Message{schema.UserMessage("Read all.")})
	last := ""
	for {
		e, ok := events.Next()
		if !ok {
			break
		}
		require.NoError(t, e.Err)
		if m, err := e.Output.MessageOutput.GetMessage(); err == nil {
			last = m.Content
		}
	}
	assert.Equal(t, "Done.", last)
	calls := 0
	for i, x := range p.Exchanges() {
		require.Nil(t, x.Error, "request %d", i)
		if strings.Contains(x.Request.System, "You lead") {
			calls++
		} else {
			assert.LessOrEqual(t, len(x.Request.Messages), 3, "of nobody else's conversation")
		}
	}
	assert.Greater(t, calls, 10)
	assert.Equal(t, calls, chats, "one manager for the agent, and one for each of its calls of the other")
}
