package transport

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// mostRead is how much of an answer is read for its usage, and of a refusal for its words.
const mostRead = 4 << 20

// refused is an answer that refuses a request as too long.
type refused struct {
	answer *http.Response
	text   string
}

func (r *refused) Error() string   { return r.text }
func (r *refused) StatusCode() int { return r.answer.StatusCode }

// refusalOf returns res as an error if it refuses a request as too large, and nil otherwise. The body of res is as it
// was. A stream may refuse before its answer begins.
func refusalOf(res *http.Response) *refused {
	var said string
	switch {
	case res.StatusCode >= 400:
		said = errorText(res)
	case isStream(res) && res.Header.Get("Content-Encoding") == "":
		if said, res.Body = openingOf(res.Body); said == "" {
			return nil
		}
	default:
		return nil
	}
	r := &refused{res, http.StatusText(res.StatusCode) + " " + said}
	switch winnow.ClassifyError(r).Class {
	case winnow.ErrorOverflow, winnow.ErrorBytes, winnow.ErrorImages:
		return r
	}
	return nil
}

// errorText returns the body of res, which stays readable.
func errorText(res *http.Response) string {
	text, _ := io.ReadAll(io.LimitReader(res.Body, mostRead))
	rest := res.Body
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), rest), rest}
	if res.Header.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, _ = io.ReadAll(io.LimitReader(z, mostRead))
		}
	}
	return string(text)
}

func isStream(res *http.Response) bool {
	return strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
}

// tap passes an answer on and reads its usage.
type tap struct {
	io.ReadCloser
	stream bool

	mu    sync.Mutex // a client may close while it reads
	text  []byte     // of a stream: the last line so far; else the answer so far
	id    string     // of the answer
	usage winnow.Usage
	sold  []string                                       // the answer's words for how and where
	done  func(id string, u winnow.Usage, sold []string) // called once, at the end
}

func (t *tap) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	t.take(b[:n])
	if err != nil {
		t.end()
	}
	return n, err
}

func (t *tap) Close() error {
	t.end()
	return t.ReadCloser.Close()
}

func (t *tap) end() {
	t.mu.Lock()
	done := t.done
	if done != nil {
		t.read(t.text)
	}
	t.done, t.text = nil, nil
	id, usage, sold := t.id, t.usage, t.sold
	t.mu.Unlock()
	if done != nil {
		done(id, usage, sold)
	}
}

func (t *tap) take(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stream {
		if len(t.text)+len(b) <= mostRead {
			t.text = append(t.text, b...)
		}
		return
	}
	for len(b) > 0 {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		if len(t.text)+len(line) <= mostRead {
			t.text = append(t.text, line...)
		}
		if b = rest; found {
			t.read(t.text)
			t.text = t.text[:0]
		}
	}
}

// read takes the usage from an answer, or from a line of a stream. The last one counts.
func (t *tap) read(text []byte) {
	text = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("data:")))
	if !bytes.Contains(text, []byte("sage")) { // usage, usageMetadata
		return
	}
	answers, ok := jsonedit.Parse(text)
	if !ok {
		return
	}
	if !answers.IsList() { // Gemini streams without events as a list
		t.note(answers)
		return
	}
	for _, a := range answers.Elements() {
		t.note(a)
	}
}

// soldBy are where an answer says how or where it was sold.
var soldBy = []string{
	"service_tier", "response.service_tier", "usage.service_tier", "usage.speed", "usage.inference_geo",
	"message.usage.service_tier", "message.usage.speed", "message.usage.inference_geo",
}

// note takes the usage of an answer in any of the four forms, how it was sold, and its id.
func (t *tap) note(answer value) {
	for _, path := range soldBy {
		if how := answer.Get(path); how.IsText() && !slices.Contains(t.sold, how.Text()) {
			t.sold = append(t.sold, strings.Clone(how.Text()))
		}
	}
	for _, path := range []string{"id", "message.id", "response.id", "responseId", "interaction.id"} {
		if id := answer.Get(path); id.IsText() {
			t.id = strings.Clone(id.Text())
		}
	}
	for _, in := range []string{"", "message.", "response."} {
		u := answer.Get(in + "usage")
		sum := func(names ...string) (n int) {
			for _, name := range names {
				n += u.Get(name).Int()
			}
			return n
		}
		read, written := sum("cache_read_input_tokens"), sum("cache_creation_input_tokens") // beside the prompt
		cached := sum("input_tokens_details.cached_tokens", "prompt_tokens_details.cached_tokens")
		stored := sum("input_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_write_tokens")
		prompt := sum("input_tokens", "prompt_tokens") + read + written
		if n := sum("output_tokens", "completion_tokens"); n > 0 {
			t.usage.Output = n
		}
		if prompt > 0 {
			was := t.usage
			long := sum("cache_creation.ephemeral_1h_input_tokens",
				"input_tokens_details.cache_write_tokens_details.ttl_12h_tokens")
			t.usage = *adapter.Usage(prompt, read+cached, written+stored, was.Output)
			// The last event of a stream repeats the counts, without what they consist of.
			t.usage.LongWrite = min(max(long, was.LongWrite), written+stored)
			t.usage.ThinkingDropped, t.usage.CacheMiss = was.ThinkingDropped, was.CacheMiss
		}
		for _, path := range []string{"diagnostics.cache_miss_reason.type", "prompt_cache_diagnostics.reason"} {
			if reason := answer.Get(in + path); reason.IsText() {
				t.usage.CacheMiss = strings.Clone(reason.Text())
			}
		}
		dropped := 0
		for _, x := range answer.Get(in + "input_transformations").Elements() {
			if adapter.BindsToPrefix(x.Get("reason").Text()) {
				dropped++
			}
		}
		t.usage.ThinkingDropped = max(t.usage.ThinkingDropped, dropped)
	}
	n := func(name string) int { return answer.Get("usageMetadata." + name).Int() }
	if prompt := n("promptTokenCount") + n("toolUsePromptTokenCount"); prompt > 0 {
		output := n("candidatesTokenCount") + n("thoughtsTokenCount")
		t.usage = *adapter.Usage(prompt, n("cachedContentTokenCount"), 0, output)
	}
}
