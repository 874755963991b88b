package winnow

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// While a digest stands in, requests that go on from the last one take the short way, until the summary that it stands
// in for is due: then as the long way says.
func TestShortWayWhileADigestStandsIn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := &scripted{answer: func(int, SummaryRequest) (string, error) { return "", errors.New("503 service unavailable") }}
	m, err := New(40_000, &Options{Summarizer: s, Now: func() time.Time { return now }, Compact: &CompactOptions{Attempts: 1}})
	require.NoError(t, err)
	h := make([]Message, 0, 2_000)
	h = append(h, userSays("Begin."))
	short, long, calls := 0, 0, 0
	for i := range 600 {
		h = append(h, assistantSays(fmt.Sprintf("Answer %d. %s", i, strings.Repeat("word ", 120))), userSays(fmt.Sprintf("Go on with %d.", i)))
		degraded := m.ledger.checkpoint != nil && m.ledger.checkpoint.degraded
		calls = len(s.prompts)
		m.mu.Lock()
		var r Request
		done := false
		if next := m.tail.request(m.ledger.index.isReread); m.tail.known && next != nil {
			r = *next
			due := degraded && m.mayReplaceDigest(m.draft(h, m.ledger.checkpoint))
			done, err = m.extend(h, &r)
			require.NoError(t, err)
			require.False(t, done && due, "request %d: the summary is due", i)
		}
		if !done {
			next, err := m.prepareLongWay(t.Context(), h)
			require.NoError(t, err)
			r = *next
		} else {
			m.tail.share(&r, m.ledger.index.isReread)
		}
		m.mu.Unlock()
		if degraded && r.Degraded && len(s.prompts) == calls {
			if done {
				short++
			} else {
				long++
			}
		}
	}
	assert.Greater(t, short, 150)
	assert.Greater(t, short, 5*long, "%d short, %d long", short, long)
	assert.Greater(t, len(s.prompts), 5, "it is asked now and then whether it is back")
}
