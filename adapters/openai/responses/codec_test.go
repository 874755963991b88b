package responses

import (
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) {
	adaptertest.CheckCodec(t, underTest, Codec(), forms, cases)
}

// TestRestarts: after each restart the SDK sends the same as without one.
func TestRestarts(t *testing.T) {
	url, got := adaptertest.Sent(t, `{"id":"r","status":"completed","output":[]}`)
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	adaptertest.CheckRestarts(t, underTest, Codec(), func(t *testing.T, values []Item) []json.RawMessage {
		_, err := client.Responses.New(t.Context(), sdk.ResponseNewParams{Model: "m", Input: sdk.ResponseNewParamsInputUnion{OfInputItemList: values}})
		require.NoError(t, err)
		return got(t, "input")
	})
}
