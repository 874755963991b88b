package transport

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/models"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	// Manager returns the window and the options of a new conversation's manager, for a request and the model that its
	// body names. What it leaves 0 is set so: the window and the prices are the model's (200 000 tokens if it is
	// unknown), the reserve is what the request asks for its answer, and the overhead is an estimate of the system
	// prompt and the tools.
	Manager func(r *http.Request, model string) (window int, o *winnow.Options)

	// Key names the conversation of a request. ("": it is found by its history.)
	Key func(r *http.Request) string

	Conversations int    // how many are kept in memory; the least recently used one goes first (1 000)
	Memory        int64  // how much they may take, in bytes, as far as that is known (1 GB)
	Dir           string // where the state of each conversation is kept, for the next process ("": nowhere)
	MaxBody       int64  // a larger request is passed on as it is, in bytes (64 MB)

	// Summarize is the model that writes summaries, with the key of the client whose request needs one: it spends the
	// client's money. ("": code writes them. What Options.Manager sets wins.)
	Summarize string

	// Recall offers the model [winnow.RecallTool] in requests that have tools, and answers its calls before the client
	// sees them, at most six for one answer. Each is a further request, of which Done is told as well.
	Recall bool

	// Decompress returns a reader of a body that is compressed by something but gzip, as its Content-Encoding says. The
	// request is sent uncompressed. (nil, or an error: it is passed on as it came.)
	Decompress func(encoding string, body io.Reader) (io.Reader, error)

	MarkCache bool         // set cache markers for a client that sets none at all: see docs/proxy.md
	Logger    *slog.Logger // which requests are not managed, and why; never text of a conversation (nil: none)

	// Done is told of each answered request of a conversation, when its answer has been read. It must not block.
	Done func(Exchange)
}

// Exchange is a request that was answered.
type Exchange struct {
	Conversation string          // a name that stays the same over restarts, if Options.Dir is set
	Model        string          // as the request named it
	SoldAs       string          // Model, with how and where the answer was sold if not as usual: "gpt-5.5-flex"
	Client       string          // as its User-Agent begins
	HTTP         *http.Request   // that the client sent, with its context, without its body; do not change it
	Request      *winnow.Request // what was sent; nil if it was passed on as it came
	Passed       string          // why it was passed on as it came ("": it was not)
	History      int             // estimated tokens of what the client sent, without system prompt and tools; or 0
	Recalls      int             // from 1: it answers a call of the recall tool (0: the client sent it)
	Refusals     int             // overflows of the provider that the client did not see
	Usage        winnow.Usage    // as the provider counted; zero if the answer did not say

	// what became of the request in the provider's cache, set against what was expected
	Cache winnow.CacheUse
}

// Transport is an [http.RoundTripper] that keeps each conversation inside its model's context window.
type Transport struct {
	base          http.RoundTripper
	o             Options
	conversations *conversations
	passed        passed
}

