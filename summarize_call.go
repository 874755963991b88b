package winnow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/winnowgo/winnow/internal/count"
)

// The pauses between attempts are the reference's.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Second
	pauseJitter  = 0.2
)

// noteTokens is kept free in every request for what a repeated attempt adds to its instructions.
const noteTokens = 64

// previousAllowance returns the most tokens that the running summary may take of a request.
func (r *summaryRun) previousAllowance() int {
	return max(answerLimit(r.MaxTokens), textTokens(r.Estimator, r.Previous))
}

// room returns the tokens that a request with these instructions has for messages, if the previous summary takes
// previous tokens.
func (r *summaryRun) room(previous int, instructions string) int {
	req := SummaryRequest{Previous: "x", Instructions: instructions, MaxTokens: r.MaxTokens}
	return r.Window - r.MaxTokens - noteTokens - r.promptTokens(&req) - previous
}

// promptTokens estimates a request as the model will see it.
func (r *summaryRun) promptTokens(req *SummaryRequest) int {
	return count.Add(textTokens(r.Estimator, req.System()), textTokens(r.Estimator, req.Prompt()))
}

// request renders b in at most limit tokens, and in fewer if the whole would exceed the window.
func (r *summaryRun) request(b messageBatch, previous, instructions string, limit int) (SummaryRequest, error) {
	// After eight rounds limit is a seventeenth (0.7⁸): labels and escapes never exceed their estimate by more than
	// that.
	for range 8 {
		if limit < minClipTokens {
			break
		}
		req := SummaryRequest{
			Messages: b.messages, Previous: previous, Instructions: instructions, MaxTokens: r.MaxTokens,
		}
		// The estimate includes labels, and escapes add a third at most: what takes half of limit need not be counted
		// again.
		if b.tokens <= limit/2 {
			return req, nil
		}
		req.Messages = fitMessages(r.Estimator, b.messages, limit)
		if r.promptTokens(&req) <= r.Window-r.MaxTokens-noteTokens {
			return req, nil
		}
		limit = limit * 7 / 10
	}
	return SummaryRequest{}, errNoRoom
}

// try asks for the summary of b in up to the given number of attempts.
func (r *summaryRun) try(b messageBatch, previous, instructions string, limit, attempts int) (string, error) {
	req, err := r.request(b, previous, instructions, limit)
	if err != nil {
		return "", err
	}
	question := requestKey(r.cache, &req)
	if text, ok := r.cache.Get(question); ok {
		return text, nil // an earlier try failed after this request was answered and paid for
	}
	input := count.Add(b.tokens, textTokens(r.Estimator, previous))
	pause := &backoff.ExponentialBackOff{
		InitialInterval: firstPause, RandomizationFactor: pauseJitter, Multiplier: 2, MaxInterval: longestPause,
	}
	for n := 1; ; n++ {
		a := r.call(&req)
		text, err := a.text, a.err
		if err == nil {
			text, err = acceptSummary(text, r.Estimator, input, r.MaxTokens)
		}
		if err == nil {
			if r.degraded = r.degraded || a.degraded; !a.degraded {
				r.cache.Put(question, text) // not a digest: it costs nothing to make again, and a model may do better
			}
			return text, nil
		}
		if r.ctx.Err() != nil {
			return "", r.ctx.Err()
		}
		if n >= attempts || isHopeless(err, n) {
			return "", err
		}
		if r.sleep(r.ctx, min(pause.NextBackOff(), longestPause)) != nil || r.ctx.Err() != nil {
			return "", r.ctx.Err()
		}
		req.Instructions = noteAttempt(instructions, n+1, err)
	}
}

// isHopeless reports whether one more attempt will fail in the same way as attempt n, which failed with err.
func isHopeless(err error, n int) bool {
	var bad *badAnswer
	if errors.As(err, &bad) {
		return bad.onlyOnce && n > 1
	}
	switch ClassifyError(err).Class {
	case ErrorAuth, ErrorQuota, ErrorOverflow, ErrorBytes:
		return true
	}
	return false
}

// noteAttempt returns instructions with a note for attempt n that tells the model what was wrong with its last answer.
// The note also makes each prompt of a run different from the others.
func noteAttempt(instructions string, n int, err error) string {
	note := fmt.Sprintf("This is attempt %d.", n)
	var bad *badAnswer
	if errors.As(err, &bad) {
		note += " Of the answer before " + bad.reason + "."
	}
	if instructions == "" {
		return note
	}
	return instructions + "\n\n" + note
}

// callAnswer is the outcome of one call.
type callAnswer struct {
	text     string
	degraded bool // made without the LLM
	err      error
}

// lingering is how long a call waits for a summarizer to return once it was told to stop. A summarizer that honours its
// context then leaves no goroutine behind.
const lingering = 50 * time.Millisecond

// call asks the summarizer once. It returns when r.ctx or the attempt's time ends, even if the summarizer goes on: the
// goroutine ends when the summarizer returns.
func (r *summaryRun) call(req *SummaryRequest) callAnswer {
	if err := r.ctx.Err(); err != nil {
		return callAnswer{err: err}
	}
	r.calls++
	ctx, cancel := context.WithTimeout(context.WithValue(r.ctx, meterKey{}, &r.meter), r.timeout)
	defer cancel()
	done := make(chan callAnswer, 1)
	once := *req
	once.Messages = copyMessages(req.Messages) // its own, even when this call has given up on it
	go func() {
		a := callAnswer{err: errors.New("the summarizer ended its goroutine")} // with runtime.Goexit, as t.FailNow does
		defer func() { done <- a }()
		a.text, a.degraded, a.err = safeSummarize(ctx, r.Summarizer, once)
	}()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
	}
	late := time.NewTimer(lingering)
	defer late.Stop()
	select {
	case a := <-done:
		if a.err == nil && r.ctx.Err() == nil {
			return a // it came just too late: it is paid for, and as good
		}
	case <-late.C:
	}
	if r.ctx.Err() != nil {
		return callAnswer{err: r.ctx.Err()}
	}
	return callAnswer{err: fmt.Errorf("no answer within %s: %w", r.timeout, ctx.Err())}
}

// safeSummarize calls s and turns a panic into an error. degraded says that s did without an LLM, which only
// summarizers of this package tell.
func safeSummarize(ctx context.Context, s Summarizer, req SummaryRequest) (text string, degraded bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, degraded, err = "", false, fmt.Errorf("winnow: the summarizer panicked: %v", p)
		}
	}()
	if own, ok := s.(interface {
		summarize(context.Context, SummaryRequest) (string, bool, error)
	}); ok {
		return own.summarize(ctx, req)
	}
	text, err = s.Summarize(ctx, req)
	return text, false, err
}

// sleepFor waits for d or the end of ctx.
func sleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
