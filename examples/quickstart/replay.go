package main

import (
	"context"
	"errors"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// outcome is the result of a replay.
type outcome struct {
	requests []request
	totals   totals
	messages int
	turns    []string // the user's questions, from turn 1 on
}

// request is one request to the model, as winnow made it from the history at that point. All sizes are in estimated
// tokens.
type request struct {
	Request  int    `json:"request"`       // from 1
	Turn     int    `json:"turn"`          // from 1; 0: before the first user message
	Messages int    `json:"messages"`      // of the history
	History  int    `json:"historyTokens"` // size of the whole history
	Tokens   int    `json:"tokens"`        // what is sent
	Budget   int    `json:"budget"`        // limit of Tokens
	Shares   shares `json:"shares"`

	// common prefix with the previous request
	Reused     int                `json:"reusedTokens"`
	Changes    []recording.Change `json:"changes"` // edits that the previous request did not have
	Compaction *compaction        `json:"compaction,omitempty"`
	// since the previous request, if the session has times
	Pause       float64 `json:"pauseSeconds,omitempty"`
	Fits        bool    `json:"fits"`
	Valid       bool    `json:"valid"`
	Problem     string  `json:"problem,omitempty"` // why it is not valid
	Error       string  `json:"error,omitempty"`   // why there was nothing to send
	appendsOnly bool    // it only appends to the previous request
}

// shares are the parts of a request, in tokens.
type shares struct {
	Kept       int `json:"kept"`       // unchanged messages
	Trimmed    int `json:"trimmed"`    // old results of which head and tail are kept
	Cleared    int `json:"cleared"`    // placeholders of old results
	Cut        int `json:"cut"`        // oversized results after the cut
	Folded     int `json:"folded"`     // the records that stand for old steps
	Summarized int `json:"summarized"` // the summary that stands for old messages
}

type compaction struct {
	TokensBefore  int    `json:"tokensBefore"`
	TokensAfter   int    `json:"tokensAfter"`
	Messages      int    `json:"messages"` // of the history that the summary stands for
	SummaryTokens int    `json:"summaryTokens"`
	Summary       string `json:"summary"`
}

// totals are the sums over all requests.
type totals struct {
	Requests    int     `json:"requests"`
	Overflows   int     `json:"doNotFit"`      // requests that are above their budget
	Invalid     int     `json:"notValid"`      // requests that a provider would refuse
	Hopeless    int     `json:"withoutWinnow"` // requests that would not fit if the whole history were sent
	History     int     `json:"historyTokens"` // of the whole session
	Full        int     `json:"fullTokens"`    // all requests together, if each sent the whole history
	Sent        int     `json:"sentTokens"`    // all requests together
	Reused      int     `json:"reusedTokens"`  // of Sent: common prefixes with the previous requests
	Compactions int     `json:"compactions"`
	Changes     []group `json:"changes"`
}

// replay sends every request of the recorded session through its own manager.
func replay(history []winnow.Message, window int) (*outcome, error) {
	recorded, err := recording.Requests(history)
	if err != nil {
		return nil, err
	}
	estimator, err := winnow.NewEstimator("")
	if err != nil {
		return nil, err
	}
	r := &replayer{estimator: estimator}
	r.manager, err = winnow.New(window, &winnow.Options{Estimator: estimator, Now: func() time.Time { return r.clock }})
	if err != nil {
		return nil, err
	}
	var requests []request
	known := 0
	for _, q := range recorded {
		r.append(q.History[known:])
		known, r.clock = len(q.History), q.At
		requests = append(requests, r.next(q.History))
	}
	r.append(history[known:])
	return &outcome{requests: requests, totals: sum(requests, r.tokens), messages: len(history), turns: r.turns}, nil
}

// replayer is a host of winnow that has no model.
type replayer struct {
	manager   *winnow.Manager
	estimator winnow.Estimator
	clock     time.Time
	sentAt    time.Time
	turns     []string
	tokens    int // of the history
	requests  int
	ledger    recording.Ledger
	sent      int // messages of the previous request
}

// append takes the next messages of the history.
func (r *replayer) append(messages []winnow.Message) {
	for i := range messages {
		m := &messages[i]
		r.tokens += r.estimator.Estimate(*m)
		if recording.BeginsTurn(m) {
			r.turns = append(r.turns, recording.Text(m))
		}
	}
}

// next prepares one request and describes it.
func (r *replayer) next(history []winnow.Message) request {
	r.requests++
	q := request{Request: r.requests, Turn: len(r.turns), Messages: len(history), History: r.tokens}
	if r.sentAt.Unix() > 0 {
		q.Pause = r.clock.Sub(r.sentAt).Seconds()
	}
	r.sentAt = r.clock
	sent, err := r.manager.Prepare(context.Background(), history)
	if err != nil {
		q.Error, q.Changes = err.Error(), []recording.Change{}
		var overflow *winnow.OverflowError
		if errors.As(err, &overflow) {
			q.Tokens, q.Budget = overflow.Tokens, overflow.Budget
		}
		return q
	}
	q.Tokens, q.Budget = sent.Tokens, sent.Budget
	q.Problem = check(sent.Messages)
	q.Valid = q.Problem == ""
	tokens, summary := 0, 0
	for i, m := range sent.Messages {
		n := r.estimator.Estimate(m)
		tokens += n
		if m.Summary {
			summary += n
		}
		if i < sent.FirstChanged {
			q.Reused += n
		}
	}
	q.Fits = tokens <= q.Budget // counted independently of the manager
	q.Shares = divide(sent, tokens, summary)
	q.Changes = r.ledger.Changes(sent.Edits, summary)
	q.Compaction = describe(sent, summary)
	q.appendsOnly = sent.FirstChanged == r.sent
	r.sent = len(sent.Messages)
	return q
}

// describe describes the compaction of a request, if any.
func describe(sent *winnow.Request, summary int) *compaction {
	c := sent.Compaction
	if c == nil {
		return nil
	}
	messages := 0
	for _, e := range sent.Edits {
		if e.Op == winnow.OpCompact {
			messages++
		}
	}
	return &compaction{TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter, Messages: messages,
		SummaryTokens: summary, Summary: c.Summary}
}

// divide returns the parts of a request.
func divide(sent *winnow.Request, tokens, summary int) shares {
	s := shares{Kept: tokens - summary, Summarized: summary}
	for _, e := range sent.Edits {
		switch e.Op {
		case winnow.OpTrim:
			s.Trimmed += e.After
		case winnow.OpClear:
			s.Cleared += e.After
		case winnow.OpTruncate:
			s.Cut += e.After
		case winnow.OpFold:
			s.Folded += e.After
		}
	}
	s.Kept = max(0, s.Kept-s.Trimmed-s.Cleared-s.Cut-s.Folded)
	return s
}

// sum adds up the requests of a session.
func sum(requests []request, history int) totals {
	t := totals{Requests: len(requests), History: history}
	groups := grouping{}
	for _, q := range requests {
		if !q.Fits {
			t.Overflows++
		}
		if q.Problem != "" {
			t.Invalid++
		}
		if q.History > q.Budget {
			t.Hopeless++
		}
		if q.Compaction != nil {
			t.Compactions++
		}
		t.Full += q.History
		if q.Error == "" {
			t.Sent += q.Tokens
		}
		t.Reused += q.Reused
		groups.add(q.Changes)
	}
	t.Changes = groups.list()
	return t
}
