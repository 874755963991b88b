package provider

import (
	"fmt"
	"net/http"
)

// Error is a refusal, in the fields of the API that sends it.
type Error struct {
	Status  int    // of HTTP (400)
	Type    string // ("invalid_request_error")
	Code    string // OpenAI
	Message string
	Body    string // sent instead of the dialect's JSON

	// Rule is the id of the rule that the request broke, as the research notes call it (ANT-PAIR-ORPHAN),
	// or one of the Rule constants. "": the request is not to blame.
	Rule string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %d %s", e.Rule, e.Status, e.Message) }

const (
	RuleWindow = "WINDOW" // above the context window
	RuleBytes  = "BYTES"  // above the limit of the body
)

// RateLimit is a refusal that says to wait.
func RateLimit() *Error {
	return &Error{Status: 429, Type: "rate_limit_error", Code: "rate_limit_exceeded",
		Message: "Number of requests has exceeded your per-minute rate limit. Please try again later."}
}

// Overloaded is Anthropic's 529.
func Overloaded() *Error {
	return &Error{Status: 529, Type: "overloaded_error", Message: "Overloaded"}
}

// Internal is a 500 without a reason.
func Internal() *Error {
	return &Error{Status: 500, Type: "api_error", Message: "Internal server error"}
}

// Page is what a proxy in front of a provider says: a page of HTML.
func Page(status int) *Error {
	text := fmt.Sprintf("%d %s", status, http.StatusText(status))
	return &Error{Status: status,
		Body: "<html>\r\n<head><title>" + text + "</title></head>\r\n<body>\r\n<center><h1>" + text +
			"</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"}
}

// broken is a request that breaks a rule.
func broken(rule, format string, args ...any) *Error {
	return &Error{Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// invalid is the type of a refusal that names no other.
const invalid = "invalid_request_error"
