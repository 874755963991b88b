package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/openclaw"
)

// A log as a tool prints it, much longer than anybody needs it.
var longLog = strings.Repeat("2026-03-01T10:00:00Z INFO request served\n2026-03-01T10:00:00Z INFO query answered\n", 1_000) + "2026-03-01T10:00:01Z ERROR connection refused: db:5432\n"

// A talk of many turns.
func longTalk() []winnow.Message {
	var history []winnow.Message
	for n := range 60 {
		history = append(history, user(fmt.Sprintf("Question %d: %s", n, strings.Repeat("what about this part of the plan? ", 20))),
			assistant(fmt.Sprintf("Answer %d: %s", n, strings.Repeat("that part is settled as we said. ", 20))))
	}
	return append(history, user("So what is left to do?"))
}

// summarizer stands for a model that writes summaries.
var summarizer = winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
	return "## Goal\nAgree on the plan.\n## Progress\nAll parts are settled but the budget.", nil
})

func ExampleManager_Window() {
	m := must(winnow.New(0, &winnow.Options{Model: "anthropic/claude-haiku-4.5"}))
	fmt.Println(m.Window())
	// Output: 200000
}

func ExampleNew() {
	m, err := winnow.New(200_000, nil) // tokens; nil: the defaults
	fmt.Println(m != nil, err)

	_, err = winnow.New(200_000, &winnow.Options{HistoryTurns: 50, FoldAbove: 1.5, Tools: &winnow.ToolOptions{Keep: []string{"memory_*"}}})
	fmt.Println(err)
	// Output:
	// true <nil>
	// winnow: New: FoldAbove is 1.5, want a share of at most 1
}

func ExampleManager_Prepare() {
	m := must(winnow.New(16_000, nil))
	history := []winnow.Message{
		user("Why does the service not answer?"),
		call("call_1", "exec", `{"command":"journalctl -u shop"}`),
		result("call_1", "exec", longLog), // larger than the window
	}
	request := must(m.Prepare(context.Background(), history))
	for _, e := range request.Edits {
		fmt.Printf("%s message %d: %s\n", e.Op, e.Index, e.Reason)
	}
	sent := request.Messages[2].Parts[0].Text
	fmt.Println("fits:", request.Tokens <= request.Budget)
	fmt.Println("the error is in it:", strings.Contains(sent, "connection refused: db:5432"))
	fmt.Println("the history is as it was:", history[2].Parts[0].Text == longLog)
	// Output:
	// truncate message 2: the result is larger than one result may be
	// fits: true
	// the error is in it: true
	// the history is as it was: true
}

func ExampleManager_Plan() {
	m := must(winnow.New(16_000, &winnow.Options{Summarizer: summarizer}))
	fmt.Println("short:", m.Plan([]winnow.Message{user("Hello")}).NeedsCompaction)
	fmt.Println("long:", m.Plan(longTalk()).NeedsCompaction) // nothing is summarized yet
	// Output:
	// short: false
	// long: true
}

func ExampleManager_Compact() {
	recent := &winnow.CompactOptions{KeepRecent: 2_000} // tokens
	m := must(winnow.New(200_000, &winnow.Options{Summarizer: summarizer, Compact: recent}))
	history := longTalk()
	request := must(m.Compact(context.Background(), history, "Keep every decision."))
	fmt.Println("fewer messages:", len(request.Messages) < len(history))
	fmt.Println("fewer tokens:", request.Compaction.TokensAfter < request.Compaction.TokensBefore)
	fmt.Println("the summary:", strings.Contains(request.Compaction.Summary, "All parts are settled but the budget."))
	last := request.Messages[len(request.Messages)-1]
	fmt.Println("the newest request:", last.Parts[0].Text)
	// Output:
	// fewer messages: true
	// fewer tokens: true
	// the summary: true
	// the newest request: So what is left to do?
}

func ExampleManager_Recover() {
	m := must(winnow.New(200_000, nil))
	ctx := context.Background()
	history := longTalk()
	request := must(m.Prepare(ctx, history))
	refused := errors.New("400 prompt is too long: 21000 tokens > 16000 maximum") // the model's window is smaller than it was said to be
	next := must(m.Recover(ctx, history, refused))
	fmt.Println("smaller:", next.Tokens < request.Tokens)

	_, err := m.Recover(ctx, history, errors.New("401 invalid x-api-key")) // a smaller request does not help
	fmt.Println(err)
	// Output:
	// smaller: true
	// winnow: not a context overflow: 401 invalid x-api-key
}

