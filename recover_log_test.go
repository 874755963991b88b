package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A log names what was decided, and holds nothing of the conversation: not of its texts, names and ids, and not
// of errors, which may repeat it.
func TestLogsHoldNoText(t *testing.T) {
	const secret = "xyzzy"
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	failing := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
		return secret, errors.New("the model said " + secret)
	})
	panicking := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) { panic(secret) })
	for _, o := range []winnow.Options{
		{},
		{Summarizer: failing, Compact: &winnow.CompactOptions{Attempts: 1}},
		{Summarizer: panicking, Compact: &winnow.CompactOptions{Attempts: 1, Rules: func() string { return "Never say " + secret }}},
		{Compact: &winnow.CompactOptions{BeforeCompact: func(context.Context, []winnow.Message) error { return errors.New(secret) }}},
		{Compact: &winnow.CompactOptions{BeforeCompact: func(context.Context, []winnow.Message) error { panic(secret) }, Background: true}},
		{HistoryTurns: 5, MaxBytes: 20_000},
	} {
		o.Logger = logger
		m, err := winnow.New(8_000, &o)
		require.NoError(t, err)
		h := list(systemSays(secret), userSays("The secret is "+secret+"."))
		for i := range 60 {
			call := modelCalls(secret + itoa(i))
			call.ID, call.StopReason = secret, secret
			call.Parts[0].Name, call.Parts[0].Arguments = secret, []byte(`{"`+secret+`":"`+secret+`"}`)
			result := toolSays(secret+itoa(i), secret+" "+numbered(20+i))
			result.ToolName, result.Details, result.IsError = secret, []byte(`{"`+secret+`":1}`), i%7 == 0
			answer := modelSays(secret + " " + numbered(20))
			answer.Usage = &winnow.Usage{Input: 1 + i%2*1_000_000} // which is not believed
			image := withImage(userSays(secret+" "+itoa(i)), 2_000)
			image.Parts[1].MediaType, image.Parts[1].Signature = secret, secret
			h = append(h, call, result, answer, image)
			if i%10 == 9 {
				_, _ = m.Prepare(t.Context(), h)
			}
		}
		for _, cause := range []error{errors.New("prompt is too long, " + secret), errors.New("413 request too large: " + secret)} {
			_, err = m.Prepare(t.Context(), h)
			for err == nil {
				_, err = m.Recover(t.Context(), h, cause)
			}
		}
		_, _ = m.Compact(t.Context(), h, "mind the "+secret)
		require.NoError(t, m.Close())
	}
	for _, said := range []string{"compacting", "compacted", "compaction failed", "reason=", "refused a request", "guessed_limit", "recovering", "rung=", "rewritten",
		"nothing is left", "BeforeCompact failed", "usage not used", "breaker"} {
		assert.True(t, strings.Contains(out.String(), said), "no record says %q", said)
	}
	assert.False(t, strings.Contains(out.String(), secret), "the log holds the secret")
}
