package winnow_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

// A memory flush is a turn of its own on a detached view: what is said in it never stands in the history, and a silent
// answer is shown to nobody.
func ExampleCompactOptions_flush() {
	ask := func(messages []winnow.Message) string { // stands for a call of the model, with a tool that writes the memory
		return "NO_REPLY"
	}
	var m *winnow.Manager
	flush := func(_ context.Context, history []winnow.Message) error {
		turn := user("Write down what has to survive. If no user-visible reply is needed, start with NO_REPLY.")
		turn.Injected = true
		view := append(slices.Clip(history), turn) // a list of its own
		answer := ask(m.Plan(view).Messages)       // Plan has no effects
		if text := prompt.StripSilent(answer, prompt.SilentToken{}); text != "" {
			fmt.Println("to the user:", text)
		}
		return nil
	}
	m, err := winnow.New(16_000, &winnow.Options{Summarizer: summarizer, Compact: &winnow.CompactOptions{BeforeCompact: flush}})
	if err != nil {
		fmt.Println(err)
		return
	}
	history := longTalk()
	before := len(history)
	request, err := m.Prepare(context.Background(), history)
	if err != nil {
		fmt.Println(err)
		return
	}
	isFlush := func(m winnow.Message) bool { return m.Injected }
	fmt.Println("compacted:", request.Compaction != nil)
	fmt.Println("the flush is in the request:", slices.ContainsFunc(request.Messages, isFlush), "in the history:", len(history) != before)
	// Output:
	// compacted: true
	// the flush is in the request: false in the history: false
}
