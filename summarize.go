package winnow

import (
	"context"
)

// Summarizer writes a summary of req with an LLM. Implementations are safe for concurrent use, honour
// ctx, and return an error that wraps [ErrIncomplete] unless the model ended by itself.
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

// SummarizeOptions are the options of [SummarizeInStages].
type SummarizeOptions struct {
	Summarizer   Summarizer // nil: Digest()
	Window       int        // the summarizer's own context window, tokens (200 000)
	MaxTokens    int        // room for each answer, tokens (a share of Window)
	Previous     string     // the summary so far; "" for none
	Instructions string     // added to every request
	Parts        int        // parts that are summarized on their own and then merged (2)
	MinMessages  int        // fewer messages are not split (4)
	Estimator    Estimator  // nil: CharsPerToken(4)
}

// Summary is what [SummarizeInStages] made.
type Summary struct {
	Text     string
	Degraded bool // some of it was made without the LLM
	Calls    int  // calls to the Summarizer, retries included
}
