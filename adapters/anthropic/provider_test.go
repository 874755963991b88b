package anthropic

import (
	"context"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// tools has the one tool that requests with calls must define.
var tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{Name: "read"}}}

// clientOf returns the SDK's client of a local server.
func clientOf(url string, options ...option.RequestOption) *sdk.Client {
	c := sdk.NewClient(append(options, option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))...)
	return &c
}

// atProvider returns the SDK's client of a provider.
func atProvider(p *provider.Provider) *sdk.Client {
	return clientOf("http://provider", option.WithHTTPClient(adaptertest.Direct(p)))
}

var asMessage, asBetaMessage = adaptertest.Answer(Response), adaptertest.Answer(ResponseBeta)

// params are those of a request with thinking.
func params(messages []winnow.Message) sdk.MessageNewParams {
	return sdk.MessageNewParams{Model: "claude", MaxTokens: 4_000, Messages: Export(messages), Tools: tools, Thinking: sdk.ThinkingConfigParamOfEnabled(1_024)}
}

func whole(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(Check(clientOf(url).Messages.New(ctx, params(messages))))
}

func streamed(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	p := params(messages)
	MarkRequest(&p, "")
	return asMessage(Collect(clientOf(url).Messages.NewStreaming(ctx, p), nil))
}

// valid sends messages through the SDK to the strict provider. Signatures that are not its own it cannot
// know: all else of such a request was accepted when it looks at them.
func valid(messages []sdk.MessageParam) error {
	if len(messages) == 0 {
		return nil
	}
	p := provider.New(provider.Options{Window: adaptertest.HugeWindow, MaxBytes: adaptertest.HugeWindow, Prefill: true})
	_, err := atProvider(p).Messages.New(context.Background(), sdk.MessageNewParams{Model: "claude", MaxTokens: 16, Messages: messages, Tools: tools})
	for _, x := range p.Exchanges() {
		if x.Error != nil && (x.Error.Rule == "ANT-THINK-SIG" || x.Error.Rule == "ANT-THINK-MODIFIED") {
			return nil
		}
	}
	return err
}

// TestConversations has thinking on: its signatures are verified, and the newest turn must have it.
func TestConversations(t *testing.T) {
	summarizer := func(url string) winnow.Summarizer { return NewSummarizer(*clientOf(url), "claude", 0) }
	t.Run("whole", func(t *testing.T) { adaptertest.CheckConversations(t, whole, summarizer) })
	t.Run("streamed", func(t *testing.T) { adaptertest.CheckConversations(t, streamed, summarizer) })
}

// TestRefusals reads what the provider refuses with, in each wording, out of the SDK's own error.
func TestRefusals(t *testing.T) {
	for _, streams := range []bool{false, true} {
		adaptertest.CheckRefusals[*sdk.Error](t, func(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
			params := sdk.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 1000, Messages: Export(messages)}
			if streams {
				return asMessage(Collect(clientOf(url).Messages.NewStreaming(ctx, params), nil))
			}
			return asMessage(clientOf(url).Messages.New(ctx, params))
		}, streams)
	}
}

// TestAgent: the loop of the README, streaming, over restarts.
func TestAgent(t *testing.T) {
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "messages", Keeps: `"signature":`, Send: streamed})
}
