package transport

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Streams begin with events that say nothing yet (response.created, message_start, ping, a chunk with a role alone),
// and a refusal may come behind them. They are held back until it is known whether it does.

const (
	mostHeld = 1 << 20 // how much is held: the first events of Responses repeat the request's instructions and tools

	// How long, from the end of the first event on. Refusals for size come before a model begins, and no client gives a
	// connection up that is silent for so long.
	longestHeld = 5 * time.Second
)

// An opening is a stream whose first events are read before the client sees them.
type opening struct {
	body io.ReadCloser

	mu      sync.Mutex
	more    *sync.Cond // text, err or ended has changed
	text    []byte     // that was read and is not passed on yet
	read    int        // of text, what was looked at
	refusal string     // an error in place of an answer
	isKnown bool       // an answer or a refusal has begun, or too much was read
	isGiven bool       // the client reads: nothing is held any more
	isEnded bool       // nobody reads ahead
	err     error      // behind text
}

// openingOf reads the first events of a stream. The text of a refusal is "" if it is none. rest is the whole stream.
func openingOf(body io.ReadCloser) (refusal string, rest io.ReadCloser) {
	s := &opening{body: body}
	s.more = sync.NewCond(&s.mu)
	for !s.isKnown && s.err == nil && s.read == 0 {
		s.readOn()
	}
	if s.isKnown || s.err != nil {
		s.isEnded = true
		return s.refusal, s
	}
	known := make(chan struct{})
	go func() { // ends with the read that it is in when the client reads, or with the stream
		defer close(known)
		for s.goesOn() {
			s.readOn()
		}
	}()
	late := time.NewTimer(longestHeld)
	defer late.Stop()
	select {
	case <-known:
	case <-late.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isGiven = true
	return s.refusal, s
}

// goesOn reports whether more is read ahead.
func (s *opening) goesOn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isEnded = s.isKnown || s.isGiven || s.err != nil
	s.more.Broadcast()
	return !s.isEnded
}

// readOn reads once, and looks at the events that are whole then.
func (s *opening) readOn() {
	b := make([]byte, 4<<10)
	n, err := s.body.Read(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.err = append(s.text, b[:n]...), err
	if s.isGiven {
		s.more.Broadcast()
		return
	}
	for !s.isKnown {
		end := endOfEvent(s.text[s.read:])
		if end < 0 && err != nil {
			end = len(s.text) - s.read // the stream ends in an event
		}
		if end <= 0 {
			break
		}
		s.isKnown, s.refusal = weigh(s.text[s.read : s.read+end])
		s.read += end
	}
	s.isKnown = s.isKnown || len(s.text) >= mostHeld
}

func (s *opening) Read(b []byte) (int, error) {
	s.mu.Lock()
	for len(s.text) == 0 && !s.isEnded {
		s.more.Wait()
	}
	if n := copy(b, s.text); n > 0 || s.err != nil || len(b) == 0 {
		if s.text = s.text[n:]; len(s.text) == 0 {
			s.text = nil
		}
		err := s.err
		if len(s.text) > 0 {
			err = nil
		}
		s.mu.Unlock()
		return n, err
	}
	s.mu.Unlock()
	return s.body.Read(b)
}

func (s *opening) Close() error { return s.body.Close() }

// endOfEvent returns where the first event ends, behind its empty line, or -1.
func endOfEvent(text []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return -1
		}
		if at += n + 1; bytes.HasPrefix(text[at:], []byte("\n")) {
			return at + 1
		}
		if bytes.HasPrefix(text[at:], []byte("\r\n")) {
			return at + 2
		}
	}
}

// weigh says what an event is: a refusal, a part of an answer, or neither. What is not known is a part of an answer.
func weigh(event []byte) (isKnown bool, refusal string) {
	var name string
	var lines []string
	for line := range strings.SplitSeq(string(event), "\n") {
		switch field, value, _ := strings.Cut(strings.TrimRight(line, "\r"), ":"); field {
		case "event":
			name = strings.TrimPrefix(value, " ")
		case "data":
			lines = append(lines, strings.TrimPrefix(value, " "))
		}
	}
	if lines == nil {
		return false, "" // a comment, which keeps the connection open
	}
	text := strings.Join(lines, "\n")
	data, ok := jsonedit.Parse([]byte(text))
	if !ok || !data.IsObject() {
		return true, ""
	}
	for _, path := range []string{"response.error", "error"} {
		if e := data.Get(path); !e.IsEmpty() {
			return true, string(e)
		}
	}
	if data.Get("type").Text() == "error" || name == "error" {
		return true, text
	}
	return !isOpening(data), ""
}

// isOpening reports whether an event comes before the answer, in any of the four APIs: it has the place of one, which
// is empty, or nothing at all.
func isOpening(data value) bool {
	hasMore := false
	data.Members(func(name string, _ value) {
		hasMore = hasMore || name != "type" && name != "sequence_number"
	})
	if !hasMore {
		return data.Get("type").Exists() // ping
	}
	for _, path := range []string{"message.content", "response.output"} {
		if of := data.Get(path); of.IsList() {
			return len(of.Elements()) == 0 && !isTold(data.Get("response.incomplete_details"))
		}
	}
	if of := data.Get("response"); of.IsObject() {
		return of.Get("status").Text() != "completed" && !of.Get("output").Exists()
	}
	for _, c := range data.Get("choices").Elements() {
		if isTold(c.Get("finish_reason")) || isTold(c.Get("delta"), "role") {
			return false
		}
	}
	for _, c := range data.Get("candidates").Elements() {
		if isTold(c.Get("finishReason")) || isTold(c.Get("content"), "role") {
			return false
		}
	}
	return data.Get("choices").IsList() || data.Get("candidates").IsList() ||
		data.Get("usageMetadata").Exists() && !data.Get("promptFeedback").Exists()
}

// isTold reports whether a value has a text, a number or true anywhere in it, besides a member of a name.
func isTold(v value, but ...string) (is bool) {
	for _, of := range v.Elements() {
		is = is || isTold(of)
	}
	v.Members(func(name string, of value) {
		if len(but) == 0 || name != but[0] {
			is = is || isTold(of)
		}
	})
	return is || !v.IsObject() && !v.IsList() && !v.IsEmpty()
}
