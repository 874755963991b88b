package transport

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// blockNames are the words of an API that streams an answer in numbered blocks.
type blockNames struct {
	index, start, block string // the number; the type of an event that begins a block, and its member
	opens, closes       string // the types of events that stand around all blocks
}

var (
	messagesBlocks = blockNames{index: "index", start: "content_block_start", block: "content_block",
		opens: "message_start", closes: "message_delta message_stop"}
	responseBlocks = blockNames{index: "output_index", start: "response.output_item.added", block: "item",
		opens:  "response.created response.queued response.in_progress",
		closes: "response.completed response.incomplete response.failed"}
)

// blockStream is an answer of Anthropic's Messages or of OpenAI's Responses.
type blockStream struct {
	blockNames
	places map[int]int // where the client has a block
	next   int         // the place of its next block
	events int         // the number of its next event
	moved  bool        // its events are not those of the provider any more

	waiting []event
	last    []event // the end, if the answer has a call of the tool
	reply           // its items are those of all that has ended (Responses)
	done    []value // the items that have ended (Responses)
	message streamedMessage
	answer  value // in full (Responses)
}

func newBlockStream(n blockNames, f answerForm) *blockStream {
	return &blockStream{blockNames: n, places: map[int]int{}, reply: reply{form: f}}
}

func (s *blockStream) take(e event) []event {
	kind := e.data.Get("type").Text()
	if s.block == messagesBlocks.block {
		s.message.take(e.data)
	}
	if len(s.last) > 0 {
		s.last = append(s.last, e)
		return nil
	}
	if kind == "response.output_item.done" {
		s.done = append(s.done, e.data.Get(s.block))
	}
	number := e.data.Get(s.index)
	switch {
	case slices.Contains(strings.Fields(s.opens), kind):
		if s.isLater {
			return nil
		}
	case slices.Contains(strings.Fields(s.closes), kind):
		return s.finish(e)
	case kind == s.start:
		place := s.judge(e.data.Get(s.block))
		if place == shown {
			out := s.release()
			s.show(number.Int())
			return append(out, s.numbered(e))
		}
		s.places[number.Int()] = place
		s.move(e)
		if place == waiting {
			if s.ledToRecall {
				s.waiting, s.ledToRecall = nil, false
			}
			s.waiting = append(s.waiting, e)
		}
		return nil
	case number.Exists():
		switch place, ok := s.places[number.Int()]; {
		case ok && place == waiting:
			s.waiting = append(s.waiting, e)
			return nil
		case ok && place == hidden:
			return nil
		}
	}
	return []event{s.numbered(e)}
}

// show gives a block its place: its own, as long as the client has had all blocks.
func (s *blockStream) show(number int) {
	if s.isLater || s.recalls > 0 {
		s.places[number] = s.next
		s.next++
		return
	}
	s.places[number] = number
	s.next = max(s.next, number+1)
}

// release returns the thoughts that wait, in their places.
func (s *blockStream) release() (out []event) {
	for _, e := range s.waiting {
		if at := e.data.Get(s.index).Int(); s.places[at] == waiting {
			s.show(at)
		}
		out = append(out, s.numbered(e))
	}
	s.waiting = nil
	return out
}

// move notes that from e on, the client's events have other numbers or another order than the provider's.
func (s *blockStream) move(e event) {
	if n := e.data.Get("sequence_number"); n.Exists() && !s.moved {
		s.events = n.Int()
	}
	s.moved = true
}

// numbered returns an event with the numbers that it has for the client.
func (s *blockStream) numbered(e event) event {
	if place, ok := s.places[e.data.Get(s.index).Int()]; ok {
		e = e.number(s.index, place)
	}
	if n := e.data.Get("sequence_number"); n.Exists() {
		if !s.moved {
			s.events = n.Int()
		}
		e = e.number("sequence_number", s.events)
		s.events++
	}
	return e
}

// finish takes the end of an answer.
func (s *blockStream) finish(e event) []event {
	if response := e.data.Get("response"); response.Exists() {
		s.answer = response
		if len(response.Get(s.form.items).Elements()) == 0 && len(s.done) > 0 { // Codex's provider lists nothing here
			s.answer = s.answer.Set(s.form.items, jsonedit.List(s.done...))
		}
		s.add(s.answer.Get(s.form.items).Elements())
		if s.isLater || s.recalls > 0 {
			e = e.with(e.data.Set("response", s.put(s.answer)))
		}
	}
	if s.recalls > 0 {
		s.last = append(s.last, e)
		return nil
	}
	return append(s.release(), s.numbered(e))
}

func (s *blockStream) end() (rest []event, answer []value) {
	defer func() {
		s.places, s.last, s.waiting, s.message, s.answer = map[int]int{}, nil, nil, streamedMessage{}, nil
		s.recalls, s.others, s.isLater, s.ledToRecall, s.done = 0, 0, true, false, nil
	}()
	whole, ended := s.answer, s.answer.Get(s.form.ended).Text()
	if s.block == messagesBlocks.block {
		whole, ended = s.message.whole(), s.message.ended
	}
	if len(s.last) > 0 && s.mayGoOn(ended) {
		return nil, s.form.asHistory(whole)
	}
	if !s.ledToRecall {
		rest = s.release()
	}
	for _, e := range s.last {
		rest = append(rest, s.numbered(e))
	}
	return rest, nil
}

// streamedMessage is a message of Anthropic's that comes in events.
type streamedMessage struct {
	blocks []*streamedBlock
	ended  string
}

// streamedBlock is a block with the texts that came so far.
type streamedBlock struct {
	of    value
	texts map[string]*strings.Builder // by the members that they are of
	lists map[string][]value
}

// The members of deltas, and the members of a block that they go on with.
var deltaMembers = map[string]string{
	"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "input", "content": "content",
}

func (m *streamedMessage) take(e value) {
	at := e.Get("index").Int()
	switch e.Get("type").Text() {
	case "content_block_start":
		m.blocks = append(m.blocks, &streamedBlock{of: e.Get("content_block"), texts: map[string]*strings.Builder{},
			lists: map[string][]value{}})
	case "content_block_delta":
		if at >= len(m.blocks) || at < 0 {
			return
		}
		b := m.blocks[at]
		e.Get("delta").Members(func(name string, v value) {
			if name == "citation" {
				b.lists["citations"] = append(b.lists["citations"], v)
				return
			}
			member := deltaMembers[name]
			if member == "" || !v.IsText() {
				return
			}
			if b.texts[member] == nil {
				b.texts[member] = &strings.Builder{}
				if member != "input" { // which begins as an empty object
					b.texts[member].WriteString(b.of.Get(member).Text())
				}
			}
			b.texts[member].WriteString(v.Text())
		})
	case "message_delta":
		if reason := e.Get("delta.stop_reason").Text(); reason != "" {
			m.ended = reason
		}
	}
}

// whole returns the message.
func (m *streamedMessage) whole() value {
	blocks := make([]value, len(m.blocks))
	for i, b := range m.blocks {
		blocks[i] = b.of
		for member, text := range b.texts {
			if member != "input" {
				blocks[i] = blocks[i].Set(member, jsonedit.Quote(text.String()))
			} else if input, ok := jsonedit.Parse([]byte(text.String())); ok {
				blocks[i] = blocks[i].Set(member, input)
			}
		}
		for member, list := range b.lists {
			blocks[i] = blocks[i].Set(member, jsonedit.List(list...))
		}
	}
	return jsonedit.Object("role", "assistant", "content", jsonedit.List(blocks...))
}
