package winnow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/answers"
	"github.com/winnowgo/winnow/internal/chunks"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/summarytext"
)

// The reference allows an answer 0.8 × its reserve of 20 000 tokens, whatever the window. Here a summary grows with the
// window, and the answer leaves room in it for the previous summary.
const (
	defaultAnswerShare  = 0.125
	defaultAnswerTokens = 16_000
	maxAnswerShare      = 0.2
	maxPreviousShare    = 0.3   // of the window, for the summary that is updated
	maxInstructShare    = 0.125 // of the window, for the host's instructions
)

// SummarizeInStages summarizes history with opts.Summarizer, whatever the size of its window. History is
// cut into chunks at atom boundaries; each call updates the summary of the chunks before it; the summaries
// of opts.Parts parts are merged at the end. No call exceeds Window (by the Estimator's count, prompt and
// MaxTokens together), no message is left out (one that is too large is clipped in its middle, arguments
// of calls too), and no prompt is sent twice.
//
// A call is tried at most three times, with pauses that double from 500 ms to 5 s, and each attempt may take 180 s. An
// error that repeats, such as a wrong key, a quota or an overflow, ends the attempts. An answer that is cut, blank, a
// tool call, an echo of the prompt, or not shorter than what it summarizes counts as failed. A chunk that fails is
// tried once more, clipped harder, if that can help; then its [Digest] stands in and Degraded is set. The only errors
// are those of ctx. An empty history gives opts.Previous.
func SummarizeInStages(ctx context.Context, history []Message, opts *SummarizeOptions) (*Summary, error) {
	var c summarizeConfig
	if opts != nil {
		c.SummarizeOptions = *opts
	}
	return summarizeInStages(ctx, history, c)
}

// normal returns c with a default for every field that is not set, and with its texts cut to what the window allows.
func (c summarizeConfig) normal() summarizeConfig {
	if c.Window <= 0 {
		c.Window = defaultWindow
	}
	if c.MaxTokens <= 0 {
		c.MaxTokens = min(count.Share(c.Window, defaultAnswerShare), defaultAnswerTokens)
	}
	c.MaxTokens = max(1, min(c.MaxTokens, count.Share(c.Window, maxAnswerShare)))
	setNumber(&c.Parts, 2)
	setNumber(&c.MinMessages, 4)
	setNumber(&c.attempts, defaultAttempts)
	c.attempts = max(1, c.attempts)
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.Estimator == nil {
		c.Estimator = CharsPerToken(4)
	}
	if c.Summarizer == nil {
		c.Summarizer = Digest()
	}
	if c.cache == nil {
		c.cache = answers.New()
	}
	c.Previous = cut.ToTokens(c.tokens, strings.TrimSpace(c.Previous),
		max(summarytext.Longest(c.MaxTokens), count.Share(c.Window, maxPreviousShare)))
	c.Instructions = cut.ToTokens(c.tokens, strings.TrimSpace(c.Instructions), count.Share(c.Window, maxInstructShare))
	return c
}

// summarizeInStages is SummarizeInStages for the manager. With c.noDigest its errors wrap ErrCompaction and the cause.
// The finished chunks are then in the cache, and a retry with the same history repeats only the rest.
func summarizeInStages(ctx context.Context, history []Message, c summarizeConfig) (*Summary, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	r := &summaryRun{summarizeConfig: c.normal(), ctx: ctx}
	if c.oneAttempt {
		r.failures = 1 // so that one attempt decides: see summarizeBatch
	}
	text, err := r.summarize(history)
	if err != nil {
		if c.noDigest {
			err = fmt.Errorf("%w: %w", ErrCompaction, err)
		}
		return nil, err
	}
	return &Summary{Text: text, Degraded: r.degraded, Calls: r.calls, Usage: r.meter.total()}, nil
}

// summarize returns the summary of history: by the digest, which reads everything at once, or by stages, none of which
// exceeds the window.
func (r *summaryRun) summarize(history []Message) (string, error) {
	if len(history) == 0 {
		return r.Previous, nil
	}
	messages := forSummary(history)
	if d, ok := r.Summarizer.(digester); ok { // reads a history of any size at once, and waits for nothing
		r.calls, r.degraded = 1, true
		return d.digest(SummaryRequest{
			Messages: messages, Previous: r.Previous, Instructions: r.Instructions, MaxTokens: r.MaxTokens,
		}), nil
	}
	if err := r.ctx.Err(); err != nil {
		return "", fmt.Errorf("winnow: summarizing: %w", err)
	}
	text, err := r.stages(messages, r.renderedSizes(history, messages))
	if err == nil && !r.answered { // one digest of everything is better than digests of digests
		text = r.digest(messages, r.Previous)
	}
	return text, err
}

// stages summarizes messages of these sizes in one call, in a row of calls, or in parts that are merged.
func (r *summaryRun) stages(messages []Message, sizes []int) (string, error) {
	previous := max(summarytext.Longest(r.MaxTokens), r.tokens(r.Previous)) // the most that it may take in a request
	largest := chunks.WithMargin(r.room(previous, r.Instructions))
	atoms := atomsWithin(messages, sizes, largest)
	p := r.plan(messages, atoms, largest)
	if len(p.Runs) <= 1 || len(messages) < max(2, r.MinMessages) {
		return r.rolling(messages, chunks.Within(atoms, p.Limit), r.Previous, r.Instructions)
	}
	var partials []Message
	var partialSizes []chunks.Span
	for i, n := range p.Runs {
		part := atoms[:n]
		atoms = atoms[n:]
		text, err := r.rolling(messages, chunks.Within(part, p.Limit), "", r.Instructions)
		if err != nil {
			return "", err
		}
		m := partialSummary(text, i, len(p.Runs), messages, part[0].Join(part[1:]...))
		partials = append(partials, m)
		partialSizes = append(partialSizes, chunks.Span{From: i, To: i + 1, Tokens: renderedTokens(r.Estimator, &m)})
	}
	return r.rolling(partials, chunks.Within(partialSizes, largest), r.Previous,
		strings.TrimSpace(summarytext.Merge+"\n\n"+r.Instructions))
}

