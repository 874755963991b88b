package winnow

import (
	"errors"
	"fmt"
)

// The errors that a caller branches on with [errors.Is].
var (
	// ErrOverflow: the request cannot be made to fit. The error is an [*OverflowError].
	ErrOverflow = errors.New("winnow: the request does not fit into the context window")

	// ErrIncomplete: a summarizer's answer was cut off or is not a summary. A [Summarizer] wraps it unless the model
	// ended its answer by itself.
	ErrIncomplete = errors.New("winnow: the summary is incomplete")

	// ErrCompaction: compaction failed; the history and the manager's state are as they were.
	ErrCompaction = errors.New("winnow: compaction failed")

	// ErrNothingToCompact: besides the last summary there is only what every compaction keeps, such as the newest step
	// and the newest request. It is not a failure: no summarizer was asked. It wraps [ErrCompaction].
	ErrNothingToCompact = fmt.Errorf("%w: there is nothing before the newest messages to summarize", ErrCompaction)
)

// OverflowError says what fills the window when a request cannot be made to fit. It wraps [ErrOverflow]
// and, in Err, the provider's error if there was one. Counts without another unit are estimated tokens.
type OverflowError struct {
	Tokens    int // the smallest request that could be made, Overhead included
	Budget    int // what it had to fit into: the window minus the reserve
	Overhead  int // system prompt and tool schemas that are not in the history (Options.Overhead)
	Tools     int // of Overhead, the tool definitions, as far as ToolOptions.Tokens says
	Pinned    int // pinned and system messages
	Summary   int // the summary of older history
	Protected int // the newest user request and what follows it
	Bytes     int // about how many bytes the request's body has; 0 if no limit for it is known

	// tokens that the provider counted for the answer (max_tokens), besides Tokens; 0 if it did not say
	Answer   int
	MaxBytes int   // bytes that the body may have, by Options.MaxBytes or the provider's refusal; 0: no limit is known
	Err      error // the provider's error; nil if the request was never sent
}

// Error names what fills the window and what a user can do about it.
func (e *OverflowError) Error() string {
	s := fmt.Sprintf("winnow: the request needs about %d tokens and %d are free", e.Tokens, e.Budget)
	if e.Tokens <= e.Budget {
		s = fmt.Sprintf("winnow: the smallest request that can be made, of about %d tokens, is refused", e.Tokens)
	}
	s += fmt.Sprintf(": system prompt and tools %d", e.Overhead)
	if e.Tools > 0 {
		s += fmt.Sprintf(" (tools alone %d)", e.Tools)
	}
	s += fmt.Sprintf(", pinned and system messages %d, summary %d, newest request and its results %d", e.Pinned,
		e.Summary, e.Protected)
	if e.Answer > 0 {
		s += fmt.Sprintf(", besides %d reserved for the answer, which the call may lower", e.Answer)
	}
	s += "; start a new conversation, send less, or use a model with a larger context window"
	if e.MaxBytes > 0 && e.Bytes > e.MaxBytes {
		s = fmt.Sprintf("winnow: the request body has about %d bytes and may have %d; start a new conversation, or "+
			"send fewer and smaller images", e.Bytes, e.MaxBytes)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns [ErrOverflow] and Err.
func (e *OverflowError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrOverflow}
	}
	return []error{ErrOverflow, e.Err}
}
