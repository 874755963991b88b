package winnow

import (
	"context"
	"errors"
	"hash/maphash"
	"iter"

	"github.com/winnowgo/winnow/internal/answers"
	"github.com/winnowgo/winnow/internal/attempts"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/summarytext"
)

// noteTokens is kept free in every request for what a repeated attempt adds to its instructions.
const noteTokens = 64

// room returns the tokens that a request with these instructions has for messages, if the previous summary takes
// previous tokens.
func (r *summaryRun) room(previous int, instructions string) int {
	req := SummaryRequest{Previous: "x", Instructions: instructions, MaxTokens: r.MaxTokens}
	return r.Window - r.MaxTokens - noteTokens - r.promptTokens(&req) - previous
}

// promptTokens estimates a request as the model will see it.
func (r *summaryRun) promptTokens(req *SummaryRequest) int {
	return count.Add(r.tokens(req.System()), r.tokens(req.Prompt()))
}

// request renders b in at most limit tokens, and in fewer if the whole would exceed the window.
func (r *summaryRun) request(b batch, previous, instructions string, limit int) (SummaryRequest, error) {
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

// try asks for the summary of b in at most the given number of attempts.
func (r *summaryRun) try(b batch, previous, instructions string, limit, most int) (string, error) {
	req, err := r.request(b, previous, instructions, limit)
	if err != nil {
		return "", err
	}
	question := requestKey(r.cache, &req)
	if text, ok := r.cache.Get(question); ok {
		return text, nil // an earlier try failed after this request was answered and paid for
	}
	input := count.Add(b.tokens, r.tokens(previous))
	pauses := attempts.NewPauses(r.sleep)
	for n := 1; ; n++ {
		a, err := r.ask(&req, &b, input)
		if err == nil {
			if r.degraded = r.degraded || a.degraded; !a.degraded {
				r.cache.Put(question, a.text) // not a digest: it costs nothing to make again, and a model may do better
			}
			return a.text, nil
		}
		if r.ctx.Err() != nil {
			return "", r.ctx.Err()
		}
		if n >= most || isHopeless(err, n) {
			return "", err
		}
		if err := pauses.Wait(r.ctx); err != nil {
			return "", err
		}
		req.Instructions = summarytext.Again(instructions, n+1, refusalIn(err))
	}
}

// requestKey identifies a request by what a model would see of it.
func requestKey(c *answers.Cache, req *SummaryRequest) answers.Key {
	var h maphash.Hash
	// Each cache has a seed of its own, so that nobody can make two requests that are taken for the same.
	h.SetSeed(c.Seed)
	text := func(s string) { maphash.WriteComparable(&h, maphash.String(c.Seed, s)) }
	// Lengths are written ahead of lists, so that what ends one cannot be taken for the beginning of the next.
	maphash.WriteComparable(&h, [2]int{req.MaxTokens, len(req.Messages)})
	text(req.Previous)
	text(req.Instructions)
	for i := range req.Messages {
		m := &req.Messages[i]
		maphash.WriteComparable(&h, struct {
			role, tool                string
			failed, injected, summary bool
			parts                     int
		}{string(m.Role), m.ToolName, m.IsError, m.Injected, m.Summary, len(m.Parts)})
		for k := range m.Parts {
			p := &m.Parts[k]
			maphash.WriteComparable(&h, [2]string{string(p.Kind), p.Name})
			text(p.Text)
			maphash.WriteComparable(&h, maphash.Bytes(c.Seed, p.Arguments))
		}
	}
	return answers.Key(h.Sum64())
}

// badAnswer is the error of an answer that cannot be used as a summary. It wraps ErrIncomplete.
type badAnswer struct{ summarytext.Refusal }

// Error does not quote the answer: errors are logged, and its text may be the conversation's.
func (e *badAnswer) Error() string { return "the answer was refused: " + e.Reason }
func (e *badAnswer) Unwrap() error { return ErrIncomplete }

// refusalIn returns why an answer was refused, if err says that it was.
func refusalIn(err error) string {
	var bad *badAnswer
	if errors.As(err, &bad) {
		return bad.Reason
	}
	return ""
}

// errNoRoom says that the window cannot hold the prompt, its answer and anything to summarize.
var errNoRoom = errors.New("the summarizer's window is too small for a request")

// isHopeless reports whether one more attempt will fail in the same way as attempt n, which failed with err.
func isHopeless(err error, n int) bool {
	var bad *badAnswer
	if errors.As(err, &bad) {
		return bad.OnlyOnce && n > 1
	}
	switch ClassifyError(err).Class {
	case ErrorAuth, ErrorQuota, ErrorOverflow, ErrorBytes:
		return true
	}
	return false
}

// ask asks the summarizer once for a summary of b, of input tokens with the previous summary. It returns when r.ctx or
// the attempt's time ends, even if the summarizer goes on.
func (r *summaryRun) ask(req *SummaryRequest, b *batch, input int) (answer, error) {
	if err := r.ctx.Err(); err != nil {
		return answer{}, err
	}
	r.calls++
	once := *req
	once.Messages = copyMessages(req.Messages) // its own, even when this call has given up on it
	ctx := context.WithValue(r.ctx, meterKey{}, &r.meter)
	a, err := attempts.Within(ctx, r.timeout, func(ctx context.Context) (answer, error) {
		return safeSummarize(ctx, r.Summarizer, once)
	})
	if err != nil {
		return answer{}, err
	}
	text, refused := summarytext.Accept(a.text, r.tokens, r.MaxTokens, input)
	if refused == nil && !a.degraded && summarytext.IsHollow(text, textsOf(req.Previous, b.messages)) {
		refused = &summarytext.Refusal{Reason: "it says nothing of the conversation"}
	}
	if refused != nil {
		return answer{}, &badAnswer{*refused}
	}
	return answer{text, a.degraded}, nil
}

// textsOf iterates over what a summary is made of. A request that was clipped has too little of it to judge an answer.
func textsOf(previous string, messages []Message) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(previous) {
			return
		}
		for i := range messages {
			for k := range messages[i].Parts {
				p := &messages[i].Parts[k]
				if !yield(p.Text) || !yield(string(p.Arguments)) {
					return
				}
			}
		}
	}
}

// safeSummarize calls s and turns a panic into an error.
func safeSummarize(ctx context.Context, s Summarizer, req SummaryRequest) (a answer, err error) {
	err = attempts.Safely("the summarizer", func() (err error) {
		if own, ok := s.(ownSummarizer); ok {
			a, err = own.summarize(ctx, req)
		} else {
			a.text, err = s.Summarize(ctx, req)
		}
		return err
	})
	return a, err
}
