package winnow

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The pauses between attempts are the reference's.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Second
	pauseJitter  = 0.2
)

// noteTokens is kept free in every request for what a repeated attempt adds to its instructions.
const noteTokens = 64

// previousAllowance is what the running summary may take of a request at most.
func (r *summaryRun) previousAllowance() int {
	return max(answerLimit(r.MaxTokens), textTokens(r.Estimator, r.Previous))
}

// room returns the tokens that a request has for messages.
func (r *summaryRun) room(previous int, instructions string) int {
	req := SummaryRequest{Previous: "x", Instructions: instructions, MaxTokens: r.MaxTokens}
	return r.Window - r.MaxTokens - noteTokens - r.promptTokens(&req) - previous
}

func (r *summaryRun) promptTokens(req *SummaryRequest) int {
	return addTokens(textTokens(r.Estimator, req.System()), textTokens(r.Estimator, req.Prompt()))
}

// request renders b in at most limit tokens, and in fewer if the whole would exceed the window.
func (r *summaryRun) request(b batch, previous, instructions string, limit int) (SummaryRequest, error) {
	// Eight times 0.7 is a seventeenth: labels and escapes never take more than that beyond their estimate.
	for range 8 {
		if limit < minClipTokens {
			break
		}
		req := SummaryRequest{Messages: b.messages, Previous: previous, Instructions: instructions, MaxTokens: r.MaxTokens}
		// Labels are in the estimate and escapes add a third at most: half the room is enough without counting again.
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
func (r *summaryRun) try(b batch, previous, instructions string, limit, attempts int) (string, error) {
	req, err := r.request(b, previous, instructions, limit)
	if err != nil {
		return "", err
	}
	key := cacheKey(&req)
	if text, ok := r.cache.get(key); ok {
		return text, nil
	}
	input := addTokens(b.tokens, textTokens(r.Estimator, previous))
	pause := &backoff.ExponentialBackOff{InitialInterval: firstPause, RandomizationFactor: pauseJitter, Multiplier: 2, MaxInterval: longestPause}
	for n := 1; ; n++ {
		answer, err := r.call(&req)
		if err == nil {
			answer, err = acceptSummary(answer, r.Estimator, input, r.MaxTokens)
		}
		if err == nil {
			r.cache.put(key, answer)
			return answer, nil
		}
		if r.ctx.Err() != nil {
			return "", r.ctx.Err()
		}
		var bad *badAnswer
		if n >= attempts || n > 1 && errors.As(err, &bad) && bad.onlyOnce {
			return "", err
		}
		if r.sleep(r.ctx, min(pause.NextBackOff(), longestPause)) != nil || r.ctx.Err() != nil {
			return "", r.ctx.Err()
		}
		req.Instructions = noteAttempt(instructions, n+1, err)
	}
}

// noteAttempt tells the model what was wrong with its last answer. It also makes every prompt of a run
// another one.
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

// call asks the summarizer once. It returns when ctx or the attempt's time ends, even if the summarizer
// does not: then its goroutine ends when the summarizer returns.
func (r *summaryRun) call(req *SummaryRequest) (string, error) {
	if err := r.ctx.Err(); err != nil {
		return "", err
	}
	r.calls++
	ctx, cancel := context.WithTimeout(r.ctx, r.timeout)
	defer cancel()
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	once := *req
	once.Messages = copyMessages(req.Messages) // its own, even when this call has given up on it
	go func() {
		res := result{err: errors.New("the summarizer ended its goroutine")}
		defer func() { done <- res }()
		res.text, res.err = safeSummarize(ctx, r.Summarizer, once)
	}()
	select {
	case res := <-done:
		return res.text, res.err
	case <-ctx.Done():
		if r.ctx.Err() == nil {
			return "", fmt.Errorf("no answer within %s: %w", r.timeout, ctx.Err())
		}
		return "", r.ctx.Err()
	}
}

// safeSummarize calls s and makes an error of a panic.
func safeSummarize(ctx context.Context, s Summarizer, req SummaryRequest) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("winnow: the summarizer panicked: %v", p)
		}
	}()
	return s.Summarize(ctx, req)
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

// clipToTokens clips s in its middle to about limit tokens.
func clipToTokens(e Estimator, s string, limit int) string {
	for range 4 { // text is not uniform: the first cut may miss
		n := textTokens(e, s)
		if n <= limit {
			return s
		}
		s = clipText(s, n, limit*19/20)
	}
	return s
}

// cacheBytes bounds the memory of a summaryCache: a few hundred answers.
const cacheBytes = 8 << 20

// summaryCache holds accepted answers by the prompt that they answered, so that a run that is repeated
// after a failure asks only for what is missing. It is safe for concurrent use; the oldest answers go first.
type summaryCache struct {
	mu      sync.Mutex
	answers map[[sha256.Size]byte]string
	order   [][sha256.Size]byte
	bytes   int
}

func newSummaryCache() *summaryCache {
	return &summaryCache{answers: make(map[[sha256.Size]byte]string)}
}

func (c *summaryCache) get(key [sha256.Size]byte) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.answers[key]
	return text, ok
}

func (c *summaryCache) put(key [sha256.Size]byte, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.answers[key]; ok {
		return
	}
	c.answers[key] = text
	c.order = append(c.order, key)
	c.bytes += len(text)
	for c.bytes > cacheBytes && len(c.order) > 1 {
		c.bytes -= len(c.answers[c.order[0]])
		delete(c.answers, c.order[0])
		c.order = c.order[1:]
	}
}

// cacheKey identifies a request by what a model would see of it.
func cacheKey(req *SummaryRequest) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(strconv.Itoa(req.MaxTokens) + "\n"))
	h.Write([]byte(req.Prompt()))
	return [sha256.Size]byte(h.Sum(nil))
}
