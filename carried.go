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
			if beginsTurn(m) && !m.Pinned {
				into.AddRules(messageParts(m))
			}
		case RoleAssistant:
			for p := range callsOf(m) {
				into.AddFiles(tools.Of(p.Name, p.Arguments))
			}
		}
	}
	return into.Done()
}
