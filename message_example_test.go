package winnow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/winnowgo/winnow"
)

func ExampleReadMessages() {
	const session = `{"role":"user","parts":[{"text":"What is in go.mod?"}]}
{"role":"assistant","parts":[{"kind":"toolCall","id":"call_1","name":"read","arguments":{"path":"go.mod"}}]}
{"role":"tool","toolCallId":"call_1","toolName":"read","parts":[{"text":"module example.com/cart"}]}
{"role":"assistant","parts":"A module."}`
	messages, err := winnow.ReadMessages(strings.NewReader(session))
	fmt.Println(len(messages), "messages")
	fmt.Println(err)
	// Output:
	// 3 messages
	// winnow: reading messages: line 4: parts: want an array, got string
}

func ExampleWriteMessages() {
	err := winnow.WriteMessages(os.Stdout, []winnow.Message{
		user("What is in go.mod?"),
		call("call_1", "read", `{"path":"go.mod"}`),
		result("call_1", "read", "module example.com/cart"),
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"role":"user","parts":[{"text":"What is in go.mod?"}]}
	// {"role":"assistant","parts":[{"kind":"toolCall","id":"call_1","name":"read","arguments":{"path":"go.mod"}}]}
	// {"role":"tool","parts":[{"text":"module example.com/cart"}],"toolCallId":"call_1","toolName":"read"}
}

func ExampleUsage_Prompt() {
	u := winnow.Usage{Input: 1_200, CacheRead: 40_000, CacheWrite: 3_000, Output: 700}
	fmt.Println(u.Prompt(), "tokens of prompt")
	// Output: 44200 tokens of prompt
}

// Package encoding/json reads a message. A kind that is absent, or "text", is text.
func ExampleKind_UnmarshalText() {
	var m winnow.Message
	err := json.Unmarshal([]byte(`{"role":"assistant","parts":[
		{"kind":"text","text":"Let me look."},
		{"kind":"toolCall","id":"call_1","name":"read","arguments":{"path":"go.mod"}}
	]}`), &m)
	fmt.Println(m.Parts[0].Kind == winnow.KindText, m.Parts[1].Name, string(m.Parts[1].Arguments), err)
	// Output: true read {"path":"go.mod"} <nil>
}

// What must never be forgotten is pinned: no stage drops, trims or cuts it.
func ExampleMessage() {
	rule := user("Never push to main.")
	rule.Pinned = true
	history := []winnow.Message{
		rule, assistant("Understood."),
		user("Fix the typo in the README."), assistant("Fixed."),
		user("Now the one in the docs."), assistant("Fixed as well."),
	}
	kept, _ := winnow.LimitHistoryTurns(history, 1)
	for _, m := range kept {
		fmt.Printf("%s: %s\n", m.Role, m.Parts[0].Text)
	}
	// Output:
	// user: Never push to main.
	// user: Now the one in the docs.
	// assistant: Fixed as well.
}

// A loop that asks a model itself goes on after a pause. Otherwise an answer without calls ends the turn.
func ExampleMessage_Paused() {
	search := winnow.Part{Kind: winnow.KindOpaque, ID: "srvtoolu_1", Name: "web_search"}
	found := winnow.Part{Kind: winnow.KindOpaque, ID: "srvtoolu_1"}
	answers := []winnow.Message{
		{Role: winnow.RoleAssistant, StopReason: "pause_turn", Parts: []winnow.Part{{Text: "I look."}, search}},
		{Role: winnow.RoleAssistant, StopReason: "end_turn", Parts: []winnow.Part{found, {Text: "It rains."}}},
	}
	history := []winnow.Message{user("How is the weather in Oslo?")}
	for {
		answer := answers[len(history)-1] // of the model, for what Manager.Prepare returns for history
		history = append(history, answer)
		if !answer.Paused() {
			break
		}
	}
	fmt.Println(len(history), "messages")
	// Output:
	// 3 messages
}
