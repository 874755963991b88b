package main

import (
	"fmt"

	"github.com/winnowgo/winnow"
)

// check returns what a provider would refuse in a request, or "". It is independent of winnow. Each call has one
// result, directly after the message of the call; each result has a call; no two calls share an id. Only calls at the
// very end may wait for their results.
func check(messages []winnow.Message) string {
	used := map[string]bool{}
	for i := 0; i < len(messages); {
		m := &messages[i]
		i++
		if m.Role == winnow.RoleTool {
			return fmt.Sprintf("message %d is a result of %q, which is no call of the message before it", i,
				m.ToolCallID)
		}
		open := map[string]bool{}
		for _, p := range m.Parts {
			if p.Kind != winnow.KindToolCall || m.Role != winnow.RoleAssistant {
				continue
			}
			if used[p.ID] {
				return fmt.Sprintf("message %d: the call id %q is used twice", i, p.ID)
			}
			used[p.ID], open[p.ID] = true, true
		}
		for i < len(messages) && messages[i].Role == winnow.RoleTool && open[messages[i].ToolCallID] {
			delete(open, messages[i].ToolCallID)
			i++
		}
		if len(open) > 0 && i < len(messages) {
			return fmt.Sprintf("%d calls before message %d have no result", len(open), i+1)
		}
	}
	return ""
}
