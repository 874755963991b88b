package provider_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

func contentOf(t *testing.T, answer string) list {
	t.Helper()
	var m struct{ Content list }
	require.NoError(t, json.Unmarshal([]byte(answer), &m))
	return m.Content
}

func TestChatRules(t *testing.T) {
	for _, c := range append(chatRuleCases(), chatAccepted()...) {
		c.check(t, "/v1/chat/completions")
	}
}

// says, calls and tool make messages of Chat Completions.
func says(role, content string) object { return object{"role": role, "content": content} }

func calls(ids ...string) object {
	var out list
	for _, id := range ids {
		out = append(out, object{"id": id, "type": "function", "function": object{"name": "f", "arguments": "{}"}})
	}
	return object{"role": "assistant", "content": nil, "tool_calls": out}
}

func tool(id string) object { return object{"role": "tool", "tool_call_id": id, "content": "r"} }

func talk(messages ...any) object { return object{"model": "gpt-4o", "messages": messages} }

// chatRuleCases has one bad request for each rule that a request to OpenAI, or to one of those who speak
// its protocol, can break.
func chatRuleCases() []ruleCase {
	return append(append(openAICases(), mistralCases()...), vendorCases()...)
}

func openAICases() []ruleCase {
	hi := says("user", "hi")
	long := strings.Repeat("c", 41)
	picture := list{object{"type": "image_url", "image_url": object{"url": "data:"}}}
	named := calls("call_1")
	named["tool_calls"].(list)[0].(object)["function"].(object)["name"] = "fs.read"
	broken := calls("call_1")
	broken["tool_calls"].(list)[0].(object)["function"].(object)["arguments"] = `{"path":`
	return []ruleCase{
		{rule: "OAI-PAIR-MISSING", why: "one of two results", body: talk(hi, calls("call_1", "call_2"), tool("call_1"), hi),
			text: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_2"},
		{rule: "OAI-PAIR-MISSING", why: "a note between call and result", body: talk(hi, calls("call_1"), says("system", "note"), tool("call_1")), text: "did not have response messages: call_1"},
		{rule: "OAI-PAIR-MISSING", why: "the call is the last message", body: talk(hi, calls("call_1")), text: "did not have response messages: call_1"},
		{rule: "OAI-PAIR-ORPHAN", why: "its call was cut off", body: talk(hi, tool("call_1")), text: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."},
		{rule: "OAI-PAIR-ORPHAN", why: "another call's result", body: talk(hi, calls("call_1"), tool("call_1"), tool("call_9")), text: "must be a response to a preceeding message"},
		{rule: "OAI-ID-40", why: "41 characters", body: talk(hi, calls(long), tool(long)),
			text: "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead."},
		{rule: "OAI-ID-UNIQUE", why: "twice in one message", body: talk(hi, calls("call_1", "call_1"), tool("call_1")), text: "duplicate"},
		{rule: "OAI-IMG-TOOL", why: "a screenshot as a result", body: talk(hi, calls("call_1"), object{"role": "tool", "tool_call_id": "call_1", "content": picture}),
			text: "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL."},
		{rule: "OAI-TOOLS-128", why: "150 tools", body: with(talk(hi), object{"tools": repeat(object{"type": "function", "function": object{"name": "f"}}, 150)}),
			text: "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 instead."},
		{rule: "OAI-FN-NAME", why: "a name with a dot", body: talk(hi, named, tool("call_1")),
			text: "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."},
		{rule: "OAI-CONTENT-NULL", why: "neither text nor calls", body: talk(hi, object{"role": "assistant", "content": nil}), text: "Invalid value for 'content': expected a string, got null."},
		{rule: "OAI-CONTENT-NULL", why: "an empty list", body: talk(object{"role": "user", "content": list{}}), text: "empty array"},
		{rule: "OAI-STR", why: "a result of 2 MB", options: provider.Options{Window: 10_000_000}, body: talk(hi, calls("call_1"), object{"role": "tool", "tool_call_id": "call_1", "content": strings.Repeat("x", 2097152)}),
			text: "Invalid 'messages[2].content': string too long. Expected a string with maximum length 1048576, but got a string with length 2097152 instead."},
		{rule: "ALL-ARGS", why: "arguments that were cut off", body: talk(hi, broken, tool("call_1")), text: "function.arguments': must be valid JSON"},
		{rule: "OAI-OUT-CAP", why: "more than the model writes", options: provider.Options{MaxOutput: 4096}, body: with(talk(hi), object{"max_tokens": 5000}), text: "max_tokens is too large: 5000. This model supports at most 4096 completion tokens"},
		{rule: "OAI-CACHE-KEY", why: "a key of 65", body: with(talk(hi), object{"prompt_cache_key": strings.Repeat("k", 65)}), text: "maximum length 64"},
		{rule: "OAI-BYTES", why: "1501 images", options: provider.Options{Window: 10_000_000}, body: talk(object{"role": "user", "content": repeat(picture[0], 1501)}), text: "1501 images"},
	}
}

func mistralCases() []ruleCase {
	mistral := provider.Options{Vendor: provider.VendorMistral}
	hi := says("user", "hi")
	named := calls("aaaaaaaa1")
	named["tool_calls"].(list)[0].(object)["function"].(object)["name"] = "fs.read"
	return []ruleCase{
		{rule: "MIS-EMPTY", why: "nothing", options: mistral, body: object{"model": "m", "messages": list{}}, text: "Conversation must have at least one message"},
		{rule: "MIS-START", why: "the assistant alone", options: mistral, body: talk(says("assistant", "ok")), text: "Conversation must start with a user message or system message"},
		{rule: "MIS-ORDER", why: "a result behind the user", options: mistral, body: talk(hi, tool("aaaaaaaa1")), text: "Unexpected role 'tool' after role 'user'"},
		{rule: "MIS-LAST", why: "the assistant has the last word", options: mistral, body: talk(hi, says("assistant", "ok")),
			text: "Expected last role User or Tool (or Assistant with prefix or continue_final_message set to True) for serving but got assistant"},
		{rule: "MIS-ID-9", why: "an id of another provider", options: mistral, body: talk(hi, calls("call_123"), tool("call_123")), text: "Tool call id was call_123 but must be a-z, A-Z, 0-9, with a length of 9."},
		{rule: "MIS-ID-NULL", why: "no id", options: mistral, body: talk(hi, calls("aaaaaaaa1"), tool("null")), text: "Tool call id has to be defined."},
		{rule: "MIS-ID-UNEXPECTED", why: "another call's", options: mistral, body: talk(hi, calls("aaaaaaaa1"), tool("aaaaaaaa2")), text: "Unexpected tool call id aaaaaaaa2 in tool results"},
		{rule: "MIS-ID-DUP-RES", why: "two results", options: mistral, body: talk(hi, calls("aaaaaaaa1"), tool("aaaaaaaa1"), tool("aaaaaaaa1")), text: "Duplicate tool call id aaaaaaaa1 in tool results"},
		{rule: "MIS-ID-DUP-CALL", why: "two calls", options: mistral, body: talk(hi, calls("aaaaaaaa1", "aaaaaaaa1"), tool("aaaaaaaa1")), text: "Duplicate tool call id aaaaaaaa1 in assistant message"},
		{rule: "MIS-COUNT", why: "one of two results", options: mistral, body: talk(hi, calls("aaaaaaaa1", "aaaaaaaa2"), tool("aaaaaaaa1")), text: "Not the same number of function calls and responses"},
		{rule: "MIS-EITHER", why: "neither", options: mistral, body: talk(hi, says("assistant", ""), hi), text: "Assistant message must have either content or tool_calls, but not both."},
		{rule: "MIS-FNAME", why: "a name with a dot", options: mistral, body: talk(hi, named, tool("aaaaaaaa1")),
			text: "Function name was fs.read but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."},
		{rule: "MIS-SYS-EMPTY", why: "an empty one", options: mistral, body: talk(says("system", ""), hi), text: "System prompt must have content"},
		{rule: "MIS-TOOL-CHUNKS", why: "a screenshot", options: mistral, body: talk(hi, calls("aaaaaaaa1"), object{"role": "tool", "tool_call_id": "aaaaaaaa1", "content": list{object{"type": "image_url"}}}),
			text: "Unexpected content chunk types in tool message: {'image_url'}"},
	}
}

func vendorCases() []ruleCase {
	of := func(v provider.Vendor) provider.Options { return provider.Options{Vendor: v} }
	hi, ok := says("user", "hi"), says("assistant", "ok")
	named := func(model string, body object) object { return with(body, object{"model": model}) }
	thinks := object{"thinking": object{"type": "enabled"}}
	picture := object{"type": "image_url"}
	return []ruleCase{
		{rule: "DS-PAIR", why: "the user spoke instead", options: of(provider.VendorDeepSeek), body: talk(hi, calls("call_1"), hi),
			text: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)"},
		{rule: "DS-REASONING", why: "not passed back", options: of(provider.VendorDeepSeek), body: with(talk(hi, calls("call_1"), tool("call_1")), thinks), text: "The `reasoning_content` in the thinking mode must be passed back to the API."},
		{rule: "GEM-SIGNATURE", why: "another model made the call", options: of(provider.VendorGemini), body: talk(hi, calls("call_1"), tool("call_1")), text: "Function call is missing a thought_signature in functionCall parts."},
		{rule: "KIM-REASONING", why: "not passed back", options: of(provider.VendorKimi), body: with(talk(hi, says("assistant", "x"), calls("call_1"), tool("call_1")), thinks),
			text: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"},
		{rule: "KIM-EMPTY", why: "no text", options: of(provider.VendorKimi), body: talk(hi, says("assistant", ""), hi), text: "the message at position 1 with role 'assistant' must not be empty"},
		{rule: "KIM-BYTES", why: "2 MiB and a bit", options: of(provider.VendorKimi), body: talk(says("user", strings.Repeat("x", 1<<20)), says("user", strings.Repeat("x", 1<<20))), text: "total message size 2097208 exceeds limit 2097152"},
		{rule: "MMX-PAIR", why: "behind the user", options: of(provider.VendorMiniMax), body: talk(hi, tool("call_1")), text: "invalid params, tool call result does not follow tool call (2013)"},
		{rule: "MMX-ID", why: "another call's", options: of(provider.VendorMiniMax), body: talk(hi, calls("call_1"), tool("call_9")), text: "invalid params, tool result's tool id(call_9) not found (2013)"},
		{rule: "QWN-PAIR", why: "no result", options: of(provider.VendorQwen), body: talk(hi, calls("call_1"), hi),
			text: `<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: call_1`},
		{rule: "QWN-ORPHAN", why: "no call", options: of(provider.VendorQwen), body: talk(hi, tool("call_1")), text: `<400> InternalError.Algo.InvalidParameter: messages with role "tool" must be a response to a preceeding message with "tool_calls".`},
		{rule: "VLL-ALTERNATE", why: "two user messages", options: of(provider.VendorVLLM), body: talk(hi, hi), text: "Conversation roles must alternate user/assistant/user/assistant/..."},
		{rule: "VLL-ALTERNATE", why: "a system message in the middle", options: of(provider.VendorVLLM), body: talk(hi, ok, says("system", "x"), hi), text: "must alternate"},
		{rule: "VLL-MISTRAL", why: "a Mistral model", options: of(provider.VendorVLLM), body: named("mistral-small", talk(hi, calls("call_1"), tool("call_1"))), text: "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."},
		{rule: "VLL-MM", why: "two images", options: of(provider.VendorVLLM), body: talk(object{"role": "user", "content": list{picture, picture}}), text: "At most 1 image(s) may be provided in one prompt."},
		{rule: "VLL-NOSYSTEM", why: "a Gemma model", options: of(provider.VendorVLLM), body: named("gemma-3-27b", talk(says("system", "x"), hi)), text: "System role not supported"},
		{rule: "VLL-SINGLECALL", why: "a Llama 3 model", options: of(provider.VendorVLLM), body: named("llama-3.1-8b", talk(hi, calls("call_1", "call_2"), tool("call_1"), tool("call_2"))), text: "This model only supports single tool-calls at once!"},
		{rule: "LCP-JINJA", why: "two user messages", status: 500, options: of(provider.VendorLlamaCpp), body: talk(hi, hi),
			text: "Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results"},
		{rule: "LCP-ASSISTANT-TAIL", why: "two answers", options: of(provider.VendorLlamaCpp), body: talk(hi, ok, ok), text: "Cannot have 2 or more assistant messages at the end of the list."},
		{rule: "LMS-JINJA", why: "two user messages", options: of(provider.VendorLMStudio), body: talk(hi, hi),
			text: `Error rendering prompt with jinja template: "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."`},
	}
}

// chatAccepted are neighbours of the bad requests that must pass.
func chatAccepted() []ruleCase {
	hi := says("user", "hi")
	loop := func(ids ...string) []any {
		out := []any{says("system", "s"), hi, calls(ids...)}
		for _, id := range ids {
			out = append(out, tool(id))
		}
		return append(out, says("assistant", "done"), hi)
	}
	cases := []ruleCase{
		{why: "OAI-ROLES: any order of roles", body: talk(says("assistant", "x"), hi, hi, says("system", "s"), says("assistant", "a"), says("assistant", "b"))},
		{why: "an id of an earlier turn", body: talk(hi, calls("call_1"), tool("call_1"), calls("call_1"), tool("call_1"))},
		{why: "two results of one call", body: talk(hi, calls("call_1"), tool("call_1"), tool("call_1"))},
		{why: "an empty answer", body: talk(hi, says("assistant", ""), hi)},
		{why: "an id of 40", body: talk(hi, calls(strings.Repeat("c", 40)), tool(strings.Repeat("c", 40)))},
	}
	for _, v := range []provider.Vendor{provider.VendorOpenAI, provider.VendorMistral, provider.VendorDeepSeek, provider.VendorKimi, provider.VendorMiniMax,
		provider.VendorQwen, provider.VendorVLLM, provider.VendorLlamaCpp, provider.VendorLMStudio} {
		cases = append(cases, ruleCase{why: fmt.Sprintf("a tool loop with two calls at %q", v), options: provider.Options{Vendor: v}, body: talk(loop("aaaaaaaa1", "aaaaaaaa2")...)})
	}
	return cases
}

// TestReasoning: what came with reasoning must go back with it.
func TestReasoning(t *testing.T) {
	for _, v := range []provider.Vendor{provider.VendorDeepSeek, provider.VendorKimi} {
		p := provider.New(provider.Options{Vendor: v, Model: thinker})
		status, answer := post(t, p, "/v1/chat/completions", talk(says("user", "hi")))
		require.Equal(t, 200, status, answer)
		var m struct{ Choices []struct{ Message object } }
		require.NoError(t, json.Unmarshal([]byte(answer), &m))
		message := m.Choices[0].Message
		id := message["tool_calls"].(list)[0].(object)["id"].(string)
		status, answer = post(t, p, "/v1/chat/completions", talk(says("user", "hi"), message, tool(id)))
		assert.Equal(t, 200, status, answer)
		delete(message, "reasoning_content")
		status, answer = post(t, p, "/v1/chat/completions", talk(says("user", "hi"), message, tool(id)))
		assert.Equal(t, 400, status, answer)
		assert.Contains(t, answer, "reasoning_content")
	}
}