// New returns a transport on top of base (nil: [http.DefaultTransport]).
//
// A request that is none of the four forms, that cannot be read, or whose history cannot be made to fit, is sent as it
// came. So is one whose body is signed (for AWS), or compressed (but by gzip, or what Options.Decompress reads), and
// one whose history the provider has: it refers to it, or begins with the result of a call that it has not. The log
// says so once for a conversation.
//
// Two requests are refused because their clients then go on as is good here: one that continues a thread of Anthropic's
// is sent again with the whole history, and the upgrade of Responses to a WebSocket is followed by requests over HTTP.
//
// The error says that Options.Dir cannot be used.
func New(base http.RoundTripper, o *Options) (*Transport, error) {
	t := &Transport{base: base, passed: passed{names: map[string]string{}, said: map[[2]string]bool{}}}
	if o != nil {
		t.o = *o
	}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if t.o.Logger == nil {
		t.o.Logger = slog.New(slog.DiscardHandler)
	}
	if t.o.Conversations <= 0 {
		t.o.Conversations = 1_000
	}
	if t.o.Memory <= 0 {
		t.o.Memory = 1 << 30
	}
	if t.o.MaxBody <= 0 {
		t.o.MaxBody = 64 << 20
	}
	t.conversations = &conversations{most: t.o.Conversations, memory: t.o.Memory, dir: t.o.Dir,
		begun: map[chain][]*conversation{}, recent: list.New(), stored: map[chain]string{}}
	if t.o.Dir != "" {
		var err error
		if t.conversations.stored, err = storedIn(t.o.Dir, time.Now()); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if res := t.upgrade(r); res != nil {
		return res, nil
	}
	f := formOf(r)
	if f == nil && !isInteraction(r) || r.Body == nil {
		return t.send(r, "")
	}
	r, body, err := t.read(r)
	if err != nil {
		if r == nil {
			return nil, err
		}
		return t.pass(r, "", nil, err)
	}
	q, err := parse(r, f, body)
	if err != nil {
		return t.pass(r, "", body, err)
	}
	c, err := t.conversation(r, q)
	if err != nil {
		return t.pass(r, "", body, err)
	}
	defer t.conversations.leave(c)
	if t.o.Recall {
		q.offerRecall(r)
	}
	res, err := t.exchange(r, q, c)
	if err != nil {
		return nil, err
	}
	return answerRecalls(r.Context(), q, c.manager, res, func(q *query) (*http.Response, error) {
		return t.exchange(r, q, c)
	})
}

// read returns the body of r, uncompressed, and the request that has it. With an error, the request is to be sent as it
// came, or there is none.
func (t *Transport) read(r *http.Request) (*http.Request, []byte, error) {
	encoding := r.Header.Get("Content-Encoding")
	if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") {
		return r, nil, errors.New("the body is signed")
	}
	if encoding != "" && encoding != "gzip" && encoding != "identity" && t.o.Decompress == nil {
		return r, nil, compressedBy(encoding)
	}
	var read bytes.Buffer
	read.Grow(int(min(max(0, r.ContentLength), mostAtOnce)) + bytes.MinRead) // so much free makes it read on at the end
	_, err := read.ReadFrom(io.LimitReader(r.Body, t.o.MaxBody+1))
	body := read.Bytes()
	if err != nil {
		_ = r.Body.Close()
		return nil, nil, err
	}
	if int64(len(body)) > t.o.MaxBody {
		whole := io.MultiReader(bytes.NewReader(body), r.Body)
		return withBody(r, whole, r.Body, r.ContentLength), nil, errTooLarge
	}
	_ = r.Body.Close()
	out := withBytes(r, body)
	if encoding == "" || encoding == "identity" {
		return out, body, nil
	}
	plain, err := t.decompress(encoding, bytes.NewReader(body))
	if err != nil {
		return out, nil, compressedBy(encoding)
	}
	if body, err = io.ReadAll(io.LimitReader(plain, t.o.MaxBody+1)); err != nil {
		return out, nil, compressedBy(encoding)
	}
	if int64(len(body)) > t.o.MaxBody {
		return out, nil, errTooLarge
	}
	out = withBytes(r, body)
	out.Header.Del("Content-Encoding")
	return out, body, nil
}

func (t *Transport) decompress(encoding string, body io.Reader) (io.Reader, error) {
	if encoding == "gzip" {
		return gzip.NewReader(body)
	}
	return t.o.Decompress(encoding, body)
}

func compressedBy(encoding string) error { return fmt.Errorf("the body is compressed: %s", encoding) }

// mostAtOnce is how much memory is taken for a body because its header says so, in bytes.
const mostAtOnce = 8 << 20

var errTooLarge = errors.New("the body is larger than MaxBody")

// note logs that the next process will not know a conversation. Its requests go on.
func (t *Transport) note(c *conversation, err error) {
	if err != nil {
		t.o.Logger.Warn("winnow: a conversation's state cannot be kept", "conversation", c.name, "error", err)
	}
}

