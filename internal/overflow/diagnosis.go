package overflow

import (
	"slices"
	"strings"
)

// Class says what kind of refusal an error is. The values are those of winnow.ErrorClass, which says more of them.
type Class string

// What a provider's error can be.
const (
	ClassOther      Class = ""
	ClassOverflow   Class = "overflow"
	ClassBytes      Class = "bytes"
	ClassImages     Class = "images"
	ClassRateLimit  Class = "rate_limit"
	ClassQuota      Class = "quota"
	ClassAuth       Class = "auth"
	ClassOverloaded Class = "overloaded"
	ClassTimeout    Class = "timeout"
)

// Unit is what a provider counts.
type Unit uint8

// A limit in characters or bytes is not a context window.
const (
	UnitTokens Unit = iota
	UnitChars
	UnitBytes
)

// Diagnosis is all that was read from an error. Recovery needs more of it than the class: what is in bytes must be
// shrunk in bytes, and where the room for the answer is what does not fit, a caller can lower that instead.
type Diagnosis struct {
	Class  Class
	Unit   Unit
	Size   int  // what the provider counted, in Unit; 0 if it did not say
	Limit  int  // what it allows, in Unit, or of images; 0 if it did not say
	Output int  // the tokens of it that are reserved for the answer; 0 if it did not say
	Rate   int  // of a rate limit: the tokens per minute; 0 if it did not say
	Final  bool // the caller's own refusal is in the chain: all that could be tried was
}

// OfRequest returns what d says of a request of the given tokens. A rate limit that this request alone exceeds is a
// limit of its size: waiting never helps. The provider need not say how large the request was.
func (d Diagnosis) OfRequest(tokens int) Diagnosis {
	if d.Class == ClassRateLimit && d.Rate > 0 && tokens > d.Rate {
		return Diagnosis{Class: ClassOverflow, Limit: d.Rate}
	}
	return d
}

// IsRecoverable reports whether the provider may accept a smaller request, unless all that could be tried was.
func (d Diagnosis) IsRecoverable() bool {
	return (d.Class == ClassOverflow || d.Class == ClassBytes || d.Class == ClassImages) && !d.Final
}

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
