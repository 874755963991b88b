package winnow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A host can go on in a smaller window with fewer tools: counts of its old process are no reason
// for an error, because only an answer to a new request could correct them.
func TestRestoredWithFewerTools(t *testing.T) {
	t.Parallel()
	const tools, window = 60_000, 32_000
	for _, tt := range []struct {
		name     string
		answered bool // the old process knew the count, or it is first seen in the restored history
	}{{"known", true}, {"in the history", false}} {
		options := winnow.Options{Estimator: byChars, Compact: &winnow.CompactOptions{Off: true}}
		m := newManager(t, 200_000, &options)
		h := []winnow.Message{user("Begin.")}
		prepare(t, m, h)
		answer := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "Yes."}},
			Usage: &winnow.Usage{Input: tools + 10}}
		h = append(h, answer, user("And then?"))
		if tt.answered {
			prepare(t, m, h)
		}
		restored := newManager(t, window, &options)
		require.NoError(t, restored.Restore([]byte(snapshotOf(t, m))))
		plan := restored.Plan(h)
		r, err := restored.Prepare(t.Context(), h)
		require.NoError(t, err, tt.name)
		assert.Less(t, r.Tokens, 1_000, tt.name)
		assert.Equal(t, r.Tokens, plan.Tokens, "%s: as planned", tt.name)
		answer.Usage = &winnow.Usage{Input: 500 + r.Tokens}
		h = append(h, answer, user("And now?"))
		assert.InDelta(t, 500, prepare(t, restored, h).Tokens, 100, "%s: the new count holds", tt.name)

		// What does not fit without such counts either is an error as before, and the counts are still believed.
		restored = newManager(t, window, &options)
		require.NoError(t, restored.Restore([]byte(snapshotOf(t, m))))
		state := snapshotOf(t, restored)
		_, err = restored.Prepare(t.Context(), append(h[:2:2], user(strings.Repeat("word ", window))))
		require.ErrorIs(t, err, winnow.ErrOverflow, tt.name)
		assert.Equal(t, state, snapshotOf(t, restored), tt.name)
	}
}

// So it can in the same window, and after two restarts without a request between them. A process that goes on knows its
// tools, and believes the count.
func TestRestoredWithFewerToolsInTheSameWindow(t *testing.T) {
	t.Parallel()
	const tools, window = 60_000, 100_000
	options := winnow.Options{Estimator: byChars, Compact: &winnow.CompactOptions{Off: true}}
	m := newManager(t, window, &options)
	h := []winnow.Message{user("Begin.")}
	prepare(t, m, h)
	h = append(h, billed(modelSays("Yes."), winnow.Usage{Input: tools + 10}), user("And then?"))
	prepare(t, m, h)
	state := []byte(snapshotOf(t, m))
	h = append(h, modelSays("This."), user(strings.Repeat("word ", 24_000))) // 30 000 tokens
	_, err := m.Prepare(t.Context(), h)
	require.ErrorIs(t, err, winnow.ErrOverflow)
	for n := range 2 {
		restored := newManager(t, window, &options)
		require.NoError(t, restored.Restore(state))
		state = []byte(snapshotOf(t, restored))
		plan := restored.Plan(h)
		r, err := restored.Prepare(t.Context(), h)
		require.NoError(t, err, "restart %d", n+1)
		assert.InDelta(t, 30_000, r.Tokens, 200)
		assert.Equal(t, r.Tokens, plan.Tokens, "as planned")
		_, err = restored.Prepare(t.Context(), append(h[:len(h):len(h)], modelSays("Done."), user(strings.Repeat("word ", 48_000))))
		require.ErrorIs(t, err, winnow.ErrOverflow)
	}
}