// A conversation goes on in another process, and the provider's prompt cache is still good.
func ExampleManager_Snapshot() {
	ctx := context.Background()
	history := []winnow.Message{
		user("Why does the service not answer?"),
		call("call_1", "exec", `{"command":"journalctl -u shop"}`),
		result("call_1", "exec", longLog),
	}
	m := must(winnow.New(16_000, nil))
	before := must(m.Prepare(ctx, history))
	state := must(m.Snapshot())

	restarted := must(winnow.New(16_000, nil)) // with the same options
	if err := restarted.Restore(state); err != nil {
		panic(err)
	}
	history = append(history, assistant("The database is down."), user("Since when?"))
	after := must(restarted.Prepare(ctx, history))
	fmt.Println("same bytes for the log:", after.Messages[2].Parts[0].Text == before.Messages[2].Parts[0].Text)
	fmt.Println("a pure append:", after.FirstChanged == len(before.Messages))
	// Output:
	// same bytes for the log: true
	// a pure append: true
}

func ExampleManager_Restore() {
	m := must(winnow.New(200_000, nil))
	if err := m.Restore([]byte("no snapshot")); err != nil {
		fmt.Println("starting afresh") // and the manager is as it was
	}
	// Output: starting afresh
}

func ExampleManager_Close() {
	m := must(winnow.New(200_000, &winnow.Options{Compact: &winnow.CompactOptions{Background: true}}))
	m.Close()
	request := must(m.Prepare(context.Background(), []winnow.Message{user("Still there?")}))
	fmt.Println(len(request.Messages), "message")
	// Output:
	// 1 message
}

func ExampleDo() {
	m := must(winnow.New(200_000, nil)) // one manager a conversation
	model := func(_ context.Context, messages []winnow.Message) (string, error) {
		if len(messages) > 100 { // it takes less than it was said to
			return "", errors.New("400 This model's maximum context length is 8192 tokens")
		}
		return "The budget.", nil
	}
	answer, request, err := winnow.Do(context.Background(), m, longTalk(), model)
	fmt.Println(answer, err)
	fmt.Println("fewer messages were sent in the end:", len(request.Messages) < len(longTalk()))
	// Output:
	// The budget. <nil>
	// fewer messages were sent in the end: true
}

// A memory flush is a turn of its own on a detached view: what is said in it never stands in the history, and a silent
// answer is shown to nobody.
func ExampleCompactOptions_flush() {
	ask := func(messages []winnow.Message) string { // stands for a call of the model, with a tool that writes the memory
		return "NO_REPLY"
	}
	var m *winnow.Manager
	flush := func(_ context.Context, history []winnow.Message) error {
		turn := user("Write down what has to survive. If no user-visible reply is needed, start with NO_REPLY.")
		turn.Injected = true
		view := append(slices.Clip(history), turn) // a list of its own
		answer := ask(m.Plan(view).Messages)       // Plan has no effects
		if text := openclaw.StripSilent(answer, openclaw.SilentToken{}); text != "" {
			fmt.Println("to the user:", text)
		}
		return nil
	}
	m = must(winnow.New(16_000, &winnow.Options{Summarizer: summarizer, Compact: &winnow.CompactOptions{BeforeCompact: flush}}))
	history := longTalk()
	before := len(history)
	request := must(m.Prepare(context.Background(), history))
	isFlush := func(m winnow.Message) bool { return m.Injected }
	fmt.Println("compacted:", request.Compaction != nil)
	fmt.Println("the flush is in the request:", slices.ContainsFunc(request.Messages, isFlush), "in the history:", len(history) != before)
	// Output:
	// compacted: true
	// the flush is in the request: false in the history: false
}

// A manager that takes over a history asks the provider once, where its API has an endpoint for that.
func ExampleManager_Counted() {
	m := must(winnow.New(100_000, nil))
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: strings.Repeat("word ", 1_000)}}}}
	request := must(m.Prepare(context.Background(), history))
	const counted = 1_150 // of request.Messages, by the provider
	m.Counted(winnow.Usage{Input: counted})
	fmt.Println(request.Tokens != counted, m.Plan(history).Tokens)
	// Output: true 1150
}

// What the provider reads from its cache is set against what each request was expected to read.
func ExampleManager_CacheUse() {
	m, _ := winnow.New(200_000, nil)
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Is the build green?"}}}}
	_, _ = m.Prepare(context.Background(), history)
	m.Counted(winnow.Usage{CacheWrite: 2_000})
	fmt.Printf("%+v\n", m.CacheUse())
	// Output: {Requests:1 Expected:0 Read:0 Missed:0 Rewritten:0 Changed:0 Expired:0 Lost:0}
}

// What became of the tokens since the last time that one looked.
func ExampleCacheUse_Plus() {
	before, now := winnow.CacheUse{Expected: 9_000, Read: 9_000}, winnow.CacheUse{Expected: 21_000, Read: 20_500}
	since := now.Plus(-1, before)
	fmt.Println(since.Expected, since.Read)
	// Output: 12000 11500
}
