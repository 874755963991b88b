package sdktest

import (
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

func TestExchange(t *testing.T) {
	for _, c := range clients() {
		p, url := serve(t, provider.Options{Model: func(r *provider.Request) provider.Answer {
			return provider.Answer{Text: "You said: " + r.Last().Text}
		}})
		r, err := c.ask(soon(t), url, "the quick brown fox jumps over the lazy dog")
		require.NoError(t, err, c.name)
		assert.Equal(t, "You said: the quick brown fox jumps over the lazy dog", r.text, c.name)
		assert.Contains(t, []string{"end_turn", "stop"}, r.reason, c.name)
		x := p.Exchanges()[0]
		assert.Equal(t, x.Usage, r.usage, "%s: what the SDK reads is what was billed", c.name)
		assert.Equal(t, strings.HasSuffix(c.name, "stream"), x.Request.Stream, c.name)
	}
}

// TestPromptCache bills what an SDK's user sees: the second request reads what the first one wrote.
func TestPromptCache(t *testing.T) {
	_, url := serve(t, provider.Options{})
	document := strings.Repeat("word ", 4000)
	params := messageParams("Summarize.")
	params.System = []anthropic.TextBlockParam{{Text: document, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	first, err := askMessages(soon(t), url, params)
	require.NoError(t, err)
	assert.Equal(t, provider.Usage{Input: 7, CacheWrite: 5000, Output: 1}, first.usage)
	params.Messages = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Translate."))}
	second, err := streamMessages(soon(t), url, params)
	require.NoError(t, err)
	assert.Equal(t, provider.Usage{Input: 7, CacheRead: 5000, Output: 1}, second.usage)
}
