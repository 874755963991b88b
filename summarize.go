package winnow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/answers"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/cut"
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

// mergeInstructions are the reference's, with a clause on the order of the summaries.
const mergeInstructions = "Merge these partial summaries, which stand in the order of the conversation, into a " +
	"single cohesive summary; where they contradict each other the later one holds. Preserve decisions, TODOs, open " +
	"questions, and any constraints."

// SummarizeInStages summarizes history with opts.Summarizer, whatever the size of its window. History is
// cut into chunks at atom boundaries; each call updates the summary of the chunks before it; the summaries
// of opts.Parts parts are merged at the end. No call exceeds Window (by the Estimator's count, prompt and
// MaxTokens together), no message is left out (one that is too large is clipped in its middle, arguments
// of calls too), and no prompt is sent twice.
//
// A call is tried three times, with pauses of 500 ms doubling to 5 s, and each attempt may take 180 s. An
// answer that is cut, blank, a tool call, an echo of the prompt, or not shorter than what it summarizes
// counts as failed. A chunk that fails is tried once more, clipped harder; then the [Digest] of it stands
// in and Degraded is set. The only errors are those of ctx. An empty history gives opts.Previous.
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
	if c.sleep == nil {
		c.sleep = sleepFor
	}
	tokens := func(s string) int { return textTokens(c.Estimator, s) }
	c.Previous = cut.ToTokens(tokens, strings.TrimSpace(c.Previous),
		max(answerLimit(c.MaxTokens), count.Share(c.Window, maxPreviousShare)))
	c.Instructions = cut.ToTokens(tokens, strings.TrimSpace(c.Instructions), count.Share(c.Window, maxInstructShare))
	return c
}

