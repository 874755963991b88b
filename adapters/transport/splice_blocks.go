package transport

import (
	"encoding/json"
	"strings"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
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
	places map[int64]int // where the client has a block
	next   int           // the place of its next block
	events int           // the number of its next event
	moved  bool          // its events are not those of the provider any more

	waiting []event
	last    []event  // the end, if the answer has a call of the tool
	reply            // its items are those of all that has ended (Responses)
	done    []string // the items that have ended (Responses)
	message anthropicsdk.Message
	answer  []byte // in full (Responses)
}

func newBlockStream(n blockNames, f answerForm) *blockStream {
	return &blockStream{blockNames: n, places: map[int64]int{}, reply: reply{form: f}}
}

func (s *blockStream) take(e event) []event {
	kind := e.data.Get("type").Str
	if s.block == messagesBlocks.block {
		var x anthropicsdk.MessageStreamEventUnion
		if json.Unmarshal([]byte(e.data.Raw), &x) == nil {
			_ = s.message.Accumulate(x) // what the SDK does not know, the model does not see again
		}
	}
	if len(s.last) > 0 {
		s.last = append(s.last, e)
		return nil
	}
	if kind == "response.output_item.done" {
		s.done = append(s.done, e.data.Get(s.block).Raw)
	}
	number := e.data.Get(s.index)
	switch {
	case kind != "" && contains(s.opens, kind):
		if s.isLater {
			return nil
		}
	case kind != "" && contains(s.closes, kind):
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

func contains(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// show gives a block its place: its own, as long as the client has had all blocks.
func (s *blockStream) show(number int64) {
	if s.isLater || s.recalls > 0 {
		s.places[number] = s.next
		s.next++
		return
	}
	s.places[number] = int(number)
	s.next = max(s.next, int(number)+1)
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
		s.events = int(n.Int())
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
			s.events = int(n.Int())
		}
		e = e.number("sequence_number", s.events)
		s.events++
	}
	return e
}

// finish takes the end of an answer.
func (s *blockStream) finish(e event) []event {
	if response := e.data.Get("response"); response.Exists() {
		s.answer = []byte(response.Raw)
		if len(response.Get(s.form.items).Array()) == 0 && len(s.done) > 0 { // Codex's provider lists nothing here
			s.answer, _ = sjson.SetRawBytes(s.answer, s.form.items, []byte("["+strings.Join(s.done, ",")+"]"))
		}
		s.add(gjson.GetBytes(s.answer, s.form.items).Array())
		if s.isLater || s.recalls > 0 {
			data, _ := sjson.SetRaw(e.data.Raw, "response", string(s.put(s.answer)))
			e = e.with(data)
		}
	}
	if s.recalls > 0 {
		s.last = append(s.last, e)
		return nil
	}
	return append(s.release(), s.numbered(e))
}

func (s *blockStream) end() (rest []event, answer []json.RawMessage) {
	defer func() {
		s.places, s.last, s.waiting, s.message, s.answer = map[int64]int{}, nil, nil, anthropicsdk.Message{}, nil
		s.recalls, s.others, s.isLater, s.ledToRecall, s.done = 0, 0, true, false, nil
	}()
	whole, ended := s.answer, gjson.GetBytes(s.answer, s.form.ended).Str
	if s.block == messagesBlocks.block {
		text, err := json.Marshal(s.message.ToParam())
		if err == nil {
			whole, ended = text, string(s.message.StopReason)
		}
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