// exchange sends q, and smaller requests in its place as long as the provider refuses it as too long.
func (t *Transport) exchange(r *http.Request, q *query, c *conversation) (*http.Response, error) {
	var last *http.Response // a refusal that the client gets if nothing is left to try
	refusals := 0
	q.had = t.conversations.had(c, q)
	ctx := context.WithValue(r.Context(), callerKey{}, r)
	res, sent, err := winnow.Do(ctx, c.manager, q.history,
		func(_ context.Context, messages []winnow.Message) (*http.Response, error) {
			body, lost := q.body(messages, t.o.MarkCache)
			if lost > 0 {
				t.o.Logger.Warn("winnow: cache markers of the client have no place", "conversation", c.name,
					"lost", lost)
			}
			t.note(c, t.conversations.wrote(c))
			res, err := t.send(q.request(r, body, refusals > 0), c.name)
			if err != nil {
				return nil, err
			}
			if refused := refusalOf(res); refused != nil {
				if last != nil {
					_ = last.Body.Close()
				}
				last = res
				refusals++
				return nil, refused
			}
			return res, nil
		})
	if last != nil {
		if r := (*refused)(nil); errors.As(err, &r) && r.answer == last {
			return last, nil
		}
		_ = last.Body.Close()
	}
	switch {
	case res != nil:
		t.note(c, t.conversations.answered(c, q, sent))
	case sent == nil && !q.grew: // no request fits: the provider says so in its own words
		return t.pass(r, c.name, q.whole, err)
	default:
		return nil, err
	}
	front, beside := q.inFront, len(q.beside)/charsPerToken // not q, which has the body, until the answer ends
	t.tap(res, Exchange{Conversation: c.name, Model: q.model, Client: clientOf(r), HTTP: r, Request: sent,
		History: q.tokens, Recalls: q.recalls, Refusals: refusals}, func(u winnow.Usage) winnow.CacheUse {
		u.CacheMiss = t.conversations.missOf(c, front, beside, &u)
		c.manager.Counted(u)
		return t.conversations.cacheUse(c)
	})
	return res, nil
}

// charsPerToken are those of JSON, about.
const charsPerToken = 4

// send sends a request of a conversation ("": of none), and logs that the provider did not answer. The error is that of
// the base as it came: clients ask its type whether to try again.
func (t *Transport) send(r *http.Request, conversation string) (*http.Response, error) {
	res, err := t.base.RoundTrip(r)
	if err != nil && r.Context().Err() == nil { // else the client has gone
		log := t.o.Logger
		if conversation != "" {
			log = log.With("conversation", conversation)
		}
		log.Warn("winnow: the provider does not answer", "host", r.URL.Host, "path", r.URL.Path, "error", err)
	}
	return res, err
}

// digests are the headers with a hash of the body.
var digests = []string{"Content-Md5", "Digest", "Content-Digest", "Repr-Digest"}

// request returns r with another body. What says something of the body that is not true any more goes, and what says
// that it is the same request, if it is not sent for the first time.
func (q *query) request(r *http.Request, body []byte, isAgain bool) *http.Request {
	out := withBytes(identity(r), body)
	if !bytes.Equal(body, q.whole) {
		for _, name := range digests {
			out.Header.Del(name)
		}
	}
	if isAgain || q.grew {
		out.Header.Del("Idempotency-Key")
	}
	return out
}

// tap reads the usage of an answer while the client reads it, and then tells Done of x.
func (t *Transport) tap(res *http.Response, x Exchange, counted func(winnow.Usage) winnow.CacheUse) {
	res.Body = &tap{ReadCloser: res.Body, stream: isStream(res), done: func(id string, u winnow.Usage, sold []string) {
		if id != "" {
			t.passed.answered(id, x.Conversation)
		}
		x.Usage, x.Cache, x.SoldAs = u, counted(u), models.Sold(x.Model, sold...)
		if t.o.Done != nil {
			t.o.Done(x)
		}
	}}
}

// clientOf returns how a client names itself, without what stands in brackets.
func clientOf(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), " (")
	return name[:min(len(name), 60)]
}

// identity returns r with an answer asked for that is not compressed, because its usage is read.
func identity(r *http.Request) *http.Request {
	if r.Header.Get("Accept-Encoding") == "" {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Encoding", "identity")
	return r
}

func withBytes(r *http.Request, body []byte) *http.Request {
	out := withBody(r, bytes.NewReader(body), http.NoBody, int64(len(body)))
	out.Header.Del("Expect") // the body is here: nobody need be asked whether it may come
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return out
}

// withBody returns r with another body. A transport must not change the request that it is given.
func withBody(r *http.Request, body io.Reader, close io.Closer, length int64) *http.Request {
	out := r.Clone(r.Context())
	out.Body = struct {
		io.Reader
		io.Closer
	}{body, close}
	out.ContentLength, out.TransferEncoding, out.GetBody = length, nil, nil
	out.Header.Del("Content-Length")
	return out
}
