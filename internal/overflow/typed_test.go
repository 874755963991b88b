package overflow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// The errors here have the shapes of real SDKs, so that the root module need not import any.

type fieldErr struct { // openai-go, anthropic-sdk-go
	StatusCode int
	Response   *http.Response
}

func (e *fieldErr) Error() string { return "the call failed" }

type goOpenAIErr struct { // go-openai: the code is any, and not in Error()
	Code           any
	Message        string
	HTTPStatusCode int
}

func (e *goOpenAIErr) Error() string { return fmt.Sprintf("error, status code: %d", e.HTTPStatusCode) }

type valueErr struct { // genai.APIError
	Code    int
	Message string
	Status  string
}

func (e valueErr) Error() string { return "Error " + e.Status }

type awsErr struct{ code, text string } // smithy.APIError

func (e *awsErr) Error() string        { return "api error" }
func (e *awsErr) ErrorCode() string    { return e.code }
func (e *awsErr) ErrorMessage() string { return e.text }
func (e *awsErr) HTTPStatusCode() int  { return 400 }

type bodyErr struct{ Body []byte } // genkit and others keep the body aside

func (e *bodyErr) Error() string { return "unexpected response" }

type hidingErr struct{ inner error } // wraps without showing

func (e *hidingErr) Error() string { return "it did not work" }
func (e *hidingErr) Unwrap() error { return e.inner }

type panicErr struct{}

func (*panicErr) Error() string     { panic("Error") }
func (*panicErr) StatusCode() int   { panic("StatusCode") }
func (*panicErr) Unwrap() error     { panic("Unwrap") }
func (*panicErr) Is(error) bool     { panic("Is") }
func (*panicErr) Timeout() bool     { panic("Timeout") }
func (*panicErr) ErrorCode() string { panic("ErrorCode") }
func (*panicErr) HTTPStatus() int   { panic("HTTPStatus") }
func (*panicErr) HTTPStatusCode() int {
	panic("HTTPStatusCode")
}
func (*panicErr) ErrorMessage() string { panic("ErrorMessage") }
func (*panicErr) RawJSON() string      { panic("RawJSON") }

type halfPanicErr struct{ panicErr } // one method says what is wrong

func (*halfPanicErr) RawJSON() string { return tooLong }

type byValueErr struct{ status int } // its methods fail on a nil pointer

func (e byValueErr) Error() string   { return fmt.Sprint("status ", e.status) }
func (e byValueErr) StatusCode() int { return e.status }

type pointerFieldErr struct { // optional fields, as generated clients have them
	StatusCode *int
	Message    *string
}

func (pointerFieldErr) Error() string { return "call failed" }

type unsignedErr struct{ HTTPStatus uint16 }

func (unsignedErr) Error() string { return "call failed" }

type stringStatusErr struct{ text string }

func (e stringStatusErr) Error() string      { return e.text }
func (e stringStatusErr) StatusCode() string { return "429" } // not the method that is looked for

type privateErr struct{ statusCode int } // nobody else can read it by name

func (privateErr) Error() string { return "call failed" }

type loopErr struct{ s []string } // wraps itself, and cannot be compared

func (e loopErr) Error() string   { return "prompt is too long" }
func (e loopErr) Unwrap() []error { return []error{e, e, nil, e} }

type timeoutErr struct{}

func (timeoutErr) Error() string   { return "prompt is too long: 9 tokens > 8 maximum" }
func (timeoutErr) Timeout() bool   { return true }
func (timeoutErr) Temporary() bool { return true }

type embeddedErr struct {
	*fieldErr // nil: the promoted fields panic
	Message   string
}

func (e embeddedErr) Error() string { return "embedded" }

// TestDiagnoseBody has errors whose SDK made nothing of the response's body: servers that speak OpenAI's API have
// forms of their own (SGLang, Mistral, LM Studio).
func TestDiagnoseBody(t *testing.T) {
	const said = `{"object":"error","message":"prompt is too long: 250000 tokens > 200000 maximum","code":400}`
	overflow := told{ClassOverflow, 250000, 200000}
	for _, c := range []struct {
		why  string
		body io.ReadCloser
		want told
	}{
		{"a buffer, as openai-go leaves it", io.NopCloser(bytes.NewBufferString(said)), overflow},
		{"a reader, as anthropic-sdk-go does", io.NopCloser(bytes.NewReader([]byte(said))), overflow},
		{"a text", io.NopCloser(strings.NewReader(said)), overflow},
		{"a long one", io.NopCloser(strings.NewReader(said + strings.Repeat(" ", 1<<20))), overflow},
		{"a connection is not read", &connection{t}, told{}},
		{"a connection behind io.NopCloser", io.NopCloser(&connection{t}), told{}},
		{"none", nil, told{}},
	} {
		err := &fieldErr{Response: &http.Response{StatusCode: 400, Body: c.body}}
		for range 2 { // it can be read as often as one likes
			if got := classify(err); got != c.want {
				t.Errorf("%s: %+v", c.why, got)
			}
		}
		if c.want == overflow {
			if b, err := io.ReadAll(c.body); err != nil || !strings.HasPrefix(string(b), said) {
				t.Errorf("%s: of the body %d bytes are left: %v", c.why, len(b), err)
			}
		}
	}
}

