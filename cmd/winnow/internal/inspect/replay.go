package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/session/transcript"
)

// report is the result of a replay. Sizes are in estimated tokens, and costs in prices of an uncached token.
type report struct {
	Basis
	Name     string
	Source   *recording.Session // nil in tests
	First    time.Time          // first time of the session's messages; zero if none has a time
	Last     time.Time
	Made     time.Time // the report
	Budget   int
	Messages int
	Turns    []turn
	Requests []request

	Tokens, Cached int     // sums over all requests
	Cost, Unedited float64 // sums over all requests; Unedited: without management
	Epochs         int
	Compactions    int
	Overflows      int // requests that do not fit
	FirstHopeless  int // the first request that would not fit if the whole history were sent; 0: none

	Winnow, Limit outcome // Limit: a host that compacts at the limit
	Recorded      bill    // what the file says that the recorded host paid
	Needed        counts  // what answers used again
	Recallable    counts  // of what winnow's requests lacked, what the recall tool shows
	History       int     // tokens of the whole history at the last request
	Verbatim      int     // of these, the part that the last request holds word for word
	Filled        filled  // content of the whole history
	Compacted     []int   // requests in front of which the recording host had compacted
}

// turn is a question of a person.
type turn struct {
	Text  string // its beginning
	First int    // request, from 1
}

// request is one request to the model.
type request struct {
	Number     int // from 1
	Turn       int // from 1; 0: before the first
	Pause      time.Duration
	History    int // tokens of the whole history
	Tokens     int
	Kinds      [kinds]int // of Tokens
	Cached     int
	Cost       float64
	Unedited   float64
	Epoch      bool // sent messages were rewritten
	Edits      []group
	Recalls    []recalled // recalls since the previous request
	Summary    *summary   // this request compacted
	Records    []string   // records that the previous request did not have
	Error      string     // why there is nothing to send
	SoFar      float64    // Cost of all requests up to this one, with their answers
	SoFarElse  float64    // Unedited of them, with their answers
	SoFarLimit float64    // the same for the host that compacts at the limit
}

// Written returns the part that is not in the provider's cache.
func (q *request) Written() int {
	if q.Error != "" {
		return 0
	}
	return q.Tokens - q.Cached
}

type summary struct {
	Text     string
	Tokens   int
	Before   int // tokens of the request without it
	Messages int // number of messages that it replaces
}

// The kinds of content, from the bottom of the chart up.
const (
	kindSystem = iota
	kindSummary
	kindUser
	kindAssistant
	kindThinking
	kindResult
	kindRecord
	kinds
)

var kindNames = [kinds]string{"system prompt and tools", "summary", "user", "assistant", "thinking", "tool results",
	"records"}

// group is the new edits of a request with the same kind and reason.
type group struct {
	Op       winnow.Op
	Reason   string
	Saved    int // tokens, compared with the previous request
	Messages []edited
}

// edited is a message that was edited, in words.
type edited struct {
	Index         int // index in the history
	What          string
	Before, After int
	Was, Is       string // the text in the previous request and in this one, from where they differ
}

// newReplayer returns a host for the requests of a recorded session.
func newReplayer(s *recording.Session, given Basis) (*replayer, []recording.Request, error) {
	history := slices.Clone(s.Messages)
	for i := range history {
		history[i].ID = fmt.Sprint("m", i) // identifies the message in requests
	}
	requests, err := recording.Requests(history)
	if err != nil {
		return nil, nil, err
	}
	b, estimator, err := given.Complete(s)
	if err != nil {
		return nil, nil, err
	}
	r := &replayer{
		history: history, report: &report{Basis: b, Source: s, Messages: len(history)}, estimator: estimator,
		limit:  newLimitHost(&b, estimator),
		quotes: quotes{}, seen: known{map[string]bool{}, map[string]bool{}}, last: map[string]string{},
		models: map[*winnow.Usage]string{},
	}
	r.Recorded.caches, r.Recorded.Unknown = map[string]*cache{}, byModel{}
	for _, c := range s.Calls {
		r.models[c.Usage] = c.Model
	}
	r.manager, err = winnow.New(b.Window, &winnow.Options{
		Model: b.Model, Estimator: estimator, Cache: &b.cache,
		Overhead: max(0, *b.Overhead-recallTool(estimator)), Recall: true,
		Summarizer: scribe{estimator, &b, &r.Winnow},
		Now:        func() time.Time { return r.clock },
	})
	return r, requests, err
}

// recallTool estimates the tokens of the recall tool. It takes the place of as many of the host's tools, because a host
// need not offer it.
func recallTool(e winnow.Estimator) int {
	text, err := json.Marshal(winnow.RecallTool())
	if err != nil {
		return 0
	}
	return e.Estimate(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: string(text)}}})
}

