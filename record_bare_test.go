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

// Where records fill the window, the older ones become bare and one, so that a conversation can go on for ever
// without a summarizer.
func TestRecordsBecomeBare(t *testing.T) {
	t.Parallel()
	c := newClock()
	o := winnow.Options{
		FoldAbove: -1, Estimator: byChars, Now: c.Now, Compact: &winnow.CompactOptions{Off: true},
		NoMinify: true,
	}
	m := newManager(t, 12_000, &o)
	h := runs(800)
	most, last := 0, 0
	var r *winnow.Request
	for n := 3; n <= len(h); n += 2 {
		c.pass(10 * time.Second)
		state := []byte(snapshotOf(t, m))
		var err error
		r, err = m.Prepare(t.Context(), h[:n])
		require.NoError(t, err, "%d messages", n)
		if n%50 == 3 {
			requestCheck{estimator: byChars}.check(t, h[:n], r)
			twin := newManager(t, 12_000, &o)
			require.NoError(t, twin.Restore(state))
			sameWire(t, r.Messages, prepare(t, twin, h[:n]).Messages, "restored")
		}
		last = len(recordsIn(r.Messages))
		most = max(most, last)
	}
	texts := recordsIn(r.Messages)
	assert.Greater(t, most, 3)
	assert.NotContains(t, texts[0], "\n", "of the oldest only how much there was is left")
	assert.Contains(t, texts[len(texts)-1], "\nSaid: ")
	assert.Contains(t, texts[0], "earlier messages")
}

// Many short records become bare too: as they are, they would keep all later requests from fitting.
func TestShortRecordsBecomeBare(t *testing.T) {
	t.Parallel()
	m := newManager(t, 6_000, &winnow.Options{
		Estimator: byChars, Now: newClock().Now, Cache: &winnow.CacheOptions{None: true},
		Compact: &winnow.CompactOptions{Off: true}, NoMinify: true,
	})
	h := []winnow.Message{userSays("Read it all.")}
	for i := range 150 {
		id, name := "call_"+itoa(i), itoa(i)+".go"
		call := callPart(id, "read")
		call.Arguments = []byte(`{"path":"src/package` + itoa(i) + "/file" + name + `"}`)
		result := toolSays(id, strings.Repeat("some text of src/part"+name+", which is not worth much\n", 1+i%7))
		result.ToolName = "read"
		h = append(h, modelSends(textPart(strings.Repeat("word ", 12)), call), result)
		if i%5 == 4 {
			h = append(h, modelSends(textPart("Read.")), userSays("Go on."))
		}
	}
	h = named(h)
	steps(h, func(in []winnow.Message) {
		r, err := m.Prepare(t.Context(), in)
		require.NoError(t, err, "%d messages", len(in))
		requestCheck{estimator: byChars}.check(t, in, r)
	})
}

// The manager sees a history for the first time, and it is many times as long as the window: the newest records keep
// their lines.
func TestRecordsOfLongHistories(t *testing.T) {
	t.Parallel()
	m := newManager(t, 20_000, &winnow.Options{Estimator: byChars, Now: newClock().Now, NoMinify: true})
	r := m.Plan(transcript(4_000, clean))
	require.True(t, r.NeedsCompaction)
	lined, bare := 0, 0
	for _, text := range recordsIn(r.Messages) {
		if strings.Contains(text, "\n") {
			lined++
		} else {
			assert.Zero(t, lined, "the newest keep their lines")
			bare++
		}
	}
	assert.Positive(t, lined)
	assert.Positive(t, bare)
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
