package ask

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/winnowgo/winnow"
)

// ErrBudget: what is asked may cost more than what is left of the budget.
var ErrBudget = errors.New("the budget is spent")

// Asker asks each thing once, within a budget. It is safe for concurrent use.
type Asker struct {
	Client *Client
	Log    *Log
	Budget float64                    // dollars
	Price  func(winnow.Usage) float64 // dollars

	mu       sync.Mutex
	ended    *sync.Cond // an answer has come
	underWay int        // requests
	more     float64    // dollars that these may cost beyond what is expected
	paid     int
}

// Paid is how many requests were answered, without those whose answers the log had.
func (a *Asker) Paid() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.paid
}

// Expect is what a prompt and an answer of so many tokens cost if nothing is cached, or if all is.
func (a *Asker) Expect(prompt, output int, isCached bool) float64 {
	_, isMarked := a.Client.API.(messages)
	switch {
	case isCached:
		return a.Price(winnow.Usage{CacheRead: prompt, Output: output})
	case isMarked:
		return a.Price(winnow.Usage{CacheWrite: prompt, Output: output})
	}
	return a.Price(winnow.Usage{Input: prompt, Output: output})
}

// Left is what is left of the budget, in dollars.
func (a *Asker) Left() float64 { return a.Budget - a.Log.Spent() }

// Ask asks one thing, or returns the answer that the log has. expected is what it may cost, in dollars: if that is more
// than what is left, the error is [ErrBudget], and nothing is sent. So at most the budget is spent, and what one answer
// costs more than expected, however many are asked at once. A request that was sent and not answered is never sent
// again: its error is [ErrLost].
func (a *Asker) Ask(ctx context.Context, question, what string, r *Request, expected float64) (Answer, error) {
	body, err := Body(a.Client.API, a.Client.Model, r)
	if err != nil {
		return Answer{}, err
	}
	e := Entry{Key: keyOf(question, what, body), State: Sent, Dollars: expected}
	if known, ok := a.Log.Find(e.Key); ok {
		if known.State != Answered || known.Answer == nil {
			return Answer{}, ErrLost
		}
		return *known.Answer, nil
	}
	more := a.Price(winnow.Usage{Output: r.MaxTokens})
	if err := a.begin(ctx, e, more); err != nil {
		return Answer{}, err
	}
	answer, err := a.Client.Ask(ctx, body)
	switch {
	case err == nil:
		e.State, e.Answer = Answered, &answer
		if answer.Usage.Prompt() > 0 { // else the provider does not say, and the budget must end all the same
			e.Dollars = a.Price(*answer.Usage)
		}
	case errors.Is(err, ErrLost):
		e.State, e.Error = Lost, err.Error()
	default: // refused, or not reached
		e.State, e.Error, e.Dollars = Refused, err.Error(), 0
	}
	return answer, errors.Join(err, a.end(e, more))
}

// begin writes down that a request is sent, as soon as the budget pays for it even if all that are under way cost as
// much more as they can.
func (a *Asker) begin(ctx context.Context, e Entry, more float64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended == nil {
		a.ended = sync.NewCond(&a.mu)
	}
	for a.underWay > 0 && e.Dollars+a.more > a.Left() {
		a.ended.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case e.Dollars > a.Left():
		return ErrBudget
	}
	a.underWay++
	a.more += more
	return a.Log.Add(e)
}

// end writes down what became of a request.
func (a *Asker) end(e Entry, more float64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.underWay--
	a.more -= more
	if e.State == Answered {
		a.paid++
	}
	a.ended.Broadcast()
	return a.Log.Add(e)
}

// Has reports whether the log has an answer to a body, or that it was sent.
func (a *Asker) Has(question, what string, body []byte) bool {
	_, ok := a.Log.Find(keyOf(question, what, body))
	return ok
}

func keyOf(question, what string, body []byte) Key {
	sum := sha256.Sum256(body)
	return Key{question, what, hex.EncodeToString(sum[:])}
}
