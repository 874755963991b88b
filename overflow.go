package winnow

import "strings"

// ErrorClass says what kind of refusal a provider's error is, and so what helps against it.
type ErrorClass string

const (
	ErrorOther      ErrorClass = ""           // none of the others: do not retry with a smaller request
	ErrorOverflow   ErrorClass = "overflow"   // the prompt, or prompt and answer together, do not fit into the window: shrink
	ErrorBytes      ErrorClass = "bytes"      // the request body is too large in bytes: drop images and large results, tokens do not matter
	ErrorRateLimit  ErrorClass = "rate_limit" // too much in too short a time: wait
	ErrorQuota      ErrorClass = "quota"      // a budget or a credit is used up: waiting a moment does not help
	ErrorAuth       ErrorClass = "auth"       // the key or its permissions
	ErrorOverloaded ErrorClass = "overloaded" // the provider is busy or down: wait
	ErrorTimeout    ErrorClass = "timeout"    // no answer in time
)

// ErrorInfo is what an error says. Tokens and Limit are only set for [ErrorOverflow], and only from
// numbers that count tokens: a limit in bytes or characters is no context window, and neither is one of
// a rate. Tokens is the total that the provider compared with the limit (with the room for the answer
// where it counts that); a provider's lower bound ("at least") is left out.
type ErrorInfo struct {
	Class  ErrorClass
	Tokens int // what the provider counted, 0 if it did not say
	Limit  int // what it allows, 0 if it did not say
}

// ErrorMatcher is a user's own rule for errors. Where it returns true, its ErrorInfo is taken and
// [ClassifyError] is not asked. It may be called with any error but nil, from several goroutines.
type ErrorMatcher func(err error) (ErrorInfo, bool)

// ClassifyError reads any provider's error: an SDK's typed error, a wrapped or joined one, or a plain
// text with or without the provider's JSON in it. The status is read from a method StatusCode() int,
// HTTPStatusCode() int or HTTPStatus() int or from a field of such a name; the rest is what Error() says
// and the fields that hold a message, a body or a code. Where none of them says anything, the body of the response
// in the error is looked at, if it is in memory; it stays readable. An error that no rule knows is [ErrorOther].
//
// Go's own errors come first: a cancelled context is ErrorOther and a deadline or a network timeout is
// [ErrorTimeout], whatever the text. A refusal for tokens per minute is an [ErrorOverflow] of that limit
// if the one request is larger than the limit, because waiting can never help then.
//
// An answer cap that is too high is ErrorOther: no shorter history helps. The text is read by rules for
// families of wordings, in time linear in its length; it never panics.
func ClassifyError(err error) ErrorInfo {
	return diagnose(err).info()
}

// diagnosis is all that was read from an error. The recovery ladder needs more of it than ErrorInfo has:
// what is in bytes must be shrunk in bytes, and where the room for the answer is what does not fit, a
// caller can lower that instead.
type diagnosis struct {
	class  ErrorClass
	unit   sizeUnit
	size   int  // what the provider counted, in unit; 0 if it did not say
	limit  int  // what it allows, in unit; 0 if it did not say
	output int  // the tokens of it that are reserved for the answer; 0 if it did not say
	rate   int  // of a rate limit: the tokens per minute; 0 if it did not say
	final  bool // an *OverflowError of this package: all that could be tried was
}

// sizeUnit is what a provider counts.
type sizeUnit uint8

const (
	unitTokens sizeUnit = iota
	unitChars
	unitBytes
)

func (d diagnosis) info() ErrorInfo {
	if d.class != ErrorOverflow || d.unit != unitTokens {
		return ErrorInfo{Class: d.class}
	}
	return ErrorInfo{Class: d.class, Tokens: d.size, Limit: d.limit}
}

