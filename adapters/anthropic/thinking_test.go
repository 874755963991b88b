package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// TestMayThink: the provider refuses thinking in a turn that began without it, and nothing else of these requests.
func TestMayThink(t *testing.T) {
	callB, gotB := strings.ReplaceAll(callA, `"id":"a"`, `"id":"b"`), strings.ReplaceAll(gotA, `"tool_use_id":"a"`, `"tool_use_id":"b"`)
	thought := strings.Replace(callA, `[`, `[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},`, 1)
	for _, tt := range []struct {
		name     string
		messages []string
		want     bool
	}{
		{"a question", []string{ask}, true},
		{"a turn that another model began", []string{ask, callA, gotA}, false},
		{"and went on with", []string{ask, callA, gotA, callB, gotB}, false},
		{"the turn is over", []string{ask, callA, gotA, said, ask}, true},
		{"the answer is to be continued", []string{ask, callA, gotA, said}, false},
		{"the user spoke beside the result", []string{ask, callA, strings.TrimSuffix(gotA, "]}") + `,{"type":"text","text":"q"}]}`}, false},
		{"Claude began it with thinking", []string{ask, thought, gotA}, true},
		{"and another model went on", []string{ask, thought, gotA, callB, gotB}, true},
		{"an older turn had thinking", []string{ask, thought, gotA, said, ask, callB, gotB}, false},
	} {
		var messages []sdk.MessageParam
		var beta []sdk.BetaMessageParam
		require.NoError(t, json.Unmarshal([]byte("["+strings.Join(tt.messages, ",")+"]"), &messages))
		require.NoError(t, json.Unmarshal([]byte("["+strings.Join(tt.messages, ",")+"]"), &beta))
		assert.Equal(t, tt.want, MayThink(messages), tt.name)
		assert.Equal(t, tt.want, MayThinkBeta(beta), tt.name)

		p := provider.New(provider.Options{Window: adaptertest.HugeWindow, Prefill: true})
		client := atProvider(p)
		_, _ = client.Messages.New(t.Context(), sdk.MessageNewParams{Model: "claude", MaxTokens: 4_000, Messages: messages, Tools: tools, Thinking: sdk.ThinkingConfigParamOfEnabled(1_024)})
		refused := p.Exchanges()[0].Error != nil && p.Exchanges()[0].Error.Rule == "ANT-THINK-MISSING"
		assert.Equal(t, !tt.want, refused, tt.name)
	}
}
