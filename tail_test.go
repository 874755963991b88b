package winnow

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tail is a cache of what was sent last: whatever changes that behind its back forgets it, and a call that changes
// nothing keeps it.
func TestWhenTheTailIsForgotten(t *testing.T) {
	refused := errors.New("prompt is too long: 9000 tokens > 5000 maximum")
	for _, tt := range []struct {
		name  string
		after func(t *testing.T, m *Manager, history []Message)
		known bool
	}{
		{"nothing happened", func(*testing.T, *Manager, []Message) {}, true},
		{"Plan has no effects", func(_ *testing.T, m *Manager, h []Message) { m.Plan(h[:1]) }, true},
		{"Recall has no effects either", func(t *testing.T, m *Manager, h []Message) {
			_, err := m.Recall(t.Context(), h, []byte(`{"find":"word"}`))
			require.NoError(t, err)
		}, true},
		{"a snapshot is only read", func(t *testing.T, m *Manager, _ []Message) {
			_, err := m.Snapshot()
			require.NoError(t, err)
		}, true},
		{"another state was restored", func(t *testing.T, m *Manager, _ []Message) {
			state, err := m.Snapshot()
			require.NoError(t, err)
			require.NoError(t, m.Restore(state))
		}, false},
		{"damaged states are not restored", func(t *testing.T, m *Manager, _ []Message) {
			require.Error(t, m.Restore([]byte("{")))
		}, true},
		{"a count was passed on", func(_ *testing.T, m *Manager, _ []Message) { m.Counted(m.ledger.tokens) }, false},
		{"what Recover sent was taken", func(t *testing.T, m *Manager, h []Message) {
			m.opts.Compact.Off = false // there are no results to cut
			_, err := m.Recover(t.Context(), h, refused)
			require.NoError(t, err)
			require.True(t, m.tail.known)
			m.answered()
		}, false},
		{"Recover gave up", func(t *testing.T, m *Manager, h []Message) {
			var err error
			for err == nil {
				_, err = m.Recover(t.Context(), h, refused)
			}
			require.ErrorIs(t, err, ErrOverflow)
		}, false},
		{"the journal could not be written", func(t *testing.T, m *Manager, h []Message) {
			m.opts.Journal = func([]byte) error { return errors.New("disk full") }
			_, err := m.Prepare(t.Context(), append(h, assistantSays("Yes."), userSays("Go on.")))
			require.Error(t, err)
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := New(20_000, &Options{Recall: true, Compact: &CompactOptions{Off: true}})
			require.NoError(t, err)
			history := []Message{userSays("Begin.")}
			for i := range 40 {
				history = append(history, assistantSays(fmt.Sprintf("Answer %d, in a word or two more.", i)),
					userSays(fmt.Sprintf("Go on with %d.", i)))
			}
			_, err = m.Prepare(t.Context(), history)
			require.NoError(t, err)
			require.True(t, m.tail.known)
			tt.after(t, m, history)
			assert.Equal(t, tt.known, m.tail.known)
			// With the tail or without it, the next request is the whole history.
			m.opts.Journal = nil
			history = append(history, assistantSays("Done."), userSays("Thanks."))
			planned := m.Plan(history)
			r, err := m.Prepare(t.Context(), history)
			require.NoError(t, err)
			assert.Equal(t, planned.Messages, r.Messages)
		})
	}
}
