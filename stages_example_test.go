package winnow_test

import (
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

// A message of each role, as the examples use them.
func user(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}}
}

func assistant(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}}
}

func call(id, tool, arguments string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
		{Kind: winnow.KindToolCall, ID: id, Name: tool, Arguments: []byte(arguments)},
	}}
}

func result(id, tool, text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: tool, Parts: []winnow.Part{{Text: text}}}
}

func ExampleLimitHistoryTurns() {
	history := []winnow.Message{
		{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "You are brief."}}},
		user("What is a goroutine?"), assistant("A function that runs beside others."),
		user("And a channel?"), assistant("A pipe between them."),
		user("Who closes it?"), assistant("The sender."),
	}
	kept, edits := winnow.LimitHistoryTurns(history, 2)
	for _, m := range kept {
		fmt.Printf("%s: %s\n", m.Role, m.Parts[0].Text)
	}
	for _, e := range edits {
		fmt.Printf("dropped message %d: %s\n", e.Index, e.Reason)
	}
	// Output:
	// system: You are brief.
	// user: And a channel?
	// assistant: A pipe between them.
	// user: Who closes it?
	// assistant: The sender.
	// dropped message 1: older than the newest turns that are kept
	// dropped message 2: older than the newest turns that are kept
}

func ExampleHistoryLimits_ForSession() {
	few, many := 10, 100
	limits := winnow.HistoryLimits{
		"telegram": {
			DMHistoryLimit: &many,
			DMs:            map[string]winnow.DMLimits{"4711": {HistoryLimit: &few}},
		},
	}
	for _, key := range []string{"agent:main:telegram:dm:4711", "telegram:dm:42", "telegram:group:-100", "slack:dm:u1"} {
		limit, ok := limits.ForSession(key)
		fmt.Println(key, limit, ok)
	}
	// Output:
	// agent:main:telegram:dm:4711 10 true
	// telegram:dm:42 100 true
	// telegram:group:-100 0 false
	// slack:dm:u1 0 false
}

func ExamplePruneContext() {
	history := []winnow.Message{
		user("Why does the build fail?"),
		call("call_1", "exec", `{"command":"go build ./..."}`),
		result("call_1", "exec", strings.Repeat("go: downloading a module\n", 400)),
		assistant("A module is missing."),
		user("Add it."),
		call("call_2", "exec", `{"command":"go get"}`),
		result("call_2", "exec", "go: added a module"),
		assistant("Done."),
	}
	const window = 4_000 // tokens
	pruned, edits := winnow.PruneContext(history, window, nil)
	for _, e := range edits {
		fmt.Printf("%s message %d: %s\n", e.Op, e.Index, e.Reason)
	}
	text := pruned[2].Parts[0].Text
	fmt.Println(text[strings.LastIndex(text, "["):])
	fmt.Println("the history is as it was:", len(history[2].Parts[0].Text), "bytes")
	// Output:
	// trim message 2: old result of 10000 characters: head and tail kept
	// [Tool result trimmed: kept first 1500 chars and last 1500 chars of 10000 chars.]
	// the history is as it was: 10000 bytes
}

func ExampleTruncateToolResults() {
	log := "=== RUN TestTotal\n" + strings.Repeat("    cart_test.go:7: one more line\n", 500) +
		"panic: index out of range\n" + strings.Repeat("    cart_test.go:9: and another\n", 500) +
		"exit status 2\n"
	history := []winnow.Message{user("Run the tests."), call("call_1", "exec", `{}`), result("call_1", "exec", log)}

	cut, edits := winnow.TruncateToolResults(history, 4_000, nil)
	text := cut[2].Parts[0].Text
	fmt.Println("within 30 % of the window:", edits[0].Before <= 1_200, edits[0].After <= 1_200)
	for _, sign := range []string{"=== RUN", "panic: index out of range", "exit status 2", "[Tool result cut:"} {
		fmt.Println(sign, strings.Contains(text, sign))
	}
	// Output:
	// within 30 % of the window: false true
	// === RUN true
	// panic: index out of range true
	// exit status 2 true
	// [Tool result cut: true
}

func ExampleRepairToolPairing() {
	history := []winnow.Message{
		user("Read both files."),
		call("call_1", "read", `{"path":"a.go"}`), // its result comes late
		user("Hurry, please."),
		result("call_1", "read", "package a"),
		call("call_2", "read", `{"path":"b.go"}`), // it has no result
		user("Never mind."),
	}
	repaired, edits := winnow.RepairToolPairing(history)
	for _, m := range repaired {
		fmt.Println(m.Role, m.ToolCallID, m.IsError)
	}
	for _, e := range edits {
		fmt.Println(e.Index, e.Reason)
	}
	// Output:
	// user  false
	// assistant  false
	// tool call_1 false
	// user  false
	// assistant  false
	// tool call_2 true
	// user  false
	// 4 no result for call call_2: an error result stands in
	// 3 moved behind its call
}
