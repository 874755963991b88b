package winnow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/internal/count"
)

// Recall answers a call of [RecallTool]: it returns the result to append to the history. arguments are those of the
// call, which is the newest of the history that has no result yet; its id is set on the result. Of two such calls with
// the same arguments append the answer to one before you ask for the other.
//
// The answer quotes the history, which is the only store: a message, some lines of it, the lines that match a pattern,
// or the best places for some words in all that is not whole in the request. It takes at most Options.RecallShare of
// the window, says how much there is and how to go on, and is escaped as the data in summaries is. What is whole in the
// request is not sent again; that the thinking of a message is left out makes no difference there. A handle that is not
// known, and a pattern that is not valid, is answered with IsError and with what there is. Nothing but this history is
// ever shown, and of it neither Details nor what is no text nor what Options.RecallHides names.
//
// It calls no model and changes no request: what was sent stays as it was sent. The error is ctx's, or says that
// Options.Recall is not set.
func (m *Manager) Recall(ctx context.Context, history []Message, arguments json.RawMessage) (Message, error) {
	if !m.opts.Recall {
		return Message{}, errors.New("winnow: Recall: Options.Recall is not set")
	}
	if err := ctx.Err(); err != nil {
		return Message{}, fmt.Errorf("winnow: Recall: %w", context.Cause(ctx))
	}
	r := m.newRecall(history, readRecallArguments(arguments))
	text, ok, err := r.answer(ctx)
	if err != nil {
		return Message{}, fmt.Errorf("winnow: Recall: %w", err)
	}
	return Message{
		Role: RoleTool, ToolCallID: openRecall(history, arguments), ToolName: recallName, IsError: !ok,
		Parts: []Part{{Text: text}},
	}, nil
}

// leastRecallTokens is room for some lines in small windows.
const leastRecallTokens = 1_000

// newRecall finds out what is asked for.
func (m *Manager) newRecall(history []Message, a recallArguments) *recall {
	m.mu.Lock()
	defer m.mu.Unlock()
	window := count.Least(m.window, m.ledger.accounting.window)
	room := max(leastRecallTokens, count.Share(window, m.opts.RecallShare))
	r := &recall{
		recallArguments: a, history: history, opts: &m.opts, target: -1, original: a.handle,
		room: min(room, max(1, count.Share(window, maxDefaultShare))),
	}
	facts := m.know(history)
	switch len(a.handle) {
	case spanDigits:
		r.target, r.isSpan = findSpan(facts, a.handle), true
	case handleDigits, longHandleDigits:
		r.target = findHandle(facts, a.handle)
	}
	known := false
	if r.target >= 0 && !r.isSpan {
		if !m.mayRecall(history, r.target) {
			r.target = -1 // as if it were not there
		} else {
			r.tokens = facts[r.target].tokens
			r.isWhole, known = m.isWholeNow(history, r.target)
		}
	}
	if !known {
		r.out = m.leftOut(history)
		r.isWhole = r.target >= 0 && !r.isSpan && !r.out.has(r.target)
	}
	return r
}

// openRecall returns the id of the call that arguments are of: the first of the newest calls that is of the recall
// tool, has these arguments and no result yet. It is "" if there is none.
func openRecall(history []Message, arguments json.RawMessage) string {
	answered := map[string]bool{}
	i := len(history) - 1
	for ; i >= 0 && history[i].Role == RoleTool; i-- {
		answered[history[i].ToolCallID] = true
	}
	if i < 0 {
		return ""
	}
	open, wanted := "", readRecallArguments(arguments)
	for k := range history[i].Parts {
		p := &history[i].Parts[k]
		if p.Kind != KindToolCall || p.Name != recallName || answered[p.ID] {
			continue
		}
		if readRecallArguments(p.Arguments) == wanted { // the host may have written them anew
			return p.ID
		}
		if open == "" {
			open = p.ID
		}
	}
	return open
}
