package winnow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Role is the author of a message.
type Role string

const (
	RoleSystem    Role = "system"    // instructions of the host; in every request
	RoleUser      Role = "user"      // a person, or the host in a person's place (see [Message.Injected])
	RoleAssistant Role = "assistant" // the model
	RoleTool      Role = "tool"      // the result of one tool call
)

// Kind says what a [Part] holds. In JSON, a text part has no kind field.
type Kind string

const (
	KindText     Kind = ""         // the zero Part is text
	KindThinking Kind = "thinking" // reasoning of the model, signed or not
	KindImage    Kind = "image"    // an image; the library never sees its pixels
	KindToolCall Kind = "toolCall" // a call that a RoleTool message answers
	KindOpaque   Kind = "opaque"   // kept as it is, and never read; a half of a pair says so by its ID, see [Part]
)

// MediaCompaction is the MediaType of a KindOpaque part in which the provider has summarized everything before it: Text
// is the summary, if it can be read, Signature what only that provider reads. See [Manager.Prepare].
const MediaCompaction = "compaction"

// UnmarshalText reads a kind in JSON; some hosts spell "text" out.
func (k *Kind) UnmarshalText(text []byte) error {
	if *k = Kind(text); *k == "text" {
		*k = KindText
	}
	return nil
}

// Part is one piece of a message. Kind says which fields are read; the others are kept as they are.
//
// A provider that runs its own tools writes the call and the result as parts of its answer. An opaque part with an ID
// is such a half: the call has a Name, the result has none. The library never sends one half alone, but for an open
// call at the end.
type Part struct {
	Kind Kind   `json:"kind,omitempty"` // what the part is; "" is text
	Text string `json:"text,omitempty"` // text, thinking

	Signature string          `json:"signature,omitempty"` // thinking: the provider's proof; it is never edited
	ID        string          `json:"id,omitempty"`        // toolCall: what the result's ToolCallID repeats; opaque
	Name      string          `json:"name,omitempty"`      // toolCall, opaque: the tool
	Arguments json.RawMessage `json:"arguments,omitempty"` // toolCall: one JSON value; empty for none
	MediaType string          `json:"mediaType,omitempty"` // image, opaque
	Bytes     int             `json:"bytes,omitempty"`     // image, opaque: size as sent, in bytes
	Width     int             `json:"width,omitempty"`     // image: in pixels, which providers bill; 0: not known
	Height    int             `json:"height,omitempty"`    // image: likewise
	Pages     int             `json:"pages,omitempty"`     // opaque: of a document, which providers bill; 0: not known
	Seconds   int             `json:"seconds,omitempty"`   // opaque: of a sound or a video, likewise

	Tokens int `json:"tokens,omitempty"` // > 0: the host's own count, used instead of an estimate
	Source any `json:"-"`                // the caller's own value; nil once the library changed the part
}

// Message is one message of a conversation, in a form into which every provider's messages can be converted, and back.
// Each tool result is a message of its own. Package encoding/json reads and writes it.
type Message struct {
	ID         string          `json:"id,omitempty"`         // stable identity, if the host has one
	Role       Role            `json:"role"`                 // who it is from
	Parts      []Part          `json:"parts"`                // the content, in order
	ToolCallID string          `json:"toolCallId,omitempty"` // RoleTool: the ID of the call that this answers
	ToolName   string          `json:"toolName,omitempty"`   // RoleTool: the tool that was called; "": that of the call
	IsError    bool            `json:"isError,omitempty"`    // RoleTool: the call failed
	Details    json.RawMessage `json:"details,omitempty"`    // for the host; a summary may name its exitCode and status
	StopReason string          `json:"stopReason,omitempty"` // "error", "aborted": it failed; cut off: run no call
	Usage      *Usage          `json:"usage,omitempty"`      // RoleAssistant: what its request was billed
	Time       time.Time       `json:"time,omitzero"`        // when it was written; zero if unknown
	Pinned     bool            `json:"pinned,omitempty"`     // survives every stage verbatim
	Summary    bool            `json:"summary,omitempty"`    // stands for compacted history; written by the library

	// RoleUser: the host inserted it, and no person wrote it. It does not begin a turn, and no summary quotes it. In
	// front of all else it stays, up to a quarter of the window; elsewhere pin what must outlive summaries
	Injected  bool `json:"injected,omitempty"`
	Transient bool `json:"transient,omitempty"` // Injected: it may go once a person has asked for something else
	// Injected: the names of the rules or facts that it states. It is in force, and quoted by a summary within its
	// room, until later messages state all of them anew
	InForce []string `json:"inForce,omitempty"`
	// RoleUser: the name of the person who wrote it, where several take part; summaries quote it with the words.
	// RoleTool: a person wrote this result, such as the reason why a call was refused; it stays like a person's message
	Speaker string `json:"speaker,omitempty"`
	Source  any    `json:"-"` // the caller's own value; nil once the library made or changed it
}

