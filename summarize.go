package winnow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/overflow"
	"github.com/winnowgo/winnow/internal/summarytext"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// The stage that summarizes, and its calls: one where the history fits into the summarizer's window, else one for each
// chunk, each with the summary of the chunks before it.

// OpenClaw allows an answer 0.8 × its reserve of 20 000 tokens, whatever the window. Here a summary grows with the
// window, and the answer leaves room in it for the previous summary.
const (
	defaultAnswerShare  = 0.125
	defaultAnswerTokens = 16_000
	maxAnswerShare      = 0.2
	maxPreviousShare    = 0.3   // of the window, for the summary that is updated
	maxInstructShare    = 0.125 // of the window, for the host's instructions
	estimateMargin      = 1.2   // OpenClaw's: estimates may be too low by this factor
	noteTokens          = 64    // kept free in every request for what a second attempt adds to its instructions
)

// SummarizeInStages summarizes history with opts.Summarizer, in one call if it fits into its window, else in opts.Parts
// parts whose summaries are merged. No message is left out: one that is too large is clipped in its middle. A call that
// fails, takes longer than 180 s or gives no summary is made once more, after a second if that may help. Then [Digest]
// stands in for the rest, and Degraded says why. If it stands in for all, the error says why too, and the summary is
// returned with it; with an error of ctx it is nil. An empty history gives opts.Previous.
func SummarizeInStages(ctx context.Context, history []Message, opts *SummarizeOptions) (*Summary, error) {
	return newSummaryRun(ctx, valueOf(opts)).run(history)
}

// summaryRun is one run of SummarizeInStages.
type summaryRun struct {
	SummarizeOptions
	ctx      context.Context
	timeout  time.Duration // of one call
	once     bool          // a call that fails is not made again
	noDigest bool          // the run fails where a digest would stand in
	meter    *meter
	answered bool   // the summarizer made some of the text
	degraded string // why the digest made some of the text; "": it did not
	failed   error  // the last call, for which a digest stands in
}

// newSummaryRun returns a run with a default for every option that is not set, and with texts cut to what the window
// allows.
func newSummaryRun(ctx context.Context, o SummarizeOptions) *summaryRun {
	if ctx == nil {
		ctx = context.Background()
	}
	r := &summaryRun{SummarizeOptions: o, ctx: ctx, timeout: defaultTimeout, meter: &meter{within: meterIn(ctx)}}
	if r.Window <= 0 {
		r.Window = defaultWindow
	}
	if r.MaxTokens <= 0 {
		r.MaxTokens = min(count.Share(r.Window, defaultAnswerShare), defaultAnswerTokens)
	}
	r.MaxTokens = max(1, min(r.MaxTokens, count.Share(r.Window, maxAnswerShare)))
	setDefault(&r.Parts, 2)
	setDefault(&r.MinMessages, 4)
	if r.Estimator == nil {
		r.Estimator = cautious()
	}
	if r.Summarizer == nil {
		r.Summarizer = Digest()
	}
	r.Previous = excerpt.ToTokens(r.tokens, strings.TrimSpace(r.Previous),
		max(summarytext.Longest(r.MaxTokens), count.Share(r.Window, maxPreviousShare)))
	room := count.Share(r.Window, maxInstructShare)
	r.Said = excerpt.ToTokens(r.tokens, strings.TrimSpace(r.Said), room)
	r.Instructions = excerpt.ToTokens(r.tokens, strings.TrimSpace(r.Instructions), room)
	return r
}

func (r *summaryRun) tokens(text string) int { return textTokens(r.Estimator, text) }

func (r *summaryRun) run(history []Message) (*Summary, error) {
	text := r.Previous
	if len(history) > 0 {
		var err error
		if text, err = r.summarize(forSummary(history)); err != nil {
			return nil, err
		}
	}
	sum := &Summary{Text: text, Degraded: r.degraded}
	sum.Calls, sum.Usage = r.meter.take()
	if r.failed != nil && !r.answered {
		return sum, fmt.Errorf("winnow: summarizing: %w", r.failed)
	}
	return sum, nil
}

