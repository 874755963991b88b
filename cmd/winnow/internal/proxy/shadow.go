package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/judge"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/stats"
	"github.com/winnowgo/winnow/internal/models"
)

// A shadow compares, for a share of the requests, what the model does next with what it would have done with the
// client's own history. When the client has its answer, one more request is sent with its key: in turns one with its
// own history, and the same as before once more, which shows how much the model differs from itself. Its answer is read
// for the first step, and never shown to the client.
type shadow struct {
	share  float64
	budget float64 // dollars a day
	next   http.RoundTripper
	base   http.RoundTripper
	now    func() time.Time
	logger *slog.Logger
	busy   chan struct{} // so many are asked at once

	mu     sync.Mutex
	f      shadowFigures
	day    string
	today  float64 // dollars
	said   map[string]bool
	turns  int           // requests that were asked for, of which each other one is the same again
	same   []stats.Score // with the client's own history
	itself []stats.Score // the same again
}

// shadowFigures are what the page and the metrics show.
type shadowFigures struct {
	Compared int // with the client's own history
	Same     int // of these, where the model did the same
	Again    int // of these, where it asked for what was left out
	Only     int // of these, where it did not with its own history
	Tokens   int // of the prompts of these, as the provider counted
	Own      int // of the prompts with the client's own history
	Repeated int // the same again
	Itself   int // of these, where the model did the same
	Failed   int // were not answered
	Unpaid   int // were not asked, because the day's budget was spent
	Dollars  float64
}

const (
	shadowOutput  = 512 // tokens that an answer may have: the first step alone is read
	shadowTime    = 3 * time.Minute
	mostShadowed  = 2       // at once
	mostScores    = 2_000   // the newest comparisons that the intervals are of
	mostAnswer    = 4 << 20 // bytes of an answer
	leastLeftOut  = 0.05    // of the bytes of a body: a request that is nearly the client's says nothing
	bytesPerToken = 3.0     // fewer than there are, so that a request costs no more than expected
)

func newShadow(o *Options, now func() time.Time) *shadow {
	return &shadow{share: o.Shadow, budget: o.ShadowBudget, now: now, logger: o.Logger, said: map[string]bool{},
		busy: make(chan struct{}, mostShadowed), base: cmp.Or[http.RoundTripper](o.Base, http.DefaultTransport)}
}

// seen is what was sent in the place of a client's request, and what came of it.
type seen struct {
	own, sent []byte
	request   *http.Request // that had sent
	times     int
	exchange  *transport.Exchange // nil: it was not managed
	leftOut   []judge.Shown
	step      judge.Step // what the client was answered
}

// seenKey is its key in a context.
type seenKey struct{}

// note takes what the transport knows of a request, when its answer has been read.
func (s *shadow) note(x *transport.Exchange, history func(conversation string) []winnow.Message) {
	if of, ok := x.HTTP.Context().Value(seenKey{}).(*seen); ok && x.Request != nil {
		of.exchange = x
		of.leftOut = judge.LeftOut(history(x.Conversation), x.Request.Edits)
	}
}

// sender is what a transport sends its requests with.
type sender struct{ *shadow }

// RoundTrip implements [http.RoundTripper].
func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	if x, ok := r.Context().Value(seenKey{}).(*seen); ok && r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			x.sent, _ = io.ReadAll(body)
			x.request = r.Clone(context.Background())
			x.times++
		}
	}
	return s.base.RoundTrip(r)
}

// RoundTrip implements [http.RoundTripper] for the requests of clients.
func (s *shadow) RoundTrip(r *http.Request) (*http.Response, error) {
	api := ask.OfRequest(r)
	if api == nil || r.Body == nil || r.Header.Get("Content-Encoding") != "" || rand.Float64() >= s.share {
		return s.next.RoundTrip(r)
	}
	own, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	x := &seen{own: own}
	r = r.Clone(context.WithValue(r.Context(), seenKey{}, x))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(own)), int64(len(own))
	res, err := s.next.RoundTrip(r)
	isWorthIt := err == nil && res.StatusCode == http.StatusOK && res.Header.Get("Content-Encoding") == "" &&
		x.times == 1 && float64(len(x.sent)) <= (1-leastLeftOut)*float64(len(own))
	if !isWorthIt {
		return res, err
	}
	isStream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	res.Body = &copied{ReadCloser: res.Body, done: func(answer []byte) { s.begin(api, x, answer, isStream) }}
	return res, nil
}

// copied passes an answer on, and hands it over when it has come to its end.
type copied struct {
	io.ReadCloser
	answer bytes.Buffer
	done   func(answer []byte)
}

func (c *copied) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	if c.answer.Len() <= mostAnswer {
		c.answer.Write(b[:n])
	}
	if err == io.EOF && c.done != nil && c.answer.Len() <= mostAnswer {
		c.done(c.answer.Bytes())
		c.done = nil
	}
	return n, err
}