// summarizeInStages is SummarizeInStages for the manager. With c.noDigest its errors wrap ErrCompaction and the cause.
// The finished chunks are then in the cache, and a retry with the same history repeats only the rest.
func summarizeInStages(ctx context.Context, history []Message, c summarizeConfig) (*Summary, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	r := &summaryRun{summarizeConfig: c.normal(), ctx: ctx}
	if c.isDown {
		r.failures = 1 // so that one attempt decides, see batch
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
	messages, outcomes := forSummary(history)
	if d, ok := r.Summarizer.(digester); ok { // reads a history of any size at once, and waits for nothing
		r.calls, r.degraded = 1, true
		return d.digest(SummaryRequest{
			Messages: messages, Previous: r.Previous, Instructions: r.Instructions, MaxTokens: r.MaxTokens,
		}), nil
	}
	if err := r.ctx.Err(); err != nil {
		return "", fmt.Errorf("winnow: summarizing: %w", err)
	}
	text, err := r.stages(messages, r.renderedSizes(history, messages, outcomes))
	if err == nil && !r.answered { // one digest of everything is better than digests of digests
		text = r.digest(messages, r.Previous)
	}
	return text, err
}

// stages summarizes messages of these sizes in one call, in a row of calls, or in parts that are merged.
func (r *summaryRun) stages(messages []Message, sizes []int) (string, error) {
	largest := count.WithMargin(r.room(r.previousAllowance(), r.Instructions))
	atoms := atomBatches(messages, sizes, largest)
	p := r.plan(atoms, largest)
	if len(p.Runs) <= 1 || len(messages) < max(2, r.MinMessages) {
		return r.rolling(batches(atoms, count.Chunks(batchSizes(atoms), p.Limit)), r.Previous, r.Instructions)
	}
	var partials []messageBatch
	for i, n := range p.Runs {
		part := atoms[:n]
		atoms = atoms[n:]
		text, err := r.rolling(batches(part, count.Chunks(batchSizes(part), p.Limit)), "", r.Instructions)
		if err != nil {
			return "", err
		}
		partials = append(partials, r.partial(text, i, len(p.Runs), messages[part[0].first:endOf(part)], part[0].first))
	}
	return r.merge(partials, largest)
}

// plan divides atoms into parts and chunks. If a summary of a history with the same beginning failed before, plan
// divides this one in the same way, so that the chunks that were summarized then come from the cache; what came later
// goes to the last part.
func (r *summaryRun) plan(atoms []messageBatch, largest int) answers.Plan {
	if r.fewest {
		return answers.Plan{Limit: largest, Runs: []int{len(atoms)}}
	}
	begin := requestKey(r.cache, &SummaryRequest{Messages: atoms[0].messages, MaxTokens: r.MaxTokens})
	if p, ok := r.cache.Plan(begin); ok {
		rest := len(atoms)
		for _, n := range p.Runs[:len(p.Runs)-1] {
			rest -= n
		}
		if rest > 0 { // otherwise the history is shorter now
			runs := slices.Clone(p.Runs)
			runs[len(runs)-1] = rest
			return answers.Plan{Limit: min(p.Limit, largest), Runs: runs}
		}
	}
	sizes := batchSizes(atoms)
	limit := max(count.ChunkLimit(sizes, r.Window), leastChunkTokens)
	p := answers.Plan{Limit: min(limit, largest), Runs: []int{len(atoms)}}
	// Parts smaller than a chunk would only add calls.
	if total := count.Sum(sizes); total > p.Limit {
		p.Runs = count.Runs(sizes, min(r.Parts, total/p.Limit+1))
	}
	r.cache.PutPlan(begin, p)
	return p
}

// endOf returns the index in the history behind the last of atoms.
func endOf(atoms []messageBatch) int {
	last := atoms[len(atoms)-1]
	return last.first + len(last.messages)
}

// partial returns text, the summary of part i of n, as a message. The part is messages, from index first of the history
// on.
func (r *summaryRun) partial(text string, i, n int, messages []Message, first int) messageBatch {
	head := fmt.Sprintf("Summary of part %d of %d: messages %d to %d%s.\n\n", i+1, n, first+1, first+len(messages),
		timeRange(messages))
	m := Message{Role: RoleUser, Injected: true, Summary: true, Parts: []Part{{Text: head + text}}}
	return messageBatch{messages: []Message{m}, tokens: renderedTokens(r.Estimator, &m), first: i}
}

// timeRange says from when to when messages were written, if that is known.
func timeRange(messages []Message) string {
	var from, to time.Time
	for i := range messages {
		if t := messages[i].Time; !t.IsZero() {
			if from.IsZero() {
				from = t
			}
			to = t
		}
	}
	if from.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s to %s", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
}

// merge returns one summary of the partial ones and the previous summary.
func (r *summaryRun) merge(partials []messageBatch, limit int) (string, error) {
	instructions := mergeInstructions
	if r.Instructions != "" {
		instructions += "\n\n" + r.Instructions
	}
	return r.rolling(batches(partials, count.Chunks(batchSizes(partials), limit)), r.Previous, instructions)
}

// maxFailures is how many chunks in a row may fail before the summarizer is taken to be down.
const maxFailures = 1

// rolling summarizes chunks one after the other, each with the summary of those before it.
func (r *summaryRun) rolling(chunks []messageBatch, summary, instructions string) (string, error) {
	for i, b := range chunks {
		if r.failures > maxFailures && !r.noDigest {
			// All the rest gets one digest: it weighs the names of the whole, and digests of digests lose some each
			// time.
			for _, rest := range chunks[i+1:] {
				b.join(rest)
			}
			return r.digest(b.messages, summary), nil
		}
		text, err := r.batch(b, summary, instructions)
		switch {
		case err == nil:
			r.answered, r.failures = true, 0
		case r.ctx.Err() != nil:
			return "", fmt.Errorf("winnow: summarizing: %w", r.ctx.Err())
		case r.noDigest:
			return "", fmt.Errorf("summarizing messages from %d on: %w", b.first+1, err)
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

// batch summarizes one chunk as it is and, if that fails, clipped harder.
func (r *summaryRun) batch(b messageBatch, previous, instructions string) (string, error) {
	attempts := r.attempts
	if r.failures > 0 { // the summarizer is down: it is only asked whether it is back
		attempts = 1
	}
	limit := count.WithMargin(r.room(textTokens(r.Estimator, previous), instructions))
	text, err := r.try(b, previous, instructions, limit, attempts)
	if err == nil || r.ctx.Err() != nil || r.failures > 0 || restsAfter(err) {
		return text, err // less text is no help against a rate limit, a quota or a wrong key
	}
	harder := count.Share(min(limit, b.tokens), harderShare(err))
	if text, again := r.try(b, previous, instructions, harder, 1); again == nil {
		return text, nil
	}
	return "", err // the first error: it is about the chunk as it is
}

// harderShare returns the share of a chunk that is left after it failed with err: what the provider's numbers allow, or
// a quarter. The estimate may be four times too low, as chars/4 is for CJK.
func harderShare(err error) float64 {
	const slack = 0.9
	if said := ClassifyError(err); said.Limit > 0 && said.Tokens > said.Limit {
		return slack * float64(said.Limit) / float64(said.Tokens)
	}
	return 0.25
}

// atomBatches returns the atoms of messages; sizes are the messages' tokens as rendered. An atom whose labels alone
// would fill half of limit is split into messages.
func atomBatches(messages []Message, sizes []int, limit int) []messageBatch {
	var out []messageBatch
	first := 0
	for _, n := range atomsOf(messages) {
		b := messageBatch{messages: messages[first : first+n : first+n], tokens: count.Sum(sizes[first : first+n]),
			first: first}
		frames := 0
		for i := range b.messages {
			frames += frameTokens(&b.messages[i]) + minClipTokens
		}
		if n > 1 && frames > limit/2 {
			for i := range b.messages {
				one := messageBatch{messages: b.messages[i : i+1 : i+1], first: first + i, tokens: sizes[first+i]}
				out = append(out, one)
			}
		} else {
			out = append(out, b)
		}
		first += n
	}
	return out
}