// Usage is what a provider billed for one request, in tokens. Input excludes what was read from or written to the
// prompt cache; if a provider reports an inclusive count (OpenAI, Gemini), subtract the cached part.
type Usage struct {
	Input      int `json:"input,omitempty"`      // neither read from nor written to the cache
	CacheRead  int `json:"cacheRead,omitempty"`  // read from the prompt cache
	CacheWrite int `json:"cacheWrite,omitempty"` // written to the prompt cache
	LongWrite  int `json:"longWrite,omitempty"`  // of CacheWrite: for the longer lifetime, which may cost more
	Output     int `json:"output,omitempty"`     // the answer

	ThinkingDropped int    `json:"thinkingDropped,omitempty"` // parts of thinking that the provider left out
	CacheMiss       string `json:"cacheMiss,omitempty"`       // the provider's own reason why its cache was not read
}

// Prompt returns Input + CacheRead + CacheWrite.
func (u Usage) Prompt() int {
	return count.Add(count.Add(max(0, u.Input), max(0, u.CacheRead)), max(0, u.CacheWrite))
}

// messageParts returns the text parts of m, joined by newlines. Empty ones are left out.
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

// resultText returns what a tool returned in m.
func resultText(m *Message) string {
	text, _ := toolcall.Reminders(messageParts(m))
	return text
}

// beginsTurn reports whether m is a user message that a person wrote.
func beginsTurn(m *Message) bool {
	return m.Role == RoleUser && !m.Injected && !m.Summary
}

// newestRequest returns the index of the newest message in which a person asks for something, or -1.
func newestRequest(messages sequence) int {
	for i := messages.len() - 1; i >= 0; i-- {
		if beginsTurn(messages.at(i)) {
			return i
		}
	}
	return -1
}

// newestAnswers returns the index of the oldest of the model's newest n messages, or 0 if there are fewer.
func newestAnswers(messages sequence, n int) int {
	for i := messages.len() - 1; i >= 0; i-- {
		if messages.at(i).Role == RoleAssistant {
			if n--; n == 0 {
				return i
			}
		}
	}
	return 0
}

// clip returns s without room behind its end, so that appending to it never writes into the input's memory.
func clip(s []Message) []Message { return s[:len(s):len(s)] }

// isFailed reports whether m is an assistant message of a turn that ended in an error or was aborted.
func isFailed(m *Message) bool {
	return m.Role == RoleAssistant && (m.StopReason == "error" || m.StopReason == "aborted")
}

// missingResult is the text of a result that stands in for one that the history does not have. It says what is known
// and no more: the call may or may not have run.
const missingResult = "[No result: the conversation has no result for this call. Whether it ran is not known.]"

// isMissingResult reports whether m is a result that a repair made.
func isMissingResult(m *Message) bool {
	return m.Role == RoleTool && m.IsError && len(m.Parts) == 1 && m.Parts[0].Text == missingResult
}

// pauseTurn is Anthropic's stop reason of an answer that it goes on with.
const pauseTurn = "pause_turn"

// Paused reports whether m is an answer that the provider goes on with: it stopped while it ran its own tools, and m
// has no calls for the host. Append m and ask again, with nothing behind it.
func (m Message) Paused() bool {
	if m.Role != RoleAssistant || hasCalls(&m) {
		return false
	}
	open, _ := loneHalves(&m)
	return m.StopReason == pauseTurn || m.StopReason == "" && open
}

func callsOf(m *Message) iter.Seq[*Part] {
	return func(yield func(*Part) bool) {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == KindToolCall && !yield(p) {
				return
			}
		}
	}
}

// hasCalls reports whether m is an answer of the model that calls tools.
func hasCalls(m *Message) bool {
	for range callsOf(m) {
		return m.Role == RoleAssistant
	}
	return false
}

