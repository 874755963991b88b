package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/recording"
)

// report is what a replay found out. Sizes are in estimated tokens, and costs in what an uncached token costs.
type report struct {
	Name     string
	Window   int
	Budget   int
	Messages int
	Turns    []turn
	Requests []request

	Tokens, Cached int     // of all requests together
	Cost, Unedited float64 // the same; Unedited: with no management
	Epochs         int
	Compactions    int
	Overflows      int // requests that do not fit
	FirstHopeless  int // the first request that would not fit if the whole history were sent; 0: none
}

// turn is what a person asked.
type turn struct {
	Text  string // its beginning
	First int    // request, from 1
}

// request is one request to the model.
type request struct {
	Number    int // from 1
	Turn      int // from 1; 0: before the first
	Pause     time.Duration
	History   int // tokens that the whole history would take
	Tokens    int
	Kinds     [kinds]int // of Tokens
	Cached    int
	Cost      float64
	Unedited  float64
	Epoch     bool // what was sent before was rewritten
	Edits     []group
	Summary   *summary // this request compacted
	Error     string   // why there is nothing to send
	SoFar     float64  // Cost of all requests up to this one
	SoFarElse float64  // Unedited, likewise
}

// Written is what the provider has not in its cache.
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
	Messages int // that it stands for
}

// The kinds of content, from the bottom of the chart up.
const (
	kindSystem = iota
	kindSummary
	kindUser
	kindAssistant
	kindThinking
	kindResult
	kinds
)

var kindNames = [kinds]string{"system", "summary", "user", "assistant", "thinking", "tool results"}

// group is the new edits of a request of one kind and for one reason.
type group struct {
	Op       winnow.Op
	Reason   string
	Saved    int // tokens, against the request before
	Messages []edited
}

// edited is a message that was edited, in words.
type edited struct {
	Index         int // in the history
	What          string
	Before, After int
}

// replay sends every request that the recorded session made through a manager of its own.
func replay(history []winnow.Message, window int) (*report, error) {
	requests, err := recording.Requests(history)
	if err != nil {
		return nil, err
	}
	estimator, err := winnow.NewEstimator("")
	if err != nil {
		return nil, err
	}
	r := &replayer{report: &report{Window: window, Messages: len(history)}, estimator: estimator}
	r.manager, err = winnow.New(window, &winnow.Options{Estimator: estimator, Now: func() time.Time { return r.clock }})
	if err != nil {
		return nil, err
	}
	for _, q := range requests {
		r.next(q)
	}
	return r.report, nil
}

// replayer is a host of winnow that has no model.
type replayer struct {
	*report
	manager   *winnow.Manager
	estimator winnow.Estimator
	clock     time.Time
	ledger    recording.Ledger
	known     int // messages of the history
	tokens    int // of these
	sent      int // messages of the request before; 0: there was none
}

// next prepares one request and describes it.
func (r *replayer) next(asked recording.Request) {
	for i := range asked.History[r.known:] {
		m := &asked.History[r.known+i]
		r.tokens += r.estimator.Estimate(*m)
		if recording.BeginsTurn(m) {
			r.Turns = append(r.Turns, turn{Text: excerpt(recording.Text(m)), First: len(r.Requests) + 1})
		}
	}
	r.known = len(asked.History)
	q := request{Number: len(r.Requests) + 1, Turn: len(r.Turns), History: r.tokens}
	if r.clock.Unix() > 0 {
		q.Pause = asked.At.Sub(r.clock)
	}
	r.clock = asked.At
	sent, err := r.manager.Prepare(context.Background(), asked.History)
	if err != nil {
		r.fail(&q, err)
	} else {
		r.describe(&q, asked.History, sent)
	}
	r.add(q)
}

// fail describes a request that was not made.
func (r *replayer) fail(q *request, err error) {
	q.Error = err.Error()
	var overflow *winnow.OverflowError
	if errors.As(err, &overflow) {
		q.Tokens, r.Budget = overflow.Tokens, overflow.Budget
	}
}