func (r *summaryRun) summarize(messages []Message) (string, error) {
	if isDigest(r.Summarizer) { // it reads a history of any size at once, and waits for nothing
		r.degraded = noSummarizer
		return r.digest(messages, r.Previous), nil
	}
	if err := r.ctx.Err(); err != nil {
		return "", fmt.Errorf("winnow: summarizing: %w", err)
	}
	text, err := r.stages(messages)
	if err == nil && !r.answered { // one digest of everything is better than digests of digests
		text = r.digest(messages, r.Previous)
	}
	return text, err
}

// digest returns a digest in place of a summary that could not be made.
func (r *summaryRun) digest(messages []Message, previous string) string {
	return digester{}.digest(SummaryRequest{
		Messages: messages, Previous: previous, Said: r.Said, MaxTokens: r.MaxTokens,
	})
}

// stages summarizes messages in one call, in a row of calls, or in parts that are merged.
func (r *summaryRun) stages(messages []Message) (string, error) {
	previous := max(summarytext.Longest(r.MaxTokens), r.tokens(r.Previous)) // the most that it may take in a request
	limit := r.room(previous, r.Instructions)
	atoms := r.atoms(messages, limit)
	total := 0
	for _, a := range atoms {
		total = count.Add(total, a.tokens)
	}
	if total <= limit || r.Parts <= 1 || len(messages) < max(2, r.MinMessages) {
		return r.rolling(messages, atoms, limit, r.Previous, r.Instructions)
	}
	var partials []Message
	parts := divide(atoms, min(r.Parts, total/limit+1), total)
	for i, part := range parts {
		text, err := r.rolling(messages, part, limit, "", r.Instructions)
		if err != nil {
			return "", err
		}
		partials = append(partials, partialSummary(text, i, len(parts), messages, part[0].from, part[len(part)-1].to))
	}
	return r.rolling(partials, r.atoms(partials, limit), limit, r.Previous,
		strings.TrimSpace(summarytext.Merge+"\n\n"+r.Instructions))
}

// messageRun is a run of messages that belong together, and how many tokens they take in a prompt.
type messageRun struct{ from, to, tokens int }

// atoms returns the atoms of messages: an assistant message with tool calls and the results behind it, or one other
// message. An atom whose labels alone would fill half of limit is split into messages.
func (r *summaryRun) atoms(messages []Message, limit int) []messageRun {
	var out []messageRun
	frames := 0     // of the last atom
	isOpen := false // the last atom takes results; a result behind a user message has no call to be divided from
	for i := range messages {
		m := &messages[i]
		tokens, frame := renderedTokens(r.Estimator, m), frameTokens(m)+minClipTokens
		if m.Role == RoleTool && isOpen && frames+frame <= limit/2 {
			last := &out[len(out)-1]
			last.to, last.tokens, frames = i+1, count.Add(last.tokens, tokens), frames+frame
			continue
		}
		isOpen, frames = hasCalls(m) || m.Role == RoleTool && isOpen, frame
		out = append(out, messageRun{i, i + 1, tokens})
	}
	return out
}

// divide splits runs, of total tokens, into at most `parts` parts of about the same size.
func divide(runs []messageRun, parts, total int) [][]messageRun {
	var out [][]messageRun
	from, size := 0, 0
	for i, a := range runs {
		if i > from && len(out) < parts-1 && float64(count.Add(size, a.tokens)) > float64(total)/float64(parts) {
			out, from, size = append(out, runs[from:i]), i, 0
		}
		size = count.Add(size, a.tokens)
	}
	return append(out, runs[from:])
}

// partialSummary returns text, the summary of part i of n, as a message.
func partialSummary(text string, i, n int, messages []Message, from, to int) Message {
	var begin, end time.Time
	for k := from; k < to; k++ {
		if t := messages[k].Time; !t.IsZero() {
			if begin.IsZero() {
				begin = t
			}
			end = t
		}
	}
	head := summarytext.PartHead(i, n, from, to, begin, end)
	return Message{Role: RoleUser, Injected: true, Summary: true, Parts: []Part{{Text: head + text}}}
}

