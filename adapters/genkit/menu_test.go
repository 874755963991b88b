package genkit

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/firebase/genkit/go/ai"
	gk "github.com/firebase/genkit/go/genkit"

	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// waiter is the chat of Genkit's sample of a menu: the history begins with a preamble of both sides, and gets each
// question and answer. Its flow gets a middleware.
func newWaiter(ctx context.Context, url string, o *framework.Options, history any) adaptertest.Process {
	g := genkitAt(ctx, url, http.DefaultClient)
	stored, _ := history.([]*ai.Message)
	if stored == nil {
		stored = []*ai.Message{ai.NewUserTextMessage("Hi. What is on the menu today?"),
			ai.NewModelTextMessage("I help with all that is on the menu, and here it is. Do you have any questions about it?")}
	}
	var options []ai.GenerateOption
	if o != nil {
		options = append(options, ai.WithMiddleware(Wrap(o).Middleware))
	}
	chat := gk.DefineFlow(g, "multiTurnChat", func(ctx context.Context, question string) (string, error) {
		messages := append(slices.Clip(stored), &ai.Message{Content: []*ai.Part{ai.NewTextPart(question)}, Role: ai.RoleUser})
		answer, err := gk.Generate(ctx, g, append(options, ai.WithMessages(messages...))...)
		if err != nil {
			return "", err
		}
		stored = append(messages, answer.Message)
		return answer.Text(), nil
	})
	return adaptertest.Process{
		Ask:     func(question string) error { _, err := chat.Run(ctx, question); return err },
		History: func() any { return stored },
	}
}

func TestMenuSample(t *testing.T) {
	adaptertest.CheckExample(t, adaptertest.Example{Start: newWaiter, Turns: 60, Model: func(*provider.Request) provider.Answer {
		return provider.Answer{Text: adaptertest.LongAnswer}
	}})
}
