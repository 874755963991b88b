package winnow

import (
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What code carries from a history into its summary.

// carry returns c with the failures, the rules and the files of more messages, in the order of lists. tools says which
// calls show a file.
func carry(c sections.Carried, tools *toolcall.Files, lists ...[]Message) sections.Carried {
	into := c.Collect()
	called, n := toolNamesOf(lists...), 0
	for _, messages := range lists {
		for i := range messages {
			m := &messages[i]
			n++
			switch m.Role {
			case RoleTool:
				if m.IsError && !isMissingResult(m) && !isRefusedRecall(m, called.of(n-1, m)) {
					into.AddFailure(m.ToolCallID, called.of(n-1, m), messageParts(m), m.Details)
				}
			case RoleUser:
				// What the host injected as a user message may come from anywhere: a page, a file, a tool. It is not a
				// rule of the user, and must not be kept for ever because it says "never". A host has
				// CompactOptions.Rules and pins for what it wants to survive.
				if beginsTurn(m) && !m.Pinned {
					into.AddRules(messageParts(m))
				}
			case RoleAssistant:
				for p := range callsOf(m) {
					into.AddFiles(tools.Of(p.Name, p.Arguments))
				}
			}
		}
	}
	return into.Done()
}