// diagnoseWith is diagnose with the user's rules first. A matcher that panics is a matcher that did not
// match: an error path is no place to crash in.
func diagnoseWith(err error, matcher ErrorMatcher) (d diagnosis) {
	if err == nil {
		return diagnosis{}
	}
	if matcher != nil {
		matched := false
		try(func() {
			var info ErrorInfo
			info, matched = matcher(err)
			d = diagnosis{class: info.Class, size: max(0, info.Tokens), limit: max(0, info.Limit)}
		})
		if matched {
			return d
		}
	}
	return diagnose(err)
}

// diagnose reads err in the order that the errors of real providers ask for: what Go itself says, the
// codes that mean one thing, what rules an overflow out, and the families of overflow texts last.
func diagnose(err error) diagnosis {
	if err == nil {
		return diagnosis{}
	}
	f := gather(err)
	switch {
	case f.cancelled:
		return diagnosis{}
	case f.timeout:
		return diagnosis{class: ErrorTimeout}
	}
	r := readings.Get().(*reading)
	defer r.release()
	r.read(&f)
	if f.status == 0 {
		f.status = r.status()
	}
	d := judge(r, f.status)
	if d.final = f.own; f.own && d.class == ErrorOther {
		d.class = ErrorOverflow // our own *OverflowError with no provider's error in it
	}
	return d
}

// judge decides between the classes.
func judge(r *reading, status int) diagnosis {
	v, bySaying := veto(r, status)
	if v == vetoGo {
		return diagnosis{}
	}
	if d, ok := singleRequest(r, v); ok {
		return d
	}
	d := match(r, status)
	if d.class == ErrorOverflow && d.unit == unitTokens && !measure(r, &d) {
		return diagnosis{} // the answer alone does not fit: an output cap
	}
	switch {
	case v == vetoNone:
		return d
	case d.class != ErrorOverflow, v == vetoOther && !(hardCode(r) && !outputCap(r)):
		return v.diagnosis(r)
	case hardCode(r):
		return d // a code that means one thing wins over the status and over the words around it
	case passedOn(r, v, bySaying, d):
		return d
	}
	return v.diagnosis(r)
}

// passedOn says that a gateway's status stands around another server's overflow: the status is what the gateway made
// of the refusal, and to wait would be to wait for ever. Where the words say busy, too, the overflow must come with
// a limit: "service unavailable: too many tokens" is a server's load.
func passedOn(r *reading, v verdict, bySaying bool, d diagnosis) bool {
	switch v {
	case vetoTimeout:
		return !bySaying
	case vetoBusy:
		return !bySaying || d.limit > 0
	case vetoRate:
		return !bySaying && d.limit > 0 && d.size > d.limit && r.names(rContext)
	}
	return false
}

// ResponseOverflow tells an overflow from an answer, for providers that do not refuse. stopReason is the
// provider's own word for why the answer ended, u what it billed, window the model's context window in
// tokens (0: unknown). It reports true for a stop reason that names the context window, for a prompt that
// was billed above the window, and for an answer without a single token that ended by length at a window
// that is full to 99 %.
//
// A provider that drops the front of the prompt in silence and bills what is left (Ollama above num_ctx, OpenAI
// Responses with truncation "auto") cannot be told by its answer alone, which is that of a shorter conversation.
// What was sent tells: u.Prompt() below half of [Request.Tokens] is no estimator's error. Better is to give New
// the window that the server was started with.
func ResponseOverflow(stopReason string, u Usage, window int) bool {
	reason := strings.ToLower(stopReason[:min(len(stopReason), 128)])
	if strings.Contains(reason, "context") && (strings.Contains(reason, "exceed") ||
		strings.Contains(reason, "overflow") || strings.Contains(reason, "length") || strings.Contains(reason, "window")) {
		return true // Anthropic, Bedrock and Z.ai: model_context_window_exceeded
	}
	if window <= 0 {
		return false
	}
	prompt := u.Prompt()
	if prompt > window {
		return true // Z.ai and LM Studio take what does not fit and go on
	}
	byLength := reason == "incomplete" || strings.Contains(reason, "length") ||
		strings.Contains(reason, "max") && strings.Contains(reason, "token")
	return byLength && u.Output <= 0 && prompt >= window-window/100 // Xiaomi MiMo, Ollama
}