// rolling summarizes neighbouring runs of messages in chunks of at most limit tokens, one after the other, each with
// the summary of those before it. Where a call fails, a digest stands in for the rest.
func (r *summaryRun) rolling(
	messages []Message, runs []messageRun, limit int, summary, instructions string,
) (string, error) {
	end := runs[len(runs)-1].to
	for len(runs) > 0 {
		n, tokens := 1, runs[0].tokens
		for n < len(runs) && count.Add(tokens, runs[n].tokens) <= limit {
			tokens = count.Add(tokens, runs[n].tokens)
			n++
		}
		from, to := runs[0].from, runs[n-1].to
		text, err := r.call(&question{messages[from:to], tokens, summary, instructions})
		switch {
		case err == nil:
			r.answered, summary, runs = true, text, runs[n:]
		case r.ctx.Err() != nil:
			return "", fmt.Errorf("winnow: summarizing: %w", r.ctx.Err())
		case r.noDigest:
			return "", fmt.Errorf("summarizing messages from %d on: %w", from+1, err)
		default:
			r.failed, r.degraded = err, failureReason(err)
			return r.digest(messages[from:end], summary), nil
		}
	}
	return summary, nil
}

// question is what one call summarizes.
type question struct {
	messages               []Message
	tokens                 int // of the messages in a prompt
	previous, instructions string
}

// call asks for the summary of q, and once more if that fails and may help.
func (r *summaryRun) call(q *question) (string, error) {
	limit := r.room(r.tokens(q.previous), q.instructions)
	req, err := r.request(q, limit)
	if err != nil {
		return "", err
	}
	text, err := r.ask(&req, q)
	if err == nil || r.once || r.ctx.Err() != nil || !pauseAfter(r.ctx, err) {
		return text, err
	}
	if share := shareLeft(err); share < 1 {
		var tooSmall error
		if req, tooSmall = r.request(q, count.Share(min(limit, q.tokens), share)); tooSmall != nil {
			return "", err
		}
	}
	req.Instructions = summarytext.Again(q.instructions, refusalIn(err))
	if text, again := r.ask(&req, q); again == nil {
		return text, nil
	}
	return "", err // the first error: it is about all of the text
}

// shareLeft returns the share of a text that is left after a request with all of it failed with err: what the
// provider's numbers allow, or a quarter, because the estimate may be four times too low, as chars/4 is for CJK.
func shareLeft(err error) float64 {
	const slack, quarter = 0.9, 0.25
	switch said := ClassifyError(err); {
	case errors.Is(err, ErrIncomplete):
		return 1
	case said.Limit > 0 && said.Tokens > said.Limit:
		return slack * float64(said.Limit) / float64(said.Tokens)
	case said.Class == ErrorOverflow, said.Class == ErrorBytes, errors.Is(err, context.DeadlineExceeded):
		return quarter
	}
	return 1
}

// room returns the tokens, by the estimator, that a request with these instructions has for messages, if the previous
// summary takes previous tokens.
func (r *summaryRun) room(previous int, instructions string) int {
	req := SummaryRequest{Previous: "x", Said: r.Said, Instructions: instructions, MaxTokens: r.MaxTokens}
	room := r.Window - r.MaxTokens - noteTokens - r.promptTokens(&req) - previous
	return max(1, int(float64(room)/estimateMargin))
}

// promptTokens estimates a request as the model will see it.
func (r *summaryRun) promptTokens(req *SummaryRequest) int {
	return count.Add(r.tokens(req.System()), r.tokens(req.Prompt()))
}

// errNoRoom says that the window cannot hold the prompt, its answer and anything to summarize.
var errNoRoom = errors.New("the summarizer's window is too small for a request")

// request renders q in at most limit tokens, and in fewer if the whole would exceed the window.
func (r *summaryRun) request(q *question, limit int) (SummaryRequest, error) {
	// After eight rounds limit is a seventeenth (0.7⁸): labels and escapes never exceed their estimate by more than
	// that.
	for range 8 {
		if limit < minClipTokens {
			break
		}
		req := SummaryRequest{
			Messages: q.messages, Previous: q.previous, Said: r.Said, Instructions: q.instructions,
			MaxTokens: r.MaxTokens,
		}
		// The estimate includes labels, and escapes add a third at most: what takes half of limit need not be counted
		// again.
		if q.tokens <= limit/2 {
			return req, nil
		}
		req.Messages = fitMessages(r.Estimator, q.messages, limit)
		if r.promptTokens(&req) <= r.Window-r.MaxTokens-noteTokens {
			return req, nil
		}
		limit = limit * 7 / 10
	}
	return SummaryRequest{}, errNoRoom
}

// badAnswer is the error of an answer that cannot be used as a summary. It wraps ErrIncomplete.
type badAnswer struct{ reason string }

