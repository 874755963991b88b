package transport

import (
	"slices"
	"strconv"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Anthropic tells a model how many tokens are left of a task's budget, and counts what of the task is in the request.
// Steps that are left out would give the model their tokens back.

// keepBudget takes the tokens of steps that messages lack from what is left of the budget. They are the same between
// two rewrites, and so are the bytes in front of the messages.
func (q *query) keepBudget(e *jsonedit.Editor, messages []winnow.Message) {
	budget := value(q.whole).Get("output_config.task_budget")
	left, n := budget.Get("remaining"), 0
	if q.form == messagesForm && budget.IsObject() {
		n = q.tokensLeftOut(messages)
	}
	switch {
	case n == 0:
	case left.Exists():
		e.Replace(left, strconv.AppendInt(nil, int64(max(0, left.Int()-n)), 10))
	default:
		e.Add(budget, "remaining", strconv.AppendInt(nil, int64(max(0, budget.Get("total").Int()-n)), 10))
	}
}

// tokensLeftOut estimates the steps behind the newest message of a person that messages lack: answers with calls, and
// their results.
func (q *query) tokensLeftOut(messages []winnow.Message) (n int) {
	sent := map[string]bool{}
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Kind == winnow.KindToolCall {
				sent[p.ID] = true
			}
		}
	}
	isMissing := func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall && !sent[p.ID] }
	for i := range slices.Backward(q.history) {
		m := &q.history[i]
		switch {
		case m.Role == winnow.RoleUser && !m.Injected:
			return n
		case m.Role == winnow.RoleTool && !sent[m.ToolCallID], slices.ContainsFunc(m.Parts, isMissing):
			n += winnow.CharsPerToken(4).Estimate(*m)
		}
	}
	return n
}
