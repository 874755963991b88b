package winnow

import (
	"context"
	"slices"
	"time"

	"github.com/winnowgo/winnow/internal/answers"
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
	Instructions string    // additional instructions of the host
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

// SummarizeOptions are the options of [SummarizeInStages].
type SummarizeOptions struct {
	Summarizer Summarizer // nil: Digest()
	Window     int        // the summarizer's own context window, tokens (200 000)

	// room for each answer, tokens (an eighth of Window, at most 16 000); at most a fifth of Window
	MaxTokens    int
	Previous     string    // the summary so far; "" for none
	Instructions string    // added to every request
	Parts        int       // parts that are summarized on their own and then merged (2)
	MinMessages  int       // fewer messages are not split (4)
	Estimator    Estimator // nil: CharsPerToken(4)
}

// Summary is what [SummarizeInStages] made.
type Summary struct {
	Text     string // never blank, unless there was nothing to summarize
	Degraded bool   // some of it was made without an LLM
	Calls    int    // calls to the Summarizer, retries included
	Usage    Usage  // what they were billed for, as far as the Summarizer says so with ReportUsage
}

// with returns a summary of the given text that cost what s and more cost together.
func (s *Summary) with(more *Summary, text string) *Summary {
	return &Summary{
		Text: text, Degraded: s.Degraded || more.Degraded, Calls: s.Calls + more.Calls, Usage: s.Usage.plus(more.Usage),
	}
}

// summarizeConfig is SummarizeOptions with what the manager decides besides.
type summarizeConfig struct {
	SummarizeOptions
	sizes []int // estimated tokens of the messages of the history; nil: not known

	// the summarizer failed before: one attempt decides, until it answers
	oneAttempt bool
	attempts   int           // of one call (3)
	timeout    time.Duration // of one attempt (180 s)

	// as few calls as the window allows, even if more of them have to be paid again after a failure
	fewest bool

	// fail with ErrCompaction where a digest would stand in
	noDigest bool
	cache    *answers.Cache                                   // answers of earlier runs; nil: none
	sleep    func(ctx context.Context, d time.Duration) error // nil: a timer
}

// tokens estimates a text.
func (c *summarizeConfig) tokens(text string) int { return textTokens(c.Estimator, text) }

// summaryRun is one run of summarizeInStages.
type summaryRun struct {
	summarizeConfig
	ctx      context.Context
	calls    int
	meter    usageMeter
	failures int  // batches that failed in a row
	answered bool // the summarizer made some of the text
	degraded bool // the digest made some of the text
}

// batch is what one call summarizes.
type batch struct {
	messages []Message
	tokens   int // estimate of them as rendered
}

// answer is what a summarizer said.
type answer struct {
	text     string
	degraded bool // made without the LLM
}

// ownSummarizer is a summarizer of this package. Its answer says whether it was made without an LLM.
type ownSummarizer interface {
	summarize(context.Context, SummaryRequest) (answer, error)
}

// sizedMessages is a part of a history with the estimate of each message, which need not be made again.
type sizedMessages struct {
	messages []Message
	tokens   []int
}

func (r *sizedMessages) add(m Message, tokens int) {
	r.messages, r.tokens = append(r.messages, m), append(r.tokens, tokens)
}

// grow makes room for n more messages.
func (r *sizedMessages) grow(n int) {
	r.messages, r.tokens = slices.Grow(r.messages, n), slices.Grow(r.tokens, n)
}

// with returns a copy of r with m, of the given tokens, in front of message i.
func (r sizedMessages) with(i int, m Message, tokens int) sizedMessages {
	messages, sizes := slices.Clone(r.messages), slices.Clone(r.tokens)
	return sizedMessages{slices.Insert(messages, i, m), slices.Insert(sizes, i, tokens)}
}

// join returns the messages of r, followed by those of more. If one list is empty, join returns the other, not a copy.
func (r sizedMessages) join(more sizedMessages) sizedMessages {
	switch {
	case len(more.messages) == 0:
		return r
	case len(r.messages) == 0:
		return more
	}
	return sizedMessages{slices.Concat(r.messages, more.messages), slices.Concat(r.tokens, more.tokens)}
}
