package openai

import (
	"context"
	"slices"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/winnowtest"
)

var tools = []sdk.ChatCompletionToolUnionParam{sdk.ChatCompletionFunctionTool(sdk.FunctionDefinitionParam{Name: "read"})}

// clientOf returns the SDK's client of a local server.
func clientOf(url string, options ...option.RequestOption) *sdk.Client {
	c := sdk.NewClient(append(options, option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))...)
	return &c
}

var asMessage = adaptertest.Answer(Response)

func params(messages []winnow.Message) sdk.ChatCompletionNewParams {
	return sdk.ChatCompletionNewParams{Model: "gpt", Messages: Export(messages), Tools: tools}
}

func whole(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(clientOf(url).Chat.Completions.New(ctx, params(messages)))
}

func streamed(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	p := params(messages)
	p.StreamOptions.IncludeUsage = sdk.Bool(true)
	return asMessage(Collect(clientOf(url).Chat.Completions.NewStreaming(ctx, p), nil))
}

// valid sends messages through the SDK to the strict provider.
func valid(messages []message) error { return validFor(provider.VendorOpenAI)(messages) }

func validFor(vendor provider.Vendor) func([]message) error {
	return func(messages []message) error {
		if len(messages) == 0 {
			return nil
		}
		p := provider.New(provider.Options{Vendor: vendor, Window: adaptertest.HugeWindow, MaxBytes: adaptertest.HugeWindow})
		client := clientOf("http://provider", option.WithHTTPClient(adaptertest.Direct(p)))
		_, err := client.Chat.Completions.New(context.Background(), sdk.ChatCompletionNewParams{Model: "gpt", Messages: messages, Tools: tools})
		for _, x := range p.Exchanges() {
			if x.Error != nil { // the SDK's error does not say it
				return x.Error
			}
		}
		return err
	}
}

// TestVendors has what other servers that speak Chat Completions accept.
func TestVendors(t *testing.T) {
	for _, vendor := range []provider.Vendor{provider.VendorDeepSeek, provider.VendorKimi, provider.VendorMiniMax, provider.VendorQwen} {
		t.Run(string(vendor), func(t *testing.T) {
			a := underTest
			a.Valid = validFor(vendor)
			for _, h := range winnowtest.Histories() {
				assert.NoError(t, a.CheckHistory(h.Messages), h.Name)
			}
		})
	}
}

// TestStricterServers uses servers that require alternating roles, or ids of a special form.
func TestStricterServers(t *testing.T) {
	for _, tt := range []struct {
		vendor provider.Vendor
		rules  Rules
	}{
		{provider.VendorVLLM, Rules{Alternate: true}}, {provider.VendorLlamaCpp, Rules{Alternate: true}}, {provider.VendorLMStudio, Rules{Alternate: true}},
		{provider.VendorMistral, Rules{Alternate: true, MistralIDs: true}},
	} {
		t.Run(string(tt.vendor), func(t *testing.T) {
			a := underTest
			a.Export, a.Valid = tt.rules.Export, validFor(tt.vendor)
			for _, h := range winnowtest.Histories() {
				if n := len(h.Messages); tt.vendor == provider.VendorMistral && n > 0 && h.Messages[n-1].Role == winnow.RoleAssistant {
					continue // it continues an answer only if the message says so
				}
				assert.NoError(t, a.CheckHistory(h.Messages), h.Name)
			}
		})
	}
}

func TestConversations(t *testing.T) {
	summarizer := func(url string) winnow.Summarizer { return NewSummarizer(*clientOf(url), "gpt", 0) }
	t.Run("whole", func(t *testing.T) { adaptertest.CheckConversations(t, whole, summarizer) })
	t.Run("streamed", func(t *testing.T) { adaptertest.CheckConversations(t, streamed, summarizer) })
}

// TestRefusals reads what the provider refuses with, in each wording, out of the SDK's own error.
func TestRefusals(t *testing.T) {
	for _, streams := range []bool{false, true} {
		adaptertest.CheckRefusals[*sdk.Error](t, func(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
			params := sdk.ChatCompletionNewParams{Model: "gpt-4o", MaxCompletionTokens: sdk.Int(1000), Messages: Export(messages)}
			if !streams {
				return asMessage(clientOf(url).Chat.Completions.New(ctx, params))
			}
			params.StreamOptions.IncludeUsage = sdk.Bool(true)
			return asMessage(Collect(clientOf(url).Chat.Completions.NewStreaming(ctx, params), nil))
		}, streams)
	}
}

// TestRecovery: the provider has less room than the manager believes. Each conversation goes on, whether the refusal
// tells the limit or not, and what was learned is used.
func TestRecovery(t *testing.T) {
	half := func(wording string) provider.Options {
		return provider.Options{Window: 32_000, Overflow: provider.Wordings()[wording]}
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
		{"a limit in bytes", provider.Options{MaxBytes: 100_000}, provider.RuleBytes},
		{"more than a minute's tokens", provider.Options{Window: 20_000, Overflow: provider.Wordings()["openai-tpm"]}, provider.RuleWindow},
	} {
		refused, _ := adaptertest.Converse(t, c.options, c.rule, func(string) (int, *winnow.Options) { return 64_000, nil }, whole)
		assert.Greater(t, refused, 0, "%s: the limit was never reached", c.why)
		assert.LessOrEqual(t, refused, 2, "%s: what was learned is used", c.why)
	}
}

// TestAgent: the loop of the README, streaming, over restarts.
func TestAgent(t *testing.T) {
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "messages", Send: streamed})
}

// TestThoughtSignatures: Gemini 3 goes on with a turn whose calls it did not make, and refuses it without a placeholder
// on the first call of each step of the newest turn, but not of an older one.
func TestThoughtSignatures(t *testing.T) {
	const mark = `"extra_content":{"google":{"thought_signature":"`
	call := func(id string) winnow.Part {
		return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "read", Arguments: []byte(`{}`)}
	}
	step := func(calls ...winnow.Part) []winnow.Message {
		messages := []winnow.Message{{Role: winnow.RoleAssistant, Parts: calls}}
		for _, c := range calls {
			messages = append(messages, winnow.Message{Role: winnow.RoleTool, ToolCallID: c.ID, Parts: []winnow.Part{{Text: "r"}}})
		}
		return messages
	}
	ask := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}}
	signed := call("s")
	signed.Signature = "google:sig"
	for _, tt := range []struct {
		name         string
		history      []winnow.Message
		placeholders int
	}{
		{"two steps", slices.Concat(ask, step(call("a")), step(call("b"), call("c"))), 2},
		{"an older turn", slices.Concat(ask, step(call("a")), ask, step(call("b"))), 1},
		{"a turn that ended", slices.Concat(ask, step(call("a")), ask), 0},
		{"Gemini's own", slices.Concat(ask, step(signed, call("b"))), 0},
	} {
		for form, history := range map[string][]winnow.Message{"new": tt.history, "the caller's own": Import(Export(tt.history))} {
			plain, out := Export(history), Rules{ThoughtSignatures: true}.Export(history)
			sent := jsonOf(t, out)
			assert.Equal(t, tt.placeholders, strings.Count(sent, mark+placeholder), "%s, %s: %s", tt.name, form, sent)
			assert.NoError(t, validFor(provider.VendorGemini)(out), tt.name)
			assert.Equal(t, tt.placeholders > 0, validFor(provider.VendorGemini)(plain) != nil, tt.name)
			assert.Equal(t, jsonOf(t, plain), jsonOf(t, Export(history)), "the history is as it was")
		}
	}
}