// isServerCall reports whether p is a call that the provider answers itself.
func isServerCall(p *Part) bool { return p.Kind == KindOpaque && p.ID != "" && p.Name != "" }

// isServerResult reports whether p is the provider's result of a call of its own.
func isServerResult(p *Part) bool { return p.Kind == KindOpaque && p.ID != "" && p.Name == "" }

// loneHalves reports which halves of the provider's own pairs stand alone in m: an open call, whose result may be in a
// later answer, and a late result, whose call may be in an earlier one.
func loneHalves(m *Message) (open, late bool) {
	var answered map[string]bool // by the id of a call
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case isServerCall(p):
			if done, again := answered[p.ID]; again && !done {
				open = true
			}
			if answered == nil {
				answered = map[string]bool{}
			}
			answered[p.ID] = false
		case isServerResult(p):
			if _, called := answered[p.ID]; !called {
				late = true
				continue
			}
			answered[p.ID] = true
		}
	}
	for _, done := range answered {
		open = open || !done
	}
	return open, late
}

// hasPart reports whether is returns true for a part of m. A part is long, so it is not copied.
func hasPart(m *Message, is func(p *Part) bool) bool {
	for i := range m.Parts {
		if is(&m.Parts[i]) {
			return true
		}
	}
	return false
}

func holdsOnlyText(m *Message) bool {
	return !hasPart(m, func(p *Part) bool { return p.Kind != KindText })
}

func textBytes(m *Message) (n int) {
	for i := range m.Parts {
		if m.Parts[i].Kind == KindText {
			n += len(m.Parts[i].Text)
		}
	}
	return n
}

// argumentBytes returns the length of the arguments of the calls of m in bytes.
func argumentBytes(m *Message) (n int) {
	for p := range callsOf(m) {
		n += len(p.Arguments)
	}
	return n
}

// joinedText returns the Text of every part of m, joined by newlines.
func joinedText(m *Message) string {
	switch len(m.Parts) {
	case 0:
		return ""
	case 1:
		return m.Parts[0].Text
	}
	texts := make([]string, len(m.Parts))
	for i := range m.Parts {
		texts[i] = m.Parts[i].Text
	}
	return strings.Join(texts, "\n")
}

// hasSignature reports whether a provider signed a part of m, which then has to be sent as it came.
func hasSignature(m *Message) bool {
	return hasPart(m, func(p *Part) bool { return p.Signature != "" })
}

// hasHiddenParts reports whether providers may count fewer tokens for m than its content suggests. They drop old
// thinking, count images by their size, and count opaque parts in ways of their own.
func hasHiddenParts(m *Message) bool {
	return hasPart(m, func(p *Part) bool {
		return p.Kind == KindThinking || p.Kind == KindImage || p.Kind == KindOpaque
	})
}

func hasThinking(m *Message) bool { return hasPart(m, func(p *Part) bool { return isThinking(*p) }) }

func isThinking(p Part) bool { return p.Kind == KindThinking }

func hasImage(m *Message) bool { return hasPart(m, func(p *Part) bool { return p.Kind == KindImage }) }

// hasControls reports whether a text of m has an escape character, which a terminal obeys.
func hasControls(m *Message) bool {
	return hasPart(m, func(p *Part) bool { return strings.IndexByte(p.Text, '\x1b') >= 0 })
}

// isSigned reports whether p is thinking that only the model that wrote it can read.
func isSigned(p Part) bool { return isThinking(p) && p.Signature != "" }

// mayAnswer reports whether m, directly behind the messages that were sent, can be the answer to them or the result of
// an open call.
func mayAnswer(m *Message) bool { return m.Role == RoleAssistant || m.Role == RoleTool }

// countAnswers returns how many of the messages are answers of the model. The age of a result is counted in answers.
func countAnswers(messages sequence) (n int) {
	for i := range messages.len() {
		if messages.at(i).Role == RoleAssistant {
			n++
		}
	}
	return n
}

// endsInThinking reports whether m is an assistant message that ends in thinking. Providers want what the thinking led
// to behind it, even if there are calls in front.
func endsInThinking(m *Message) bool {
	n := len(m.Parts)
	return m.Role == RoleAssistant && n > 0 && m.Parts[n-1].Kind == KindThinking
}

