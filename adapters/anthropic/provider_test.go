package anthropic

import (
	"context"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/session"
)

// tools has the one tool that requests with calls must define.
var tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{Name: "read"}}}

// valid sends messages through the SDK to the strict provider. Signatures that are not its own it cannot
// know: all else of such a request was accepted when it looks at them.
func valid(messages []sdk.MessageParam) error {
	if len(messages) == 0 {
		return nil
	}
	p := provider.New(provider.Options{Window: adaptertest.HugeWindow, MaxBytes: adaptertest.HugeWindow, Prefill: true})
	client := sdk.NewClient(option.WithHTTPClient(adaptertest.Direct(p)), option.WithBaseURL("http://provider"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	_, err := client.Messages.New(context.Background(), sdk.MessageNewParams{Model: "claude", MaxTokens: 16, Messages: messages, Tools: tools})
	for _, x := range p.Exchanges() {
		if x.Error != nil && (x.Error.Rule == "ANT-THINK-SIG" || x.Error.Rule == "ANT-THINK-MODIFIED") {
			return nil
		}
	}
	return err
}

// TestConversations has thinking on: its signatures are verified, and the newest turn must have it.
func TestConversations(t *testing.T) {
	clientOf := func(url string) sdk.Client {
		return sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	}
	params := func(messages []winnow.Message) sdk.MessageNewParams {
		return sdk.MessageNewParams{Model: "claude", MaxTokens: 4_000, Messages: Export(messages), Tools: tools, Thinking: sdk.ThinkingConfigParamOfEnabled(1_024)}
	}
	summarizer := func(url string) winnow.Summarizer { return NewSummarizer(clientOf(url), "claude", 0) }
	t.Run("whole", func(t *testing.T) {
		adaptertest.CheckConversations(t, func(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
			client := clientOf(url)
			answer, err := client.Messages.New(ctx, params(messages))
			if err != nil {
				return winnow.Message{}, err
			}
			return Response(answer), nil
		}, summarizer)
	})
	t.Run("streamed", func(t *testing.T) {
		adaptertest.CheckConversations(t, func(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
			client := clientOf(url)
			stream := client.Messages.NewStreaming(ctx, params(messages))
			var answer sdk.Message
			for stream.Next() {
				if err := answer.Accumulate(stream.Current()); err != nil {
					return winnow.Message{}, err
				}
			}
			return Response(&answer), stream.Err()
		}, summarizer)
	})
}

// TestAgent: the loop of the README, streaming, over restarts.
func TestAgent(t *testing.T) {
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "messages", Keeps: `"signature":`, Ask: func(url string) session.Call {
		client := sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
		return func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
			params := sdk.MessageNewParams{
				Model: "claude", MaxTokens: 4_000, Tools: tools, Thinking: sdk.ThinkingConfigParamOfEnabled(1_024),
				Messages: Export(messages),
			}
			MarkRequest(&params, "")
			answer, err := Collect(client.Messages.NewStreaming(ctx, params), nil)
			if err != nil {
				return winnow.Message{}, err
			}
			return Response(answer), nil
		}
	}})
}
