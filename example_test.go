package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// A message of each role, as the examples use them.
func user(text string) winnow.Message { return userSays(text) }

func assistant(text string) winnow.Message { return modelSays(text) }

func call(id, tool, arguments string) winnow.Message {
	return modelSends(callWith(id, tool, arguments))
}

func result(id, tool, text string) winnow.Message { return toolOf(id, tool, text) }

// must is what a call returns that does not fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
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
		"panic: index out of range\n" + strings.Repeat("    cart_test.go:9: and another\n", 500) + "exit status 2\n"
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
	_ = winnow.WriteMessages(os.Stdout, []winnow.Message{
		user("What is in go.mod?"), call("call_1", "read", `{"path":"go.mod"}`), result("call_1", "read", "module example.com/cart"),
	})
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

func ExampleNewEstimator() {
	e := must(winnow.NewEstimator(winnow.FamilyForModel("gpt-4o")))
	fmt.Println(e.Estimate(user("How many tokens does this sentence cost?")))
	// Output: 11
}

func ExampleFamilyForModel() {
	for _, model := range []string{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openrouter/openai/gpt-4o", "models/gemini-3-pro", "my-own-model"} {
		fmt.Printf("%q\n", winnow.FamilyForModel(model))
	}
	// Output:
	// "claude4"
	// "o200k"
	// "gemini"
	// ""
}

func ExampleTiktokenEstimator() {
	e := must(winnow.TiktokenEstimator("o200k_base"))
	fmt.Println(e.Estimate(user("How many tokens does this sentence cost?")))
	// Output: 12
}

func ExampleCharsPerToken() {
	e := winnow.CharsPerToken(4)
	fmt.Println(e.Estimate(user("How many tokens does this sentence cost?")))
	// Output: 10
}

func ExampleEstimatorFunc() {
	var e winnow.Estimator = winnow.EstimatorFunc(func(m winnow.Message) int {
		n := 0
		for _, p := range m.Parts {
			n += utf8.RuneCountInString(p.Text)
		}
		return n
	})
	fmt.Println(e.Estimate(winnow.Message{Parts: []winnow.Part{{Text: "Grüße"}}}))
	// Output: 5
}

// An estimator of one's own may add to another: here, a host that sends images in high resolution.
func ExampleEstimatorFunc_Estimate() {
	text := winnow.CharsPerToken(4)
	images := winnow.EstimatorFunc(func(m winnow.Message) int {
		n := 0
		for i := range m.Parts {
			if m.Parts[i].Kind == winnow.KindImage {
				n += 3_000
				continue
			}
			n += text.Estimate(winnow.Message{Parts: m.Parts[i : i+1]})
		}
		return n
	})
	fmt.Println(images.Estimate(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{
		{Text: "What is in this picture?"},
		{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 900_000},
	}}))
	// Output: 3006
}

func ExampleOverflowError() {
	var err error = fmt.Errorf("turn 12: %w", &winnow.OverflowError{
		Tokens: 210_000, Budget: 180_000, Overhead: 12_000, Pinned: 3_000, Protected: 195_000,
	})
	var overflow *winnow.OverflowError
	if errors.Is(err, winnow.ErrOverflow) && errors.As(err, &overflow) {
		fmt.Printf("%d tokens too many, %d of them in the newest request\n", overflow.Tokens-overflow.Budget, overflow.Protected)
	}
	// Output: 30000 tokens too many, 195000 of them in the newest request
}

// What another manager could not make fit is its refusal, and no provider's.
func ExampleOverflowError_Is() {
	err := fmt.Errorf("sub-agent: %w", &winnow.OverflowError{Tokens: 210_000, Budget: 180_000})
	fmt.Println(errors.Is(err, winnow.ErrOverflow))
	// Output: true
}

func ExampleOverflowError_Unwrap() {
	refused := errors.New("prompt is too long")
	err := &winnow.OverflowError{Tokens: 210_000, Budget: 180_000, Err: refused}
	fmt.Println(errors.Is(err, winnow.ErrOverflow), errors.Is(err, refused))
	// Output: true true
}