// Error does not quote the answer: errors are logged, and its text may be the conversation's.
func (e *badAnswer) Error() string { return "the answer was refused: " + e.reason }
func (e *badAnswer) Unwrap() error { return ErrIncomplete }

// refusalIn returns why an answer was refused, if err says that it was.
func refusalIn(err error) string {
	if bad := (*badAnswer)(nil); errors.As(err, &bad) {
		return bad.reason
	}
	return ""
}

// ask asks the summarizer once. It returns when r.ctx or the call's time ends, even if the summarizer goes on. The
// answer is judged by all of q, although req may have less of it.
func (r *summaryRun) ask(req *SummaryRequest, q *question) (string, error) {
	if err := r.ctx.Err(); err != nil {
		return "", err
	}
	r.meter.add(1, Usage{})
	own := *req
	own.Messages = copyMessages(req.Messages) // its own, even when this call has given up on it
	a, err := within(meteredBy(r.ctx, r.meter), r.timeout, func(ctx context.Context) (answer, error) {
		return safeSummarize(ctx, r.Summarizer, own)
	})
	if err != nil {
		return "", err
	}
	text, refused := summarytext.Accept(a.text, r.tokens, r.MaxTokens, count.Add(q.tokens, r.tokens(q.previous)))
	if refused == "" && a.degraded == "" && summarytext.IsHollow(text, q.texts()) {
		refused = "it says nothing of the conversation"
	}
	if refused != "" {
		return "", &badAnswer{refused}
	}
	r.degraded = cmp.Or(a.degraded, r.degraded)
	return text, nil
}

// texts iterates over what is summarized.
func (q *question) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(q.previous) {
			return
		}
		for i := range q.messages {
			for k := range q.messages[i].Parts {
				p := &q.messages[i].Parts[k]
				if !yield(p.Text) || !yield(p.Name) || !yield(string(p.Arguments)) {
					return
				}
			}
		}
	}
}

// safeSummarize calls s and turns a panic into an error.
func safeSummarize(ctx context.Context, s Summarizer, req SummaryRequest) (a answer, err error) {
	err = safely("the summarizer", func() (err error) {
		if first, is := s.(*failover); is {
			a, err = first.summarize(ctx, req)
			return err
		}
		a.text, err = s.Summarize(ctx, req)
		return err
	})
	if isDigest(s) {
		a.degraded = noSummarizer
	}
	return a, err
}

// restsAfter reports whether a summarizer that failed with err would fail again if it were asked soon.
func restsAfter(err error) bool {
	switch ClassifyError(err).Class {
	case ErrorRateLimit, ErrorQuota, ErrorAuth:
		return true
	}
	return false
}

// FirstOf returns a summarizer that asks each of s in turn until one answers. One that fails with a rate limit, a quota
// or an auth error is skipped for cooldown. The error joins those of all that were asked, or is that of ctx. If a
// [Digest] answers, the summary counts as Degraded.
func FirstOf(cooldown time.Duration, s ...Summarizer) Summarizer {
	list := slices.DeleteFunc(slices.Clone(s), func(one Summarizer) bool { return one == nil })
	return &failover{cooldown: max(0, cooldown), list: list, rests: make([]time.Time, len(list))}
}

// failover is the summarizer of [FirstOf].
type failover struct {
	cooldown time.Duration
	list     []Summarizer
	mu       sync.Mutex
	rests    []time.Time // until when each of list rests; zero: it does not
}

func (f *failover) Summarize(ctx context.Context, req SummaryRequest) (string, error) {
	a, err := f.summarize(ctx, req)
	return a.text, err
}

// summarize also says whether the text was made without an LLM.
func (f *failover) summarize(ctx context.Context, req SummaryRequest) (answer, error) {
	if len(f.list) == 0 {
		return answer{}, errors.New("winnow: FirstOf has no summarizer to ask")
	}
	var failed []error
	for _, i := range f.ready(time.Now()) {
		if err := ctx.Err(); err != nil {
			return answer{}, err
		}
		// Each summarizer gets a copy, so that one that writes to its request does not spoil the next one's.
		own := req
		own.Messages = copyMessages(req.Messages)
		a, err := safeSummarize(ctx, f.list[i], own)
		if err == nil {
			f.rest(i, time.Time{})
			if isDigest(f.list[i]) && len(failed) > 0 {
				a.degraded = failureReason(errors.Join(failed...))
			}
			return a, nil
		}
		// The host gave up. The summarizer is not to blame, so it does not rest.
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		if restsAfter(err) {
			f.rest(i, time.Now().Add(f.cooldown))
		}
		failed = append(failed, fmt.Errorf("summarizer %d: %w", i+1, err))
	}
	return answer{}, errors.Join(failed...)
}