// replay sends every request of the recorded session through its own manager.
func replay(s *recording.Session, given Basis) (*report, error) {
	r, requests, err := newReplayer(s, given)
	if err != nil {
		return nil, err
	}
	for _, q := range requests {
		r.next(q, &r.history[len(q.History)])
	}
	r.Limit = r.limit.out
	r.Filled = filledBy(r.history, r.estimator)
	r.First, r.Last = period(r.history)
	for _, c := range s.Compactions {
		n, _ := slices.BinarySearchFunc(requests, c.Before, func(q recording.Request, before int) int {
			return len(q.History) - before
		})
		if n < len(requests) {
			r.Compacted = append(r.Compacted, n+1)
		}
	}
	return r.report, nil
}

// period returns the times of the first and the last message of a session.
func period(history []winnow.Message) (first, last time.Time) {
	for _, m := range history {
		if m.Time.IsZero() {
			continue
		}
		if first.IsZero() || m.Time.Before(first) {
			first = m.Time
		}
		if m.Time.After(last) {
			last = m.Time
		}
	}
	return first, last
}

// replayer is a host of winnow that has no model.
type replayer struct {
	*report
	history   []winnow.Message // the whole one
	manager   *winnow.Manager
	estimator winnow.Estimator
	clock     time.Time
	ledger    recording.Ledger
	known     int // messages of the history
	sent      int // messages of the previous request; 0: none
	limit     *limitHost
	quotes    quotes
	seen      known             // of the history
	last      map[string]string // texts of the previous request, by message
	records   map[string]bool   // those of the request before

	models map[*winnow.Usage]string // of the calls that the file counts
}

// next prepares the request behind an answer, and describes it.
func (r *replayer) next(asked recording.Request, answer *winnow.Message) {
	recalls := recallsIn(asked.History, r.known, r.estimator)
	for i := range asked.History[r.known:] {
		m := &asked.History[r.known+i]
		r.seen.add(r.quotes.of(m))
		if recording.BeginsTurn(m) && !r.isRepeated(m) {
			r.Turns = append(r.Turns, turn{Text: excerpt(recording.Text(m)), First: len(r.Requests) + 1})
		}
	}
	r.known = len(asked.History)
	q := request{Number: len(r.Requests) + 1, Turn: len(r.Turns), Recalls: recalls}
	if r.clock.Unix() > 0 {
		q.Pause = asked.At.Sub(r.clock)
	}
	r.clock = asked.At
	warm := r.warm(answer)
	elsewhere := r.limit.next(asked.History, asked.At, warm)
	q.History = r.limit.whole
	sent, err := r.manager.Prepare(context.Background(), asked.History)
	if err != nil {
		r.fail(&q, err)
	} else {
		r.describe(&q, asked.History, sent)
		r.readWarm(&q, warm)
		r.compare(asked.History, answer, sent.Messages, elsewhere)
	}
	r.answer(&q, answer)
	r.bill(&q, answer, asked.At)
	q.SoFarLimit = r.limit.out.Total()
	r.add(q)
}

// isRepeated reports whether m is what Codex's provider returned, when it compacted, of what a person had said before.
func (r *replayer) isRepeated(m *winnow.Message) bool {
	return m.Pinned && r.Source.From != nil && r.Source.From.Format == transcript.Codex
}

// answer adds the cost of an answer: what was billed, or more, because some hosts count an answer that has only begun.
func (r *replayer) answer(q *request, m *winnow.Message) {
	tokens := r.estimator.Estimate(*m)
	if m.Usage != nil {
		tokens = max(tokens, m.Usage.Output)
	}
	r.Winnow.Answers += r.answerCost(q.Tokens, tokens)
	r.limit.out.Answers += r.answerCost(r.limit.sent, tokens)
}

// compare looks for what an answer uses again in the request of each host, and for what is not there with the recall
// tool. If winnow made no request, it looks for nothing.
func (r *replayer) compare(history []winnow.Message, answer *winnow.Message, ours, theirs []winnow.Message) {
	need := r.quotes.needed(answer, r.seen)
	r.Needed.add(need)
	r.limit.out.Missing.add(r.quotes.missing(need, theirs))
	missing := r.quotes.missing(need, ours)
	r.Winnow.Missing.add(missing)
	for name := range missing.names {
		if r.canRecall(history, map[string]string{"words": name}, name) {
			r.Recallable[aName]++
		}
	}
	for line := range missing.lines {
		if r.canRecall(history, map[string]string{"pattern": regexp.QuoteMeta(line)}, line) {
			r.Recallable[aLine]++
		}
	}
}

// canRecall reports whether the answer to a call of the recall tool shows a text.
func (r *replayer) canRecall(history []winnow.Message, call map[string]string, text string) bool {
	arguments, err := json.Marshal(call)
	if err != nil {
		return false
	}
	answer, err := r.manager.Recall(context.Background(), history, arguments)
	if err != nil || answer.IsError {
		return false
	}
	_, shown, _ := strings.Cut(recording.Text(&answer), "\n") // its first line repeats the question
	return strings.Contains(html.UnescapeString(shown), text)
}

// fail describes a request that was not made.
func (r *replayer) fail(q *request, err error) {
	q.Error = err.Error()
	var overflow *winnow.OverflowError
	if errors.As(err, &overflow) {
		q.Tokens, r.Budget = overflow.Tokens, overflow.Budget
	}
}

