package transport

import (
	"fmt"

	"github.com/winnowgo/winnow"
)

// roomError says that a window has no room for an agent's messages.
type roomError struct {
	window, system, tools, answer int // tokens
	member                        string
}

func (e *roomError) Error() string {
	return fmt.Sprintf("the context window of %d tokens has too little room for messages: the system prompt has about "+
		"%d, the tools %d, and %s asks for %d of answer. Lower %[4]s in the client (Claude Code: "+
		"CLAUDE_CODE_MAX_OUTPUT_TOKENS), offer fewer tools, or give a larger window",
		e.window, e.system, e.tools, e.member, e.answer)
}

// leastRoom is what an agent's messages need at least, in tokens, but no more than a fifth of the window: a request
// with the reminders of its client, a summary, and a result of 16 KB, some 4 000 each. With less, each request would
// be summarized anew.
const leastRoom = 12_000

// checkRoom returns a roomError if a window that the host has named cannot hold the messages of an agent, whatever is
// left out of them. A provider speaks for its own window, and a request without tools may be the only one.
func (q *query) checkRoom(window, overhead int, e winnow.Estimator) error {
	room := window - overhead - q.answer
	if window <= 0 || !q.tools.Exists() || q.answer == 0 || room >= min(leastRoom, window/5) {
		return nil
	}
	tools := tokensOf(e, sentTools(q.tools))
	return &roomError{window: window, system: max(0, overhead-tools), tools: tools, answer: q.answer, member: q.limit}
}

func tokensOf(e winnow.Estimator, text string) int {
	return e.Estimate(winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: text}}})
}