// ready returns which summarizers to ask: all that do not rest, or if all do, the one that is free soonest.
func (f *failover) ready(now time.Time) (ready []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	soonest := 0
	for i, until := range f.rests {
		if !now.Before(until) {
			ready = append(ready, i)
		}
		if until.Before(f.rests[soonest]) {
			soonest = i
		}
	}
	if len(ready) == 0 {
		return []int{soonest}
	}
	return ready
}

func (f *failover) rest(i int, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rests[i] = until
}

// System returns the system prompt, the same for every request.
func (r SummaryRequest) System() string { return summarytext.System }

// Prompt returns the user message: the messages and the previous summary as escaped data, and then the instructions.
// Text of the history cannot close the data, forge a role or pass as an instruction. Tool output is labelled untrusted.
// Images, opaque parts and signatures are not shown.
func (r SummaryRequest) Prompt() string {
	var b summarytext.Prompt
	b.Begin()
	for i := range r.Messages {
		writeMessage(&b, &r.Messages[i])
	}
	b.Instruct(r.Previous, r.Said, r.Instructions, r.MaxTokens)
	return b.String()
}

// writeMessage writes m in tags that say whom it is from. What a tool or the host wrote is marked as untrusted.
func writeMessage(b *summarytext.Prompt, m *Message) {
	switch {
	case m.Summary:
		b.From("summary")
	case m.Role == RoleUser && m.Injected && !isLaterResult(m):
		b.FromHost()
	case m.Role == RoleUser && !m.Injected:
		b.FromPerson(m.Speaker, m.Time)
	case m.Role == RoleAssistant, m.Role == RoleSystem:
		b.From(string(m.Role))
	default:
		exit, status := toolcall.Outcome(m.Details)
		b.FromTool(m.ToolName, m.IsError, exit, status)
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case KindText:
			b.Text(p.Text)
		case KindThinking:
			b.Thinking(p.Text)
		case KindToolCall:
			b.Call(p.Name, jsontext.Unquote(p.Arguments))
		default:
			b.Text(partLabel(p))
		}
	}
	b.End()
}

// partLabel returns the text that stands for a part without one.
func partLabel(p *Part) string {
	if p.Kind == KindImage {
		return summarytext.Image
	}
	return summarytext.Attachment(p.MediaType)
}

const (
	// What the prompt puts around a message, and around a call, in estimated tokens: the longest label with its
	// attributes is about 110 characters without the name of the tool, which is counted with the call.
	labelOverhead = 28
	// A text is never clipped below this, so that every message says something.
	minClipTokens = 12
)

// forSummary returns history as a summarizer is shown it: without Details, Signature, Source, images and opaque parts.
// Only the arguments of calls share memory with history.
func forSummary(history []Message) []Message {
	out, calls := make([]Message, len(history)), answered{messages: listed(history)}
	for i := range history {
		m := &history[i]
		out[i] = summaryMessage(m, calls.tool(i), make([]Part, 0, len(m.Parts)+1))
	}
	return out
}

// summaryMessage returns m as a summarizer is shown it, with its parts appended to parts. tool is the tool of m, if m
// is a result.
func summaryMessage(m *Message, tool string, parts []Part) Message {
	if outcome := summarytext.Outcome(toolcall.Outcome(m.Details)); outcome != "" { // how the call ended
		parts = append(parts, Part{Text: outcome})
	}
	for k := range m.Parts {
		if p := summaryPart(&m.Parts[k]); p.Kind == KindToolCall || p.Text != "" {
			parts = append(parts, p)
		}
	}
	return Message{
		ID: m.ID, Role: m.Role, Parts: parts, ToolCallID: m.ToolCallID, ToolName: tool, IsError: m.IsError,
		StopReason: m.StopReason, Speaker: m.Speaker, Time: m.Time,
		Pinned: m.Pinned, Injected: m.Injected, Summary: m.Summary,
	}
}