// partsAreClean reports whether nothing of m has to be repaired, whatever stands around it, except perhaps the ids of
// its calls. forRequest says that texts without a visible character have to be removed as well.
func partsAreClean(m *Message, forRequest bool) bool {
	substance := m.Role == RoleTool
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case isEmptyPart(p, forRequest), isStrayCall(m, p):
			return false
		case p.Kind == KindToolCall && !validArguments(p.Arguments):
			return false
		case p.Kind != KindThinking:
			substance = true
		}
	}
	open, late := loneHalves(m)
	return substance && !endsInThinking(m) && !open && !late
}

// isEmptyPart reports whether providers refuse p because there is nothing in it. A signed part is never empty: thinking
// without a text is encrypted, and Gemini may send a text part that holds nothing but the signature of a stream.
func isEmptyPart(p *Part, forRequest bool) bool {
	if p.Signature != "" || p.Kind != KindText && p.Kind != KindThinking {
		return false
	}
	return p.Text == "" || forRequest && runes.IsBlank(p.Text)
}

// isStrayCall reports whether p, a part of m, is a call although m is not from the model. No provider's format has such
// calls.
func isStrayCall(m *Message, p *Part) bool { return p.Kind == KindToolCall && m.Role != RoleAssistant }

func validArguments(raw json.RawMessage) bool {
	return len(raw) == 0 || json.Valid(raw)
}

// About how many bytes JSON puts around a message and around a part: the field names of the common providers with their
// quotes.
const (
	messageFrame = 60
	partFrame    = 40
)

// messageBytes estimates how many bytes m takes in a request's body.
func messageBytes(m *Message) int {
	n := messageFrame + len(m.ToolCallID) + len(m.ToolName) + len(m.Speaker)
	for i := range m.Parts {
		p := &m.Parts[i]
		n = count.Add(n, partFrame+jsontext.Size(p.Text)+len(p.Signature)+len(p.ID)+len(p.Name)+len(p.Arguments))
		n = count.Add(n, jsontext.HTMLEscapes(mem.String(p.Arguments)))
		n = count.Add(n, max(0, p.Bytes))
	}
	return n
}

// bodySize returns messageBytes in the type of [fact.body]. It is never 0.
func bodySize(m *Message) uint32 { return uint32(min(uint64(messageBytes(m)), math.MaxUint32)) }

// isLaterResult reports whether m is a text that shows another result of a call that has one.
func isLaterResult(m *Message) bool { return m.Role == RoleUser && m.Injected && m.ToolCallID != "" }

// returnsContent reports whether m shows what a tool returned.
func returnsContent(m *Message) bool { return m.Role == RoleTool || isLaterResult(m) }

// answered finds the call that each result of messages answers: the newest one before it with its id. Calls without ids
// are answered in their order. Of most results the call stands in the message directly in front of the step's results;
// if it does not, all messages are read, once.
type answered struct {
	messages sequence
	calls    []madeCall // by message: the call that it answers
}

// madeCall is a call and one more than the index of its message, or the zero value.
type madeCall struct {
	behind int
	part   *Part
}

// arguments returns those of the call; none if there is no call.
func (c madeCall) arguments() json.RawMessage {
	if c.part == nil {
		return nil
	}
	return c.part.Arguments
}

// of returns the call that message i answers.
func (a *answered) of(i int) madeCall {
	if a.calls == nil {
		if c := a.directly(i); c.part != nil {
			return c
		}
		a.readAll()
	}
	return a.calls[i]
}

// mostResults is how many results of a step are looked through for their call: if it has more, all messages are read.
const mostResults = 32

// directly returns the call that result i answers, if it has an id and the answer with it stands in front of the step.
func (a *answered) directly(i int) (c madeCall) {
	k, m := i, a.messages.at(i)
	for k > 0 && i-k < mostResults && a.messages.at(k).Role == RoleTool {
		k--
	}
	if k == i || m.ToolCallID == "" || a.messages.at(k).Role != RoleAssistant {
		return c
	}
	for p := range callsOf(a.messages.at(k)) {
		if p.ID == m.ToolCallID {
			c = madeCall{k + 1, p}
		}
	}
	return c
}

func (a *answered) readAll() {
	a.calls = make([]madeCall, a.messages.len())
	byID := map[string]madeCall{}
	var unnamed []madeCall // the newest calls without ids that wait for their results
	for k := range a.calls {
		switch m := a.messages.at(k); {
		case m.Role == RoleAssistant:
			unnamed = nil
			for p := range callsOf(m) {
				if c := (madeCall{k + 1, p}); p.ID != "" {
					byID[p.ID] = c
				} else {
					unnamed = append(unnamed, c)
				}
			}
		case m.Role != RoleTool:
		case m.ToolCallID != "":
			a.calls[k] = byID[m.ToolCallID]
		case len(unnamed) > 0:
			a.calls[k], unnamed = unnamed[0], unnamed[1:]
		}
	}
}

