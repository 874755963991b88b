package transport

import (
	"maps"
	"strconv"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Anthropic tells a model how many tokens are left of a task's budget, and counts what of the task is in the request.
// What is left out, or sent shorter than before, would give the model these tokens back.

// task is what a person asked for last, and what the model has read and written for it.
type task struct {
	of   chain          // the history up to the message that asks
	sent map[string]int // by the ID of a message: its tokens where it was sent at its longest, and answered
}

// keepBudget takes from what is left of the budget what messages lack. It is the same between two rewrites, and so are
// the bytes in front of the messages.
func (q *query) keepBudget(e *jsonedit.Editor, messages []winnow.Message) {
	budget := q.budget()
	left, n := budget.Get("remaining"), 0
	if budget.IsObject() {
		n = q.tokensLeftOut(messages)
	}
	remaining := func(of jsonedit.Value) []byte { return strconv.AppendInt(nil, int64(max(0, of.Int()-n)), 10) }
	switch {
	case n == 0:
	case left.Exists():
		e.Replace(left, remaining(left))
	case len(left) > 0: // null
		e.Replace(left, remaining(budget.Get("total")))
	default:
		e.Add(budget, "remaining", remaining(budget.Get("total")))
	}
}

// budget returns the budget of the task, as the client sets it.
func (q *query) budget() (budget jsonedit.Value) {
	if q.form == messagesForm {
		budget = value(q.whole).Get("output_config.task_budget")
	}
	return budget
}

// tokensLeftOut estimates what of the task the model has had and messages lack. Where it is not known how a message was
// sent, as in another process, it was whole.
func (q *query) tokensLeftOut(messages []winnow.Message) (n int) {
	now := tokensByID(messages)
	for i := len(q.history) - 1; i >= 0 && !isRequest(&q.history[i]); i-- {
		m := &q.history[i]
		had, isKnown := q.had[m.ID]
		if !isKnown && now[m.ID] == 0 {
			had = winnow.CharsPerToken(4).Estimate(*m)
		}
		if m.Role == winnow.RoleAssistant || m.Role == winnow.RoleTool {
			n += max(0, had-now[m.ID])
		}
	}
	return n
}

func isRequest(m *winnow.Message) bool { return m.Role == winnow.RoleUser && !m.Injected }

func tokensByID(messages []winnow.Message) map[string]int {
	tokens := map[string]int{}
	for i := range messages {
		tokens[messages[i].ID] += winnow.CharsPerToken(4).Estimate(messages[i])
	}
	return tokens
}

// had returns what of its task the model has had in the conversation.
func (l *conversations) had(c *conversation, q *query) map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.task.of != q.task {
		return nil
	}
	return maps.Clone(c.task.sent)
}

// noteSent notes what the model has had in messages. The lock is held.
func (c *conversation) noteSent(q *query, messages []winnow.Message) {
	if !q.budget().IsObject() {
		return
	}
	if c.task.of != q.task {
		c.task = task{q.task, map[string]int{}}
	}
	for id, n := range tokensByID(messages) {
		c.task.sent[id] = max(c.task.sent[id], n)
	}
}
