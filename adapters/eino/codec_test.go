package eino

import (
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) {
	adaptertest.CheckCodec(t, underTest, Codec(), forms, cases)
}

// TestRestarts: after each restart the SDK sends the same as without one.
func TestRestarts(t *testing.T) {
	url, got := adaptertest.Sent(t, `{}`)
	adaptertest.CheckRestarts(t, underTest, Codec(), func(t *testing.T, values []*schema.Message) []json.RawMessage {
		require.NoError(t, post(t.Context(), url, values))
		return got(t, "messages")
	})
}
