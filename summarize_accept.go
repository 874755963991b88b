package winnow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/summarytext"
)

// An answer may be this much longer than MaxTokens: the summarizer's tokenizer and the estimator differ
// by up to a half on code and identifiers. What is longer is refused and not cut. Its end holds the next
// steps and the critical context, and a model that ignores the limit by more than that is repeating itself.
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
	// A model that made the history longer does so again; one more attempt is enough.
	onlyOnce bool
}

// leastInput is the input below which a summary may be longer than what it stands for: the headings alone
// take as much. Whether the request gets smaller is looked at when all of it is there.
const leastInput = 400

// Error does not quote the answer: errors are logged, and its text may be the conversation's.
func (e *badAnswer) Error() string { return "the answer was refused: " + e.reason }
func (e *badAnswer) Unwrap() error { return ErrIncomplete }

// acceptSummary returns the summary in a summarizer's answer, or an error that says why the answer is refused. input is
// the estimate of what was to be summarized.
func acceptSummary(answer string, e Estimator, input, maxTokens int) (string, error) {
	// No tokenizer makes a token of more than a hundred bytes on average: such an answer need not be read.
	if len(answer)/100 > answerLimit(maxTokens) {
		return "", &badAnswer{reason: "it is longer than MaxTokens allows", onlyOnce: true}
	}
	// A text that is not UTF-8, or holds a NUL, is refused by providers and by databases of hosts.
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(answer, "\uFFFD"), "\x00", ""))
	text, reason := summarytext.Answer(text)
	if reason != "" {
		return "", &badAnswer{reason: reason}
	}
	// By the estimate too: one that is too long crowds out what it was to make room for.
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

// errNoRoom: the window cannot hold the prompt, its answer and anything to summarize.
var errNoRoom = errors.New("the summarizer's window is too small for a request")
