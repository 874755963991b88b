package session

import (
	"encoding/json"
	"strconv"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Messages are most of what is written, and package json takes half of the time of an append for one. They are written
// here in the same form, byte for byte, which [readMessage] reads.

// writeMessage appends m as package json writes it, without escapes for HTML. ok is false where that is left to package
// json: it compacts raw JSON, and refuses some.
func writeMessage(b []byte, m *winnow.Message) (text []byte, ok bool) {
	w := messageWriter{text: b}
	w.message(m)
	return w.text, !w.bad
}

// messageWriter puts the values of a message behind a text.
type messageWriter struct {
	text []byte
	bad  bool // package json may write it in another way
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
	w.isTrue(`"summary":true`, m.Summary)
	w.closes()
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

// member puts name behind the brace, or the comma, that stands before it.
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
