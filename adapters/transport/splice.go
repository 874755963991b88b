package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// splice makes one stream of the streams of several answers. All is passed on as it comes but thoughts, which wait for
// what they lead to, and the end of an answer with a call of the recall tool.
type splice struct {
	form   *form
	from   *bufio.Reader
	body   io.Closer
	follow follow
	answer streamed

	out bytes.Buffer
	err error // what follows out
}

// follow asks the model again, behind its answer. isLast tells that it was not offered the tool.
type follow func(answer []json.RawMessage) (res *http.Response, isLast bool, err error)

// streamed is an answer that comes in events.
type streamed interface {
	// take returns what the client gets now.
	take(e event) []event
	// end returns the rest. If the model waits for results of the tool alone, it returns its answer as a history has
	// it, and what follows continues this one.
	end() (rest []event, answer []json.RawMessage)
	noMore() // the next one is the last
}

// event is one of a stream, with the empty line behind it.
type event struct {
	raw  []byte
	name string
	data gjson.Result
}

func newSplice(f *form, body io.ReadCloser, follow follow) *splice {
	s := &splice{form: f, from: bufio.NewReader(body), body: body, follow: follow}
	switch f {
	case messagesForm:
		s.answer = newBlockStream(messagesBlocks, f.answer)
	case responseForm:
		s.answer = newBlockStream(responseBlocks, f.answer)
	case chatForm:
		s.answer = newChunkStream(0, "")
	default:
		s.answer = &contentStream{reply: reply{form: f.answer}}
	}
	return s
}

func (s *splice) Close() error { return s.body.Close() }

func (s *splice) Read(b []byte) (int, error) {
	for s.out.Len() == 0 && s.err == nil {
		e, err := s.next()
		if len(e.raw) > 0 {
			s.write(s.answer.take(e))
		}
		if err == nil {
			continue
		}
		rest, answer := s.answer.end()
		s.write(rest)
		if s.err = err; err == io.EOF && answer != nil {
			s.err = s.goOn(answer)
		}
	}
	if s.out.Len() > 0 {
		return s.out.Read(b)
	}
	return 0, s.err
}

func (s *splice) write(list []event) {
	for _, e := range list {
		s.out.Write(e.raw)
	}
}

// next reads an event. Its text is raw even if the stream breaks in it.
func (s *splice) next() (e event, err error) {
	var data strings.Builder
	for {
		line, err := s.from.ReadString('\n')
		e.raw = append(e.raw, line...)
		text := strings.TrimRight(line, "\r\n")
		if err != nil || text == "" {
			e.data = gjson.Parse(data.String())
			return e, err
		}
		switch field, value, _ := strings.Cut(text, ":"); field {
		case "event":
			e.name = strings.TrimPrefix(value, " ")
		case "data":
			data.WriteString(strings.TrimPrefix(value, " "))
		}
	}
}

// with returns e with other data.
func (e event) with(data string) event {
	var b bytes.Buffer
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: " + data + "\n\n")
	return event{raw: b.Bytes(), name: e.name, data: gjson.Parse(data)}
}

// number returns e with a number at a path, if it has another one there.
func (e event) number(path string, n int) event {
	if old := e.data.Get(path); !old.Exists() || old.Int() == int64(n) {
		return e
	}
	data, _ := sjson.Set(e.data.Raw, path, n) // the path exists
	return e.with(data)
}

// goOn asks for the next answer, and continues with it. A refusal becomes an event, as providers send errors in
// streams.
func (s *splice) goOn(answer []json.RawMessage) error {
	_ = s.body.Close()
	res, isLast, err := s.follow(answer)
	if err != nil {
		return err
	}
	if isLast {
		s.answer.noMore()
	}
	s.body = res.Body
	if res.StatusCode == http.StatusOK && isStream(res) {
		s.from = bufio.NewReader(res.Body)
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, mostRead))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		b.Reset()
		_ = json.NewEncoder(&b).Encode(map[string]any{"error": map[string]string{"message": string(text)}})
	}
	s.write([]event{event{name: "error"}.with(strings.TrimSpace(b.String()))})
	return io.EOF
}

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

const (
	hidden  = -1 // the place of a block that the client does not get
	waiting = -2 // of a thought, until what it leads to has begun
)

