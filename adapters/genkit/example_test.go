package genkit_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	adapter "github.com/winnowgo/winnow/adapters/genkit"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// An agent that reads a book of 40 pages, in two processes. The model has a window of 32 000 tokens.
func Example() {
	url, report, stop := adaptertest.Library(`{"page":%d}`)
	defer stop()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := framework.WithConversation(context.Background(), "chat 42")
	history, err := process(ctx, url, dir, nil, adaptertest.Question(1, 30), 30)
	if err != nil {
		panic(err)
	}
	history, err = process(ctx, url, dir, history, adaptertest.Question(31, 40), 40)
	if err != nil {
		panic(err)
	}
	fmt.Println(history[len(history)-1].Text())
	fmt.Println(report())
	fmt.Println("Genkit has", len(history), "messages")
	// Output:
	// Page 40 was the last one of book a.
	// 42 requests, 0 refused, the last one begins with the one before it: true
	// Genkit has 84 messages
}

func process(ctx context.Context, url, dir string, history []*ai.Message, question string, to int) ([]*ai.Message, error) {
	plugin := &compat_oai.OpenAICompatible{Provider: "local", APIKey: "none", BaseURL: url + "/v1"}
	g := genkit.Init(ctx, genkit.WithPlugins(plugin), genkit.WithDefaultModel("local/gpt"))
	genkit.RegisterAction(g, plugin.DefineModel("local", "gpt", ai.ModelOptions{Supports: &compat_oai.Multimodal}))
	read := genkit.DefineTool(g, "read", "Reads a page.", func(_ *ai.ToolContext, in struct {
		Page int `json:"page"`
	}) (string, error) {
		return adaptertest.Page(in.Page, to), nil
	})
	answer, err := generate(ctx, g, dir, append(history, ai.NewUserTextMessage(question)), []ai.ToolRef{read})
	if err != nil {
		return nil, err
	}
	if answer.Request == nil {
		return nil, errors.New("the answer does not say what it answers")
	}
	return answer.History(), nil
}

func generate(ctx context.Context, g *genkit.Genkit, dir string, history []*ai.Message, tools []ai.ToolRef) (*ai.ModelResponse, error) {
	// README
	w := adapter.Wrap(&framework.Options{
		Manager: func(string) (int, *winnow.Options) {
			return 32_000, &winnow.Options{Summarizer: adapter.NewSummarizer(g)}
		},
		Store:  framework.Directory(dir),
		Recall: true,
	})
	answer, err := genkit.Generate(ctx, g, ai.WithMessages(history...), ai.WithMaxTurns(100),
		ai.WithMiddleware(w.Middleware), ai.WithTools(append(tools, w.Tools()...)...))
	// END
	return answer, err
}