// begin asks in the background, unless there is no budget or too much is asked already.
func (s *shadow) begin(api ask.API, x *seen, answer []byte, isStream bool) {
	read := ask.Read
	if isStream {
		read = ask.ReadStream
	}
	a, err := read(api, answer)
	if err != nil || x.request == nil || x.exchange == nil {
		return
	}
	x.step = judge.StepOf(&a.Message)
	known, _ := models.Find(x.exchange.Model)
	body, isSame := s.turn(x)
	expected, isKnown := known.Dollars(models.Tokens{Input: int(float64(len(body)) / bytesPerToken),
		Output: shadowOutput})
	if !isKnown {
		s.sayOnce(x.exchange.Model, "the price of the model is not known, so that its requests have no shadow")
		return
	}
	if !s.reserve(expected) {
		return
	}
	select {
	case s.busy <- struct{}{}:
	default:
		s.settle(expected, 0)
		return
	}
	go func() {
		defer func() { <-s.busy }()
		ctx, cancel := context.WithTimeout(context.Background(), shadowTime)
		defer cancel()
		again, paid, err := s.ask(ctx, api, x.request, body, &known)
		s.settle(expected, paid)
		s.count(x, again, isSame, err)
	}()
}

// turn returns what is asked next: in turns the client's own history, and the same again.
func (s *shadow) turn(x *seen) (body []byte, isSame bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns++; s.turns%2 == 0 {
		return x.sent, true
	}
	return x.own, false
}

// count takes the answer of a shadow.
func (s *shadow) count(x *seen, answer ask.Answer, isSame bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.f.Failed++
		s.logger.Warn("winnow: a shadow was not answered", "error", err)
		return
	}
	step := judge.StepOf(&answer.Message)
	agrees := one(x.step.Same(step))
	score := stats.Score{Session: x.exchange.Conversation, Value: float64(agrees)}
	if isSame {
		s.f.Repeated++
		s.f.Itself += agrees
		s.itself = newest(append(s.itself, score))
		return
	}
	s.f.Compared++
	s.f.Same += agrees
	s.same = newest(append(s.same, score))
	asks := x.step.Again(x.leftOut) != nil
	s.f.Again += one(asks)
	s.f.Only += one(asks && step.Again(x.leftOut) == nil)
	if x.exchange.Usage.Prompt() > 0 {
		s.f.Tokens += x.exchange.Usage.Prompt()
		s.f.Own += answer.Usage.Prompt()
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func newest(scores []stats.Score) []stats.Score { return scores[max(0, len(scores)-mostScores):] }

// ask sends one request of a shadow, as the client's was sent, and returns the answer and what it cost.
func (s *shadow) ask(ctx context.Context, api ask.API, as *http.Request, body []byte, known *models.Model) (
	answer ask.Answer, dollars float64, err error) {
	r := as.Clone(ctx)
	if body, err = ask.Shorten(api, r, body, shadowOutput); err != nil {
		return answer, 0, err
	}
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r.Header.Del("Content-Length")
	r.Header.Set("Accept-Encoding", "identity")
	res, err := s.base.RoundTrip(r)
	if err != nil {
		return answer, 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil || res.StatusCode != http.StatusOK {
		return answer, 0, errors.Join(err, fmt.Errorf("status %d", res.StatusCode))
	}
	if answer, err = ask.Read(api, text); err != nil {
		return answer, 0, err
	}
	dollars, _ = known.Dollars(inspect.TokensOf(*answer.Usage))
	return answer, dollars, nil
}

// reserve takes what a request may cost from the day's budget, if that has so much.
func (s *shadow) reserve(expected float64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if day := s.now().UTC().Format(time.DateOnly); day != s.day {
		s.day, s.today = day, 0
	}
	if s.today+expected > s.budget {
		s.f.Unpaid++
		return false
	}
	s.today += expected
	return true
}

// settle replaces what was reserved by what was paid.
func (s *shadow) settle(expected, paid float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.today += paid - expected
	s.f.Dollars += paid
}

func (s *shadow) sayOnce(model, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.said[model] {
		s.said[model] = true
		s.logger.Warn("winnow: "+what, "model", model)
	}
}

// shadowPage is what the page says of a shadow.
type shadowPage struct {
	shadowFigures
	Share, Budget, Today float64
	SameShare, ItsShare  stats.Estimate
	Verdict              string
}

// page returns the figures. Of no shadow they are nil.
func (s *shadow) page() *shadowPage {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := trial.Apart(s.same, s.itself, 1)
	return &shadowPage{s.f, s.share, s.budget, s.today, stats.Of(s.same, 1).Share(), stats.Of(s.itself, 1).Share(),
		d.Sentence(0)}
}

// figures returns them for the metrics.
func (s *shadow) figures() shadowFigures {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.f
}
