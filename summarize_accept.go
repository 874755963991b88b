package winnow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/lazyregexp"
	"github.com/winnowgo/winnow/internal/runes"
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

// badAnswer is the error of an answer that is no summary. It wraps ErrIncomplete.
type badAnswer struct {
	reason string
	// A model that made the history longer does so again; one more attempt is enough.
	onlyOnce bool
}

// leastInput is the input below which a summary may be longer than what it stands for: the headings alone
// take as much. Whether the request gets smaller is looked at when all of it is there.
const leastInput = 400

func (e *badAnswer) Error() string { return "the answer was refused: " + e.reason }
func (e *badAnswer) Unwrap() error { return ErrIncomplete }

// acceptSummary returns the summary in a summarizer's answer, or the reason why it is none. input is the
// estimate of what was to be summarized.
func acceptSummary(answer string, e Estimator, input, maxTokens int) (string, error) {
	// No tokenizer makes a token of more than a hundred bytes on average: such an answer need not be read.
	if len(answer)/100 > answerLimit(maxTokens) {
		return "", &badAnswer{reason: "it is longer than MaxTokens allows", onlyOnce: true}
	}
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(answer, "\uFFFD"), "\x00", ""))
	text, err := withoutReasoning(text)
	if err != nil {
		return "", err
	}
	switch {
	case runes.IsBlank(text):
		return "", &badAnswer{reason: "it is empty"}
	case protocolText(text):
		return "", &badAnswer{reason: "it is a tool call"}
	case echoesPrompt(text):
		return "", &badAnswer{reason: "it repeats the prompt"}
	case isRefusal(text):
		return "", &badAnswer{reason: "the model refused"}
	}
	n := textTokens(e, text)
	if n > answerLimit(maxTokens) {
		return "", &badAnswer{reason: fmt.Sprintf("it has about %d tokens and %d are allowed", n, maxTokens), onlyOnce: true}
	}
	if n >= max(input, leastInput) {
		return "", &badAnswer{reason: fmt.Sprintf("it has about %d tokens and its input %d", n, input), onlyOnce: true}
	}
	return text, nil
}

// withoutReasoning removes the reasoning that some servers put before the answer.
func withoutReasoning(s string) (string, error) {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		if rest, ok := strings.CutPrefix(s, "<"+tag+">"); ok {
			_, answer, ok := strings.Cut(rest, "</"+tag+">")
			if !ok {
				return "", &badAnswer{reason: "it ends within the reasoning"}
			}
			return strings.TrimSpace(answer), nil
		}
	}
	return s, nil
}

// A tool call as models write it into their text when they forget that they were given no tools. Only the
// beginning of a line counts, and not within a code block: a summary may be about such text.
var protocolLine = lazyregexp.New(`^\s*(<(antml:)?(function_calls|invoke name=|tool_calls?>|tool_use>|function=)|<\|?(tool|python)_|<｜tool|\[TOOL_CALLS\]|\[TOOL_REQUEST\])`)

var protocolJSON = lazyregexp.New(`^\s*\[?\s*\{\s*"(tool_calls?|function_call|tool_use|name|type|function|id|recipient_name)"\s*:`)

func protocolText(s string) bool {
	inner := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.Trim(s, "`"), "json"), "tool_call"))
	if protocolJSON.Get().MatchString(inner) && strings.ContainsAny(inner[len(inner)-1:], "]}") {
		return true
	}
	return anyLine(s, func(line string) bool { return protocolLine.Get().MatchString(line) })
}

// echoesPrompt says that s holds the frame of the prompt or its instructions.
func echoesPrompt(s string) bool {
	if strings.Contains(s, summarySections[:200]) || strings.Contains(s, summarySystem[:100]) {
		return true
	}
	return anyLine(s, func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "<conversation>" || line == "</conversation>" || strings.HasPrefix(line, `<message from="`)
	})
}

// anyLine says whether a line of s outside code blocks is as f wants it.
func anyLine(s string, f func(line string) bool) bool {
	fenced := false
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced && f(line[:min(len(line), 200)]) {
			return true
		}
	}
	return false
}

// A refusal is short and has no structure. The curly apostrophe is what models write.
var refusal = lazyregexp.New(`(?i)^(i['’]?m sorry|i am sorry|sorry, (but )?i|i can(not|['’]t) |i['’]m (unable|not able)|i am unable|as an ai\b|抱歉|对不起|我无法)`)

func isRefusal(s string) bool {
	return len(s) < 500 && !strings.Contains(s, "\n#") && !strings.HasPrefix(s, "#") && refusal.Get().MatchString(s)
}

// errNoRoom: the window cannot hold the prompt, its answer and anything to summarize.
var errNoRoom = errors.New("the summarizer's window is too small for a request")
