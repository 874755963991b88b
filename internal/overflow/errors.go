package overflow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
)

// Bounds of what is read of one error. A chain that is longer, or that leads back to itself, is cut.
const (
	maxErrorNodes  = 32 // errors of one tree
	maxErrorTexts  = 8  // texts of them
	maxErrorFields = 64 // fields of one struct
)

// finding is what an error tree holds before its texts are read.
type finding struct {
	status    int // of HTTP, 400 to 599; 0: none
	texts     []string
	body      string // of the response in the error at hand
	codes     []string
	timeout   bool
	cancelled bool
	own       bool     // the caller's own refusal
	system    []string // what the operating system says
}

// try runs f and swallows its panic: methods of errors that a host made may fail on nil receivers.
func try(f func()) {
	defer func() { _ = recover() }()
	f()
}

// ask runs f if err has a method that f calls. The panic of one method hides nothing that another one says.
func ask[T any](err error, f func(T)) {
	if e, ok := err.(T); ok {
		try(func() { f(e) })
	}
}

// walk calls visit for each error in the tree of err, as errors.As does, but it ends on any tree: a chain may lead back
// to itself.
func walk(err error, visit func(node error)) {
	queue := []error{err}
	for i := 0; i < len(queue) && i < maxErrorNodes; i++ {
		node := queue[i]
		if node == nil {
			continue
		}
		try(func() { visit(node) })
		try(func() {
			switch e := node.(type) {
			case interface{ Unwrap() error }:
				queue = append(queue, e.Unwrap())
			case interface{ Unwrap() []error }:
				inner := e.Unwrap()
				queue = append(queue, inner[:min(len(inner), maxErrorNodes)]...)
			}
		})
	}
}

// gather returns what the tree of err holds.
func gather(err error, own func(error) bool) finding {
	var f finding
	walk(err, func(node error) { f.inspect(node, own) })
	for _, said := range f.system { // the errors around it repeat it
		for i := range f.texts {
			f.texts[i] = strings.ReplaceAll(f.texts[i], said, "")
		}
	}
	return f
}

// inspect adds what one error says itself.
func (f *finding) inspect(err error, own func(error) bool) {
	if own(err) {
		f.own = true
		return
	}
	f.goErrors(err)
	try(func() {
		if reflect.TypeOf(err) != joined {
			f.addText(err.Error())
		}
	})
	said := len(f.texts)
	f.methods(err)
	try(func() { f.fields(reflect.ValueOf(err)) })
	if len(f.texts) == said { // the SDK made nothing of the body: a server has its own form of an error
		f.addText(f.body)
	}
	f.body = ""
}

// joined is the type of what errors.Join makes: each error in it has its own text.
var joined = reflect.TypeOf(errors.Join(io.EOF))

// goErrors looks for the errors of a context, of the network and of the system, whose "message too long" and "file name
// too long" no provider said.
func (f *finding) goErrors(err error) {
	ask(err, func(e *os.SyscallError) { f.system = append(f.system, e.Err.Error()) })
	ask(err, func(e *fs.PathError) { f.system = append(f.system, e.Err.Error()) })
	switch {
	case err == context.Canceled:
		f.cancelled = true
	case err == context.DeadlineExceeded, err == os.ErrDeadlineExceeded, err == http.ErrHandlerTimeout:
		f.timeout = true
	}
	ask(err, func(e interface{ Timeout() bool }) { f.timeout = f.timeout || e.Timeout() })
	ask(err, func(e interface{ Is(error) bool }) {
		f.cancelled = f.cancelled || e.Is(context.Canceled)
		f.timeout = f.timeout || e.Is(context.DeadlineExceeded)
	})
}

// methods reads the methods that the errors of SDKs have; HTTPStatusCode, ErrorCode and ErrorMessage are of AWS.
func (f *finding) methods(err error) {
	ask(err, func(e interface{ StatusCode() int }) { f.addStatus(e.StatusCode()) })
	ask(err, func(e interface{ HTTPStatusCode() int }) { f.addStatus(e.HTTPStatusCode()) })
	ask(err, func(e interface{ HTTPStatus() int }) { f.addStatus(e.HTTPStatus()) })
	ask(err, func(e interface{ ErrorCode() string }) { f.addCode(e.ErrorCode()) })
	ask(err, func(e interface{ ErrorMessage() string }) { f.addText(e.ErrorMessage()) })
	ask(err, func(e interface{ RawJSON() string }) {
		if raw := e.RawJSON(); raw != "null" {
			f.addText(raw)
		}
	})
}

