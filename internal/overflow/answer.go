package overflow

import (
	"slices"
	"strings"
)

// InAnswer reports whether an answer shows that the prompt did not fit: by the reason for which it ended, the tokens of
// prompt and of output that were billed, and the window of its model, 0 where that is not known.
func InAnswer(stopReason string, prompt, output, window int) bool {
	reason := strings.ToLower(stopReason[:min(len(stopReason), 128)])
	isContext := func(word string) bool { return strings.Contains(reason, "context") && strings.Contains(reason, word) }
	if slices.ContainsFunc([]string{"exceed", "overflow", "length", "window"}, isContext) {
		return true // Anthropic, Bedrock and Z.ai: model_context_window_exceeded
	}
	if window <= 0 {
		return false // what follows compares with the window
	}
	if prompt > window {
		return true // Z.ai and LM Studio take what does not fit and go on
	}
	byLength := reason == "incomplete" || strings.Contains(reason, "length") ||
		strings.Contains(reason, "max") && strings.Contains(reason, "token")
	return byLength && output <= 0 && prompt >= window-window/100 // Xiaomi MiMo, Ollama
}
