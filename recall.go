package winnow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/recall"
)

// Recall answers a call of [RecallTool]: it returns the result to append to the history. arguments are those of the
// call. Recall finds the call among the newest calls of history that have no result yet, and sets its id on the result.
// If two such calls have the same arguments, append the answer to one before you ask for the other.
//
// The answer quotes the history, which is the only store. It shows a message, some lines of it, the lines that match a
// pattern, or the best places for some words in everything that is not whole in the request. It quotes at
// most 5 % of the window, or 1 000 tokens, and says how much there is and how to get the rest, and is escaped like the data in summaries.
// Messages that are whole in the request, apart from their thinking, are not sent again. The answer to an unknown
// handle or an invalid pattern has IsError set, and a list of what there is. No answer shows anything outside of this
// history, nor its Details. Content that is not text is only named, but for
// images where Options.RecallImages is set.
//
// Recall calls no model and changes no earlier part of a request. The error is that of ctx, or says that Options.Recall
// is not set.
func (m *Manager) Recall(ctx context.Context, history []Message, arguments json.RawMessage) (Message, error) {
	if !m.opts.Recall {
		return Message{}, errors.New("winnow: Recall: Options.Recall is not set")
	}
	if err := ctx.Err(); err != nil {
		return Message{}, fmt.Errorf("winnow: Recall: %w", context.Cause(ctx))
	}
	answer, images := m.newRecall(history, recall.ReadCall(arguments))
	text, ok, err := answer.Text(ctx)
	if err != nil {
		return Message{}, fmt.Errorf("winnow: Recall: %w", err)
	}
	return Message{
		Role: RoleTool, ToolCallID: openRecall(history, arguments), ToolName: recall.Name, IsError: !ok,
		Parts: append([]Part{{Text: text}}, images...),
	}, nil
}

// imagesToRecall returns the images of a message that the answer to call has: a quarter of the window at most. Only
// those of results are known to be in a form that the provider takes in a result.
func (m *Manager) imagesToRecall(from *Message, call *recall.Call, window int) (images []Part) {
	asksForAll := call.Words == "" && call.Pattern == "" && call.From <= 1
	if !m.opts.RecallImages || !asksForAll || from.Role != RoleTool {
		return nil
	}
	room := count.Share(window, maxDefaultShare)
	for i := range from.Parts {
		p := &from.Parts[i]
		if !isOptionalImage(p) {
			continue
		}
		tokens := estimateWith(m.opts.Estimator, Message{Role: RoleTool, Parts: []Part{*p}})
		if room -= tokens; room < 0 {
			break
		}
		images = append(images, *p)
	}
	return images
}

const (
	// recallShare of the window is what an answer may take. Of 200 000 tokens that is several hundred lines: a model
	// that recalls a few times does not fill the window again.
	recallShare = 0.05
	// leastRecallTokens is what an answer may take in a small window too, up to a quarter of it: room for some lines.
	leastRecallTokens = 1_000
)

// newRecall returns the answer to call, without its text, and the images behind that. The caller writes the text
// without the lock, because a search may take a while.
func (m *Manager) newRecall(history []Message, call recall.Call) (a *recall.Answer, images []Part) {
	m.mu.Lock()
	defer m.mu.Unlock()
	window := count.Least(m.window, m.ledger.accounting.Window)
	a, named := m.findRecalled(history, call, window)
	if a.Target != nil && !a.Target.IsWhole {
		images = m.imagesToRecall(&history[named], &call, window)
	}
	return a, images
}

// findRecalled returns the answer to call, without its text, and the index of the message that its handle names.
func (m *Manager) findRecalled(history []Message, call recall.Call, window int) (a *recall.Answer, named int) {
	room := max(leastRecallTokens, count.Share(window, recallShare))
	estimator := m.opts.Estimator
	a = &recall.Answer{
		Call: call, Room: min(room, max(1, count.Share(window, maxDefaultShare))),
		Tokens: func(text string) int { return textTokens(estimator, text) },
	}
	facts := m.know(history)
	named, isSpan := recall.Find(call.Handle, len(facts), keysOf(facts))
	if named >= 0 && !isSpan && m.mayRecall(history, named) { // a message that may not be shown counts as absent
		a.Target = &recall.Target{
			Text: shownText(&history[named]), Origin: originOf(&history[named], toolNameIn(history, named)),
			Tokens: facts[named].tokens, Back: len(history) - 1 - named,
		}
		var known bool
		if a.Target.IsWhole, known = m.isWholeNow(history, facts, named); known {
			return a, named
		}
	}
	// isWholeNow did not tell: make the whole request again and compare.
	out := m.leftOut(history)
	a.Source, a.LeftOut = out, out.list
	switch {
	case a.Target != nil:
		a.Target.IsWhole = !out.has(named)
	case named >= 0 && isSpan:
		a.IsSpan, a.Before = true, out.before(m.spanEnd(call.Handle, out))
	}
	return a, named
}

// spanEnd returns the end of the span that handle names: the index of the first message behind its summary. That text
// may stand several times in the history. The checkpoint tells the place if the request has the summary. Otherwise the
// last one is taken: too much is better than too little.
func (m *Manager) spanEnd(handle string, out *leftOut) int {
	c := m.ledger.checkpoint
	if c != nil && out.firstKept >= 0 && handle == recall.SpanHandle(c.firstKept.Key) {
		return out.firstKept
	}
	i := len(out.facts) - 1
	for i >= 0 && recall.SpanHandle(out.facts[i].key) != handle {
		i--
	}
	return i
}

// openRecall returns the id of the call of the recall tool that has these arguments: the first of the newest calls
// without a result. If none has these arguments, it returns the first call of the tool without a result, or "".
func openRecall(history []Message, arguments json.RawMessage) string {
	answered := map[string]bool{}
	i := len(history) - 1
	for ; i >= 0 && history[i].Role == RoleTool; i-- {
		answered[history[i].ToolCallID] = true
	}
	if i < 0 {
		return ""
	}
	open, wanted := "", recall.ReadCall(arguments)
	for p := range callsOf(&history[i]) {
		if p.Name != recall.Name || answered[p.ID] {
			continue
		}
		if recall.ReadCall(p.Arguments) == wanted { // compared by meaning: the host may have written them anew
			return p.ID
		}
		if open == "" {
			open = p.ID // for when none has these arguments: the host may have put defaults into them
		}
	}
	return open
}
