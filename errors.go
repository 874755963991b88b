package winnow

import (
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/internal/overflow"
)

// The errors that a caller branches on with [errors.Is].
var (
	// ErrOverflow: the request cannot be made to fit. The error is an [*OverflowError]. A host returns it itself from
	// the call of [Do], or gives it to Recover, where [ResponseOverflow] is true: then a smaller request is sent.
	ErrOverflow = errors.New("winnow: the request does not fit into the context window")

	// ErrNothingToSend: the history holds no message for a request, so [Do] calls no model.
	ErrNothingToSend = errors.New("winnow: there is no message to send")

	// ErrIncomplete: a summarizer's answer was cut off or is not a summary, see [Summarizer].
	ErrIncomplete = errors.New("winnow: the summary is incomplete")

	// ErrCompaction: compaction failed; the history and the manager's state are as they were.
	ErrCompaction = errors.New("winnow: compaction failed")

	// ErrNothingToCompact: nothing is older than what every compaction keeps. No summarizer was asked.
	ErrNothingToCompact = fmt.Errorf("%w: there is nothing before the newest messages to summarize", ErrCompaction)

	// ErrSentAsHistory: in the history, a record or a summary that the manager sent stands as the text of a person. The
	// host kept what was sent in place of its own messages, which are lost to all later requests.
	ErrSentAsHistory = errors.New("winnow: the history contains text from a sent request in place of the host's " +
		"own messages: keep your own history, as docs/frameworks.md says")
)

// OverflowError says what fills the window when a request cannot be made to fit. It is an [ErrOverflow], and wraps the
// provider's error if there was one. Counts without another unit are estimated tokens.
type OverflowError struct {
	Tokens    int   // the smallest request that could be made, Overhead included
	Budget    int   // what it had to fit into: the window minus the reserve
	Overhead  int   // system prompt and tool schemas that are not in the history (Options.Overhead)
	Tools     int   // of Overhead, the tool definitions, as far as ToolOptions.Tokens says
	Pinned    int   // pinned and system messages
	Summary   int   // the summary of older history
	Protected int   // the newest user request and what follows it
	Bytes     int   // about how many bytes the request's body has; 0 if no limit for it is known
	Answer    int   // tokens that the provider counted for the answer (max_tokens), besides Tokens; 0: it did not say
	MaxBytes  int   // bytes that the body may have, by Options.MaxBytes or the provider's refusal; 0: no limit is known
	Err       error // the provider's error; nil if the request was never sent
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

// Is reports whether target is [ErrOverflow].
func (e *OverflowError) Is(target error) bool { return target == ErrOverflow }

// Unwrap returns Err.
func (e *OverflowError) Unwrap() error { return e.Err }

// ErrorClass says what a provider's error is, and so what helps against it.
type ErrorClass string

const (
	ErrorOther      ErrorClass = ""           // none of the others: a smaller request does not help
	ErrorOverflow   ErrorClass = "overflow"   // prompt, or prompt and answer, do not fit into the window: shrink
	ErrorBytes      ErrorClass = "bytes"      // the body is too large in bytes: drop images and large results
	ErrorImages     ErrorClass = "images"     // it holds too many images, or too many large ones: drop the oldest
	ErrorRateLimit  ErrorClass = "rate_limit" // too much in too short a time: wait
	ErrorQuota      ErrorClass = "quota"      // a budget or a credit is used up: waiting a moment does not help
	ErrorAuth       ErrorClass = "auth"       // the key or its permissions
	ErrorOverloaded ErrorClass = "overloaded" // the provider is busy or down: wait
	ErrorTimeout    ErrorClass = "timeout"    // no answer in time
)

// ErrorInfo is what an error says. Tokens and Limit count tokens and are set for [ErrorOverflow]; for [ErrorImages]
// Limit counts images. Tokens includes the room for the answer, if the provider counts that.
type ErrorInfo struct {
	Class  ErrorClass
	Tokens int // what the provider counted, 0 if it did not say
	Limit  int // what it allows, 0 if it did not say
}

// ErrorMatcher is a host's own rule for errors: true replaces [ClassifyError]. It is called concurrently, with any
// error but nil.
type ErrorMatcher func(err error) (ErrorInfo, bool)

// ClassifyError reads any provider's error: an SDK's typed error, a wrapped or joined one, or a plain text, with or
// without JSON in it. An error that no rule knows is [ErrorOther]. A refusal for tokens per minute is an
// [ErrorOverflow] if one request alone exceeds the limit: waiting never helps then. A limit for the answer (max_tokens)
// is [ErrorOther].
func ClassifyError(err error) ErrorInfo {
	return infoOf(overflow.Diagnose(err, isOwn))
}

// isOwn reports whether err is a manager's own refusal: its numbers are estimates, and no smaller request can be made.
func isOwn(err error) bool {
	_, ok := err.(*OverflowError)
	return ok
}

// infoOf returns what a host can use of the diagnosis d. A number of bytes or characters does not measure a context
// window, so it is left out.
func infoOf(d overflow.Diagnosis) ErrorInfo {
	if d.Class == overflow.ClassImages {
		return ErrorInfo{Class: ErrorImages, Limit: d.Limit}
	}
	if d.Class != overflow.ClassOverflow || d.Unit != overflow.UnitTokens {
		return ErrorInfo{Class: ErrorClass(d.Class)}
	}
	return ErrorInfo{Class: ErrorOverflow, Tokens: d.Size, Limit: d.Limit}
}

// diagnose returns what err says. It asks the host's matcher first.
func diagnose(err error, matcher ErrorMatcher) overflow.Diagnosis {
	if err == nil {
		return overflow.Diagnosis{}
	}
	if matcher != nil {
		var info ErrorInfo
		matched := false
		// A matcher that panics counts as one that did not match, because an error path must not crash.
		_ = safely("the matcher", func() error { info, matched = matcher(err); return nil })
		if matched {
			size, limit := max(0, info.Tokens), max(0, info.Limit)
			return overflow.Diagnosis{Class: overflow.Class(info.Class), Size: size, Limit: limit}
		}
	}
	return overflow.Diagnose(err, isOwn)
}

// ResponseOverflow recognizes an overflow by the answer, for providers that do not refuse: by a stop reason, in the
// provider's own word, that names the context window, by a prompt billed above the window, in tokens (0: unknown), and
// by an empty answer that ended because of its length while the window was 99 % full. The call of [Do] returns
// [ErrOverflow] then. A provider that silently drops the front of the prompt (Ollama above num_ctx) is not recognized:
// give New the window of the server.
func ResponseOverflow(stopReason string, u Usage, window int) bool {
	return overflow.InAnswer(stopReason, u.Prompt(), u.Output, window)
}