// summaryPart returns what a summarizer may see of a part. An image, an opaque part and data in a text become their
// names.
func summaryPart(p *Part) Part {
	switch p.Kind {
	case KindText, KindThinking:
		return Part{Kind: p.Kind, Text: minify.WithoutData(p.Text, "")}
	case KindToolCall:
		args := p.Arguments
		if !validArguments(args) { // a summarizer may marshal what it gets
			args = jsontext.Quote(string(args))
		}
		return Part{Kind: KindToolCall, ID: p.ID, Name: p.Name, Arguments: args}
	}
	return Part{Text: partLabel(p)}
}

// renderedTokens estimates what m costs in a prompt.
func renderedTokens(e Estimator, m *Message) int {
	return count.Add(estimateWith(e, *m), frameTokens(m))
}

// frameTokens returns the part of renderedTokens that clipping does not change.
func frameTokens(m *Message) int {
	n := labelOverhead
	for range callsOf(m) {
		n += labelOverhead
	}
	return n
}

// fitMessages returns messages clipped to about limit estimated tokens as rendered. The longest texts and arguments
// lose most: all are cut to one height, from their middle. Every message keeps something, even where limit is too small
// for that. The input is not written.
func fitMessages(e Estimator, messages []Message, limit int) []Message {
	// Labels are not clipped: they may take half of the room at most.
	messages = thinMessages(messages, limit/(2*labelOverhead))
	fixed := 0
	var sizes []int // of all parts, in their order
	for i := range messages {
		fixed += frameTokens(&messages[i])
		for k := range messages[i].Parts {
			sizes = append(sizes, partTokens(e, &messages[i], k))
		}
	}
	if count.Add(count.Sum(sizes), fixed) <= limit {
		return messages
	}
	// All texts are cut to one height: short ones stay whole, and long ones keep the same amount.
	height := max(minClipTokens, count.Fair(sizes, max(0, limit-fixed)))
	out := copyMessages(messages)
	for i := range out {
		for k := range out[i].Parts {
			cutMiddle(&out[i].Parts[k], sizes[0], height)
			sizes = sizes[1:]
		}
	}
	return out
}

// cutMiddle cuts the text or the arguments of p, which has `tokens` tokens, from its middle to about limit.
func cutMiddle(p *Part, tokens, limit int) {
	switch {
	case tokens <= limit:
	case p.Kind == KindToolCall:
		p.Arguments = excerpt.MiddleOfJSON(p.Arguments, tokens, limit)
	default:
		p.Text = excerpt.Middle(p.Text, tokens, limit)
	}
}

// thinMessages drops parts from the middle of messages that have more than limit parts: each part has a label, which
// clipping does not shorten.
func thinMessages(messages []Message, limit int) []Message {
	limit = max(4, limit) // a beginning, an end, and the note between them
	var out []Message
	for i := range messages {
		parts := messages[i].Parts
		if len(parts) <= limit {
			continue
		}
		if out == nil {
			out = slices.Clone(messages)
		}
		head, tail := limit/2, limit-limit/2-1
		kept := slices.Clone(parts[:head])
		kept = append(kept, Part{Text: fmt.Sprintf("[… %d parts left out …]", len(parts)-head-tail)})
		out[i].Parts = append(kept, parts[len(parts)-tail:]...)
	}
	if out == nil {
		return messages
	}
	return out
}

// When a summarizer that failed is asked once more.

// retryPause is the mean pause before that, unless the error names one. The pause is at random between half of it and
// one and a half times it, so that hosts that failed together do not come back together.
const retryPause = time.Second

// pauseAfter waits until a call that failed with err may be made once more. It reports whether that may help: not if
// the provider has to be left alone for longer than ctx lasts.
func pauseAfter(ctx context.Context, err error) bool {
	wait, isNamed := overflow.RetryAfter(err)
	if !isNamed {
		wait = retryPause/2 + rand.N(retryPause)
	}
	switch class := ClassifyError(err).Class; {
	case errors.Is(err, ErrIncomplete): // it is about the answer, whatever its text sounds like
	case errors.Is(err, context.DeadlineExceeded), class == ErrorOverflow, class == ErrorBytes: // no others are busy
		return true
	case restsAfter(err) && !isNamed:
		return false
	}
	if until, ok := ctx.Deadline(); ok && time.Until(until) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
