package anthropic

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) {
	adaptertest.CheckCodec(t, underTest, Codec(), forms, cases)
}

// TestRestarts: after each restart the SDK sends the same as without one.
func TestRestarts(t *testing.T) {
	url, got := adaptertest.Sent(t, answerJSON)
	client := sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	adaptertest.CheckRestarts(t, underTest, Codec(), func(t *testing.T, values []sdk.MessageParam) []json.RawMessage {
		_, err := client.Messages.New(t.Context(), sdk.MessageNewParams{Model: "m", MaxTokens: 1, Messages: values})
		require.NoError(t, err)
		return got(t, "messages")
	})
}
