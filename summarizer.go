package winnow

import (
	"context"
	"slices"
)

// Summarizer writes a summary of req with an LLM. Implementations are safe for concurrent use, honour ctx, and return
// an error that wraps [ErrIncomplete] unless the model ended its answer by itself.
type Summarizer interface {
	Summarize(ctx context.Context, req SummaryRequest) (string, error)
}

// SummarizerFunc is a function that is a [Summarizer].
type SummarizerFunc func(ctx context.Context, req SummaryRequest) (string, error)

// Summarize calls f.
func (f SummarizerFunc) Summarize(ctx context.Context, req SummaryRequest) (string, error) {
	return f(ctx, req)
}

// SummaryRequest is one call of a [Summarizer]. Messages hold no Details, no image bytes and no Source.
type SummaryRequest struct {
	Messages     []Message // what is to be summarized, oldest first
	Previous     string    // the summary so far, to be updated; "" for none
	Instructions string    // what the host wants besides
	MaxTokens    int       // room for the answer, in tokens
}

// copyMessages returns messages that a summarizer may write to.
func copyMessages(messages []Message) []Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		for k := range out[i].Parts {
			out[i].Parts[k].Arguments = slices.Clone(out[i].Parts[k].Arguments)
		}
	}
	return out
}