func ExampleOverflowError_Error() {
	err := &winnow.OverflowError{Tokens: 210_000, Budget: 180_000, Overhead: 12_000, Protected: 198_000}
	what, advice, _ := strings.Cut(err.Error(), "; ")
	fmt.Println(what)
	fmt.Println(advice)
	// Output:
	// winnow: the request needs about 210000 tokens and 180000 are free: system prompt and tools 12000, pinned and system messages 0, summary 0, newest request and its results 198000
	// start a new conversation, send less, or use a model with a larger context window
}

func ExampleClassifyError() {
	for _, text := range []string{
		`400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209353 tokens > 199999 maximum"}}`,
		"429 Rate limit reached on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4ms.",
		"429 Request too large on tokens per min (TPM): Limit 30000, Requested 132819.",
		"413 Payload Too Large",
		"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
	} {
		info := winnow.ClassifyError(errors.New(text))
		fmt.Printf("%q %d/%d\n", info.Class, info.Tokens, info.Limit)
	}
	// Output:
	// "overflow" 209353/199999
	// "rate_limit" 0/0
	// "overflow" 132819/30000
	// "bytes" 0/0
	// "" 0/0
}

func ExampleResponseOverflow() {
	const window = 32_768
	fmt.Println(winnow.ResponseOverflow("model_context_window_exceeded", winnow.Usage{Input: 32_000, Output: 768}, window))
	fmt.Println(winnow.ResponseOverflow("length", winnow.Usage{Input: 32_768}, window))
	fmt.Println(winnow.ResponseOverflow("length", winnow.Usage{Input: 1_200, Output: 4_096}, window))
	// Output:
	// true
	// true
	// false
}

// A matcher for a gateway whose refusals say nothing.
func ExampleErrorMatcher() {
	var matcher winnow.ErrorMatcher = func(err error) (winnow.ErrorInfo, bool) {
		if strings.Contains(err.Error(), "E4711") {
			return winnow.ErrorInfo{Class: winnow.ErrorOverflow, Limit: 65_536}, true
		}
		return winnow.ErrorInfo{}, false // the built-in rules decide
	}
	info, ok := matcher(errors.New("gateway: E4711"))
	fmt.Println(info.Class, info.Limit, ok)
	// Output: overflow 65536 true
}

func ExampleCheckWindow() {
	for _, tokens := range []int{8_000, 16_000, 128_000} {
		fmt.Println(tokens, winnow.CheckWindow(tokens))
	}
	// Output:
	// 8000 block
	// 16000 warn
	// 128000 ok
}

func ExampleSummarizeInStages() {
	// A real one sends req.System() and req.Prompt() to a model, and returns an error that wraps
	// winnow.ErrIncomplete unless the model ended by itself.
	summarizer := winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		return fmt.Sprintf("## Goal\nCount to a hundred (%d messages, %d bytes of earlier summary).", len(req.Messages), len(req.Previous)), nil
	})
	var history []winnow.Message
	for range 100 {
		history = append(history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: strings.Repeat("one more ", 100)}}})
	}
	summary := must(winnow.SummarizeInStages(context.Background(), history, &winnow.SummarizeOptions{Summarizer: summarizer, Window: 32_000}))
	fmt.Printf("%d calls, %q\n", summary.Calls, summary.Degraded)
	fmt.Println(summary.Text)
	// Output:
	// 3 calls, ""
	// ## Goal
	// Count to a hundred (2 messages, 0 bytes of earlier summary).
}

// What calls a model returns an error that wraps ErrIncomplete unless the model ended by itself.
func ExampleSummarizerFunc_Summarize() {
	callYourModel := func(ctx context.Context, system, prompt string, maxTokens int) (text, stopReason string, err error) {
		return "## Goal\nCount to a hun", "max_tokens", nil
	}
	summarizer := winnow.SummarizerFunc(func(ctx context.Context, req winnow.SummaryRequest) (string, error) {
		text, stopReason, err := callYourModel(ctx, req.System(), req.Prompt(), req.MaxTokens)
		if err == nil && stopReason != "end_turn" {
			err = fmt.Errorf("%w: the model stopped with %s", winnow.ErrIncomplete, stopReason)
		}
		return text, err
	})
	_, err := summarizer.Summarize(context.Background(), winnow.SummaryRequest{
		Messages:  []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Count to a hundred."}}}},
		MaxTokens: 8,
	})
	fmt.Println(errors.Is(err, winnow.ErrIncomplete), err)
	// Output: true winnow: the summary is incomplete: the model stopped with max_tokens
}