// fields reads the fields that SDKs without such methods have, exported or not: openai-go and
// anthropic-sdk-go StatusCode, go-openai HTTPStatusCode and Code, genai and googleapi Code and Message.
func (f *finding) fields(v reflect.Value) {
	for i := 0; i < 3 && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface); i++ {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[http.Response]() {
		return
	}
	t := v.Type()
	for i := range min(v.NumField(), maxErrorFields) {
		field := v.Field(i)
		for k := 0; k < 2 && (field.Kind() == reflect.Pointer || field.Kind() == reflect.Interface); k++ {
			field = field.Elem()
		}
		if field.IsValid() {
			f.field(strings.ToLower(t.Field(i).Name), field)
		}
	}
}

// field reads one field by its name.
func (f *finding) field(name string, v reflect.Value) {
	switch name {
	case "statuscode", "httpstatuscode", "httpstatus", "status", "code", "errorcode", "type", "errortype", "reason":
		switch {
		case v.CanInt():
			f.addStatus(int(v.Int()))
		case v.CanUint() && v.Uint() < 1000:
			f.addStatus(int(v.Uint()))
		case v.Kind() == reflect.String && name != "status":
			f.addCode(v.String())
		}
	case "message", "msg", "body", "rawbody", "responsebody", "detail", "details":
		if v.Kind() == reflect.String {
			f.addText(v.String())
		} else if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			f.addText(string(v.Bytes()))
		}
	case "response", "httpresponse":
		if v.Kind() == reflect.Struct {
			if s := v.FieldByName("StatusCode"); s.IsValid() && s.CanInt() {
				f.addStatus(int(s.Int()))
			}
			f.body = bodyInMemory(v.FieldByName("Body"))
		}
	}
}

// maxErrorBody is how many bytes of a body are read. Refusals are far shorter; some send the request back.
const maxErrorBody = 64 << 10

// bodyInMemory returns the beginning of a response's body that an SDK has read and put back, as those of OpenAI and
// Anthropic do, without reading it away. Nothing is read from a connection: that could wait for ever.
func bodyInMemory(v reflect.Value) string {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.IsValid() && v.Kind() == reflect.Struct { // what io.NopCloser makes
		if v = v.FieldByName("Reader"); v.IsValid() && v.Kind() == reflect.Interface {
			v = v.Elem()
		}
	}
	if !v.IsValid() || !v.CanInterface() {
		return ""
	}
	switch b := v.Interface().(type) {
	case *bytes.Buffer:
		return string(b.Bytes()[:min(b.Len(), maxErrorBody)])
	case interface { // *bytes.Reader, *strings.Reader
		io.ReaderAt
		Len() int
		Size() int64
	}:
		body := make([]byte, min(b.Len(), maxErrorBody))
		n, _ := b.ReadAt(body, b.Size()-int64(b.Len()))
		return string(body[:n])
	}
	return ""
}

// addStatus keeps the outermost status that says something: a 200 may carry an error in its stream.
func (f *finding) addStatus(status int) {
	if f.status == 0 && status >= 400 && status <= 599 {
		f.status = status
	}
}

func (f *finding) addCode(code string) {
	if code != "" && len(code) <= maxCodeBytes && len(f.codes) < maxErrorTexts && !slices.Contains(f.codes, code) {
		f.codes = append(f.codes, code)
	}
}

// addText keeps a text unless one before it holds it, as the text of a wrapping error mostly does.
func (f *finding) addText(text string) {
	isHeld := func(t string) bool { return strings.Contains(t, text) }
	if text != "" && len(f.texts) < maxErrorTexts && !slices.ContainsFunc(f.texts, isHeld) {
		f.texts = append(f.texts, text)
	}
}
