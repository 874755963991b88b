package langchaingo

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// newTalker is LangChainGo's example of a conversational agent with a tool and a memory, which writes all into one
// prompt. The memory is Winnow's.
func newTalker(ctx context.Context, url string, o *framework.Options, history any) adaptertest.Process {
	chat := memory.NewChatMessageHistory()
	if list, ok := history.([]llms.ChatMessage); ok {
		chat = memory.NewChatMessageHistory(memory.WithPreviousMessages(list))
	}
	var of schema.Memory = memory.NewConversationBuffer(memory.WithChatHistory(chat))
	if o != nil {
		of = NewMemory(o, memory.WithChatHistory(chat))
	}
	executor := agents.NewExecutor(agents.NewConversationalAgent(modelAt(url, http.DefaultClient), []tools.Tool{tools.Calculator{}}),
		agents.WithMemory(of))
	return adaptertest.Process{
		Ask: func(question string) error { _, err := chains.Run(ctx, executor, question); return err },
		History: func() any {
			list, err := chat.Messages(ctx)
			if err != nil {
				panic(err) // of a list in memory
			}
			return list
		},
	}
}

// talks is a model that computes something in each turn, and then says much.
func talks(r *provider.Request) provider.Answer {
	_, behind, _ := strings.Cut(r.Last().Text[strings.LastIndex(r.Last().Text, endOfHistory):], "Observation: ")
	if behind == "" {
		return provider.Answer{Text: "Thought: Do I need to use a tool? Yes\nAction: calculator\nAction Input: 2 + 3"}
	}
	return provider.Answer{Text: "Thought: Do I need to use a tool? No\nAI: " + adaptertest.LongAnswer}
}

// endOfHistory stands behind the history in the agent's prompt.
const endOfHistory = "New input:"

func TestMemoryExample(t *testing.T) {
	adaptertest.CheckExample(t, adaptertest.Example{Start: newTalker, Turns: 60, Model: talks})
}
