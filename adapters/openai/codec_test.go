package openai

import (
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) {
	adaptertest.CheckCodec(t, underTest, Codec(), forms, cases)
}

// TestRestarts: after each restart the SDK sends the same as without one.
func TestRestarts(t *testing.T) {
	url, got := adaptertest.Sent(t, `{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`)
	client := sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	adaptertest.CheckRestarts(t, underTest, Codec(), func(t *testing.T, values []message) []json.RawMessage {
		_, err := client.Chat.Completions.New(t.Context(), sdk.ChatCompletionNewParams{Model: "m", Messages: values})
		require.NoError(t, err)
		return got(t, "messages")
	})
}
