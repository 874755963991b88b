package eino

import (
	"context"
	"net/http"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// chatAt is Eino's own component for Chat Completions.
func chatAt(url string, client *http.Client) model.ToolCallingChatModel {
	chat, err := openai.NewChatModel(context.Background(), &openai.ChatModelConfig{
		APIKey: "none", BaseURL: url + "/v1", Model: "gpt", HTTPClient: client})
	if err != nil {
		panic(err) // only for a configuration that is not valid
	}
	return chat
}

// validAtProvider sends messages to the strict provider.
func validAtProvider(messages []*schema.Message) error {
	if len(messages) == 0 {
		return nil
	}
	p := provider.New(provider.Options{Window: adaptertest.HugeWindow, MaxBytes: adaptertest.HugeWindow})
	_, err := chatAt("http://provider", adaptertest.Direct(p)).Generate(context.Background(), textsInResults(messages))
	return err
}

// textsInResults shows images in results as texts: Chat Completions has none there, and the component refuses them.
func textsInResults(messages []*schema.Message) []*schema.Message {
	out := make([]*schema.Message, len(messages))
	for i, m := range messages {
		if out[i] = m; m.Role == schema.Tool && len(m.UserInputMultiContent) > 0 {
			out[i] = schema.ToolMessage("parts", m.ToolCallID)
		}
	}
	return out
}

var asMessage = adaptertest.Answer(Response)

func whole(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(chatAt(url, http.DefaultClient).Generate(ctx, Export(messages)))
}

func streamed(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	stream, err := chatAt(url, http.DefaultClient).Stream(ctx, Export(messages), model.WithTools([]*schema.ToolInfo{{Name: "read"}}))
	if err != nil {
		return winnow.Message{}, err
	}
	return asMessage(schema.ConcatMessageStream(stream))
}

func TestConversations(t *testing.T) {
	adaptertest.CheckConversations(t, whole, func(url string) winnow.Summarizer {
		return NewSummarizer(chatAt(url, http.DefaultClient), 0)
	})
}

// TestAgent: the loop of the README over restarts, streaming.
func TestAgent(t *testing.T) {
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "messages", Send: streamed})
}
