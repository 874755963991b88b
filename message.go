package winnow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/count"
)

// Role says who a message is from.
type Role string

const (
	RoleSystem    Role = "system"    // instructions of the host; in every request
	RoleUser      Role = "user"      // a person, or the host in a person's place (see [Message.Injected])
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // the result of one tool call
)

// Kind says what a [Part] holds. In JSON the text kind is written as an absent kind.
type Kind string

const (
	KindText     Kind = ""         // the zero Part is text
	KindThinking Kind = "thinking" // reasoning of the model, signed or not
	KindImage    Kind = "image"    // an image; the library never sees its pixels
	KindToolCall Kind = "toolCall" // a call that a RoleTool message answers
	KindOpaque   Kind = "opaque"   // carried, never read
)

// UnmarshalText reads a kind in JSON. Some hosts spell the text kind out as "text". The hook is here and not at
// Message, because a type with UnmarshalJSON is scanned twice and decoded at less than half of the speed.
func (k *Kind) UnmarshalText(text []byte) error {
	if *k = Kind(text); *k == "text" {
		*k = KindText
	}
	return nil
}

// Part is one piece of a message. Which fields count depends on Kind; the others are carried.
type Part struct {
	Kind      Kind            `json:"kind,omitempty"`      // what the part is; "" is text
	Text      string          `json:"text,omitempty"`      // text, thinking
	Signature string          `json:"signature,omitempty"` // thinking: the provider's proof that it wrote it; a signed part is never edited
	ID        string          `json:"id,omitempty"`        // toolCall: what the result's ToolCallID repeats
	Name      string          `json:"name,omitempty"`      // toolCall: the tool
	Arguments json.RawMessage `json:"arguments,omitempty"` // toolCall: one JSON value; empty for none
	MediaType string          `json:"mediaType,omitempty"` // image, opaque
	Bytes     int             `json:"bytes,omitempty"`     // image, opaque: size as sent, in bytes
	Width     int             `json:"width,omitempty"`     // image: pixels, of which providers make tokens; 0: not known
	Height    int             `json:"height,omitempty"`    // image: pixels
	Tokens    int             `json:"tokens,omitempty"`    // > 0: the host's own count, used instead of an estimate
	Source    any             `json:"-"`                   // the caller's own value; nil once the library changed the part
}

// Message is one message of a conversation, in a form that every provider's can be turned into and back.
// Tool results are messages of their own, one for each call. Package encoding/json reads and writes it;
// [ReadMessages] also says in which line an error is.
type Message struct {
	ID         string          `json:"id,omitempty"`         // stable identity, if the host has one
	Role       Role            `json:"role"`                 // who it is from
	Parts      []Part          `json:"parts"`                // the content, in order
	ToolCallID string          `json:"toolCallId,omitempty"` // RoleTool: the ID of the call that this answers
	ToolName   string          `json:"toolName,omitempty"`   // RoleTool: the tool that was called; "": that of the call
	IsError    bool            `json:"isError,omitempty"`    // RoleTool: the call failed
	Details    json.RawMessage `json:"details,omitempty"`    // host-only: never counted or sent; of it only exitCode and status may be named in a summary
	StopReason string          `json:"stopReason,omitempty"` // RoleAssistant: "error" and "aborted" mark a failed turn
	Usage      *Usage          `json:"usage,omitempty"`      // RoleAssistant: what the provider billed for the request it answered
	Time       time.Time       `json:"time,omitzero"`        // when it was written; zero if unknown
	Pinned     bool            `json:"pinned,omitempty"`     // survives every stage verbatim
	Injected   bool            `json:"injected,omitempty"`   // RoleUser: put there by the host, not by a person: does not begin a turn, is not a request, and nothing in it becomes a rule of the user
	Summary    bool            `json:"summary,omitempty"`    // stands for compacted history; written by the library
	Source     any             `json:"-"`                    // the caller's own value; nil once the library changed or made the message
}

// Usage is what a provider billed for one request, in tokens. Input excludes what was read from or
// written to the prompt cache; a provider that reports an inclusive count (OpenAI, Gemini) is converted
// by subtracting the cached part.
type Usage struct {
	Input      int `json:"input,omitempty"`      // neither read from nor written to the cache
	CacheRead  int `json:"cacheRead,omitempty"`  // read from the prompt cache
	CacheWrite int `json:"cacheWrite,omitempty"` // written to the prompt cache
	Output     int `json:"output,omitempty"`     // the answer
}

// Prompt returns the tokens of the whole prompt: Input + CacheRead + CacheWrite. Negative counts are
// taken as 0, and a sum above the largest int is the largest int.
func (u Usage) Prompt() int {
	return count.Add(count.Add(max(0, u.Input), max(0, u.CacheRead)), max(0, u.CacheWrite))
}

