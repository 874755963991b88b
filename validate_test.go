package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestInvalidMessages: a typo is refused wherever a history comes in, with its place, and the manager is as it was.
func TestInvalidMessages(t *testing.T) {
	ctx := context.Background()
	typo := modelSays("done")
	typo.Role = "asistant"
	for _, tt := range []struct {
		name, field string
		bad         winnow.Message
		reason      string
	}{
		{"typo", "role", typo, "an adapter would send the model's answer as the user's"},
		{"typo in an empty message", "role", winnow.Message{Role: "asistant"}, "it is no turn that could be left out: its role is meant"},
		{"no role", "role", withParts(winnow.Message{}, textPart("x")), "nobody could say who wrote it"},
		{"kind", "parts[1].kind", withParts(userSays("x"), winnow.Part{Kind: "image_url"}), "no adapter can send it"},
		{"text spelled out", "parts[0].kind", winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Kind: "text", Text: "x"}}}, "in Go the kind of a text is empty: else it would not be seen as one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			good := append(agentSession(3, 100), userSays("go on"))
			h := append(good[:len(good):len(good)], tt.bad, modelSays("more"))
			wants := func(err error, note string) {
				t.Helper()
				var invalid *winnow.InvalidMessageError
				require.ErrorAs(t, err, &invalid, note+": "+tt.reason)
				assert.Equal(t, [2]any{len(good), tt.field}, [2]any{invalid.Index, invalid.Field}, note)
				assert.NotEmpty(t, invalid.Want)
			}
			m, err := winnow.New(8_000, nil)
			require.NoError(t, err)
			_, err = m.Prepare(ctx, good)
			require.NoError(t, err)
			before := snapshotOf(t, m)
			_, err = m.Prepare(ctx, h)
			wants(err, "Prepare")
			_, err = m.Prepare(ctx, h)
			wants(err, "Prepare again, when nothing is new")
			_, err = m.Recover(ctx, h, errors.New("prompt is too long: 9000 tokens > 8000 maximum"))
			wants(err, "Recover")
			_, err = m.Compact(ctx, h, "")
			wants(err, "Compact")
			_, _, err = winnow.Do(ctx, m, h, func(context.Context, []winnow.Message) (int, error) { panic("the model was called") })
			wants(err, "Do")
			wants(winnow.Validate(h), "Validate")
			assert.Equal(t, before, snapshotOf(t, m), "a refused history leaves nothing behind")

			assert.GreaterOrEqual(t, len(m.Plan(h).Messages), len(good)+1, "Plan shows the rest")
			h[len(good)] = modelSays("done")
			_, err = m.Prepare(ctx, h)
			require.NoError(t, err, "mended in place")
			h[1].Role = "model"
			_, err = m.Prepare(ctx, h)
			require.ErrorContains(t, err, `invalid message 1: role is "model", want "system"`, "a message that was sent before is looked at again where it changed")
		})
	}
}

// TestDoWithNothingToSend: the model is not called with an empty request.
func TestDoWithNothingToSend(t *testing.T) {
	for _, h := range [][]winnow.Message{nil, make([]winnow.Message, 3), {userSays(" ")}} {
		m, err := winnow.New(8_000, nil)
		require.NoError(t, err)
		_, r, err := winnow.Do(context.Background(), m, h, func(context.Context, []winnow.Message) (int, error) { panic("the model was called") })
		require.ErrorIs(t, err, winnow.ErrNothingToSend)
		assert.Nil(t, r)
	}
}

func ExampleValidate() {
	history := []winnow.Message{
		{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "What is left to do?"}}},
		{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: "output_text", Text: "Two tests fail."}}},
	}
	fmt.Println(winnow.Validate(history))
	// Output: winnow: invalid message 1: parts[0].kind is "output_text", want "" (text), "thinking", "image", "toolCall" or "opaque"
}

func ExampleInvalidMessageError_Error() {
	m, err := winnow.New(200_000, nil)
	if err != nil {
		panic(err)
	}
	history := []winnow.Message{
		{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "What is left to do?"}}},
		{Role: "asistant", Parts: []winnow.Part{{Text: "Two tests fail."}}},
	}
	_, err = m.Prepare(context.Background(), history)
	if invalid := (*winnow.InvalidMessageError)(nil); errors.As(err, &invalid) {
		fmt.Println("mend message", invalid.Index)
	}
	fmt.Println(err)
	// Output:
	// mend message 1
	// winnow: invalid message 1: role is "asistant", want "system", "user", "assistant" or "tool"
}

// TestFakeSummarizers: what Summarizer's comment says of a fake one for tests is true, and the log says which rule failed.
func TestFakeSummarizers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		by     winnow.Summarizer
		reason string // in the log; "": it is a summary
	}{
		{says("## Goal\nThe parser is done."), ""},
		{says("summary"), "refused: it says nothing of the conversation"},
		{says(""), "refused: "},
	} {
		var log bytes.Buffer
		m := newManager(t, 16_000, &winnow.Options{Summarizer: tt.by, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		r, err := m.Compact(t.Context(), agentSession(30, 600), "")
		if tt.reason == "" {
			require.NoError(t, err)
			assert.Empty(t, r.Degraded)
			continue
		}
		require.ErrorIs(t, err, winnow.ErrIncomplete)
		require.ErrorContains(t, err, strings.TrimPrefix(tt.reason, "refused: "))
		_, err = m.Prepare(t.Context(), agentSession(60, 2_000))
		require.NoError(t, err)
		assert.Contains(t, log.String(), tt.reason)
	}
}
