package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/winnowgo/winnow/internal/count"
)

// Summarizer writes a summary of req with an LLM. Implementations are safe for concurrent use, honour ctx, and return
// an error that wraps [ErrIncomplete] unless the model ended its answer by itself.
//
// An answer is refused if it is empty, a tool call, an apology or a copy of the prompt, shares too few words with the
// conversation, or is much longer than MaxTokens or than what it summarizes. The error, the log and [Request].Degraded
// say which rule it was. A fake one for tests returns "## Goal" and a line below it, or is a winnowtest.Summarizer.
type Summarizer interface {
	Summarize(ctx context.Context, req SummaryRequest) (string, error)
}

// SummarizerFunc is a function that is a [Summarizer].
type SummarizerFunc func(ctx context.Context, req SummaryRequest) (string, error)

// Summarize calls f.
func (f SummarizerFunc) Summarize(ctx context.Context, req SummaryRequest) (string, error) {
	return f(ctx, req)
}

// SummaryRequest is one call of a [Summarizer].
type SummaryRequest struct {
	Messages     []Message // what is to be summarized, oldest first; without Details, images and Source
	Previous     string    // the summary so far, to be updated; "" for none
	Said         string    // what people said, which stands in front of the summary and need not be repeated in it
	Instructions string    // additional instructions of the host
	MaxTokens    int       // room for the answer, in tokens
}

// copyMessages returns a copy of messages: whoever writes to it, or to messages, does not write to the other.
func copyMessages(messages []Message) []Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts, out[i].Details = slices.Clone(out[i].Parts), slices.Clone(out[i].Details)
		for k := range out[i].Parts {
			out[i].Parts[k].Arguments = slices.Clone(out[i].Parts[k].Arguments)
		}
	}
	return out
}

// SummarizeOptions are the options of [SummarizeInStages].
type SummarizeOptions struct {
	Summarizer Summarizer // nil: Digest()
	Window     int        // the summarizer's own context window, tokens (200 000)

	MaxTokens    int       // room for each answer, at most a fifth of Window (an eighth, at most 16 000 tokens)
	Previous     string    // the summary so far; "" for none
	Said         string    // what the caller quotes in front of the summary, see SummaryRequest; "" for nothing
	Instructions string    // added to every request
	Parts        int       // parts that are summarized on their own and then merged (2)
	MinMessages  int       // fewer messages are not split (4)
	Estimator    Estimator // nil: NewEstimator("")
}

// Summary is what [SummarizeInStages] made.
type Summary struct {
	Text     string // never blank, unless there was nothing to summarize
	Degraded string // why some of it was made without an LLM; "": none was
	Calls    int    // calls to the Summarizer, retries included
	Usage    Usage  // what they were billed for, as far as the Summarizer says so with ReportUsage
}

// answer is what a summarizer said.
type answer struct {
	text     string
	degraded string // why it was made without an LLM; "": it was not
}

// What summaries cost. A summarizer reports what its answers were billed for through its context, so that its method
// need not return more than a text.

// ReportUsage is for a [Summarizer]: it reports the usage of an answer, even of one that is then rejected. ctx is the
// context that Summarize got, or one derived from it. [Summary.Usage] and [Request.SummaryUsage] are the sums. With any
// other context it does nothing.
func ReportUsage(ctx context.Context, u Usage) {
	meterIn(ctx).add(0, u)
}

type meterKey struct{}

// meter counts calls of a summarizer, and adds up what they were billed for. A call that was given up may still report,
// from a goroutine of its own.
type meter struct {
	within *meter // that of a manager for the run of one summary, which counts the same; nil: none
	mu     sync.Mutex
	calls  int
	usage  Usage
}

// meterIn returns the meter that the work of ctx is counted by; nil: nobody asks.
func meterIn(ctx context.Context) *meter {
	m, _ := ctx.Value(meterKey{}).(*meter)
	return m
}

func meteredBy(ctx context.Context, m *meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

func (m *meter) add(calls int, u Usage) {
	for ; m != nil; m = m.within {
		m.mu.Lock()
		m.calls, m.usage = m.calls+calls, m.usage.plus(u)
		m.mu.Unlock()
	}
}

// take returns what was counted since it was last taken.
func (m *meter) take() (calls int, u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls, u = m.calls, m.usage
	m.calls, m.usage = 0, Usage{}
	return calls, u
}

// plus adds two usages. Negative counts are taken as 0.
func (u Usage) plus(v Usage) Usage {
	return Usage{
		Input:      count.Add(max(0, u.Input), max(0, v.Input)),
		CacheRead:  count.Add(max(0, u.CacheRead), max(0, v.CacheRead)),
		CacheWrite: count.Add(max(0, u.CacheWrite), max(0, v.CacheWrite)),
		LongWrite:  count.Add(max(0, u.LongWrite), max(0, v.LongWrite)),
		Output:     count.Add(max(0, u.Output), max(0, v.Output)),
	}
}

// Code of a host may fail, panic or not return.

// safely calls f. A panic in f becomes its error, which says who panicked.
func safely(who string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v", who, p)
		}
	}()
	return f()
}

// lingering is how long within waits for a function to return once it was told to stop. A function that honours its
// context then leaves no goroutine behind.
const lingering = 50 * time.Millisecond

// returned is what a function returned.
type returned[T any] struct {
	value T
	err   error
}

// within calls f in a goroutine of its own and returns what f returned. It returns when ctx or the time ends, even if f
// goes on: the goroutine ends when f returns.
func within[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	var zero T
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan returned[T], 1)
	go func() {
		o := returned[T]{err: errors.New("the call ended its goroutine")} // with runtime.Goexit, as t.FailNow does
		defer func() { done <- o }()
		o.value, o.err = f(timed)
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-timed.Done():
	}
	late := time.NewTimer(lingering)
	defer late.Stop()
	select {
	case o := <-done:
		if o.err == nil && ctx.Err() == nil {
			return o.value, nil // the answer came just too late, but it is paid for and complete
		}
	case <-late.C:
	}
	if ctx.Err() != nil {
		return zero, ctx.Err()
	}
	return zero, fmt.Errorf("no answer within %s: %w", limit, timed.Err())
}

// Digest returns the summarizer that needs no LLM. It quotes what people said, unless req.Said does, and the model's
// last words, and lists the identifiers that are most likely to be needed again, in at most req.MaxTokens tokens
// (0: 4 000). It is deterministic, and never fails.
func Digest() Summarizer { return digester{} }

// noSummarizer is why a digest is all there is.
const noSummarizer = "no summarizer"

// digester is the summarizer of Digest. The manager recognizes it by its type, because it costs nothing and never
// fails.
type digester struct{}

func isDigest(s Summarizer) bool {
	_, is := s.(digester)
	return is
}
