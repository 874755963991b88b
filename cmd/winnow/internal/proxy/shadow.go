package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow/cmd/winnow/internal/trial"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/judge"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/stats"
	"github.com/winnowgo/winnow/internal/models"
)

// A shadow compares, for a share of the requests, what the model does next with what it would have done with the
// client's own history. When the client has its answer, two more requests are sent with its key: one with its own
// history, and the same as before once more, which shows how much the model differs from itself. Their answers are read
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
	worse  []stats.Score
	itself []stats.Score
}

// shadowFigures are what the page and the metrics show.
type shadowFigures struct {
	Compared int
	Itself   float64 // of these, where the model did the same when it was asked the same again
	Same     float64 // and with the client's own history
	Failed   int     // were not answered
	Unpaid   int     // were not asked, because the day's budget was spent
	Dollars  float64
}

const (
	shadowOutput  = 512 // tokens that an answer may have: the first step alone is read
	shadowTime    = 3 * time.Minute
	mostShadowed  = 2       // at once
	mostScores    = 2_000   // the newest comparisons that the figures are of
	mostAnswer    = 4 << 20 // bytes of an answer
	leastLeftOut  = 0.05    // of the bytes of a body: a request that is nearly the client's says nothing
	bytesPerToken = 3.0     // fewer than there are, so that a request costs no more than expected
)

func newShadow(o *Options, now func() time.Time) *shadow {
	return &shadow{share: o.Shadow, budget: o.ShadowBudget, now: now, logger: o.Logger, said: map[string]bool{},
		busy: make(chan struct{}, mostShadowed), base: cmp.Or[http.RoundTripper](o.Base, http.DefaultTransport)}
}

// seen is what was sent in the place of a client's request.
type seen struct {
	own, sent []byte
	request   *http.Request // that had sent
	times     int
}

// seenKey is its key in a context.
type seenKey struct{}

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

// begin compares in the background, unless there is no budget or too much is asked already.
func (s *shadow) begin(api ask.API, x *seen, answer []byte, isStream bool) {
	read := ask.Read
	if isStream {
		read = ask.ReadStream
	}
	a, err := read(api, answer)
	if err != nil || x.request == nil {
		return
	}
	model := modelOf(x)
	known, _ := models.Find(model)
	expected, isKnown := known.Dollars(models.Tokens{Input: int(float64(len(x.own)+len(x.sent)) / bytesPerToken),
		Output: 2 * shadowOutput})
	if !isKnown {
		s.sayOnce(model, "the price of the model is not known, so that its requests have no shadow")
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
		s.compare(api, x, judge.StepOf(&a.Message), &known, expected)
	}()
}

// compare asks with the client's own history, and the same again.
func (s *shadow) compare(api ask.API, x *seen, step judge.Step, known *models.Model, expected float64) {
	ctx, cancel := context.WithTimeout(context.Background(), shadowTime)
	defer cancel()
	whole, paid, err := s.ask(ctx, api, x.request, x.own, known)
	again, more, err2 := s.ask(ctx, api, x.request, x.sent, known)
	s.settle(expected, paid+more)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err = errors.Join(err, err2); err != nil {
		s.f.Failed++
		s.logger.Warn("winnow: a shadow was not answered", "error", err)
		return
	}
	itself, same := one(step.Same(again)), (one(step.Same(whole))+one(again.Same(whole)))/2
	s.f.Compared++
	s.f.Itself += itself
	s.f.Same += same
	session := sessionOf(x.own)
	s.worse = newest(append(s.worse, stats.Score{Session: session, Value: itself - same}))
	s.itself = newest(append(s.itself, stats.Score{Session: session, Value: itself}))
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func newest(scores []stats.Score) []stats.Score { return scores[max(0, len(scores)-mostScores):] }

// ask sends one request of a shadow, as the client's was sent, and returns the first step and what it cost.
func (s *shadow) ask(ctx context.Context, api ask.API, as *http.Request, body []byte, known *models.Model) (
	judge.Step, float64, error) {
	r := as.Clone(ctx)
	body, err := ask.Shorten(api, r, body, shadowOutput)
	if err != nil {
		return nil, 0, err
	}
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r.Header.Del("Content-Length")
	r.Header.Set("Accept-Encoding", "identity")
	res, err := s.base.RoundTrip(r)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, 0, errors.Join(err, fmt.Errorf("status %d", res.StatusCode))
	}
	answer, err := ask.Read(api, text)
	if err != nil {
		return nil, 0, err
	}
	u := answer.Usage
	dollars, _ := known.Dollars(models.Tokens{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Output: u.Output})
	return judge.StepOf(&answer.Message), dollars, nil
}

// reserve takes what two requests may cost from the day's budget, if that has so much.
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
	Verdict              string
}

// Page returns the figures. Of no shadow they are nil.
func (s *shadow) page() *shadowPage {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := trial.NewDifference(s.worse, s.itself, 1)
	return &shadowPage{s.f, s.share, s.budget, s.today, d.Sentence()}
}

// figures returns them for the metrics.
func (s *shadow) figures() shadowFigures {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.f
}

// modelOf is the model that a request names, in its body or in its path.
func modelOf(x *seen) string {
	var body struct{ Model string }
	if json.Unmarshal(x.sent, &body) == nil && body.Model != "" {
		return body.Model
	}
	name, _, _ := strings.Cut(path.Base(x.request.URL.Path), ":")
	return name
}

// sessionOf tells conversations apart: by their first message.
func sessionOf(own []byte) string {
	var body struct{ Messages, Input, Contents []json.RawMessage }
	_ = json.Unmarshal(own, &body) // a text is one conversation of its own
	for _, list := range [][]json.RawMessage{body.Messages, body.Input, body.Contents} {
		if len(list) > 0 {
			own = list[0]
		}
	}
	sum := sha256.Sum256(own)
	return hex.EncodeToString(sum[:8])
}
