// Command agent is an agent with tools whose conversation does not fit into the window of its model. It shows each
// request. The model is a script that knows only its request, so it needs no key and no network. Agents with real
// models are in examples/sdk.
//
//	go run ./examples/agent
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

func main() {
	// The first two questions read more than 7 000 tokens.
	window := flag.Int("window", 7_000, "context window of the model, in tokens")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	a, err := newAgent(*window, &screen{out: os.Stdout, window: *window})
	if err == nil {
		err = a.play(ctx, *window)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func newAgent(window int, s *screen) (*agent, error) {
	p := &player{}
	a := &agent{screen: s, files: project(),
		model: &winnowtest.Model{Script: p.answer, Window: window, Provider: "openai"}}
	var err error
	a.manager, err = winnow.New(window, &winnow.Options{
		Summarizer: winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
			s.print("       summarizing %d messages\n", len(r.Messages))
			return summaryOf(r.Prompt()), nil
		}),
		Recall:  true, // the model gets back what was left out
		Tools:   &winnow.ToolOptions{Notes: true},
		Reserve: window / 4, // room for each answer
		// An agent with a real model sets Overhead too: the tokens of its system prompt and tools.
	})
	return a, err
}

// play asks the questions of the script. During the conversation the model's window becomes smaller, as when a gateway
// switches to another model.
func (a *agent) play(ctx context.Context, window int) error {
	for i := range scenes {
		if i == sceneOfSwitch {
			a.model.Window = window / 2
			a.screen.print("\n[The provider now switches to a model with a window of %s tokens, and tells nobody.]\n",
				number(window/2))
		}
		if err := a.turn(ctx, scenes[i].user); err != nil {
			return err
		}
	}
	return a.model.Check(a.history) // each request was valid, and nothing went before the model had seen it
}
