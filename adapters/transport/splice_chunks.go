package transport

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// chunkStream is an answer of Chat Completions.
type chunkStream struct {
	own   map[int64]int // where calls has a call
	shown int           // how many calls the client has
	id    string        // of the first answer

	last  []event // the end, if the answer has a call of the tool
	ended string
	reply
	said, thoughts strings.Builder
	calls          []*streamedCall // as the model sees them
}

// streamedCall is a call with the arguments that came so far.
type streamedCall struct {
	raw       gjson.Result
	arguments strings.Builder
	place     int // where the client has it
}

const (
	delta     = "choices.0.delta"
	finished  = "choices.0.finish_reason"
	arguments = "function.arguments" // of a call
)

func newChunkStream(shown int, id string) *chunkStream {
	return &chunkStream{own: map[int64]int{}, shown: shown, id: id}
}

func (s *chunkStream) take(e event) []event {
	choice := e.data.Get("choices.0")
	if len(s.last) > 0 {
		s.last = append(s.last, e)
		return nil
	}
	if !choice.Exists() {
		return []event{e}
	}
	data := e.data.Raw
	id := e.data.Get("id")
	if s.id == "" {
		s.id = id.Str
	}
	if s.isLater {
		if id.Exists() && id.Str != s.id {
			data, _ = sjson.Set(data, "id", s.id)
		}
		data, _ = sjson.Delete(data, delta+".role")
	}
	s.said.WriteString(choice.Get("delta.content").Str)
	s.thoughts.WriteString(choice.Get("delta.reasoning_content").Str)
	data = s.withoutRecalls(data, choice.Get("delta.tool_calls").Array())
	s.ended = choice.Get("finish_reason").Str
	if data != e.data.Raw {
		if gjson.Get(data, delta).Raw == "{}" && s.ended == "" {
			return nil
		}
		e = e.with(data)
	}
	if s.ended == "" || s.recalls == 0 {
		return []event{e}
	}
	end, _ := sjson.SetRaw(data, delta, "{}")
	s.last = []event{e.with(end)}
	if gjson.Get(data, delta).Raw == "{}" {
		return nil
	}
	data, _ = sjson.SetRaw(data, finished, "null")
	return []event{e.with(data)}
}

// withoutRecalls returns a chunk without calls of the tool, and takes note of all calls.
func (s *chunkStream) withoutRecalls(data string, calls []gjson.Result) string {
	if len(calls) == 0 {
		return data
	}
	var left []string
	for _, c := range calls {
		at := c.Get("index").Int()
		own, ok := s.own[at]
		if ok && c.Get("function.name").Str != "" && c.Get("id").Str != s.calls[own].raw.Get("id").Str {
			ok = false // Gemini numbers all its calls 0
		}
		if !ok {
			call := &streamedCall{raw: c, place: hidden}
			if s.isRecall(c.Get("function.name").Str) {
				s.recalls++
			} else {
				call.place = s.shown
				s.shown++
				s.others++
			}
			own = len(s.calls)
			s.own[at] = own
			s.calls = append(s.calls, call)
		}
		call := s.calls[own]
		call.arguments.WriteString(c.Get(arguments).Str)
		if call.place != hidden {
			raw, _ := sjson.Set(c.Raw, "index", call.place)
			left = append(left, raw)
		}
	}
	if len(left) == 0 {
		data, _ = sjson.Delete(data, delta+".tool_calls")
		return data
	}
	if s.shown == len(s.calls) && !s.isLater {
		return data // nothing is hidden
	}
	data, _ = sjson.SetRaw(data, delta+".tool_calls", "["+strings.Join(left, ",")+"]")
	return data
}

func (s *chunkStream) end() (rest []event, answer []json.RawMessage) {
	if len(s.last) == 0 || !s.mayGoOn(s.ended) {
		return s.last, nil
	}
	message, _ := sjson.Set(`{"role":"assistant"}`, "content", s.said.String())
	if s.thoughts.Len() > 0 {
		message, _ = sjson.Set(message, "reasoning_content", s.thoughts.String())
	}
	for _, c := range s.calls {
		call, _ := sjson.Delete(c.raw.Raw, "index")
		call, _ = sjson.Set(call, arguments, c.arguments.String())
		message, _ = sjson.SetRaw(message, "tool_calls.-1", call)
	}
	*s = *newChunkStream(s.shown, s.id)
	s.isLater = true
	return nil, []json.RawMessage{json.RawMessage(message)}
}

// contentStream is an answer of Gemini. Each of its events is one, with some of the parts.
type contentStream struct {
	reply          // its items are those of the newest event
	parts []string // as the model sees them
	last  []event
	ended string
}

func (s *contentStream) take(e event) []event {
	items := e.data.Get(s.form.items).Array()
	for _, p := range items {
		s.parts = append(s.parts, p.Raw)
	}
	recalls, others := s.recalls, s.others
	s.items = nil
	s.add(items)
	isWhole := s.recalls == 0
	s.recalls += recalls
	s.others += others
	if !isWhole {
		e = e.with(string(s.put([]byte(e.data.Raw))))
	}
	ended := e.data.Get(s.form.ended).Str
	if ended == "" && len(s.last) == 0 || s.recalls == 0 {
		if !isWhole && len(s.items) == 0 {
			return nil
		}
		return []event{e}
	}
	if ended != "" {
		s.ended = ended
	}
	var out []event
	if len(s.items) > 0 {
		without, _ := sjson.Delete(e.data.Raw, s.form.ended)
		out = []event{e.with(without)}
		rest, _ := sjson.SetRaw(e.data.Raw, s.form.items, "[]")
		e = e.with(rest)
	}
	s.last = append(s.last, e)
	return out
}

func (s *contentStream) end() (rest []event, answer []json.RawMessage) {
	if len(s.last) == 0 || !s.mayGoOn(s.ended) {
		return s.last, nil
	}
	content, _ := sjson.SetRaw(`{"role":"model"}`, "parts", "["+strings.Join(s.parts, ",")+"]")
	*s = contentStream{reply: reply{form: s.form}}
	return nil, []json.RawMessage{json.RawMessage(content)}
}