// ReadMessages reads messages in JSON: one a line (JSON Lines), any number separated by white space, or
// one array of them. The error names the line and the field; the messages before it are returned with it.
func ReadMessages(r io.Reader) ([]Message, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("winnow: reading messages: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d := json.NewDecoder(bytes.NewReader(data))
	array := bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("["))
	if array {
		if _, err := d.Token(); err != nil {
			return nil, readError(data, 0, err)
		}
	}
	var out []Message
	for !array || d.More() {
		start := d.InputOffset()
		var m Message
		if err := d.Decode(&m); err == io.EOF && !array {
			return out, nil
		} else if err != nil {
			return out, readError(data, start, err)
		}
		if err := checkRole(m.Role); err != nil {
			return out, readError(data, start, err)
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return out, readError(data, d.InputOffset(), err)
	}
	if rest := bytes.TrimLeft(data[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return out, readError(data, int64(len(data)-len(rest)), errors.New("syntax: there is text behind the array"))
	}
	return out, nil
}

// WriteMessages writes messages as JSON Lines, in the form that [ReadMessages] reads. It fails on
// Arguments or Details that are not valid JSON; text that is not valid UTF-8 is written with U+FFFD in
// its place.
func WriteMessages(w io.Writer, messages []Message) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range messages {
		m := messages[i]
		m.Parts = withoutTextKind(m.Parts)
		if err := e.Encode(&m); err != nil {
			return fmt.Errorf("winnow: writing message %d: %w", i, err)
		}
	}
	return nil
}

// withoutTextKind returns parts with the text kind as it is written: absent.
func withoutTextKind(parts []Part) []Part {
	isText := func(p Part) bool { return p.Kind == "text" }
	if !slices.ContainsFunc(parts, isText) {
		return parts
	}
	parts = slices.Clone(parts)
	for i := range parts {
		if isText(parts[i]) {
			parts[i].Kind = KindText
		}
	}
	return parts
}

func checkRole(r Role) error {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return nil
	case "":
		return errors.New("role: missing")
	}
	return fmt.Errorf("role: unknown role %q", r)
}

// fieldError is an error in a JSON text with the place where it is.
type fieldError struct {
	line int // from 1
	text string
	err  error
}

func (e *fieldError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }
func (e *fieldError) Unwrap() error { return e.err }

// readError places an error of the value that the decoder read from offset start of data on.
func readError(data []byte, start int64, err error) error {
	decoded := start // the decoder counts from behind the comma, white space included
	if rest := bytes.TrimLeft(data[start:], " \t\r\n"); bytes.HasPrefix(rest, []byte(",")) {
		decoded = int64(len(data)-len(rest)) + 1
	}
	value := int64(len(data) - len(bytes.TrimLeft(data[decoded:], " \t\r\n")))
	return fmt.Errorf("winnow: reading messages: %w", describeJSON(data, decoded, value, err))
}

// describeJSON turns err into a fieldError. The value begins at offset value of data; the decoder counted the
// offsets in its errors from decoded on.
func describeJSON(data []byte, decoded, value int64, err error) error {
	at := value
	e := &fieldError{text: err.Error(), err: err}
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax): // counted from the beginning of data
		at = syntax.Offset
		e.text = "syntax: " + syntax.Error()
	case errors.As(err, &typ):
		at = decoded + typ.Offset
		field := typ.Field
		if field == "" {
			field = "message"
		}
		e.text = fmt.Sprintf("%s: want %s, got %s", field, nameInJSON(typ.Type), typ.Value)
	case timeOffset(data[value:], err) >= 0:
		at = value + timeOffset(data[value:], err)
		e.text = "time: " + err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		at = int64(len(data))
		e.text = "syntax: the text ends in the middle of a message"
	}
	e.line = 1 + bytes.Count(data[:min(max(at, 0), int64(len(data)))], []byte("\n"))
	return e
}

// nameInJSON says what a value of type t is in JSON.
func nameInJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return t.String()
}

// timeOffset returns where the time of the message in data is, if err is an error of reading it, or -1.
// Package json does not say where such an error is.
func timeOffset(data []byte, err error) int64 {
	var parse *time.ParseError
	if !errors.As(err, &parse) && !strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return -1
	}
	d := json.NewDecoder(bytes.NewReader(data))
	for key, err := d.Token(); err == nil; key, err = d.Token() {
		if name, ok := key.(string); ok && strings.EqualFold(name, "time") {
			return d.InputOffset()
		}
		var value json.RawMessage
		if key != json.Delim('{') && d.Decode(&value) != nil {
			break
		}
	}
	return 0
}

// messageParts returns the texts of m, a line each.
func messageParts(m *Message) string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == KindText {
		return m.Parts[0].Text
	}
	var b strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindText && p.Text != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