// connection fails the test when it is read.
type connection struct{ t *testing.T }

func (c *connection) Read([]byte) (int, error) {
	c.t.Error("a body that may wait for a network is read")
	return 0, io.EOF
}

func (c *connection) Close() error { return nil }

func TestDiagnoseTyped(t *testing.T) {
	limited, said := 429, "prompt is too long: 250000 tokens > 200000 maximum"
	tooLong := errors.New("prompt is too long: 250000 tokens > 200000 maximum")
	overflow := told{ClassOverflow, 250000, 200000}
	class := func(c Class) told { return told{Class: c} }
	for _, c := range []struct {
		why  string
		err  error
		want told
	}{
		{"nil", nil, class(ClassOther)},
		{"a text", tooLong, overflow},
		{"wrapped", fmt.Errorf("turn 3: %w", tooLong), overflow},
		{"wrapped without a trace in the text", &hidingErr{tooLong}, overflow},
		{"joined with another", errors.Join(errors.New("retry 2"), tooLong), overflow},
		{"two wrapped", fmt.Errorf("%w; %w", errors.New("gave up"), &hidingErr{tooLong}), overflow},
		{"Canceled wins", errors.Join(tooLong, context.Canceled), class(ClassOther)},
		{"DeadlineExceeded wins", fmt.Errorf("%w: %w", tooLong, context.DeadlineExceeded), class(ClassTimeout)},
		{"what the system says is no prompt", &url.Error{Op: "Post", URL: "http://x", Err: &net.OpError{
			Op: "write", Net: "tcp", Err: os.NewSyscallError("writev", errors.New("message too long")),
		}}, class(ClassOther)},
		{"nor what it says of a file", &fs.PathError{Op: "open", Path: "prompt", Err: errors.New("too long")}, class(ClassOther)},
		{"a refusal behind it", errors.Join(&net.OpError{Op: "write", Err: os.NewSyscallError("writev", errors.New("message too long"))}, tooLong), overflow},
		{"a network timeout wins", &net.OpError{Op: "read", Err: timeoutErr{}}, class(ClassTimeout)},
		{"the system's deadline", &hidingErr{os.ErrDeadlineExceeded}, class(ClassTimeout)},
		{"a limit of Go's own server", &http.MaxBytesError{Limit: 5}, class(ClassOther)},
		{"that limit behind a 413", &statusErr{413, "http: request body too large"}, class(ClassBytes)},
		{"StatusCode field", &fieldErr{StatusCode: 429}, class(ClassRateLimit)},
		{"StatusCode field of the response", &fieldErr{Response: &http.Response{StatusCode: 401}}, class(ClassAuth)},
		{"StatusCode method", &statusErr{529, "no"}, class(ClassOverloaded)},
		{"payment", &statusErr{402, "Prompt tokens limit exceeded: 77084 > 67343"}, class(ClassQuota)},
		{"a code that is not part of the text", &goOpenAIErr{Code: "context_length_exceeded", HTTPStatusCode: 400}, class(ClassOverflow)},
		{"a message that is not part of the text", &goOpenAIErr{Message: tooLong.Error(), HTTPStatusCode: 400}, overflow},
		{"a value", valueErr{400, "The input token count (5000) exceeds the maximum number of tokens allowed (4096).", "INVALID_ARGUMENT"}, told{ClassOverflow, 5000, 4096}},
		{"smithy's methods", &awsErr{"ValidationException", "Input is too long for requested model."}, class(ClassOverflow)},
		{"throttling by code", &awsErr{"ThrottlingException", "Too many tokens, please wait before trying again."}, class(ClassRateLimit)},
		{"a body aside", &bodyErr{[]byte(`{"error":{"message":"prompt is too long: 250000 tokens > 200000 maximum"}}`)}, overflow},
		{"a gateway's 502 with the server's own words", &statusErr{502, "upstream says: " + tooLong.Error()}, overflow},
		{"a 502 with half of them", &statusErr{502, "upstream says: prompt is too long"}, class(ClassOverflow)},
		{"a hard code behind a 429", &statusErr{429, `{"error":{"code":"context_length_exceeded","message":"no"}}`}, class(ClassOverflow)},
		{"413 without a body", &statusErr{413, "413 status code (no body)"}, class(ClassBytes)},
		{"413 with a body that says nothing", &statusErr{413, `{"message":"failed to parse request","code":""}`}, class(ClassBytes)},
		{"the caller's own error", &ownErr{}, class(ClassOverflow)},
		{"the caller's own error around the provider's", fmt.Errorf("x: %w", &ownErr{tooLong}), overflow},
		{"the caller's own error around another", &ownErr{&statusErr{401, "no"}}, class(ClassAuth)},
		{"nil pointer", (*statusErr)(nil), class(ClassOther)},
		{"nil pointer with fields", (*fieldErr)(nil), class(ClassOther)},
		{"nil pointer wrapped", fmt.Errorf("x: %w", (*goOpenAIErr)(nil)), class(ClassOther)},
		{"methods that panic", &panicErr{}, class(ClassOther)},
		{"methods that panic, joined", errors.Join(&panicErr{}, tooLong), overflow},
		{"other methods panic", &halfPanicErr{}, told{ClassOverflow, 200049, 200000}},
		{"an error that wraps itself", loopErr{[]string{"x"}}, class(ClassOverflow)},
		{"a nil embedded error", embeddedErr{Message: tooLong.Error()}, overflow},
		{"methods by value on a nil pointer", (*byValueErr)(nil), class(ClassOther)},
		{"methods by value", byValueErr{503}, class(ClassOverloaded)},
		{"optional fields", pointerFieldErr{StatusCode: &limited}, class(ClassRateLimit)},
		{"an optional message", &pointerFieldErr{Message: &said}, overflow},
		{"optional fields, not set", &pointerFieldErr{}, class(ClassOther)},
		{"an unsigned status", unsignedErr{402}, class(ClassQuota)},
		{"a field of its own package", privateErr{401}, class(ClassAuth)},
		{"a method of another type", stringStatusErr{said}, overflow},
		{"an error in a stream that began with 200", &statusErr{200, said}, overflow},
		{"a status of no answer", &statusErr{0, said}, overflow},
		{"a text that only quotes a status", &statusErr{-1, "400"}, class(ClassOther)},
	} {
		if got := classify(c.err); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.why, got, c.want)
		}
	}
}

