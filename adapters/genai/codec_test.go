package genai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) {
	adaptertest.CheckCodec(t, underTest, Codec(), forms, cases)
}

// TestRestarts: after each restart the SDK sends the same as without one.
func TestRestarts(t *testing.T) {
	url, got := adaptertest.Sent(t, `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}]}`)
	client := clientOf(t, url)
	adaptertest.CheckRestarts(t, underTest, Codec(), func(t *testing.T, values []*sdk.Content) []json.RawMessage {
		_, err := client.Models.GenerateContent(t.Context(), "m", values, nil)
		require.NoError(t, err)
		return got(t, "contents")
	})
}