// plan divides atoms of messages into parts and chunks. If a summary of a history with the same beginning failed
// before, plan divides this one in the same way, so that the chunks that were summarized then come from the cache.
func (r *summaryRun) plan(messages []Message, atoms []chunks.Span, largest int) chunks.Plan {
	if r.fewest {
		return chunks.Plan{Limit: largest, Runs: []int{len(atoms)}}
	}
	begin := requestKey(r.cache, &SummaryRequest{Messages: messages[:atoms[0].To], MaxTokens: r.MaxTokens})
	if known, ok := r.cache.Plan(begin); ok {
		if p, ok := known.Extended(len(atoms), largest); ok {
			return p
		}
	}
	p := chunks.NewPlan(chunks.Sizes(atoms), r.Parts, r.Window, largest)
	r.cache.PutPlan(begin, p)
	return p
}

// partialSummary returns text, the summary of part i of n, as a message.
func partialSummary(text string, i, n int, messages []Message, part chunks.Span) Message {
	var begin, end time.Time
	for k := part.From; k < part.To; k++ {
		if t := messages[k].Time; !t.IsZero() {
			if begin.IsZero() {
				begin = t
			}
			end = t
		}
	}
	head := summarytext.PartHead(i, n, part.From, part.To, begin, end)
	return Message{Role: RoleUser, Injected: true, Summary: true, Parts: []Part{{Text: head + text}}}
}

// maxFailures is how many chunks in a row may fail before the summarizer is taken to be down.
const maxFailures = 2

// rolling summarizes chunks of messages one after the other, each with the summary of those before it.
func (r *summaryRun) rolling(messages []Message, list []chunks.Span, summary, instructions string) (string, error) {
	for i, c := range list {
		if r.failures >= maxFailures && !r.noDigest {
			// All the rest gets one digest: it weighs the names of the whole, and digests of digests lose some each
			// time.
			rest := c.Join(list[i+1:]...)
			return r.digest(messages[rest.From:rest.To], summary), nil
		}
		b := batch{messages[c.From:c.To], c.Tokens}
		text, err := r.summarizeBatch(b, summary, instructions)
		switch {
		case err == nil:
			r.answered, r.failures = true, 0
		case r.ctx.Err() != nil:
			return "", fmt.Errorf("winnow: summarizing: %w", r.ctx.Err())
		case r.noDigest:
			return "", fmt.Errorf("summarizing messages from %d on: %w", c.From+1, err)
		default:
			r.failures++
			text = r.digest(b.messages, summary)
		}
		summary = text
	}
	return summary, nil
}

// digest returns a digest in place of a summary that could not be made.
func (r *summaryRun) digest(messages []Message, previous string) string {
	r.degraded = true
	return digester{}.digest(SummaryRequest{Messages: messages, Previous: previous, MaxTokens: r.MaxTokens})
}

// summarizeBatch summarizes b as it is and, if that fails, clipped harder.
func (r *summaryRun) summarizeBatch(b batch, previous, instructions string) (string, error) {
	attempts := r.attempts
	if r.failures > 0 { // the summarizer is down: it is only asked whether it is back
		attempts = 1
	}
	limit := chunks.WithMargin(r.room(r.tokens(previous), instructions))
	text, err := r.try(b, previous, instructions, limit, attempts)
	if err == nil || r.ctx.Err() != nil || r.failures > 0 || restsAfter(err) {
		return text, err // less text is no help against a rate limit, a quota or a wrong key
	}
	harder := count.Share(min(limit, b.tokens), harderShare(err))
	if text, again := r.try(b, previous, instructions, harder, 1); again == nil {
		return text, nil
	}
	return "", err // the first error: it is about the batch as it is
}

// harderShare returns the share of a batch that is left after it failed with err: what the provider's numbers allow, or
// a quarter. The estimate may be four times too low, as chars/4 is for CJK.
func harderShare(err error) float64 {
	const slack = 0.9
	if said := ClassifyError(err); said.Limit > 0 && said.Tokens > said.Limit {
		return slack * float64(said.Limit) / float64(said.Tokens)
	}
	return 0.25
}

// atomsWithin returns the atoms of messages; sizes are the messages' tokens as rendered. An atom whose labels alone
// would fill half of limit is split into messages.
func atomsWithin(messages []Message, sizes []int, limit int) []chunks.Span {
	var out []chunks.Span
	first := 0
	for _, n := range atomsOf(messages) {
		frames := 0
		for i := range messages[first : first+n] {
			frames += frameTokens(&messages[first+i]) + minClipTokens
		}
		step := n
		if frames > limit/2 {
			step = 1
		}
		for end := first + n; first < end; first += step {
			tokens := count.Sum(sizes[first : first+step])
			out = append(out, chunks.Span{From: first, To: first + step, Tokens: tokens})
		}
	}
	return out
}

// atomsOf splits messages into atoms: an assistant message with tool calls and the results behind it, or
// one other message. It returns their lengths.
func atomsOf(messages []Message) []int {
	var lengths []int
	open := false // the last atom takes results
	for i := range messages {
		m := &messages[i]
		if m.Role == RoleTool && open {
			lengths[len(lengths)-1]++
			continue
		}
		// A result behind a user message is an atom of its own: it has no call from which it could be divided.
		open = hasCalls(m)
		lengths = append(lengths, 1)
	}
	return lengths
}
