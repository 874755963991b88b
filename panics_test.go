package winnow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestPanicsOfTheHostChangeNothing lets the host's estimator or clock panic at each of its calls after a refusal. A
// host that recovers from the panic goes on with the manager as it was.
func TestPanicsOfTheHostChangeNothing(t *testing.T) {
	t.Parallel()
	left := 0 // calls of the host's code until one panics; 0: none does
	tick := func() {
		if left > 0 {
			if left--; left == 0 {
				panic("index out of range")
			}
		}
	}
	c := newClock()
	o := &winnow.Options{
		Estimator: winnow.EstimatorFunc(func(m winnow.Message) int { tick(); return quarterOfText(m) }),
		Now:       func() time.Time { tick(); return c.Now() },
		Compact:   &winnow.CompactOptions{KeepRecent: 500},
	}
	m, h := newManager(t, 20_000, o), longSession()
	prepare(t, m, h)
	_, err := m.Recover(t.Context(), h, errNoNumbers)
	require.NoError(t, err)
	state := []byte(snapshotOf(t, m))
	answered, other := append(h[:len(h):len(h)], modelSays("Done."), userSays("Next.")), append(h[:len(h):len(h)], userSays("No."))
	for name, call := range map[string]func(m *winnow.Manager){
		"accepted": func(m *winnow.Manager) { _, _ = m.Prepare(t.Context(), answered) },
		"given up": func(m *winnow.Manager) { _, _ = m.Prepare(t.Context(), other) },
		"too large": func(m *winnow.Manager) {
			_, _ = m.Prepare(t.Context(), append(h[:len(h):len(h)], userSays(numbered(3_000))))
		},
		"refused":    func(m *winnow.Manager) { _, _ = m.Recover(t.Context(), h, errNoNumbers) },
		"compacted":  func(m *winnow.Manager) { _, _ = m.Compact(t.Context(), answered, "") },
		"only asked": func(m *winnow.Manager) { m.Plan(other) },
	} {
		panics := 0
		for at := 1; at == 1 || left == 0; at += 1 + at/16 {
			m := newManager(t, 20_000, o)
			require.NoError(t, m.Restore(state))
			before := snapshotOf(t, m)
			left = at
			func() {
				defer func() {
					if recover() != nil {
						panics++
					}
				}()
				call(m)
			}()
			if left == 0 {
				require.Equal(t, before, snapshotOf(t, m), "%s: the panic in call %d", name, at)
			}
		}
		assert.Positive(t, panics, name)
		left = 0
	}
}
