package anthropic

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestManager keeps the SDK's messages as the only history and imports them anew, from other memory, before
// each request: the manager must recognise what it has seen, and what it sends must be valid.
func TestManager(t *testing.T) {
	m, err := winnow.New(8_000, nil)
	require.NoError(t, err)
	var log []sdk.MessageParam
	before, compactions := 0, 0
	var sent []string
	for n := range 40 {
		log = append(log, sdk.NewUserMessage(sdk.NewTextBlock(fmt.Sprintf("Question %d: what does file %d say?", n, n))))
		log = append(log, sdk.NewAssistantMessage(
			sdk.NewToolUseBlock(fmt.Sprintf("toolu_%d", n), map[string]any{"path": fmt.Sprintf("%d.go", n), "limit": n}, "read"),
			sdk.NewToolUseBlock(fmt.Sprintf("toolu_%d_b", n), map[string]any{"path": "b"}, "read")))
		log = append(log, sdk.NewUserMessage(
			sdk.NewToolResultBlock(fmt.Sprintf("toolu_%d", n), strings.Repeat(fmt.Sprintf("line %d of it; ", n), 40+n*10), false),
			sdk.NewToolResultBlock(fmt.Sprintf("toolu_%d_b", n), "b", false)))
		again, err := reread(log)
		require.NoError(t, err)
		req, err := m.Prepare(context.Background(), Import(again))
		require.NoError(t, err)
		require.NoError(t, valid(Export(req.Messages)), "request %d", n)
		if req.Compaction != nil {
			compactions++
		}
		if len(req.Edits) == 0 {
			assert.Equal(t, before, req.FirstChanged, "request %d only appends", n)
		}
		now := strings.Split(strings.Trim(jsonOf(t, Export(req.Messages)), "[]"), `},{"content"`)
		if req.FirstChanged == before && len(sent) > 0 {
			assert.Equal(t, sent[:len(sent)-1], now[:len(sent)-1], "request %d has the one before it as its prefix", n)
		}
		before, sent = len(req.Messages), now
		log = append(log, sdk.NewAssistantMessage(sdk.NewTextBlock(fmt.Sprintf("It says %d.", n))))
	}
	assert.Positive(t, compactions)
}
