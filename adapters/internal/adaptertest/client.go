package adaptertest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// CheckSummarizer asks an adapter's summarizer, whose answers have at most 300 tokens, for a summary. good is the body
// of an answer that says "## Goal\nFind the bug.", and bad are those that are no summary. body is what is sent then.
func CheckSummarizer(t *testing.T, of func(url string) winnow.Summarizer, good string, bad []string,
	body func(system, prompt string) map[string]any) {
	t.Helper()
	req := winnow.SummaryRequest{Messages: []winnow.Message{question("Find the bug.")}, MaxTokens: 500}
	for _, answer := range bad {
		url, _ := Server(t, 200, answer)
		text, err := of(url).Summarize(t.Context(), req)
		assert.ErrorIs(t, err, winnow.ErrIncomplete, answer)
		assert.Empty(t, text, answer)
	}
	url, sent := Server(t, 200, good)
	text, err := of(url).Summarize(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "## Goal\nFind the bug.", text)
	assert.Equal(t, body(req.System(), req.Prompt()), *sent, "no tools, and nothing of the history but as data")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = of(url).Summarize(ctx, req)
	assert.ErrorIs(t, err, context.Canceled)
	url, _ = Server(t, 401, `{"error":{"message":"API key not valid. Please pass a valid API key."}}`)
	_, err = of(url).Summarize(t.Context(), req)
	assert.NotErrorIs(t, err, winnow.ErrIncomplete)
	assert.Equal(t, winnow.ErrorAuth, winnow.ClassifyError(err).Class)
}

// Refusal is what an API says in place of an answer, and what winnow reads in the error that the SDK makes of it.
type Refusal struct {
	Status int
	Body   string
	Want   winnow.ErrorInfo
}

// CheckErrors asks servers that refuse. The error is of type E, the SDK's own.
func CheckErrors[E error](t *testing.T, send Send, refusals []Refusal) {
	t.Helper()
	for _, r := range refusals {
		url, _ := Server(t, r.Status, r.Body)
		_, err := send(t.Context(), url, []winnow.Message{question("q")})
		var own E
		require.ErrorAs(t, err, &own)
		assert.Equal(t, r.Want, winnow.ClassifyError(err), r.Body)
		assert.Equal(t, r.Want, winnow.ClassifyError(errors.Join(errors.New("turn 3"), err)), "wrapped")
	}
}
