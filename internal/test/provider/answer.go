package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// cutReason is why an answer ends before its end.
type cutReason uint8

const (
	notCut     cutReason = iota
	cutAtMax             // max_tokens
	cutAtLimit           // the window
)

// finish completes an answer, bills it, and remembers both.
func (p *Provider) finish(proto protocol, x *Exchange, a Answer, id string) {
	r := x.Request
	a.Calls = append([]ToolCall(nil), a.Calls...)
	for i := range a.Calls {
		c := &a.Calls[i]
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%s_%d", id, i)
			if r.Dialect == Anthropic {
				c.ID = "toolu_" + c.ID[5:]
			}
			if p.o.Vendor == VendorMistral && r.Dialect == OpenAI {
				c.ID = fmt.Sprintf("%s%d", id, i%10) // nine letters and digits
			}
		}
		if len(c.Arguments) == 0 {
			c.Arguments = json.RawMessage("{}")
		}
	}
	why := p.fit(r, &a)
	if a.StopReason == "" {
		a.StopReason = proto.reason(&a, why)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Error == nil {
		x.Usage = p.cache.bill(r)
		x.Usage.Output = a.tokens()
	}
	if len(a.Thinking) > 0 {
		for _, c := range a.Calls {
			p.thought[c.ID] = true
		}
	}
	x.Answer = a
}

// fit cuts an answer that is longer than what was asked for or than the window has room for.
func (p *Provider) fit(r *Request, a *Answer) cutReason {
	room, why := r.MaxTokens, cutAtMax
	if left := max(0, p.o.Window-r.Tokens); room == 0 || left < room {
		room, why = left, cutAtLimit
	}
	if a.tokens() <= room {
		return notCut
	}
	rest := Answer{Thinking: a.Thinking}
	keep := 4 * max(0, room-rest.tokens())
	a.Text, a.Calls = strings.ToValidUTF8(a.Text[:min(len(a.Text), keep)], ""), nil
	return why
}

// tokensOf counts a text.
func tokensOf(text string) int { return (len(text) + 3) / 4 }

func (a *Answer) tokens() int {
	n := tokensOf(a.Text)
	for _, t := range a.Thinking {
		n += tokensOf(t)
	}
	for _, c := range a.Calls {
		n += tokensOf(c.Name) + tokensOf(string(c.Arguments))
	}
	return n
}

// event is one event of a stream.
type event struct {
	name string // "": without a name
	data any    // a string is written as it is
}

// stream writes an answer as server-sent events. A late error replaces what comes behind the content; a
// cut breaks the connection half way.
func stream(w http.ResponseWriter, proto protocol, x *Exchange, id string) {
	events := proto.events(x, id)
	a := &x.Answer
	if a.Error != nil {
		events = append(events[:(len(events)+1)/2:len(events)], proto.failureEvent(a.Error))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flusher, _ := w.(http.Flusher)
	for i, e := range events {
		if a.Cut && i >= (len(events)+1)/2 {
			panic(http.ErrAbortHandler)
		}
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, ok := e.data.(string)
		if !ok {
			b, _ := json.Marshal(e.data)
			data = string(b)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		if flusher != nil {
			flusher.Flush()
		}
	}
}

// cut breaks the connection in the middle of a body.
func cut(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	_, _ = w.Write(body[:len(body)/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

// pieces splits a text as a model streams it: at spaces, a few words each.
func pieces(text string) []string {
	const words = 3
	var out []string
	start, n := 0, 0
	for i := range len(text) {
		if text[i] == ' ' {
			if n++; n%words == 0 {
				out = append(out, text[start:i])
				start = i
			}
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// halves splits the JSON of a call in two, so that a client has to put it together.
func halves(arguments json.RawMessage) []string {
	s := string(arguments)
	at := len(s) / 2
	for at > 0 && s[at]&0xc0 == 0x80 { // not within a character
		at--
	}
	return []string{s[:at], s[at:]}
}

// joinTexts joins texts as paragraphs.
func joinTexts(texts []string) string { return strings.Join(texts, "\n\n") }
