package winnow_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Once nothing is in the prompt cache, neighbours among the records become one, which says all that they said. While
// the cache is warm, none is touched.
func TestRecordsBecomeOne(t *testing.T) {
	t.Parallel()
	c := newClock()
	o := winnow.Options{FoldAbove: -1, Estimator: byChars, Now: c.Now, NoMinify: true}
	m := newManager(t, 1_000_000, &o)
	h := runs(150)
	var before []winnow.Message
	steps(h[:len(h)-2], func(in []winnow.Message) {
		c.pass(10 * time.Second)
		before = prepare(t, m, in).Messages
	})
	texts := recordsIn(before)
	require.Greater(t, len(texts), 1)

	c.pass(time.Hour)
	state := []byte(snapshotOf(t, m))
	plan := m.Plan(h)
	r := prepare(t, m, h)
	requestCheck{estimator: byChars}.check(t, h, r)
	assert.Equal(t, firstDifference(before, r.Messages), r.FirstChanged)
	sameWire(t, r.Messages, plan.Messages, "planned")
	twin := newManager(t, 1_000_000, &o)
	require.NoError(t, twin.Restore(state))
	sameWire(t, r.Messages, prepare(t, twin, h).Messages, "restored")

	merged := recordsIn(r.Messages)
	assert.Len(t, merged, 1)
	for i := range 40 {
		assert.Contains(t, merged[0], "\nSaid: Step "+itoa(i)+".\n")
	}

	// The one that stands now is not written again while it is in the cache.
	c.pass(10 * time.Second)
	again := prepare(t, m, h)
	sameWire(t, r.Messages, again.Messages, "again")
}

// Where nothing is cached each step that gets old becomes a record. They are joined like the digits of a counter: few
// stand beside each other, and each message is read for a record a few times.
func TestRecordsStayFew(t *testing.T) {
	t.Parallel()
	m := folding(t, winnow.Options{})
	h := runs(150)
	most, written, last := 0, 0, []string(nil)
	steps(h, func(in []winnow.Message) {
		r := prepare(t, m, in)
		texts := recordsIn(r.Messages)
		for _, text := range texts {
			if !slices.Contains(last, text) {
				written += len(text)
			}
		}
		most, last = max(most, len(texts)), texts
		if len(in)%20 == 1 {
			requestCheck{estimator: byChars}.check(t, in, r)
		}
	})
	assert.LessOrEqual(t, most, 8)
	assert.Less(t, written, 16*len(strings.Join(last, "")), "of each byte of them")
}

// What a person says stands between records, which stay apart.
func TestRecordsStayApart(t *testing.T) {
	t.Parallel()
	m := folding(t, winnow.Options{})
	h := runs(20)
	h = named(slices.Insert(h, 11, userSays("And mind the gap.")))
	var r *winnow.Request
	steps(h, func(in []winnow.Message) { r = prepare(t, m, in) })
	assert.True(t, holds(r, &h[11]))
	at := slices.IndexFunc(r.Messages, func(x winnow.Message) bool { return x.ID == h[11].ID })
	assert.NotEmpty(t, recordsIn(r.Messages[:at]))
	assert.NotEmpty(t, recordsIn(r.Messages[at:]))
	requestCheck{estimator: byChars}.check(t, h, r)
}

// A history that goes back to the middle of a record that was joined has no record that stands for its beginning: it is sent
// anew, and when it comes back so does the record.
func TestRewoundIntoAJoinedRecord(t *testing.T) {
	t.Parallel()
	m := folding(t, winnow.Options{})
	h := runs(60)
	var r *winnow.Request
	steps(h, func(in []winnow.Message) { r = prepare(t, m, in) })
	joined := recordsIn(r.Messages)
	require.NotEmpty(t, joined)
	require.Contains(t, joined[0], "\nSaid: Step 0.\n")
	require.Contains(t, joined[0], "\nSaid: Step 20.\n")

	for _, n := range []int{21, 41, len(h)} {
		state := []byte(snapshotOf(t, m))
		plan := m.Plan(h[:n])
		r = prepare(t, m, h[:n])
		requestCheck{estimator: byChars}.check(t, h[:n], r)
		sameWire(t, r.Messages, plan.Messages, "planned")
		twin := folding(t, winnow.Options{})
		require.NoError(t, twin.Restore(state))
		sameWire(t, r.Messages, prepare(t, twin, h[:n]).Messages, "restored")
	}
	assert.Equal(t, joined[0], recordsIn(r.Messages)[0])
}
