package sdktest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// sendMessages sends a request of the library through Anthropic's SDK, as a plain adapter would.
func sendMessages(ctx context.Context, url string, messages []winnow.Message) (reply, error) {
	params := messageParams("")
	params.Messages = nil
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read"}}}
	for _, m := range messages {
		var blocks []anthropic.ContentBlockParamUnion
		if m.Role == winnow.RoleTool {
			blocks = append(blocks, anthropic.NewToolResultBlock(m.ToolCallID, textOf(m), m.IsError))
		} else {
			for _, p := range m.Parts {
				switch p.Kind {
				case winnow.KindText:
					blocks = append(blocks, anthropic.NewTextBlock(p.Text))
				case winnow.KindToolCall:
					blocks = append(blocks, anthropic.NewToolUseBlock(p.ID, p.Arguments, p.Name))
				}
			}
		}
		if m.Role == winnow.RoleAssistant {
			params.Messages = append(params.Messages, anthropic.NewAssistantMessage(blocks...))
		} else {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(blocks...))
		}
	}
	return streamMessages(ctx, url, params)
}

// sendChat is sendMessages for OpenAI's SDK.
func sendChat(ctx context.Context, url string, messages []winnow.Message) (reply, error) {
	params := chatParams("")
	params.Messages = nil
	for _, m := range messages {
		switch m.Role {
		case winnow.RoleTool:
			params.Messages = append(params.Messages, openai.ToolMessage(textOf(m), m.ToolCallID))
		case winnow.RoleAssistant:
			message := openai.AssistantMessage(textOf(m))
			for _, p := range m.Parts {
				if p.Kind == winnow.KindToolCall {
					message.OfAssistant.ToolCalls = append(message.OfAssistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
						OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: p.ID,
							Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: p.Name, Arguments: string(p.Arguments)}}})
				}
			}
			params.Messages = append(params.Messages, message)
		case winnow.RoleSystem:
			params.Messages = append(params.Messages, openai.SystemMessage(textOf(m)))
		default:
			params.Messages = append(params.Messages, openai.UserMessage(textOf(m)))
		}
	}
	return askChat(ctx, url, params)
}

func textOf(m winnow.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// reader is a model that reads a file in each step but every eighth, where it ends its turn.
func reader(r *provider.Request) provider.Answer {
	last := r.Last()
	if len(last.Results) == 0 || !strings.HasSuffix(strings.TrimSpace(last.Results[0].Text), "end of part 7") {
		return provider.Answer{Text: "I read on.", Calls: []provider.ToolCall{{Name: "read", Arguments: json.RawMessage(`{"path":"notes/chapter.md"}`)}}}
	}
	return provider.Answer{Text: "That was all of it."}
}

// notes are some 1 000 tokens, which nothing but a summary makes fewer.
var notes = strings.Repeat("I read on, and note what I find. ", 120)

// noteTaker is a reader that also writes.
func noteTaker(r *provider.Request) provider.Answer {
	a := reader(r)
	if len(a.Calls) > 0 {
		a.Text = notes
	}
	return a
}

// page is what the tool reads in a step: some 4 000 to 11 000 characters.
func page(step int) string {
	return fmt.Sprintf("chapter %d\n%send of part %d", step, strings.Repeat(fmt.Sprintf("line %d of the notes says that all is well.\n", step), 90+step%5*40), step%8)
}

// converse lets a manager that believes in a window talk to a provider for the given number of steps.
func converse(t *testing.T, url string, window, steps int, send func(context.Context, string, []winnow.Message) (reply, error)) {
	t.Helper()
	m, err := winnow.New(window, nil)
	require.NoError(t, err)
	user := func(text string) winnow.Message {
		return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}}
	}
	history := []winnow.Message{user("Read the notes and tell me what they say.")}
	for step := range steps {
		answer, _, err := winnow.Do(soon(t), m, history, func(ctx context.Context, messages []winnow.Message) (reply, error) {
			return send(ctx, url, messages)
		})
		require.NoError(t, err, "step %d", step)
		usage := winnow.Usage{Input: answer.usage.Input, CacheRead: answer.usage.CacheRead, CacheWrite: answer.usage.CacheWrite, Output: answer.usage.Output}
		message := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: answer.text}}, Usage: &usage}
		for _, c := range answer.calls {
			message.Parts = append(message.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		history = append(history, message)
		for _, c := range answer.calls {
			history = append(history, winnow.Message{Role: winnow.RoleTool, ToolCallID: c.ID, ToolName: c.Name, Parts: []winnow.Part{{Text: page(step)}}})
		}
		if len(answer.calls) == 0 {
			history = append(history, user(fmt.Sprintf("Thank you. Now read volume %d.", step)))
		}
	}
}

// TestRecovery: the provider has less room than the manager believes. Each conversation goes on, whether the
// refusal tells the limit or not, and what was refused does not come again.
func TestRecovery(t *testing.T) {
	const steps = 40
	half := func(wording string) provider.Options {
		return provider.Options{Window: 32_000, Overflow: provider.Wordings()[wording]}
	}
	minute := time.Unix(0, 0)
	slow := func() time.Time { minute = minute.Add(time.Minute); return minute } // one request a minute
	for i, c := range []struct {
		why     string
		options provider.Options
		rule    string
	}{
		{"half the window, told", half("anthropic"), provider.RuleWindow},
		{"half the window, with the room for the answer", half("openai"), provider.RuleWindow},
		{"half the window, without a number", half("bedrock"), provider.RuleWindow},
		{"half the window, with a code", half("openai-input"), provider.RuleWindow},
		{"half the window, a lower bound", half("vllm"), provider.RuleWindow},
		{"half the window, in Chinese", half("chinese"), provider.RuleWindow},
		{"a limit in bytes, Anthropic", provider.Options{MaxBytes: 100_000}, provider.RuleBytes},
		{"a limit in bytes, OpenAI", provider.Options{MaxBytes: 100_000}, provider.RuleBytes},
		{"half the window, in fields of their own", half("llama.cpp"), provider.RuleWindow},
		{"more than a minute's tokens", provider.Options{TokensPerMinute: 20_000, Now: slow}, provider.RuleRate},
		{"more than a minute's tokens, without the request's", provider.Options{TokensPerMinute: 20_000, Now: slow}, provider.RuleRate},
	} {
		send := sendMessages
		if i%2 == 1 {
			send = sendChat
		}
		c.options.Model = reader
		if c.rule == provider.RuleWindow { // old results are cleared before it is reached
			c.options.Model = noteTaker
		}
		p, url := serve(t, c.options)
		converse(t, url, 64_000, steps, send)
		refused := 0
		for _, x := range p.Exchanges() {
			if x.Error != nil {
				refused++
				assert.Equal(t, c.rule, x.Error.Rule, "%s: %s", c.why, x.Error.Message)
			}
		}
		assert.Empty(t, p.Repeats(), "%s: a refused request came again", c.why)
		assert.Greater(t, refused, 0, "%s: the limit was never reached", c.why)
		assert.LessOrEqual(t, refused, 2, "%s: what was learned is used", c.why)
	}
}
