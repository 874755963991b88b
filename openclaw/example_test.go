package openclaw_test

import (
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/openclaw"
	"github.com/winnowgo/winnow/prompt"
)

func ExampleRuleHeadings() {
	agents := "# Agent\n\n## Style\nBe brief.\n\n## Red Lines\n- Never delete mail without asking.\n"
	fmt.Println(prompt.ExtractRules(agents, openclaw.RuleHeadings()...))
	// Output:
	// ## Red Lines
	// - Never delete mail without asking.
}

func ExampleHistoryLimits_ForSession() {
	few, many := 10, 100
	limits := openclaw.HistoryLimits{"telegram": {DMHistoryLimit: &many, DMs: map[string]openclaw.DMLimits{"4711": {HistoryLimit: &few}}}}
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

func ExampleResolveWindow() {
	tokens, source := openclaw.ResolveWindow(openclaw.WindowConfig{Model: 1_000_000, Cap: 200_000})
	fmt.Println(tokens, source)
	tokens, source = openclaw.ResolveWindow(openclaw.WindowConfig{})
	fmt.Println(tokens, source)
	// Output:
	// 200000 cap
	// 200000 default
}

func ExampleSilentReplies() {
	s := openclaw.SilentReplies(openclaw.SilentToken{Text: "HEARTBEAT_OK"})
	fmt.Println(s.Name, strings.Contains(s.Text, "HEARTBEAT_OK"))
	// Output: Silent Replies true
}

func ExampleSilentHint() {
	fmt.Println(openclaw.SilentHint("Write down what has to survive.", openclaw.SilentToken{}))
	fmt.Println(openclaw.SilentHint("Write it down, then answer NO_REPLY.", openclaw.SilentToken{}))
	// Output:
	// Write down what has to survive.
	//
	// If no user-visible reply is needed, start with NO_REPLY.
	// Write it down, then answer NO_REPLY.
}
