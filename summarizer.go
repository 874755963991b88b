package winnow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/digest"
)

// Summarizer writes a summary of req with an LLM. Implementations are safe for concurrent use, honour ctx, and return
// an error that wraps [ErrIncomplete] unless the model ended its answer by itself.
//
// An answer is a summary if it has a section that was asked for, or repeats enough names and words of the conversation.
// It is refused, and the error and the log say why, if it is empty, a tool call, an apology or a copy of the prompt, or
// if it is longer than half as much again as MaxTokens or, above 400 tokens, than what it summarizes. So a fake one for
// tests returns "## Goal" and a line below it.
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
	Instructions string    // additional instructions of the host
	MaxTokens    int       // room for the answer, in tokens
}

// copyMessages returns messages that a summarizer may write to.
func copyMessages(messages []Message) []Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
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

	// room for each answer, tokens (an eighth of Window, at most 16 000); at most a fifth of Window
	MaxTokens    int
	Previous     string    // the summary so far; "" for none
	Instructions string    // added to every request
	Parts        int       // parts that are summarized on their own and then merged (2)
	MinMessages  int       // fewer messages are not split (4)
	Estimator    Estimator // nil: CharsPerToken(4)
}

// Summary is what [SummarizeInStages] made.
type Summary struct {
	Text     string // never blank, unless there was nothing to summarize
	Degraded bool   // some of it was made without an LLM
	Calls    int    // calls to the Summarizer, retries included
	Usage    Usage  // what they were billed for, as far as the Summarizer says so with ReportUsage
}

// answer is what a summarizer said.
type answer struct {
	text     string
	degraded bool // made without the LLM
}

// ownSummarizer is a summarizer of this package. Its answer says whether it was made without an LLM.
type ownSummarizer interface {
	summarize(context.Context, SummaryRequest) (answer, error)
}

// What summaries cost. A summarizer reports what its answers were billed for through its context, so that its method
// need not return more than a text.

// ReportUsage is for a [Summarizer]: it reports the usage of an answer, even of one that is then rejected. ctx is the
// context that Summarize got, or one derived from it. [Summary.Usage] and [Compaction.Usage] are the sums. With any
// other context it does nothing.
func ReportUsage(ctx context.Context, u Usage) {
	if m, ok := ctx.Value(meterKey{}).(*usageMeter); ok {
		m.add(u)
	}
}

type meterKey struct{}

// usageMeter adds up what calls were billed for. A call that was given up may still report, from a goroutine of its
// own.
type usageMeter struct {
	mu  sync.Mutex
	sum Usage
}

func (m *usageMeter) add(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum = m.sum.plus(u)
}

func (m *usageMeter) total() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sum
}

// plus adds two usages. Negative counts are taken as 0.
func (u Usage) plus(v Usage) Usage {
	return Usage{
		Input:      count.Add(max(0, u.Input), max(0, v.Input)),
		CacheRead:  count.Add(max(0, u.CacheRead), max(0, v.CacheRead)),
		CacheWrite: count.Add(max(0, u.CacheWrite), max(0, v.CacheWrite)),
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

// Digest returns the summarizer that needs no LLM. It quotes the newest requests of people and the model's last words,
// and lists the identifiers that are most likely to be needed again, in at most req.MaxTokens tokens (0: 4 000).
// req.Previous comes first, in at most half of that. It is deterministic, and never fails.
func Digest() Summarizer { return digester{} }

// digester is the summarizer of Digest. The manager recognizes it by its type, because it costs nothing and never
// fails.
type digester struct{}

// isDigest reports whether s is the summarizer of Digest.
func isDigest(s Summarizer) bool {
	_, is := s.(digester)
	return is
}

func (d digester) Summarize(_ context.Context, req SummaryRequest) (string, error) {
	return d.digest(req), nil
}

// summarize also says that the text was made without an LLM.
func (d digester) summarize(_ context.Context, req SummaryRequest) (answer, error) {
	return answer{d.digest(req), true}, nil
}

func (digester) digest(req SummaryRequest) string {
	return notesOf(req.Previous, func(yield func(*Message) bool) {
		for i := range req.Messages {
			if !yield(&req.Messages[i]) {
				return
			}
		}
	}).Write(req.MaxTokens)
}

// notesOf returns what a digest may say of previous, an earlier summary, and of messages.
func notesOf(previous string, messages iter.Seq[*Message]) *digest.Notes {
	n := digest.New()
	n.Earlier(previous)
	for m := range messages {
		n.Next()
		noteMessage(n, m)
	}
	return n
}

// noteMessage adds m to the notes.
func noteMessage(n *digest.Notes, m *Message) {
	if m.Summary {
		n.Earlier(messageParts(m))
		return
	}
	eachMention(m, n.Scan)
	switch sourceOf(m) { // injected and system messages are not quoted: only their identifiers may be needed
	case digest.FromUser:
		n.Asked(messageParts(m))
	case digest.FromAssistant:
		n.Said(messageParts(m))
	}
}

// eachMention calls f for the texts and the arguments of m.
func eachMention(m *Message, f func(s string, from digest.Source)) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case KindText:
			f(p.Text, sourceOf(m))
		case KindThinking:
			f(p.Text, digest.FromThinking)
		case KindToolCall:
			f(string(p.Arguments), digest.FromArguments)
		}
	}
}

// sourceOf says whom the texts of m are from.
func sourceOf(m *Message) digest.Source {
	switch {
	case m.Summary:
		return digest.FromPrevious
	case m.Role == RoleUser && !m.Injected:
		return digest.FromUser
	case m.Role == RoleAssistant:
		return digest.FromAssistant
	case returnsContent(m):
		return digest.FromResult
	}
	return digest.FromHost
}
