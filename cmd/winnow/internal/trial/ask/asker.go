package ask

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/winnowgo/winnow"
)

// ErrBudget: what is asked may cost more than what is left of the budget.
var ErrBudget = errors.New("the budget is spent")

// Asker asks each thing once, within a budget.
type Asker struct {
	Client *Client
	Log    *Log
	Budget float64                    // dollars
	Price  func(winnow.Usage) float64 // dollars

	Paid, Known int // requests that were answered now, and those whose answers the log had
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
// costs more than expected. A request that was sent and not answered is never sent again: its error is [ErrLost].
func (a *Asker) Ask(ctx context.Context, question, what string, r *Request, expected float64) (Answer, error) {
	body, err := Body(a.Client.API, a.Client.Model, r)
	if err != nil {
		return Answer{}, err
	}
	e := Entry{Key: keyOf(question, what, body)}
	if known, ok := a.Log.Find(e.Key); ok {
		if known.State != Answered || known.Answer == nil {
			return Answer{}, ErrLost
		}
		a.Known++
		return *known.Answer, nil
	}
	switch {
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case expected > a.Left():
		return Answer{}, ErrBudget
	}
	e.State, e.Dollars = Sent, expected
	if err := a.Log.Add(e); err != nil {
		return Answer{}, err
	}
	answer, err := a.Client.Ask(ctx, body)
	switch {
	case err == nil:
		e.State, e.Answer = Answered, &answer
		if answer.Usage.Prompt() > 0 { // else the provider does not say, and the budget must end all the same
			e.Dollars = a.Price(*answer.Usage)
		}
		a.Paid++
	case errors.Is(err, ErrLost):
		e.State, e.Error = Lost, err.Error()
	default: // refused, or not reached
		e.State, e.Error, e.Dollars = Refused, err.Error(), 0
	}
	return answer, errors.Join(err, a.Log.Add(e))
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
