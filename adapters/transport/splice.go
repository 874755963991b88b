package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// splice makes one stream of the streams of several answers. All is passed on as it comes, but for the thoughts of
// OpenAI's Responses, which wait for what they lead to, and the end of an answer with a call of the recall tool.
type splice struct {
	form   *form
	from   *bufio.Reader
	follow follow
	answer streamed

	mu       sync.Mutex // a client may close while it reads
	body     io.Closer
	isClosed bool

	out bytes.Buffer
	err error // what follows out
}

// follow asks the model again, behind its answer. isLast tells that it was not offered the tool.
type follow func(answer []value) (res *http.Response, isLast bool, err error)

// streamed is an answer that comes in events.
type streamed interface {
	// take returns what the client gets now.
	take(e event) []event
	// end returns the rest. If the model waits for results of the tool alone, it returns its answer as a history has
	// it, and what follows continues this one.
	end() (rest []event, answer []value)
	noMore() // the next one is the last
}

// event is one of a stream, with the empty line behind it.
type event struct {
	raw  []byte
	name string
	data value
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

func (s *splice) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isClosed = true
	return s.body.Close()
}

// goOnWith puts the body of the next answer in the place of the last one's, and reports whether the client still reads.
func (s *splice) goOnWith(body io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.body.Close()
	if s.body = body; s.isClosed {
		_ = body.Close()
	}
	return !s.isClosed
}

func (s *splice) Read(b []byte) (int, error) {
	for s.out.Len() == 0 && s.err == nil {
		e, err := s.next()
		isCut := err != nil && e.data == nil // an event that breaks off in front of its data
		if len(e.raw) > 0 && !isCut {
			s.write(s.answer.take(e))
		}
		if err == nil {
			continue
		}
		rest, answer := s.answer.end()
		s.write(rest)
		if s.err = err; err == io.EOF && answer != nil {
			s.err = s.goOn(answer)
		} else if isCut {
			s.write([]event{e})
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
			e.data, _ = jsonedit.Parse([]byte(data.String())) // what is none is passed on as it came
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
func (e event) with(data value) event {
	var b bytes.Buffer
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: " + string(data) + "\n\n")
	return event{raw: b.Bytes(), name: e.name, data: data}
}

// number returns e with a number at a path, if it has another one there.
func (e event) number(path string, n int) event {
	if old := e.data.Get(path); !old.Exists() || old.Int() == n {
		return e
	}
	return e.with(e.data.Set(path, strconv.AppendInt(nil, int64(n), 10)))
}

// goOn asks for the next answer, and continues with it. A refusal becomes an event, as providers send errors in
// streams.
func (s *splice) goOn(answer []value) error {
	if !s.goOnWith(http.NoBody) {
		return http.ErrBodyReadAfterClose
	}
	res, isLast, err := s.follow(answer)
	if err != nil {
		return err
	}
	if isLast {
		s.answer.noMore()
	}
	if !s.goOnWith(res.Body) {
		return http.ErrBodyReadAfterClose
	}
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
	s.write([]event{event{name: "error"}.with(bytes.TrimSpace(b.Bytes()))})
	return io.EOF
}
