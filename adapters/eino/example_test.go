package eino_test

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/eino"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// An agent that reads a book of 40 pages. It stops on page 31, because it has to ask a person, and another process goes
// on. The model has a window of 32 000 tokens.
func Example() {
	url, report, stop := adaptertest.Library(`{"page":%d}`)
	defer stop()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := framework.WithConversation(context.Background(), "chat 42")
	_, err = process(ctx, url, dir, []*schema.Message{schema.UserMessage(adaptertest.Question(1, 40))})
	stopped, _ := compose.ExtractInterruptInfo(err)
	fmt.Println(stopped.InterruptContexts[0].Info)
	answer, err := process(compose.Resume(ctx, stopped.InterruptContexts[0].ID), url, dir, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Content)
	fmt.Println(report())
	// Output:
	// May it read page 31?
	// Page 40 was the last one of book a.
	// 41 requests, 0 refused, the last one begins with the one before it: true
}

func process(ctx context.Context, url, dir string, messages []*schema.Message) (*schema.Message, error) {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: "none", BaseURL: url + "/v1", Model: "gpt", HTTPClient: http.DefaultClient})
	if err != nil {
		return nil, err
	}
	read, err := utils.InferTool("read", "Reads a page.", func(ctx context.Context, in struct {
		Page int `json:"page"`
	}) (string, error) {
		if isResumed, _, _ := compose.GetInterruptState[any](ctx); in.Page == 31 && !isResumed {
			return "", compose.Interrupt(ctx, "May it read page 31?")
		}
		return adaptertest.Page(in.Page, 40), nil
	})
	if err != nil {
		return nil, err
	}
	agent, err := newAgent(ctx, model, dir, []tool.BaseTool{read})
	if err != nil {
		return nil, err
	}
	// Eino's checkpoints are those of a graph.
	graph := compose.NewGraph[[]*schema.Message, *schema.Message]()
	node, options := agent.ExportGraph()
	if err := graph.AddGraphNode("agent", node, options...); err != nil {
		return nil, err
	}
	if err := graph.AddEdge(compose.START, "agent"); err != nil {
		return nil, err
	}
	if err := graph.AddEdge("agent", compose.END); err != nil {
		return nil, err
	}
	runnable, err := graph.Compile(ctx, compose.WithCheckPointStore(framework.Directory(dir)))
	if err != nil {
		return nil, err
	}
	return runnable.Invoke(ctx, messages, compose.WithCheckPointID("chat 42"))
}

func newAgent(ctx context.Context, model model.ToolCallingChatModel, dir string, tools []tool.BaseTool) (*react.Agent, error) {
	// README
	chat := adapter.Wrap(model, &framework.Options{
		Manager: func(string) (int, *winnow.Options) {
			return 32_000, &winnow.Options{Summarizer: adapter.NewSummarizer(model, 0)}
		},
		Store:  framework.Directory(dir),
		Recall: true,
	})
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: chat, ToolsConfig: compose.ToolsNodeConfig{Tools: append(tools, chat.Tools()...)}, MaxStep: 100,
	})
	// END
	return agent, err
}
