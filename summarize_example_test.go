package winnow_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

func ExampleSummarizeInStages() {
	// A real one sends req.System() and req.Prompt() to a model, and returns an error that wraps
	// winnow.ErrIncomplete unless the model ended by itself.
	summarizer := winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		return fmt.Sprintf("## Goal\nCount to a hundred (%d messages, %d bytes of earlier summary).", len(req.Messages), len(req.Previous)), nil
	})
	var history []winnow.Message
	for range 100 {
		history = append(history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: strings.Repeat("one more ", 100)}}})
	}
	summary, err := winnow.SummarizeInStages(context.Background(), history, &winnow.SummarizeOptions{
		Summarizer: summarizer,
		Window:     64_000,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(summary.Calls, summary.Degraded)
	fmt.Println(summary.Text)
	// Output:
	// 2 false
	// ## Goal
	// Count to a hundred (2 messages, 0 bytes of earlier summary).
}