// describe says what became of history.
func (r *replayer) describe(q *request, history []winnow.Message, sent *winnow.Request) {
	r.Budget = sent.Budget
	q.Tokens = sent.Tokens
	q.Cached, q.Cost, q.Unedited = sent.Cached, sent.Cost, sent.CostUnedited
	q.Epoch = sent.FirstChanged < r.sent
	r.sent = len(sent.Messages)
	for i := range sent.Messages {
		addKinds(&q.Kinds, &sent.Messages[i], r.estimator)
	}
	q.Edits = groups(history, r.ledger.Changes(sent.Edits, q.Kinds[kindSummary]))
	if c := sent.Compaction; c != nil {
		q.Summary = &summary{Text: c.Summary, Tokens: q.Kinds[kindSummary], Before: c.TokensBefore}
		for _, e := range sent.Edits {
			if e.Op == winnow.OpCompact {
				q.Summary.Messages++
			}
		}
	}
}

// addKinds divides the tokens of m by what they are of.
func addKinds(sums *[kinds]int, m *winnow.Message, e winnow.Estimator) {
	n := e.Estimate(*m)
	switch {
	case m.Summary:
		sums[kindSummary] += n
	case m.Role == winnow.RoleSystem:
		sums[kindSystem] += n
	case m.Role == winnow.RoleUser:
		sums[kindUser] += n
	case m.Role == winnow.RoleTool:
		sums[kindResult] += n
	default:
		spoken := *m
		spoken.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p winnow.Part) bool { return p.Kind == winnow.KindThinking })
		said := min(n, e.Estimate(spoken))
		sums[kindAssistant] += said
		sums[kindThinking] += n - said
	}
}

// add adds q to the report.
func (r *replayer) add(q request) {
	if n := len(r.Requests); n > 0 {
		q.SoFar, q.SoFarElse = r.Requests[n-1].SoFar, r.Requests[n-1].SoFarElse
	}
	q.SoFar, q.SoFarElse = q.SoFar+q.Cost, q.SoFarElse+q.Unedited
	if q.Error != "" {
		r.Overflows++
	} else {
		r.Tokens += q.Tokens
	}
	r.Cached += q.Cached
	r.Cost, r.Unedited = q.SoFar, q.SoFarElse
	if q.Epoch {
		r.Epochs++
	}
	if q.Summary != nil {
		r.Compactions++
	}
	if r.FirstHopeless == 0 && r.Budget > 0 && q.History > r.Budget {
		r.FirstHopeless = q.Number
	}
	r.Requests = append(r.Requests, q)
}

// groups sorts changes by what was done and why, in the order in which that first happened.
func groups(history []winnow.Message, changes []recording.Change) []group {
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
		out[i].Messages = append(out[i].Messages, edited{Index: c.Index, What: words(history, c.Index), Before: c.Before, After: c.After})
	}
	return out
}

// excerptColumns is how much of a message is shown.
const excerptColumns = 70

// words says which message i of history is, with the beginning of its text. An edit itself holds no text of
// the conversation.
func words(history []winnow.Message, i int) string {
	if i < 0 || i >= len(history) {
		return ""
	}
	m := &history[i]
	who := string(m.Role)
	if m.Role == winnow.RoleTool {
		who = "result of " + m.ToolName
	}
	text := recording.Text(m)
	for _, p := range m.Parts {
		if p.Kind == winnow.KindToolCall {
			text += " " + p.Name + " " + string(p.Arguments)
		}
	}
	if text = excerpt(text); text != "" {
		who += ": " + text
	}
	return plain(who)
}

// excerpt is the beginning of a text, in one line.
func excerpt(text string) string {
	return recording.Clip(recording.OneLine(plain(text[:min(len(text), 8*excerptColumns)])), excerptColumns)
}

// plain leaves out what would do something in a terminal, and the halves of characters.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
