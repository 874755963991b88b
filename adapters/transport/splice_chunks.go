package transport

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// chunkStream is an answer of Chat Completions.
type chunkStream struct {
	own   map[int]int // where calls has a call
	shown int         // how many calls the client has
	id    string      // of the first answer

	last  []event // the end, if the answer has a call of the tool
	ended string
	reply
	said, thoughts strings.Builder
	calls          []*streamedCall // as the model sees them
}

// streamedCall is a call with the arguments that came so far.
type streamedCall struct {
	raw       value
	arguments strings.Builder
	place     int // where the client has it
}

const (
	delta     = "choices.0.delta"
	finished  = "choices.0.finish_reason"
	arguments = "function.arguments" // of a call
)

func newChunkStream(shown int, id string) *chunkStream {
	return &chunkStream{own: map[int]int{}, shown: shown, id: id}
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
	data := e.data
	id := e.data.Get("id")
	if s.id == "" {
		s.id = id.Text()
	}
	if s.isLater {
		if id.Exists() && id.Text() != s.id {
			data = data.Set("id", jsonedit.Quote(s.id))
		}
		data = data.Delete(delta + ".role")
	}
	s.said.WriteString(choice.Get("delta.content").Text())
	s.thoughts.WriteString(choice.Get("delta.reasoning_content").Text())
	data = s.withoutRecalls(data, choice.Get("delta.tool_calls").Elements())
	s.ended = choice.Get("finish_reason").Text()
	if string(data) != string(e.data) {
		if string(data.Get(delta)) == "{}" && s.ended == "" {
			return nil
		}
		e = e.with(data)
	}
	if s.ended == "" || s.recalls == 0 {
		return []event{e}
	}
	s.last = []event{e.with(data.Set(delta, []byte("{}")))}
	if string(data.Get(delta)) == "{}" {
		return nil
	}
	return []event{e.with(data.Set(finished, []byte("null")))}
}

// withoutRecalls returns a chunk without calls of the tool, and takes note of all calls.
func (s *chunkStream) withoutRecalls(data value, calls []value) value {
	if len(calls) == 0 {
		return data
	}
	var left []value
	for _, c := range calls {
		at := c.Get("index").Int()
		own, ok := s.own[at]
		if ok && c.Get("function.name").Text() != "" && c.Get("id").Text() != s.calls[own].raw.Get("id").Text() {
			ok = false // Gemini numbers all its calls 0
		}
		if !ok {
			call := &streamedCall{raw: c, place: hidden}
			if s.isRecall(c.Get("function.name").Text()) {
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
		call.arguments.WriteString(c.Get(arguments).Text())
		if call.place != hidden {
			left = append(left, c.Set("index", strconv.AppendInt(nil, int64(call.place), 10)))
		}
	}
	if len(left) == 0 {
		return data.Delete(delta + ".tool_calls")
	}
	if s.shown == len(s.calls) && !s.isLater {
		return data // nothing is hidden
	}
	return data.Set(delta+".tool_calls", jsonedit.List(left...))
}

func (s *chunkStream) end() (rest []event, answer []value) {
	if len(s.last) == 0 || !s.mayGoOn(s.ended) {
		return s.last, nil
	}
	message := value(jsonedit.Object("role", "assistant", "content", s.said.String()))
	if s.thoughts.Len() > 0 {
		message = message.Set("reasoning_content", jsonedit.Quote(s.thoughts.String()))
	}
	calls := make([]value, len(s.calls))
	for i, c := range s.calls {
		calls[i] = c.raw.Delete("index").Set(arguments, jsonedit.Quote(c.arguments.String()))
	}
	message = message.Set("tool_calls", jsonedit.List(calls...))
	*s = *newChunkStream(s.shown, s.id)
	s.isLater = true
	return nil, []value{message}
}

// contentStream is an answer of Gemini. Each of its events is one, with some of the parts.
type contentStream struct {
	reply         // its items are those of the newest event
	parts []value // as the model sees them
	last  []event
	ended string
}

func (s *contentStream) take(e event) []event {
	items := e.data.Get(s.form.items).Elements()
	s.parts = append(s.parts, items...)
	recalls, others := s.recalls, s.others
	s.items = nil
	s.add(items)
	isWhole := s.recalls == 0
	s.recalls += recalls
	s.others += others
	if !isWhole {
		e = e.with(s.put(e.data))
	}
	ended := e.data.Get(s.form.ended).Text()
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
		out = []event{e.with(e.data.Delete(s.form.ended))}
		e = e.with(e.data.Set(s.form.items, []byte("[]")))
	}
	s.last = append(s.last, e)
	return out
}

func (s *contentStream) end() (rest []event, answer []value) {
	if len(s.last) == 0 || !s.mayGoOn(s.ended) {
		return s.last, nil
	}
	content := value(jsonedit.Object("role", "model", "parts", jsonedit.List(s.parts...)))
	*s = contentStream{reply: reply{form: s.form}}
	return nil, []value{content}
}
