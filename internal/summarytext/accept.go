package summarytext

import (
	"fmt"
	"strings"
)

// An answer may be this much longer than it was asked for: the summarizer's tokenizer and the estimator differ by up to
// a half on code and identifiers. A longer answer is refused and not cut: its end holds the next steps and the critical
// context, and a model that exceeds the limit by more than that is repeating itself.
const (
	answerSlack  = 1.5
	answerMargin = 64 // tokens, for small limits
)

// Longest returns how many tokens an answer may have that was asked for in at most `asked`.
func Longest(asked int) int { return int(float64(asked)*answerSlack) + answerMargin }

// leastInput is the size, in tokens, below which a summary may be longer than its input: the headings alone take as
// much. Whether the request gets smaller is checked when it is complete.
const leastInput = 400

// Accept returns the summary in a summarizer's answer, or why the answer is refused. asked is how many tokens were
// asked for, and input is how many had to be summarized.
func Accept(answer string, tokens func(string) int, asked, input int) (summary, refused string) {
	// No tokenizer makes tokens of more than a hundred bytes on average, so an answer of this length need not be read.
	if len(answer)/100 > Longest(asked) {
		return "", "it is longer than MaxTokens allows"
	}
	// Providers and databases of hosts refuse a text that is not UTF-8 or that holds a NUL.
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(answer, "\uFFFD"), "\x00", ""))
	if text, refused = Answer(text); refused != "" {
		return "", refused
	}
	// The estimate counts too: a summary that is too long crowds out what it was to make room for.
	switch n := tokens(text); {
	case n > Longest(asked):
		return "", fmt.Sprintf("it has about %d tokens and %d are allowed", n, asked)
	case n >= max(input, leastInput):
		return "", fmt.Sprintf("it has about %d tokens and its input %d", n, input)
	}
	return text, ""
}