// blockStream is an answer of Anthropic's Messages or of OpenAI's Responses.
type blockStream struct {
	blockNames
	places map[int64]int // where the client has a block
	shown  int           // how many it has, of all answers
	events int           // how many it has that are numbered

	waiting []event
	last    []event // the end, if the answer has a call of the tool
	reply           // its items are those of all that has ended (Responses)
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
	number := e.data.Get(s.index)
	switch {
	case kind != "" && contains(s.opens, kind):
		if s.isLater {
			return nil
		}
	case kind != "" && contains(s.closes, kind):
		return s.finish(e)
	case kind == s.start:
		block := e.data.Get(s.block)
		name, isCall := callOf(block)
		switch {
		case isCall && s.isRecall(name):
			s.places[number.Int()], s.waiting = hidden, nil
			s.recalls++
			return nil
		case isThought(block) && !s.form.isBound && s.isLater:
			s.places[number.Int()] = hidden
			return nil
		case isThought(block) && s.form.isBound:
			s.places[number.Int()] = waiting
			s.waiting = append(s.waiting, e)
			return nil
		case isCall:
			s.others++
		}
		out := s.release()
		s.places[number.Int()] = s.shown
		s.shown++
		return append(out, s.numbered(e))
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

// release returns the thoughts that wait, in their places.
func (s *blockStream) release() (out []event) {
	for _, e := range s.waiting {
		if at := e.data.Get(s.index).Int(); s.places[at] == waiting {
			s.places[at] = s.shown
			s.shown++
		}
		out = append(out, s.numbered(e))
	}
	s.waiting = nil
	return out
}

// numbered returns an event with the numbers that it has for the client.
func (s *blockStream) numbered(e event) event {
	if place, ok := s.places[e.data.Get(s.index).Int()]; ok {
		e = e.number(s.index, place)
	}
	if e.data.Get("sequence_number").Exists() {
		e = e.number("sequence_number", s.events)
		s.events++
	}
	return e
}

// finish takes the end of an answer.
func (s *blockStream) finish(e event) []event {
	if response := e.data.Get("response"); response.Exists() {
		s.answer = []byte(response.Raw)
		s.add(response.Get(s.form.items).Array())
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
		s.recalls, s.others, s.isLater = 0, 0, true
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
	rest = s.release()
	for _, e := range s.last {
		rest = append(rest, s.numbered(e))
	}
	return rest, nil
}

// chunkStream is an answer of Chat Completions.
type chunkStream struct {
	places map[int64]int // where the client has a call
	own    map[int64]int // where calls has it
	shown  int           // how many calls the client has
	id     string        // of the first answer

	last  []event // the end, if the answer has a call of the tool
	ended string
	reply
	said, thoughts strings.Builder
	calls          []string // as the model sees them
}

const (
	delta    = "choices.0.delta"
	finished = "choices.0.finish_reason"
)

func newChunkStream(shown int, id string) *chunkStream {
	return &chunkStream{places: map[int64]int{}, own: map[int64]int{}, shown: shown, id: id}
}

func (s *chunkStream) take(e event) []event {
	choice := e.data.Get("choices.0")
	if len(s.last) > 0 || !choice.Exists() {
		return s.finish(e)
	}
	data := e.data.Raw
	if s.id == "" {
		s.id = e.data.Get("id").Str
	} else if id := e.data.Get("id"); id.Exists() && id.Str != s.id {
		data, _ = sjson.Set(data, "id", s.id)
	}
	if s.isLater {
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
	if s.ended == "" {
		return []event{e}
	}
	if s.recalls == 0 {
		return s.finish(e)
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
		if own, ok := s.own[at]; ok {
			const arguments = "function.arguments"
			so := gjson.Get(s.calls[own], arguments).Str + c.Get(arguments).Str
			s.calls[own], _ = sjson.Set(s.calls[own], arguments, so)
		} else {
			if s.isRecall(c.Get("function.name").Str) {
				s.places[at] = hidden
				s.recalls++
			} else {
				s.places[at] = s.shown
				s.shown++
				s.others++
			}
			s.own[at] = len(s.calls)
			raw, _ := sjson.Delete(c.Raw, "index")
			s.calls = append(s.calls, raw)
		}
		if place := s.places[at]; place != hidden {
			raw, _ := sjson.Set(c.Raw, "index", place)
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

func (s *chunkStream) finish(e event) []event {
	if s.recalls > 0 {
		s.last = append(s.last, e)
		return nil
	}
	return []event{e}
}

func (s *chunkStream) end() (rest []event, answer []json.RawMessage) {
	if len(s.last) == 0 || !s.mayGoOn(s.ended) {
		return s.last, nil
	}
	message, _ := sjson.Set(`{"role":"assistant"}`, "content", s.said.String())
	if s.thoughts.Len() > 0 {
		message, _ = sjson.Set(message, "reasoning_content", s.thoughts.String())
	}
	message, _ = sjson.SetRaw(message, "tool_calls", "["+strings.Join(s.calls, ",")+"]")
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
