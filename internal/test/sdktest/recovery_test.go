package sdktest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// send sends a request of the library through OpenAI's SDK, as a plain adapter would.
func send(ctx context.Context, url string, messages []winnow.Message) (reply, error) {
	params := chatParams("")
	params.Messages = nil
	for _, m := range messages {
		message := openai.UserMessage(textOf(m))
		switch m.Role {
		case winnow.RoleTool:
			message = openai.ToolMessage(textOf(m), m.ToolCallID)
		case winnow.RoleAssistant:
			message = openai.AssistantMessage(textOf(m))
			for _, p := range m.Parts {
				if p.Kind == winnow.KindToolCall {
					message.OfAssistant.ToolCalls = append(message.OfAssistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
						OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: p.ID,
							Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: p.Name, Arguments: string(p.Arguments)}}})
				}
			}
		}
		params.Messages = append(params.Messages, message)
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

// reader is a model that notes what it finds and reads a file in each step but every eighth, where it ends its turn.
func reader(notes string) func(r *provider.Request) provider.Answer {
	return func(r *provider.Request) provider.Answer {
		if strings.HasSuffix(r.Last().Text, "end of part 7") {
			return provider.Answer{Text: "That was all of it."}
		}
		return provider.Answer{Text: notes, Calls: []provider.ToolCall{{Name: "read", Arguments: json.RawMessage(`{"path":"notes/chapter.md"}`)}}}
	}
}

// page is what the tool reads in a step: some 4 000 to 11 000 characters.
func page(step int) string {
	return fmt.Sprintf("chapter %d\n%send of part %d", step, strings.Repeat(fmt.Sprintf("line %d of the notes says that all is well.\n", step), 90+step%5*40), step%8)
}

// converse lets a manager that believes in a window of 64 000 tokens talk to a provider for 40 steps.
func converse(t *testing.T, url string) {
	t.Helper()
	m, err := winnow.New(64_000, nil)
	require.NoError(t, err)
	user := func(text string) winnow.Message {
		return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}}
	}
	history := []winnow.Message{user("Read the notes and tell me what they say.")}
	for step := range 40 {
		answer, _, err := winnow.Do(soon(t), m, history, func(ctx context.Context, messages []winnow.Message) (reply, error) {
			return send(ctx, url, messages)
		})
		require.NoError(t, err, "step %d", step)
		usage := winnow.Usage{Input: answer.usage.Input, CacheRead: answer.usage.CacheRead, Output: answer.usage.Output}
		message := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: answer.text}}, Usage: &usage}
		next := []winnow.Message{user(fmt.Sprintf("Thank you. Now read volume %d.", step))}
		for _, c := range answer.calls {
			message.Parts = append(message.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: c.ID, Name: c.Name, Arguments: c.Arguments})
			next = []winnow.Message{{Role: winnow.RoleTool, ToolCallID: c.ID, ToolName: c.Name, Parts: []winnow.Part{{Text: page(step)}}}}
		}
		history = append(append(history, message), next...)
	}
}

// TestRecovery: the provider has less room than the manager believes. Each conversation goes on, whether the
// refusal tells the limit or not, and what was refused does not come again.
func TestRecovery(t *testing.T) {
	notes := strings.Repeat("I read on, and note what I find. ", 120) // some 1 000 tokens, which only a summary makes fewer
	half := func(wording string) provider.Options {
		return provider.Options{Window: 32_000, Overflow: provider.Wordings()[wording], Model: reader(notes)}
	}
	for _, c := range []struct {
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
		{"half the window, in fields of their own", half("llama.cpp"), provider.RuleWindow},
		{"a limit in bytes", provider.Options{MaxBytes: 100_000, Model: reader("I read on.")}, provider.RuleBytes},
		{"more than a minute's tokens", provider.Options{Window: 20_000, Overflow: provider.Wordings()["openai-tpm"], Model: reader("I read on.")}, provider.RuleWindow},
	} {
		p, url := serve(t, c.options)
		converse(t, url)
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
