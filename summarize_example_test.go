package winnow_test

import (
	"context"
	"errors"
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

// What calls a model returns an error that wraps ErrIncomplete unless the model ended by itself.
func ExampleSummarizerFunc_Summarize() {
	callYourModel := func(ctx context.Context, system, prompt string, maxTokens int) (text, stopReason string, err error) {
		return "## Goal\nCount to a hun", "max_tokens", nil
	}
	summarizer := winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		text, stopReason, err := callYourModel(ctx, req.System(), req.Prompt(), req.MaxTokens)
		if err == nil && stopReason != "end_turn" {
			err = fmt.Errorf("%w: the model stopped with %s", winnow.ErrIncomplete, stopReason)
		}
		return text, err
	})
	_, err := summarizer.Summarize(context.Background(), winnow.SummaryRequest{
		Messages:  []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Count to a hundred."}}}},
		MaxTokens: 8,
	})
	fmt.Println(errors.Is(err, winnow.ErrIncomplete), err)
	// Output: true winnow: the summary is incomplete: the model stopped with max_tokens
}