// describe describes what became of the history.
func (r *replayer) describe(q *request, history []winnow.Message, sent *winnow.Request) {
	r.Budget = sent.Budget
	q.Tokens = sent.Tokens
	q.Cached, q.Cost, q.Unedited = sent.Cached, sent.Cost, sent.CostUnedited
	q.Epoch = sent.FirstChanged < r.sent
	r.sent = len(sent.Messages)
	for i := range sent.Messages {
		addKinds(&q.Kinds, &sent.Messages[i], r.estimator)
		// reasoning of earlier turns may count for nothing
		q.Kinds[kindThinking] -= max(0, r.estimator.Estimate(sent.Messages[i])-sent.Counts[i])
	}
	inMessages := 0
	for _, n := range q.Kinds {
		inMessages += n
	}
	q.Kinds[kindSystem] += max(0, q.Tokens-inMessages) // the rest: the system prompt and the tools, recall among them
	texts := textsOf(sent.Messages)
	q.Edits = groups(history, r.ledger.Changes(sent.Edits, q.Kinds[kindSummary]), r.last, texts)
	r.last = texts
	q.Records, r.records = newRecords(sent.Messages, r.records)
	r.History, r.Verbatim = r.limit.whole, r.limit.whole
	edited := map[int]bool{}
	for _, e := range sent.Edits {
		if !edited[e.Index] && e.Index >= 0 && e.Index < len(history) {
			edited[e.Index] = true
			r.Verbatim = max(0, r.Verbatim-r.estimator.Estimate(history[e.Index]))
		}
	}
	if c := sent.Compaction; c != nil {
		q.Summary = &summary{Text: c.Summary, Tokens: q.Kinds[kindSummary], Before: c.TokensBefore}
		for _, e := range sent.Edits {
			if e.Op == winnow.OpCompact {
				q.Summary.Messages++
			}
		}
	}
}

// isRecord reports whether m is a record of old steps.
func isRecord(m *winnow.Message) bool {
	return m.Injected && len(m.Parts) == 1 && record.Is(m.Parts[0].Text)
}

// newRecords returns the texts of the records of a request that are not in was, and the next was.
func newRecords(messages []winnow.Message, was map[string]bool) (texts []string, now map[string]bool) {
	now = map[string]bool{}
	for i := range messages {
		if m := &messages[i]; isRecord(m) {
			text := m.Parts[0].Text
			if now[text] = true; !was[text] {
				texts = append(texts, text)
			}
		}
	}
	return texts, now
}

// addKinds adds the tokens of m to the kinds of its content.
func addKinds(sums *[kinds]int, m *winnow.Message, e winnow.Estimator) {
	n := e.Estimate(*m)
	switch {
	case m.Summary, m.Role == winnow.RoleUser && isCompacted(m):
		sums[kindSummary] += n
	case m.Role == winnow.RoleSystem:
		sums[kindSystem] += n
	case isRecord(m):
		sums[kindRecord] += n
	case m.Role == winnow.RoleUser:
		sums[kindUser] += n
	case m.Role == winnow.RoleTool:
		sums[kindResult] += n
	default:
		thinking := thinkingIn(m, e)
		sums[kindAssistant] += n - thinking
		sums[kindThinking] += thinking
	}
}

// add adds q to the report.
func (r *replayer) add(q request) {
	r.Winnow.Requests += q.Cost
	r.Unedited += q.Unedited
	q.SoFar, q.SoFarElse = r.Winnow.Total(), r.Unedited+r.Winnow.Answers
	if q.Error != "" {
		r.Overflows++
		r.Winnow.Refused++
	} else {
		r.Tokens += q.Tokens
		r.Winnow.Peak = max(r.Winnow.Peak, q.Tokens)
	}
	r.Cached += q.Cached
	r.Cost = r.Winnow.Requests
	if q.Epoch {
		r.Epochs++
		r.Winnow.Rewrites++
	}
	if q.Summary != nil {
		r.Compactions++
	}
	if r.FirstHopeless == 0 && r.Budget > 0 && q.History+*r.Overhead > r.Budget {
		r.FirstHopeless = q.Number
	}
	r.Requests = append(r.Requests, q)
}

// groups groups changes by operation and reason, in order of first occurrence. The texts come from the previous request
// and this one.
func groups(history []winnow.Message, changes []recording.Change, before, now map[string]string) []group {
	var out []group
	at := map[[2]string]int{}
	for _, c := range changes {
		k := [2]string{string(c.Op), c.Reason}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			out = append(out, group{Op: c.Op, Reason: c.Reason})
		}
		out[i].Saved += c.Saved
		e := edited{Index: c.Index, What: words(history, c.Index), Before: c.Before, After: c.After}
		if c.Index >= 0 && c.Index < len(history) {
			m := &history[c.Index]
			was, sent := before[m.ID]
			if !sent {
				was = wholeText(m)
			}
			e.Was, e.Is = difference(was, now[m.ID])
		}
		out[i].Messages = append(out[i].Messages, e)
	}
	return out
}