// TestDiagnoseUnits holds what the ladder needs beside the class.
func TestDiagnoseUnits(t *testing.T) {
	for _, c := range []struct {
		text string
		want Diagnosis
	}{
		{"total message size 2100954 exceeds limit 2097152", Diagnosis{Class: ClassBytes, Unit: UnitBytes, Size: 2100954, Limit: 2097152}},
		{"Sent message larger than max (50000056 vs. 20971520)", Diagnosis{Class: ClassBytes, Unit: UnitBytes, Size: 50000056, Limit: 20971520}},
		{"request body too large: it is 120 MB, the limit is 100 MB", Diagnosis{Class: ClassBytes, Unit: UnitBytes, Size: 120_000_000, Limit: 100_000_000}},
		{"request body larger than 20 MiB", Diagnosis{Class: ClassBytes, Unit: UnitBytes, Limit: 20_000_000}},
		{"the max input characters is 20000", Diagnosis{Class: ClassOverflow, Unit: UnitChars, Limit: 20000}},
		{"Malformed input request: expected maxLength: 42000, actual: 150180, please reformat your input and try again.", Diagnosis{Class: ClassOverflow, Unit: UnitChars, Size: 150180, Limit: 42000}},
		{"This request would exceed your organization's rate limit of 40,000 input tokens per minute.", Diagnosis{Class: ClassRateLimit, Rate: 40000}},
		{"429: exceeded 50,000 input tokens per minute and 5 requests per minute", Diagnosis{Class: ClassRateLimit, Rate: 50000}},
		{"Rate limit of 30,000 tokens per minute: Limit 30000, Used 28000, Requested 4000", Diagnosis{Class: ClassRateLimit}},
		{"rate limit of 5000 requests per minute", Diagnosis{Class: ClassRateLimit}},
		{"input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000", Diagnosis{Class: ClassOverflow, Size: 207653, Limit: 200000, Output: 64000}},
	} {
		if got := Diagnose(errors.New(c.text), isOwn); got != c.want {
			t.Errorf("got %+v, want %+v\n%s", got, c.want, c.text)
		}
	}
}
