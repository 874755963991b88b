package session

import (
	"encoding/json"
	"strconv"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Most of what is written is messages, and package json would take half of the time of an append. This code writes the
// same bytes, and [readMessage] reads them.

// writeMessage appends m as package json writes it, without escapes for HTML. ok is false if package json has to do it,
// because it would compact raw JSON or refuse it.
func writeMessage(b []byte, m *winnow.Message) (text []byte, ok bool) {
	w := messageWriter{text: b}
	w.message(m)
	return w.text, !w.bad
}

// messageWriter appends the values of a message to a text.
type messageWriter struct {
	text []byte
	bad  bool // package json may write it differently
}

func (w *messageWriter) message(m *winnow.Message) {
	w.opens()
	w.stringOf(`"id":`, m.ID)
	w.member(`"role":`)
	w.text = jsontext.AppendString(w.text, string(m.Role))
	w.member(`"parts":`)
	w.parts(m.Parts)
	w.stringOf(`"toolCallId":`, m.ToolCallID)
	w.stringOf(`"toolName":`, m.ToolName)
	w.isTrue(`"isError":true`, m.IsError)
	w.rawOf(`"details":`, m.Details)
	w.stringOf(`"stopReason":`, m.StopReason)
	if m.Usage != nil {
		w.member(`"usage":`)
		w.usage(m.Usage)
	}
	if !m.Time.IsZero() {
		w.member(`"time":"`)
		text, err := m.Time.AppendText(w.text)
		if w.bad = w.bad || err != nil; err == nil {
			w.text = append(text, '"')
		}
	}
	w.isTrue(`"pinned":true`, m.Pinned)
	w.isTrue(`"injected":true`, m.Injected)
	w.isTrue(`"transient":true`, m.Transient)
	w.names(`"inForce":`, m.InForce)
	w.isTrue(`"summary":true`, m.Summary)
	w.closes()
}

// names appends a list of strings, if it has any.
func (w *messageWriter) names(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.member(name)
	for i, s := range list {
		w.text = append(w.text, "[,"[min(i, 1)])
		w.text = jsontext.AppendString(w.text, s)
	}
	w.text = append(w.text, ']')
}

func (w *messageWriter) parts(parts []winnow.Part) {
	if parts == nil {
		w.text = append(w.text, `null`...)
		return
	}
	w.text = append(w.text, '[')
	for i := range parts {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.part(&parts[i])
	}
	w.text = append(w.text, ']')
}

func (w *messageWriter) part(p *winnow.Part) {
	w.opens()
	w.stringOf(`"kind":`, string(p.Kind))
	w.stringOf(`"text":`, p.Text)
	w.stringOf(`"signature":`, p.Signature)
	w.stringOf(`"id":`, p.ID)
	w.stringOf(`"name":`, p.Name)
	w.rawOf(`"arguments":`, p.Arguments)
	w.stringOf(`"mediaType":`, p.MediaType)
	w.intOf(`"bytes":`, p.Bytes)
	w.intOf(`"width":`, p.Width)
	w.intOf(`"height":`, p.Height)
	w.intOf(`"pages":`, p.Pages)
	w.intOf(`"seconds":`, p.Seconds)
	w.intOf(`"tokens":`, p.Tokens)
	w.closes()
}

func (w *messageWriter) usage(u *winnow.Usage) {
	w.opens()
	w.intOf(`"input":`, u.Input)
	w.intOf(`"cacheRead":`, u.CacheRead)
	w.intOf(`"cacheWrite":`, u.CacheWrite)
	w.intOf(`"output":`, u.Output)
	w.closes()
}

func (w *messageWriter) opens()  { w.text = append(w.text, '{') }
func (w *messageWriter) closes() { w.text = append(w.text, '}') }

// member appends name, after a comma unless it follows a brace.
func (w *messageWriter) member(name string) {
	if w.text[len(w.text)-1] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, name...)
}

func (w *messageWriter) stringOf(name, value string) {
	if value != "" {
		w.member(name)
		w.text = jsontext.AppendString(w.text, value)
	}
}

func (w *messageWriter) intOf(name string, value int) {
	if value != 0 {
		w.member(name)
		w.text = strconv.AppendInt(w.text, int64(value), 10)
	}
}

func (w *messageWriter) isTrue(member string, value bool) {
	if value {
		w.member(member)
	}
}

func (w *messageWriter) rawOf(name string, value json.RawMessage) {
	if len(value) > 0 {
		w.member(name)
		w.bad = w.bad || !isOneLineJSON(value)
		w.text = append(w.text, value...)
	}
}
