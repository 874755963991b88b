package winnow

import (
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What code carries from a history into its summary.

// carry returns c with the failures, the rules and the files of messages, which are newer. tools says which calls show
// a file.
func carry(c sections.Carried, tools *toolcall.Files, messages []Message) sections.Carried {
	into := c.Collect()
	called := toolNamesOf(messages)
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case RoleTool:
			if m.IsError && !isMissingResult(m) && !isRefusedRecall(m, called.of(i, m)) {
				into.AddFailure(m.ToolCallID, called.of(i, m), messageParts(m), m.Details)
			}
		case RoleUser:
			// What the host injected as a user message may come from anywhere: a page, a file, a tool. It is not a rule
			// of the user, and must not be kept for ever because it says "never". A host has CompactOptions.Rules and
			// pins for what it wants to survive.
			switch {
			case isLaterResult(m) && m.IsError:
				into.AddFailure(m.ToolCallID, m.ToolName, messageParts(m), m.Details)
			case beginsTurn(m) && !m.Pinned:
				into.AddRules(messageParts(m))
			}
		case RoleAssistant:
			results := resultsBehind(messages, i)
			for p := range callsOf(m) {
				if call := tools.Call(p.Name, p.Arguments); !isRefused(results[p.ID], &call) {
					into.AddFiles(tools.Of(p.Name, p.Arguments))
				}
			}
		}
	}
	return into.Done()
}

// resultsBehind returns the results that stand directly behind message i, by the ids of their calls.
func resultsBehind(messages []Message, i int) map[string]*Message {
	var results map[string]*Message
	for k := i + 1; k < len(messages) && messages[k].Role == RoleTool; k++ {
		if results == nil {
			results = map[string]*Message{}
		}
		results[messages[k].ToolCallID] = &messages[k]
	}
	return results
}

// isRefused reports whether r, the result of call, says that the call failed. A call without a result (nil) may have
// done its work.
func isRefused(r *Message, call *toolcall.Call) bool {
	return r != nil && !isMissingResult(r) && (r.IsError || call.Failed(messageParts(r)))
}
