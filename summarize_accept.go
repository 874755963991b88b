package winnow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/summarytext"
)

// An answer may be this much longer than MaxTokens: the summarizer's tokenizer and the estimator differ by up to a half
// on code and identifiers. A longer answer is refused and not cut: its end holds the next steps and the critical
// context, and a model that exceeds the limit by more than that is repeating itself.
const (
	answerSlack  = 1.5
	answerMargin = 64 // tokens, for small limits
)

// answerLimit is the longest answer that is accepted, in tokens.
func answerLimit(maxTokens int) int {
	return int(float64(maxTokens)*answerSlack) + answerMargin
}

// badAnswer is the error of an answer that cannot be used as a summary. It wraps ErrIncomplete.
type badAnswer struct {
	reason string
	// A model that made the history longer will do so again: one more attempt is enough.
	onlyOnce bool
}

// leastInput is the size, in tokens, below which a summary may be longer than its input: the headings alone take as
// much. Whether the request gets smaller is checked when it is complete.
const leastInput = 400

// Error does not quote the answer: errors are logged, and its text may be the conversation's.
func (e *badAnswer) Error() string { return "the answer was refused: " + e.reason }
func (e *badAnswer) Unwrap() error { return ErrIncomplete }

// acceptSummary returns the summary in a summarizer's answer, or an error that says why the answer is refused. input is
// the estimate of what was to be summarized.
func acceptSummary(answer string, e Estimator, input, maxTokens int) (string, error) {
	// No tokenizer makes tokens of more than a hundred bytes on average, so an answer of this length need not be read.
	if len(answer)/100 > answerLimit(maxTokens) {
		return "", &badAnswer{reason: "it is longer than MaxTokens allows", onlyOnce: true}
	}
	// Providers and databases of hosts refuse a text that is not UTF-8 or that holds a NUL.
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(answer, "\uFFFD"), "\x00", ""))
	text, reason := summarytext.Answer(text)
	if reason != "" {
		return "", &badAnswer{reason: reason}
	}
	// The estimate counts too: a summary that is too long crowds out what it was to make room for.
	n := textTokens(e, text)
	if n > answerLimit(maxTokens) {
		return "", &badAnswer{reason: fmt.Sprintf("it has about %d tokens and %d are allowed", n, maxTokens),
			onlyOnce: true}
	}
	if n >= max(input, leastInput) {
		return "", &badAnswer{reason: fmt.Sprintf("it has about %d tokens and its input %d", n, input), onlyOnce: true}
	}
	return text, nil
}

// errNoRoom says that the window cannot hold the prompt, its answer and anything to summarize.
var errNoRoom = errors.New("the summarizer's window is too small for a request")
