package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/winnowgo/winnow"
)

// Clients that ask a provider themselves: what they send, and what they get.

// OfRequest returns the API of a client's request, or nil if it is none of these.
func OfRequest(r *http.Request) API {
	last := path.Base(r.URL.Path)
	switch {
	case r.Method != http.MethodPost:
		return nil
	case last == "messages":
		return messages{}
	case last == "responses":
		return responses{}
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(last, ":generateContent"), strings.HasSuffix(last, streaming):
		return contents{}
	}
	return nil
}

// streaming ends the path of Gemini where it streams.
const streaming = ":streamGenerateContent"

// Shorten changes a client's request into one for a short answer that is not streamed: its path and query, and the
// body, which it returns. One that thinks is given as much room as the client gave it.
func Shorten(a API, r *http.Request, body []byte, most int) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	limit := func(in map[string]json.RawMessage, name string) {
		var n int
		if json.Unmarshal(in[name], &n) != nil || n > most {
			in[name], _ = json.Marshal(most)
		}
	}
	delete(members, "stream")
	delete(members, "stream_options")
	_, thinks := members["thinking"]
	switch a.(type) {
	case messages:
		if !thinks {
			limit(members, "max_tokens")
		}
	case responses:
		limit(members, "max_output_tokens")
		members["store"] = json.RawMessage("false")
	case chat:
		name := "max_tokens"
		if _, ok := members["max_completion_tokens"]; ok {
			name = "max_completion_tokens"
		}
		limit(members, name)
	case contents:
		config := map[string]json.RawMessage{}
		if raw := members["generationConfig"]; raw != nil {
			if err := json.Unmarshal(raw, &config); err != nil {
				return nil, err
			}
		}
		limit(config, "maxOutputTokens")
		members["generationConfig"], _ = json.Marshal(config)
		r.URL.Path, r.URL.RawPath = strings.Replace(r.URL.Path, streaming, ":generateContent", 1), ""
		q := r.URL.Query()
		q.Del("alt")
		r.URL.RawQuery = q.Encode()
	}
	return json.Marshal(members)
}

// Read reads an answer that is not streamed.
func Read(a API, body []byte) (Answer, error) { return a.read(body) }

// ReadStream reads an answer of server-sent events for what it says and calls. Its usage is not read.
func ReadStream(a API, body []byte) (Answer, error) {
	s := &streamed{byIndex: map[int]*streamedCall{}}
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || data[0] != '{' {
			continue
		}
		if err := s.take(a, data); err != nil {
			return Answer{}, err
		}
	}
	if s.said.Len() == 0 && len(s.calls) == 0 {
		return Answer{}, errors.New("the stream has no answer")
	}
	calls := make([]winnow.Part, len(s.calls))
	for i, c := range s.calls {
		calls[i] = callOf(c.id, c.name, []byte(c.arguments.String()))
	}
	return answerOf(s.said.String(), calls, winnow.Usage{}, "", false), nil
}

// streamed is what a stream has said so far.
type streamed struct {
	said    strings.Builder
	calls   []*streamedCall
	byIndex map[int]*streamedCall
}

type streamedCall struct {
	id, name  string
	arguments strings.Builder
}

// call returns the call at an index, which begins with its name.
func (s *streamed) call(index int, id, name string) *streamedCall {
	c := s.byIndex[index]
	if c == nil || name != "" && c.name != "" {
		c = &streamedCall{id: id, name: name}
		s.byIndex[index], s.calls = c, append(s.calls, c)
	}
	return c
}

func (s *streamed) take(a API, data []byte) error {
	switch a.(type) {
	case messages:
		return s.takeMessages(data)
	case chat:
		return s.takeChat(data)
	}
	if _, ok := a.(responses); ok { // its last event has the whole answer
		var e struct{ Response json.RawMessage }
		if err := json.Unmarshal(data, &e); err != nil || !bytes.Contains(data, []byte(`"response.completed"`)) &&
			!bytes.Contains(data, []byte(`"response.incomplete"`)) {
			return err
		}
		data = e.Response
	}
	answer, err := a.read(data)
	if err != nil {
		return nil // an event of Gemini without a candidate
	}
	for _, p := range answer.Parts {
		if p.Kind == winnow.KindToolCall {
			s.call(len(s.calls), p.ID, p.Name).arguments.Write(p.Arguments)
		} else {
			s.said.WriteString(p.Text)
		}
	}
	return nil
}

func (s *streamed) takeMessages(data []byte) error {
	var e struct {
		Index int
		Block struct{ Type, ID, Name string } `json:"content_block"`
		Delta struct {
			Text    string
			Partial string `json:"partial_json"`
		}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	s.said.WriteString(e.Delta.Text)
	switch {
	case e.Block.Type == "tool_use":
		s.call(e.Index, e.Block.ID, e.Block.Name)
	case e.Delta.Partial != "":
		if c := s.byIndex[e.Index]; c != nil { // else of a tool that the provider runs itself
			c.arguments.WriteString(e.Delta.Partial)
		}
	}
	return nil
}

func (s *streamed) takeChat(data []byte) error {
	var e struct {
		Choices []struct {
			Delta struct {
				Content   string
				ToolCalls []struct {
					Index    int
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal(data, &e); err != nil || len(e.Choices) == 0 {
		return err
	}
	d := &e.Choices[0].Delta
	s.said.WriteString(d.Content)
	for _, c := range d.ToolCalls {
		s.call(c.Index, c.ID, c.Function.Name).arguments.WriteString(c.Function.Arguments)
	}
	return nil
}
