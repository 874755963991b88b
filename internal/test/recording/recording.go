// Package recording is shared by the programs that replay recorded sessions. It reads a session, finds its requests and
// the changes in each, and lays out text for a terminal.
package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/transcript"
)

// Session is a recorded session.
type Session struct {
	Facts
	Messages []winnow.Message
	Calls    []Call                 // all that the file counts, those of other branches and of sub-agents among them
	From     *transcript.Transcript // nil: recorded as winnow's messages
}

// Call is a call of a model that was billed.
type Call struct {
	Usage   *winnow.Usage // of a message of the session: the message's own
	Model   string        // "": the file does not say
	Dollars float64       // what the file says that it cost; 0: nothing
}

// Open reads a session in any form: a file of another agent, a log of package session, or winnow's messages in JSON
// Lines or one JSON array; plain or gzipped. A session without messages is an error.
func Open(data []byte) (*Session, error) {
	data, err := unzip(data)
	if err != nil {
		return nil, err
	}
	t, err := transcript.Parse(data)
	if err != nil { // not a transcript
		messages, err := readMessages(data)
		s := newSession(messages, nil)
		s.takeModels(statedModels(data))
		return s, err
	}
	s := Of(t)
	if len(s.Messages) == 0 {
		return nil, fmt.Errorf("there is no message in this session of %s", t.Format)
	}
	return s, nil
}

// Of returns the session of a transcript.
func Of(t *transcript.Transcript) *Session { return newSession(t.Messages(), t) }

func newSession(messages []winnow.Message, from *transcript.Transcript) *Session {
	s := &Session{Messages: messages, From: from}
	if from == nil {
		for i := range messages {
			s.bill(Call{Usage: messages[i].Usage})
		}
		return s
	}
	s.Facts = factsOf(from, messages)
	for _, e := range from.Entries {
		switch {
		case e.Type == entry.TypeUsage: // a call whose answer is not in the conversation
			s.bill(callOf(e, e.Usage))
		case e.Type == entry.TypeMessage && e.Message != nil:
			s.bill(callOf(e, e.Message.Usage))
		}
	}
	return s
}

// takeModels takes the models that stand beside winnow's messages, if there is one for each.
func (s *Session) takeModels(list []string) {
	if len(list) != len(s.Messages) {
		return
	}
	answers, of := map[string]int{}, map[*winnow.Usage]string{}
	for i, model := range list {
		if m := &s.Messages[i]; m.Role == winnow.RoleAssistant && model != "" {
			of[m.Usage] = model
			if answers[model]++; answers[model] > answers[s.Model] || s.Model == "" {
				s.Model = model
			}
		}
	}
	for i := range s.Calls {
		s.Calls[i].Model = of[s.Calls[i].Usage]
	}
}

// statedModels returns the member "model" of each message.
func statedModels(data []byte) (list []string) {
	var x struct{ Model string }
	d := json.NewDecoder(bytes.NewReader(data))
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		_, _ = d.Token() // the messages follow
	}
	for ; d.More() && d.Decode(&x) == nil; x.Model = "" {
		list = append(list, x.Model)
	}
	return list
}

func (s *Session) bill(c Call) {
	if c.Usage != nil && *c.Usage != (winnow.Usage{}) {
		s.Calls = append(s.Calls, c)
	}
}

// Read returns the messages of a session that Open reads.
func Read(data []byte) ([]winnow.Message, error) {
	s, err := Open(data)
	if err != nil {
		return nil, err
	}
	return s.Messages, nil
}

// readMessages reads winnow's messages. If all of them are empty, the error says that data has another form.
func readMessages(data []byte) ([]winnow.Message, error) {
	history, err := winnow.ReadMessages(bytes.NewReader(data))
	switch {
	case err != nil:
		return history, err
	case len(history) == 0:
		return nil, errors.New("there is no message in it")
	case !slices.ContainsFunc(history, func(m winnow.Message) bool { return len(m.Parts) > 0 }):
		return nil, errors.New(`no message has "parts": it is not a session of Claude Code, Codex, OpenClaw or pi, ` +
			`and winnow's form is {"role":"user","parts":[{"text":"…"}]}, one a line`)
	}
	return history, nil
}

// unzip returns data, unpacked if it is gzipped.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("reading gzip: %w", err)
	}
	return data, nil
}

// Request is one request to the model.
type Request struct {
	History []winnow.Message // the history behind the request
	At      time.Time        // time of the newest message that has one: a pause lets the provider's cache expire
}

// Requests returns the requests of a session: as many as it has answers of the model. What nobody answered was perhaps
// never sent, such as the local command that ended the session. The recorded usage is removed, because it belongs to
// other requests than those of a replay. A session without requests is an error.
func Requests(recorded []winnow.Message) ([]Request, error) {
	history := slices.Clone(recorded)
	at := time.Unix(0, 0)
	billed := slices.ContainsFunc(recorded, isBilled)
	var requests []Request
	for n := range history {
		if n > 0 && isAnswer(recorded[n], billed) && !isNote(recorded, n) {
			requests = append(requests, Request{history[:n:n], at})
		}
		history[n].Usage = nil
		if history[n].Time.After(at) {
			at = history[n].Time
		}
	}
	if len(requests) == 0 {
		return nil, errors.New("the session has no request that a model answered")
	}
	return requests, nil
}

// isAnswer reports whether a model wrote m, in a session whose answers were billed or not. Hosts write other messages
// in its name: that a call failed, or, with nothing billed, what they delivered or that nobody answered.
func isAnswer(m winnow.Message, billed bool) bool {
	switch {
	case m.Role != winnow.RoleAssistant:
		return false
	case isBilled(m):
		return true
	case m.StopReason == "aborted" && len(m.Parts) > 0: // some hosts count nothing of what was stopped
		return true
	}
	return m.StopReason != "error" && (!billed || m.Usage == nil)
}

// isNote reports whether a gateway wrote message n in the name of the model: it was billed for nothing, calls nothing,
// and answers nothing that a model has not answered, or stands among answers whose usage is not counted at all.
func isNote(recorded []winnow.Message, n int) bool {
	isFree := func(m *winnow.Message) bool {
		return m.Usage != nil && !isBilled(*m) && !hasCalls(m) && m.StopReason != "aborted"
	}
	if !isFree(&recorded[n]) {
		return false
	}
	before := &recorded[n-1]
	isAnswered := before.Role == winnow.RoleAssistant && !hasCalls(before)
	return isAnswered || slices.ContainsFunc(recorded, func(m winnow.Message) bool {
		return m.Role == winnow.RoleAssistant && m.Usage == nil
	})
}

func hasCalls(m *winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall })
}

func isBilled(m winnow.Message) bool { return m.Usage != nil && *m.Usage != (winnow.Usage{}) }

// BeginsTurn reports whether a person wrote m to the model. The local commands of Claude Code are not for it.
func BeginsTurn(m *winnow.Message) bool {
	return m.Role == winnow.RoleUser && !m.Injected && !m.Summary && !strings.HasPrefix(Text(m), "<command-name>")
}

// Text joins the text parts of a message.
func Text(m *winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
