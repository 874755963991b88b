package sdktest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

func TestExchange(t *testing.T) {
	for _, c := range clients() {
		p, url := serve(t, provider.Options{Model: func(r *provider.Request) provider.Answer {
			return provider.Answer{Text: "You said: " + r.Last().Text}
		}})
		r, err := c.ask(soon(t), url, "the quick brown fox jumps over the lazy dog")
		require.NoError(t, err, c.name)
		assert.Equal(t, "You said: the quick brown fox jumps over the lazy dog", r.text, c.name)
		assert.Contains(t, []string{"end_turn", "stop"}, r.reason, c.name)
		x := p.Exchanges()[0]
		assert.Equal(t, x.Usage, r.usage, "%s: what the SDK reads is what was billed", c.name)
		assert.Equal(t, strings.HasSuffix(c.name, "stream"), x.Request.Stream, c.name)
	}
}

// weather is a model that looks up the weather once and then tells it.
func weather(r *provider.Request) provider.Answer {
	if results := r.Last().Results; len(results) > 0 {
		return provider.Answer{Text: "It is " + results[0].Text}
	}
	return provider.Answer{Text: "Let me see.", Calls: []provider.ToolCall{{Name: "weather", Arguments: json.RawMessage(`{"city":"Zürich"}`)}}}
}

func TestToolsMessages(t *testing.T) {
	params := messageParams("What is the weather?")
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "weather",
		InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]string{"type": "string"}}}}}}
	for _, ask := range []string{"whole", "stream"} {
		p, url := serve(t, provider.Options{Model: weather})
		call := askMessages
		if ask == "stream" {
			call = streamMessages
		}
		first, err := call(soon(t), url, params)
		require.NoError(t, err)
		require.Len(t, first.calls, 1, ask)
		assert.Equal(t, "tool_use", first.reason)
		assert.JSONEq(t, `{"city":"Zürich"}`, string(first.calls[0].Arguments))

		next := params
		next.Messages = append(next.Messages[:1:1],
			anthropic.NewAssistantMessage(anthropic.NewTextBlock(first.text), anthropic.NewToolUseBlock(first.calls[0].ID, first.calls[0].Arguments, "weather")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock(first.calls[0].ID, "sunny", false)))
		second, err := call(soon(t), url, next)
		require.NoError(t, err)
		assert.Equal(t, "It is sunny", second.text, ask)
		assert.Equal(t, []string{"weather"}, p.Exchanges()[1].Request.Tools)

		next.Messages = next.Messages[:2]
		_, err = call(soon(t), url, next)
		assert.ErrorContains(t, err, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after", "%s: a call without its result", ask)
	}
}

func TestToolsChat(t *testing.T) {
	params := chatParams("What is the weather?")
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "weather",
		Parameters: openai.FunctionParameters{"type": "object"}})}
	for _, ask := range []string{"whole", "stream"} {
		_, url := serve(t, provider.Options{Model: weather})
		call := askChat
		if ask == "stream" {
			call = streamChat
		}
		first, err := call(soon(t), url, params)
		require.NoError(t, err)
		require.Len(t, first.calls, 1, ask)
		assert.Equal(t, "tool_calls", first.reason)
		assert.JSONEq(t, `{"city":"Zürich"}`, string(first.calls[0].Arguments))

		assistant := openai.AssistantMessage(first.text)
		assistant.OfAssistant.ToolCalls = []openai.ChatCompletionMessageToolCallUnionParam{{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: first.calls[0].ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "weather", Arguments: string(first.calls[0].Arguments)}}}}
		next := params
		next.Messages = append(next.Messages[:1:1], assistant, openai.ToolMessage("sunny", first.calls[0].ID))
		second, err := call(soon(t), url, next)
		require.NoError(t, err)
		assert.Equal(t, "It is sunny", second.text, ask)

		next.Messages = append(next.Messages[:2:2], openai.UserMessage("never mind"))
		_, err = call(soon(t), url, next)
		var refusal *openai.Error
		require.ErrorAs(t, err, &refusal, ask)
		assert.Contains(t, refusal.Message, "must be followed by tool messages responding to each 'tool_call_id'", ask)
	}
}

// TestPromptCache bills what an SDK's user sees: the second request reads what the first one wrote.
func TestPromptCache(t *testing.T) {
	_, url := serve(t, provider.Options{})
	document := strings.Repeat("word ", 4000)
	params := messageParams("Summarize.")
	params.System = []anthropic.TextBlockParam{{Text: document, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	first, err := askMessages(soon(t), url, params)
	require.NoError(t, err)
	assert.Equal(t, provider.Usage{Input: 7, CacheWrite: 5000, Output: 1}, first.usage)
	params.Messages = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Translate."))}
	second, err := streamMessages(soon(t), url, params)
	require.NoError(t, err)
	assert.Equal(t, provider.Usage{Input: 7, CacheRead: 5000, Output: 1}, second.usage)

	chat := chatParams("Summarize.")
	chat.Messages = append([]openai.ChatCompletionMessageParamUnion{openai.SystemMessage(document)}, chat.Messages...)
	whole, err := askChat(soon(t), url, chat)
	require.NoError(t, err)
	assert.Equal(t, provider.Usage{Input: 5011, Output: 1}, whole.usage)
	chat.Messages = append(chat.Messages[:1:1], openai.UserMessage("Translate."))
	again, err := streamChat(soon(t), url, chat)
	require.NoError(t, err)
	assert.Equal(t, provider.Usage{Input: 5011 - 4992, CacheRead: 4992, Output: 1}, again.usage, "a multiple of 128")
}
