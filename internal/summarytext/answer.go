package summarytext

import (
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// Answer returns the summary in an answer, or the reason why there is none.
func Answer(s string) (summary, reason string) {
	s, ok := withoutReasoning(s)
	switch {
	case !ok:
		return "", "it ends within the reasoning"
	case runes.IsBlank(s):
		return "", "it is empty"
	case isToolCall(s):
		return "", "it is a tool call"
	case echoesPrompt(s):
		return "", "it repeats the prompt"
	case isRefusal(s):
		return "", "the model refused"
	}
	return s, ""
}

// withoutReasoning removes the reasoning that some servers put before the answer. ok is false if the answer is missing.
func withoutReasoning(s string) (answer string, ok bool) {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		if rest, ok := strings.CutPrefix(s, "<"+tag+">"); ok {
			_, answer, ok := strings.Cut(rest, "</"+tag+">")
			if !ok {
				return "", false
			}
			return strings.TrimSpace(answer), true
		}
	}
	return s, true
}

// protocolLine matches a tool call as models write it into their text when they forget that they were given no tools.
// Only the beginning of a line counts, and not within a code block: a summary may be about such text.
var protocolLine = prose.NewPattern(`^\s*(<(antml:)?(function_calls|invoke name=|` +
	`tool_calls?>|tool_use>|function=)|<\|?(tool|python)_|<｜tool|\[TOOL_CALLS\]|\[TOOL_REQUEST\])`)

var protocolJSON = prose.NewPattern(`^\s*\[?\s*\{\s*` +
	`"(tool_calls?|function_call|tool_use|name|type|function|id|recipient_name)"\s*:`)

// isToolCall reports whether s is a tool call, in JSON or in the form of a model.
func isToolCall(s string) bool {
	inner := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.Trim(s, "`"), "json"), "tool_call"))
	if protocolJSON.Get().MatchString(inner) && strings.ContainsAny(inner[len(inner)-1:], "]}") {
		return true
	}
	return anyLine(s, func(line string) bool { return protocolLine.Get().MatchString(line) })
}

// echoesPrompt reports whether s holds the frame of the prompt or its instructions.
func echoesPrompt(s string) bool {
	if strings.Contains(s, Sections[:200]) || strings.Contains(s, System[:100]) {
		return true
	}
	return anyLine(s, func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "<conversation>" || line == "</conversation>" || strings.HasPrefix(line, `<message from="`)
	})
}

// anyLine reports whether f is true for a line of s outside of code blocks.
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

// refusal matches the beginning of an apology. A refusal is short and has no structure.
var refusal = prose.NewPattern(`(?i)^(i['’]?m sorry|i am sorry|sorry, (but )?i|i can(not|['’]t) |i['’]m ` +
	`(unable|not able)|i am unable|as an ai\b|抱歉|对不起|我无法)`)

func isRefusal(s string) bool {
	return len(s) < 500 && !strings.Contains(s, "\n#") && !strings.HasPrefix(s, "#") && refusal.Get().MatchString(s)
}