// owner returns the index of the answer that message i belongs to: i itself, the one whose call it answers, or -1.
func (a *answered) owner(i int) int {
	switch a.messages.at(i).Role {
	case RoleAssistant:
		return i
	case RoleTool:
		return a.of(i).behind - 1
	}
	return -1
}

// tool returns the tool of message i, "" if it is not known. A host that imports the results of a step apart from their
// calls gives them the ids of the calls and no tool names. The messages stay as they are, because a message is
// recognized by its tool's name too.
func (a *answered) tool(i int) string {
	m := a.messages.at(i)
	if m.ToolName == "" && m.Role == RoleTool && a.of(i).part != nil {
		return a.of(i).part.Name
	}
	return m.ToolName
}

// InvalidMessageError says which message of a history no request can hold, and what is wrong with it.
type InvalidMessageError struct {
	Index int    // of the message in the list that was passed, from 0 on
	Field string // as in JSON: "role", "parts", "parts[0].kind", "toolCallId" and others
	Got   string // what the field holds
	Want  string // what it has to hold
}

// Error names all four. It quotes the beginning of what the field holds.
func (e *InvalidMessageError) Error() string {
	got := "empty"
	if e.Got != "" {
		got = fmt.Sprintf("%.80q", e.Got)
	}
	return fmt.Sprintf("winnow: invalid message %d: %s is %s, want %s", e.Index, e.Field, got, e.Want)
}

// Validate returns an [*InvalidMessageError] for the first message with an unknown Role or Kind, nil if there is none.
// Prepare, Compact and Recover refuse the same messages. What [RepairToolPairing] mends is no error, such as a message
// without role and parts.
func Validate(history []Message) error {
	for i := range history {
		if e := faultOf(&history[i]); e != nil {
			e.Index = i
			return e
		}
	}
	return nil
}

// faultOf returns what is wrong with m, or nil.
func faultOf(m *Message) *InvalidMessageError {
	if e := roleFault(m.Role); e != nil && (m.Role != "" || len(m.Parts) > 0) {
		return e
	}
	for k := range m.Parts {
		switch m.Parts[k].Kind {
		case KindText, KindThinking, KindImage, KindToolCall, KindOpaque:
		default:
			return &InvalidMessageError{
				Field: fmt.Sprintf("parts[%d].kind", k), Got: string(m.Parts[k].Kind),
				Want: `"" (text), "thinking", "image", "toolCall" or "opaque"`,
			}
		}
	}
	return nil
}

// roleFault returns what is wrong with r, or nil. A typo would show only at the provider, or not at all.
func roleFault(r Role) *InvalidMessageError {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return nil
	}
	return &InvalidMessageError{Field: "role", Got: string(r), Want: `"system", "user", "assistant" or "tool"`}
}

// ReadMessages reads messages in JSON: one a line (JSON Lines), any number separated by white space, or one array of
// them. The error names the line and the field; the messages before it are returned with it.
func ReadMessages(r io.Reader) ([]Message, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("winnow: reading messages: %w", err)
	}
	// Some editors put a byte order mark in front of UTF-8. encoding/json takes it for an error.
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
			return out, nil // an array that ends here has lost its closing bracket
		} else if err != nil {
			return out, readError(data, start, err)
		}
		if e := cmp.Or(faultOf(&m), roleFault(m.Role)); e != nil {
			e.Index = len(out)
			return out, readError(data, start, e)
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

// WriteMessages writes messages as JSON Lines, in the form that [ReadMessages] reads. It fails on Arguments or Details
// that are not valid JSON; text that is not valid UTF-8 is written with U+FFFD in its place.
func WriteMessages(w io.Writer, messages []Message) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range messages {
		if err := e.Encode(&messages[i]); err != nil {
			return fmt.Errorf("winnow: writing message %d: %w", i, err)
		}
	}
	return nil
}

// readError adds to err where it is in data: in the value that the decoder read from offset start on.
func readError(data []byte, start int64, err error) error {
	return fmt.Errorf("winnow: reading messages: %w", jsontext.Place(err, data, start))
}
