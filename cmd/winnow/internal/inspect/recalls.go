package inspect

import (
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// recalled is a use of the recall tool.
type recalled struct {
	Asked  string // the arguments of the call
	Tokens int    // of the answer
	Failed bool   // nothing was found
}

// recallsIn returns the recalls among the messages of history from index `from` on.
func recallsIn(history []winnow.Message, from int, e winnow.Estimator) (out []recalled) {
	name := winnow.RecallTool().Name
	for i := from; i < len(history); i++ {
		m := &history[i]
		if m.Role != winnow.RoleTool {
			continue
		}
		call := callOf(history[:i], m.ToolCallID)
		if call == nil || call.Name != name {
			continue
		}
		out = append(out, recalled{Asked: excerpt(string(call.Arguments)), Tokens: e.Estimate(*m), Failed: m.IsError})
	}
	return out
}

// callOf returns the newest call of history with an id, or nil.
func callOf(history []winnow.Message, id string) *winnow.Part {
	for i := range slices.Backward(history) {
		for k := range history[i].Parts {
			if p := &history[i].Parts[k]; p.Kind == winnow.KindToolCall && p.ID == id {
				return p
			}
		}
	}
	return nil
}

// Outcome describes the answer.
func (c recalled) Outcome() string {
	if c.Failed {
		return "nothing was found"
	}
	return recording.Comma(c.Tokens) + " tokens"
}

// recallTotals sums up the recalls of a session.
func (r *report) recallTotals() (calls, failed, tokens int) {
	for i := range r.Requests {
		for _, c := range r.Requests[i].Recalls {
			calls++
			tokens += c.Tokens
			if c.Failed {
				failed++
			}
		}
	}
	return calls, failed, tokens
}
