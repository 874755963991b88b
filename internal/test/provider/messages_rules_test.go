package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/test/provider"
)

func TestMessagesRules(t *testing.T) {
	for _, c := range append(messagesRuleCases(t), messagesAccepted(t)...) {
		c.check(t, "/v1/messages")
	}
}

// messagesRuleCases has one bad request for each rule that a request to Anthropic can break.
func messagesRuleCases(t *testing.T) []ruleCase {
	t.Helper()
	return append(append(pairCases(), emptyCases()...), otherMessagesCases(t)...)
}

func pairCases() []ruleCase {
	hi := user(text("hi"))
	return []ruleCase{
		{rule: "ANT-PAIR-MISSING", why: "the user spoke instead of the tool", body: conversation(hi, assistant(use("toolu_1")), user(text("never mind"))),
			text: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{rule: "ANT-PAIR-MISSING", why: "one of two results", body: conversation(hi, assistant(use("toolu_1"), use("toolu_2")), user(result("toolu_2"))), text: "immediately after: toolu_1."},
		{rule: "ANT-PAIR-MISSING", why: "the call is the last message", body: conversation(hi, assistant(use("toolu_1"))), text: "messages.1: `tool_use` ids were found"},
		{rule: "ANT-PAIR-RESULTS-FIRST", why: "a text before the result", body: conversation(hi, assistant(use("toolu_1")), user(text("fyi"), result("toolu_1"))),
			text: "Did not find 1 `tool_result` block(s) at the beginning of this message."},
		{rule: "ANT-PAIR-RESULTS-FIRST", why: "the text is a message of its own, which is merged", body: conversation(hi, assistant(use("toolu_1")), user(text("fyi")), user(result("toolu_1"))), text: "Did not find 1"},
		{rule: "ANT-PAIR-ORPHAN", why: "its call is gone", body: conversation(hi, assistant(text("ok")), user(result("toolu_1"))),
			text: "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		{rule: "ANT-PAIR-ORPHAN", why: "the call is a turn too far back", body: conversation(hi, assistant(use("toolu_1")), user(result("toolu_1")), assistant(text("ok")), user(result("toolu_1"))), text: "messages.4.content.0: unexpected"},
		{rule: "ANT-PAIR-ORPHAN", why: "the first message", body: conversation(user(result("toolu_1"))), text: "messages.0.content.0: unexpected"},
		{rule: "ANT-PAIR-DUP-RESULT", why: "two results of one call", body: conversation(hi, assistant(use("toolu_1")), user(result("toolu_1"), result("toolu_1"))),
			text: "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1"},
		{rule: "ANT-PAIR-SERVERTOOL", why: "the search is gone, its result is not", body: conversation(hi, assistant(object{"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": list{}}), hi),
			text: "unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_1. Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it."},
		{rule: "ANT-PAIR-SERVERTOOL", why: "the call of an MCP server is gone", body: conversation(hi, assistant(found("mcp_tool_result", "mcptoolu_1")), hi), text: "corresponding `mcp_tool_use` block before it."},
		{rule: "ANT-PAIR-SERVERCALL", why: "the call is of an earlier turn", body: conversation(hi, assistant(search("1")), hi, assistant(found("web_search_tool_result", "srvtoolu_1")), hi), text: "messages.2.content.0: the server's tool use"},
		{rule: "ANT-PAIR-SERVERCALL", why: "a pause, and a person spoke", body: conversation(hi, assistant(text("I look"), search("1")), hi), text: "messages.2.content.0: the server's tool use with id `srvtoolu_1`"},
		{rule: "ANT-PAIR-SERVERCALL", why: "a text beside the results of the host", body: conversation(hi, assistant(search("1"), use("toolu_1")), user(result("toolu_1"), text("fyi"))), text: "srvtoolu_1"},
		{rule: "ANT-ID-UNIQUE", why: "an id that comes again in a later turn", body: conversation(hi, assistant(use("toolu_1")), user(result("toolu_1")), assistant(use("toolu_1")), user(result("toolu_1"))),
			text: "messages.3.content.0: tool_use ids must be unique"},
		{rule: "ANT-ID-CHARSET", why: "an id of another provider", body: conversation(hi, assistant(use("functions.f:0")), user(result("functions.f:0"))),
			text: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{rule: "ANT-ID-SRVTOOL", why: "an id of a common call", body: conversation(hi, assistant(object{"type": "server_tool_use", "id": "toolu_1", "name": "web_search", "input": object{}}), hi),
			text: "server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"},
		{rule: "ANT-TOOLS-REQUIRED", why: "a summary call replays calls without tools", body: with(conversation(hi, assistant(use("toolu_1")), user(result("toolu_1"))), object{"tools": list{}}),
			text: "Requests which include `tool_use` or `tool_result` blocks must define tools"},
		{rule: "ANT-DEFER-GONE", why: "what a search found was taken out", body: conversation(hi, assistant(search("1"), foundTool()), hi), text: "Tool reference 'get_weather' not found in available tools"},
		{rule: "ANT-DEFER-CACHE", why: "the last tool is loaded on demand", body: with(conversation(hi), object{"tools": list{with(object{"name": "f", "defer_loading": true, "input_schema": object{}}, marked)}}), text: "Tool 'f' cannot have both"},
		{rule: "ANT-TOOLNAME", why: "a name with a dot", body: with(conversation(hi), object{"tools": list{object{"name": "fs.read", "input_schema": object{}}}}),
			text: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"},
		{rule: "ALL-ARGS", why: "arguments that were cut off", body: conversation(hi, assistant(with(use("toolu_1"), object{"input": `{"path":`})), user(result("toolu_1"))), text: "tool_use.input: Input should be a valid dictionary"},
	}
}

func emptyCases() []ruleCase {
	hi := user(text("hi"))
	return []ruleCase{
		{rule: "ANT-EMPTY-MSG", why: "all blocks were dropped", body: conversation(hi, assistant(), hi), text: "messages.1: all messages must have non-empty content except for the optional final assistant message"},
		{rule: "ANT-EMPTY-TEXT", why: "an empty text", body: conversation(user(text(""))), text: "messages: text content blocks must be non-empty"},
		{rule: "ANT-EMPTY-TEXT", why: "in a result", body: conversation(hi, assistant(use("toolu_1")), user(with(result("toolu_1"), object{"content": list{text("")}}))), text: "must be non-empty"},
		{rule: "ANT-BLANK-TEXT", why: "only white space", body: conversation(user(text(" \n"))), text: "messages: text content blocks must contain non-whitespace text"},
		{rule: "ANT-BLANK-TEXT", why: "in the system prompt", body: with(conversation(hi), object{"system": list{text("\t")}}), text: "system: text content blocks must contain non-whitespace text"},
		{rule: "ANT-EMPTY-RESULT", why: "an empty list", body: conversation(hi, assistant(use("toolu_1")), user(with(result("toolu_1"), object{"content": list{}}))), text: "List should have at least 1 item"},
		{rule: "ANT-EMPTY-TEXT", why: "beside an image in a result", text: "text content blocks must be non-empty",
			body: conversation(hi, assistant(use("toolu_1")), user(with(result("toolu_1"), object{"content": list{text(""), text("x")}})))},
		{rule: "ANT-EMPTY-TEXT", why: "in a search result in a result", text: "text content blocks must be non-empty",
			body: conversation(hi, assistant(use("toolu_1")), user(with(result("toolu_1"), object{"content": list{object{"type": "search_result", "content": list{text("")}}}})))},
		{rule: "ANT-EMPTY-TEXT", why: "in a document", text: "text content blocks must be non-empty",
			body: conversation(user(object{"type": "document", "source": object{"type": "content", "content": list{text("x"), text("")}}}))},
		{rule: "ANT-EMPTY-TEXT", why: "in what a server of MCP returned", text: "text content blocks must be non-empty",
			body: conversation(hi, assistant(object{"type": "mcp_tool_use", "id": "m", "name": "x"}, object{"type": "mcp_tool_result", "tool_use_id": "m", "content": list{text("")}}), hi)},
		{rule: "ANT-CACHE-EMPTY", why: "a mark on nothing", body: conversation(user(with(text(""), marked))), text: "cache_control cannot be set for empty text blocks"},
	}
}

// marked is a block's mark for the cache.
var marked = object{"cache_control": object{"type": "ephemeral"}}

func otherMessagesCases(t *testing.T) []ruleCase {
	t.Helper()
	hi := user(text("hi"))
	thinks := object{"thinking": object{"type": "enabled", "budget_tokens": 2000}}
	small, wide := picture(t, 10, 10), picture(t, 2001, 1)
	return []ruleCase{
		{rule: "ANT-FIRST-USER", why: "the beginning was cut off", body: conversation(assistant(text("ok")), hi), text: `messages: first message must use the "user" role`},
		{rule: "ANT-COMPACT-EMPTY", why: "a summary of nothing", body: conversation(hi, assistant(object{"type": "compaction", "content": ""}, text("ok")), hi), text: "String should have at least 1 character"},
		{rule: "ANT-COMPACT-ROLE", why: "the user compacts", body: conversation(hi, user(object{"type": "compaction", "content": "so far"})), text: "only allowed in `assistant` messages"},
		{rule: "ANT-COMPACT-FIRST", why: "made on demand, and something is in front", body: conversation(hi, assistant(object{"type": "compaction", "content": "so far", "signature": "abc"}), hi), text: "must be the first block"},
		{rule: "ANT-PAIR-ORPHAN", why: "the compaction stands for the call", body: conversation(hi, assistant(use("toolu_1")), assistant(object{"type": "compaction", "content": "so far"}), user(result("toolu_1"))), text: "unexpected `tool_use_id`"},
		{rule: "ANT-FIRST-USER", why: "the provider could not compact", body: conversation(assistant(object{"type": "compaction", "content": nil}, text("ok")), hi), text: "must use the"},
		{rule: "ANT-SYSTEM-ROLE", why: "a note of the host as a system message", body: conversation(hi, object{"role": "system", "content": "x"}, hi), text: "messages.1.role: Input should be 'user' or 'assistant'"},
		{rule: "ANT-PREFILL", why: "the assistant has the last word", body: conversation(hi, assistant(text("{"))), text: "This model does not support assistant message prefill. The conversation must end with a user message."},
		{rule: "ANT-PREFILL", why: "thinking and a prefill", options: provider.Options{Prefill: true}, body: with(conversation(hi, assistant(text("{"))), thinks), text: "does not support assistant message prefill"},
		{rule: "ANT-TRAIL-WS", why: "a prefill that ends in a space", options: provider.Options{Prefill: true}, body: conversation(hi, assistant(text("The answer is "))), text: "final assistant content cannot end with trailing whitespace"},
		{rule: "ANT-MAX-MSGS", why: "one too many", body: conversation(repeat(object{"role": "user", "content": "x"}, 100_001)...), text: "at most 100000 items"},
		{rule: "ANT-THINK-BUDGET", why: "max_tokens was lowered below the budget", body: with(conversation(hi), object{"max_tokens": 2000, "thinking": thinks["thinking"]}), text: "`max_tokens` must be greater than `thinking.budget_tokens`."},
		{rule: "ANT-THINK-MISSING", why: "the thinking of the tool loop was dropped", body: with(conversation(hi, assistant(use("toolu_1")), user(result("toolu_1"))), thinks),
			text: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."},
		{rule: "ANT-THINK-FIRST", why: "a marker was put in front", body: conversation(hi, assistant(text("x"), object{"type": "thinking", "thinking": "…", "signature": "…"}), hi),
			text: "If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `text`."},
		{rule: "ANT-IMG-ERROR-RESULT", why: "a screenshot of the error", body: conversation(hi, assistant(use("toolu_1")), user(with(result("toolu_1"), object{"is_error": true, "content": list{small}}))), text: "all content must be type `text` if `is_error` is true"},
		{rule: "ANT-IMG-DIM-MANY", why: "the 21st image makes 2001 pixels too many", body: conversation(user(append(repeat(small, 20), wide)...)),
			text: "messages.0.content.20.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"},
		{rule: "ANT-IMG-BYTES", why: "5 MB and a bit", body: conversation(user(imageOf(strings.Repeat("A", 5<<20+4)))), text: "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes"},
		{rule: "ANT-IMG-COUNT", why: "101 in a small window", body: conversation(user(repeat(small, 101)...)), text: "101 images > 100 maximum"},
		{rule: "ANT-CACHE-4", why: "marks of old turns were left", body: conversation(user(repeat(with(text("x"), marked), 5)...)), text: "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{rule: "ANT-CACHE-4", why: "the automatic mark takes one", body: with(conversation(user(append(repeat(with(text("x"), marked), 4), text("y"))...)), marked), text: "Found 5."},
		{rule: "ANT-CACHE-4", why: "marks within a result count", text: "Found 5.", body: conversation(hi, assistant(use("toolu_1")),
			user(with(result("toolu_1"), object{"content": list(repeat(with(text("x"), marked), 4))}), with(text("y"), marked)))},
		{rule: "ANT-CACHE-4", why: "in a search result in a result, and in a document, too", text: "Found 5.", body: conversation(hi, assistant(use("toolu_1")),
			user(with(result("toolu_1"), object{"content": list{object{"type": "search_result", "source": "s", "content": list(repeat(with(text("x"), marked), 2))}}}),
				object{"type": "document", "source": object{"type": "content", "content": list(repeat(with(text("x"), marked), 3))}}))},
		{rule: "ANT-CACHE-ORDER", why: "an hour behind five minutes", text: "must not come after",
			body: conversation(user(with(text("x"), marked), with(text("y"), object{"cache_control": object{"type": "ephemeral", "ttl": "1h"}})))},
		{rule: "ANT-JSON-SURROGATE", why: "the second half alone", body: `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"\\\ud83d\u0041"}]}`, text: "char 68"},
		{rule: "ANT-JSON-SURROGATE", why: "a character was cut in half", body: `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"\ud83d"}]}`, text: "The request body is not valid JSON: no low surrogate in string: line 1 column 67 (char 66)"},
		{rule: "ALL-UTF8", why: "a character was cut in half", body: "{\"messages\":\"\xf0\x9f\"}", text: "invalid utf-8"},
		{rule: "ALL-NUL", why: "a binary's output", body: `{"messages":"\u0000"}`, text: `\u0000`},
		{rule: "ANT-OUT-CAP", why: "more than the model writes", options: provider.Options{MaxOutput: 4096}, body: conversation(hi), text: "max_tokens: 5000 > 4096, which is the maximum allowed number of output tokens for claude-sonnet-4-5"},
	}
}

// messagesAccepted are neighbours of the bad requests that must pass.
// search is a call that the server runs itself, and found the result of one.
func search(id string) object {
	return object{"type": "server_tool_use", "id": "srvtoolu_" + id, "name": "web_search", "input": object{}}
}

func found(typ, id string) object { return object{"type": typ, "tool_use_id": id, "content": list{}} }

// foundTool is what a search for tools found.
func foundTool() object {
	return with(found("tool_search_tool_result", "srvtoolu_1"), object{"content": object{"type": "tool_search_tool_search_result",
		"tool_references": list{object{"type": "tool_reference", "tool_name": "get_weather"}}}})
}

func messagesAccepted(t *testing.T) []ruleCase {
	t.Helper()
	hi := user(text("hi"))
	call := []any{hi, assistant(text("a moment"), use("toolu_1"), use("toolu_2"))}
	return []ruleCase{
		{why: "ANT-MERGE: neighbours of one role are one turn", body: conversation(hi, hi, assistant(text("a")), assistant(text("b")), hi)},
		{why: "the results of one turn in two messages", body: conversation(append(call, user(result("toolu_2")), user(result("toolu_1"), text("go on")))...)},
		{why: "results in another order", body: conversation(append(call, user(result("toolu_2"), result("toolu_1")))...)},
		{why: "an empty result", body: conversation(hi, assistant(use("toolu_1")), user(with(result("toolu_1"), object{"content": ""})))},
		{why: "a result without content", body: conversation(hi, assistant(use("toolu_1")), user(object{"type": "tool_result", "tool_use_id": "toolu_1"}))},
		{why: "an image in a result", body: conversation(hi, assistant(use("toolu_1")), user(with(result("toolu_1"), object{"content": list{picture(t, 9, 9)}})))},
		{why: "a wide image among few", body: conversation(user(picture(t, 2001, 1), text("what is this?")))},
		{why: "a search and its result", body: conversation(hi, assistant(search("1"), found("web_search_tool_result", "srvtoolu_1"), text("found")), hi)},
		{why: "a tool that a search found", body: with(conversation(hi, assistant(search("1"), foundTool()), hi), object{"tools": list{object{"name": "get_weather", "defer_loading": true}, object{"name": "tool_search_tool_bm25"}}})},
		{why: "a pause, with which the server goes on", body: conversation(hi, assistant(text("I look"), search("1")))},
		{why: "a pause that the server went on from", body: conversation(hi, assistant(search("1")), assistant(found("web_search_tool_result", "srvtoolu_1"), search("2")))},
		{why: "the server's tool runs when the host's has run", body: conversation(hi, assistant(search("1"), use("toolu_1")), user(result("toolu_1")))},
		{why: "and its result comes then", body: conversation(hi, assistant(search("1"), use("toolu_1")), user(result("toolu_1")), assistant(found("web_search_tool_result", "srvtoolu_1"), text("found")), hi)},
		{why: "a prefill where the model takes one", options: provider.Options{Prefill: true}, body: conversation(hi, assistant(text("{")))},
		{why: "an empty last assistant message", options: provider.Options{Prefill: true}, body: conversation(hi, assistant())},
		{why: "a pair of surrogates", body: `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"\ud83d\ude00 \\ud83d"}]}`},
		{why: "adaptive thinking need not have thought", body: with(conversation(hi, assistant(use("toolu_1")), user(result("toolu_1"))), object{"thinking": object{"type": "adaptive"}})},
		{why: "thinking of an earlier turn was dropped", body: with(conversation(hi, assistant(use("toolu_1")), user(result("toolu_1")), assistant(text("done")), hi), object{"thinking": object{"type": "enabled", "budget_tokens": 1024}})},
		{why: "100 images", body: conversation(user(repeat(picture(t, 2, 2), 100)...))},
		{why: "600 in a large window", options: provider.Options{Window: 1_000_000}, body: conversation(user(repeat(picture(t, 2, 2), 600)...))},
		{why: "a compaction comes first", body: conversation(assistant(object{"type": "compaction", "content": "so far", "signature": "abc"}), hi)},
		{why: "a compaction stands for an open call", body: conversation(hi, assistant(use("toolu_1")), assistant(object{"type": "compaction", "content": "so far"}, text("ok")), hi)},
		{why: "four marks", body: conversation(user(repeat(with(text("x"), marked), 4)...))},
	}
}

// thinker thinks twice before it calls a tool, and then says that it is done.
func thinker(r *provider.Request) provider.Answer {
	if len(r.Last().Results) > 0 {
		return provider.Answer{Text: "done"}
	}
	return provider.Answer{Thinking: []string{"let me think", "once more"}, Calls: []provider.ToolCall{{Name: "f"}}}
}

// TestThinking edits what a model thought: each edit but one to an older turn is refused.
func TestThinking(t *testing.T) {
	thinks := object{"thinking": object{"type": "enabled", "budget_tokens": 2000}}
	for _, c := range []struct {
		rule string
		why  string
		bind bool
		edit func(body object, content list) list // of the assistant message
		more []any                                // messages behind the result
	}{
		{rule: "", why: "all as it came"},
		{rule: "ANT-THINK-MODIFIED", why: "shortened", edit: func(_ object, c list) list { c[0].(object)["thinking"] = "let me"; return c }},
		{rule: "ANT-THINK-MODIFIED", why: "one of two dropped", edit: func(_ object, c list) list { return c[1:] }},
		{rule: "ANT-THINK-MODIFIED", why: "the last of them dropped", edit: func(_ object, c list) list { return append(c[:1:1], c[2]) }},
		{rule: "ANT-THINK-MODIFIED", why: "reordered", edit: func(_ object, c list) list { c[0], c[1] = c[1], c[0]; return c }},
		{rule: "ANT-THINK-MODIFIED", why: "without the signature", edit: func(_ object, c list) list { c[0].(object)["signature"] = ""; return c }},
		{rule: "ANT-THINK-MISSING", why: "all dropped in the middle of the tool loop", edit: func(_ object, c list) list { return c[2:] }},
		{rule: "ANT-THINK-SIG", why: "a signature of somebody else", edit: func(_ object, c list) list { c[0].(object)["signature"] = "c29tZWJvZHk="; return c }},
		{rule: "ANT-THINK-SIG", why: "edited in an older turn", edit: func(_ object, c list) list { c[0].(object)["thinking"] = "no"; return c }, more: []any{assistant(text("done")), user(text("go on"))}},
		{rule: "", why: "all dropped from an older turn", edit: func(_ object, c list) list { return c[2:] }, more: []any{assistant(text("done")), user(text("go on"))}},
		{rule: "ANT-THINK-SIG", why: "another model", edit: func(b object, c list) list { b["model"] = "claude-opus-5"; return c }, more: []any{assistant(text("done")), user(text("go on"))}},
		{rule: "", why: "bound, and nothing before it changed", bind: true},
		{rule: "ANT-THINK-PREFIX", why: "bound, and the system prompt changed", bind: true, edit: func(b object, c list) list { b["system"] = "now with a summary"; return c }},
		{rule: "", why: "not bound", edit: func(b object, c list) list { b["system"] = "now with a summary"; return c }},
	} {
		p := provider.New(provider.Options{Model: thinker, BindThinking: c.bind})
		body := with(conversation(user(text("hi"))), thinks)
		status, answer := post(t, p, "/v1/messages", body)
		assert.Equal(t, 200, status, answer)
		content := contentOf(t, answer)
		id := content[2].(object)["id"].(string)
		if c.edit != nil {
			content = c.edit(body, content)
		}
		body["messages"] = append(list{user(text("hi")), object{"role": "assistant", "content": content}, user(result(id))}, c.more...)
		status, answer = post(t, p, "/v1/messages", body)
		if c.rule == "" {
			assert.Equal(t, 200, status, "%s: %s", c.why, answer)
			continue
		}
		assert.Equal(t, 400, status, "%s: %s", c.rule, c.why)
		if x := p.Exchanges()[1]; assert.NotNil(t, x.Error, fmt.Sprint(c.rule, ": ", c.why)) {
			assert.Equal(t, c.rule, x.Error.Rule, c.why)
		}
	}
}
