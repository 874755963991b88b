package langchaingo_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	adapter "github.com/winnowgo/winnow/adapters/langchaingo"
)

type read struct{}

func (read) Name() string        { return "read" }
func (read) Description() string { return "Reads a page." }
func (read) Call(_ context.Context, page string) (string, error) {
	var in struct {
		Page int `json:"page"`
	}
	err := json.Unmarshal([]byte(page), &in)
	return adaptertest.Page(in.Page, 40), err
}

// An agent that reads a book of 40 pages. The model has a window of 32 000 tokens.
func Example() {
	url, report, stop := adaptertest.Library(`{"page":%d}`)
	defer stop()
	model, err := openai.New(openai.WithToken("none"), openai.WithBaseURL(url+"/v1"), openai.WithModel("gpt"))
	if err != nil {
		panic(err)
	}
	ctx := framework.WithConversation(context.Background(), "chat 42")
	answer, err := chains.Run(ctx, newExecutor(model, []tools.Tool{read{}}), adaptertest.Question(1, 40))
	if err != nil {
		panic(err)
	}
	fmt.Println(answer)
	fmt.Println(report())
	// Output:
	// Page 40 was the last one of book a.
	// 41 requests, 0 refused, the last one begins with the one before it: true
}

func newExecutor(model llms.Model, list []tools.Tool) *agents.Executor {
	// README
	llm := adapter.Wrap(model, &framework.Options{
		Manager: func(string) (int, *winnow.Options) {
			return 32_000, &winnow.Options{Summarizer: adapter.NewSummarizer(model, 0)}
		},
		Recall: true,
	})
	agent := agents.NewOpenAIFunctionsAgent(llm, append(list, llm.Tools()...))
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(100))
	// END
	return executor
}
