package winnow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/summarytext"
)

// A small window is filled: its shares left room for one message in each call, of which most was empty.
func TestSummarizeInStagesFillsSmallWindows(t *testing.T) {
	const messages, tokens, window = 84, 900, 8_000
	var h []Message
	for i := range messages / 2 {
		no := fmt.Sprintf("%08d", i)
		h = append(h, userSays(no+strings.Repeat("word", tokens-2)), assistantSays(no+strings.Repeat("talk", tokens-2)))
	}
	s := &scripted{}
	sum, err := SummarizeInStages(t.Context(), h, &SummarizeOptions{Summarizer: s, Window: window})
	require.NoError(t, err)
	t.Logf("%d calls", sum.Calls)
	assert.LessOrEqual(t, sum.Calls, 30)
	for i, prompt := range s.prompts {
		assert.LessOrEqual(t, textTokens(CharsPerToken(4), summarytext.System)+textTokens(CharsPerToken(4), prompt)+s.reqs[i].MaxTokens, window, "call %d", i)
	}
}
