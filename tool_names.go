package winnow

import (
	"cmp"
	"slices"

	"github.com/winnowgo/winnow/internal/toolcall"
)

// Which tool a result is of. A host that imports the results of a step apart from their calls gives them the ids of the
// calls and no tool names. The tool is then taken from the call. The messages stay as they are, because a message is
// recognized by its tool's name too.

// toolNames holds the name of the tool that each result is of, by the index of its message. nil: each result has the
// name itself.
type toolNames []string

// of returns the tool of result m, which is message i, or "" if it is not known.
func (n toolNames) of(i int, m *Message) string {
	if n == nil {
		return m.ToolName
	}
	return n[i]
}

// toolNamesFor returns the tools of the results of messages, or nil if match does not depend on them.
func toolNamesFor(match toolcall.Matcher, messages []Message) toolNames {
	if match.MatchesAll() {
		return nil
	}
	return toolNamesOf(messages)
}

// toolNamesOf returns the tools of the results of messages. Where ids repeat, a result belongs to the newest call that
// has its id; calls without ids are answered in their order.
func toolNamesOf(messages []Message) toolNames {
	lacksName := func(m Message) bool { return m.Role == RoleTool && m.ToolName == "" }
	if !slices.ContainsFunc(messages, lacksName) {
		return nil // as with most hosts: each result has the name of its tool
	}
	names := make(toolNames, len(messages))
	byID := map[string]string{}
	var unnamed []string // the tools of the newest calls without ids that wait for their results
	for i := range messages {
		m := &messages[i]
		called := ""
		switch {
		case m.Role == RoleAssistant:
			unnamed = readCalls(m, byID)
		case m.Role == RoleTool && m.ToolCallID != "":
			called = byID[m.ToolCallID]
		case m.Role == RoleTool && len(unnamed) > 0:
			called, unnamed = unnamed[0], unnamed[1:]
		}
		names[i] = cmp.Or(m.ToolName, called)
	}
	return names
}

// readCalls adds the tools of m's calls to byID, and returns the tools of the calls without ids.
func readCalls(m *Message, byID map[string]string) (unnamed []string) {
	for p := range callsOf(m) {
		if p.ID == "" {
			unnamed = append(unnamed, p.Name)
		} else {
			byID[p.ID] = p.Name
		}
	}
	return unnamed
}

// toolNameIn returns the tool that result i of messages is of.
func toolNameIn(messages []Message, i int) string {
	if m := &messages[i]; m.ToolName != "" || m.Role != RoleTool {
		return m.ToolName
	}
	return toolNamesOf(messages[:i+1])[i]
}
