package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The journal: a conversation goes on from what was written down, wherever it was interrupted.

// journaledRun plays a conversation in which all happens that a journal has to hold: edits, pauses, summaries, refusals
// with and without numbers, a turn limit, a rewind. step is called after each request.
func journaledRun(t testing.TB, journal winnow.Journal, step func(m *winnow.Manager, h []winnow.Message, r *winnow.Request)) func() *winnow.Options {
	c := newClock()
	options := func() *winnow.Options {
		return &winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nfine so far"), Now: c.Now, HistoryTurns: 4, Journal: journal, Compact: &winnow.CompactOptions{KeepRecent: 500}}
	}
	m := newManager(t, 24_000, options())
	h := append(inPlace(agentSession(20, 3_000)), chat(40, 1_000)...)
	for i := range h {
		h[i].ID, h[i].Source = nameOf(i), nil
	}
	refuse := func(h []winnow.Message, text string) {
		r, err := m.Recover(t.Context(), h, errors.New(text))
		if err == nil {
			step(m, h, r)
		}
	}
	for n := 4; n <= len(h); n += 4 {
		r := prepare(t, m, h[:n])
		step(m, h[:n], r)
		switch n {
		case 40:
			refuse(h[:n], "prompt is too long: 15000 tokens > 14000 maximum")
		case 20:
			refuse(h[:n], "context length exceeded")
			undone := append(slices.Clip(h[:n]), userSays("another way"))
			step(m, undone, prepare(t, m, undone))
		case 80:
			grown := slices.Concat(h[:n], chat(10, 1_000))
			r, err := m.Compact(t.Context(), grown, "")
			require.NoError(t, err)
			step(m, grown, r)
		case 100:
			step(m, h[:70], prepare(t, m, h[:70]))
		}
		if n > 120 && n < 128 { // single messages: the short way
			for k := n + 1; k < n+4; k++ {
				step(m, h[:k], prepare(t, m, h[:k]))
			}
		}
		c.pass(time.Duration(n%3) * 3 * time.Minute)
	}
	return options
}

func TestJournalHoldsTheState(t *testing.T) {
	var deltas [][]byte
	journal := func(delta []byte) error { deltas = append(deltas, delta); return nil }
	var options func() *winnow.Options
	states, calls := []string{""}, 0
	check := func(m *winnow.Manager, h []winnow.Message, r *winnow.Request) {
		calls++
		require.Len(t, deltas, calls, "one delta a request")
		require.NotContains(t, string(deltas[calls-1]), "\n", "one line")
		state := snapshotOf(t, m)
		states = append(states, state)
		for _, from := range []int{0, calls / 2, calls - 1} {
			other := newManager(t, 24_000, &winnow.Options{Estimator: byChars})
			require.NoError(t, other.Restore([]byte(states[from]), deltas...), "from the state after %d of %d requests", from, calls)
			require.JSONEq(t, state, snapshotOf(t, other), "from the state after %d of %d requests", from, calls)
		}
	}
	options = journaledRun(t, journal, check)
	require.Greater(t, calls, 40)
	for _, field := range []string{"sent", "sentAt", "edits", "checkpoint", "turnStart", "attempt", "gone"} {
		assert.True(t, slices.ContainsFunc(deltas, func(d []byte) bool { return strings.Contains(string(d), `"`+field+`"`) }), "a run without %s shows little", field)
	}
	other := newManager(t, 24_000, options())
	require.NoError(t, other.Restore(nil, deltas...))
	step := len(deltas)
	h := append(agentSession(20, 3_000), chat(40, 1_000)...)
	_, err := other.Prepare(t.Context(), h)
	require.NoError(t, err)
	require.Len(t, deltas, step+1)
	third := newManager(t, 24_000, nil)
	require.NoError(t, third.Restore(nil, deltas...), "a manager that was restored goes on with the journal")
	require.JSONEq(t, snapshotOf(t, other), snapshotOf(t, third))
}

// A delta is in what is new: a conversation ten times as long has deltas of the same size.
func TestJournalDeltasAreSmall(t *testing.T) {
	last := func(turns int) int {
		size := 0
		m := newManager(t, 10_000_000, &winnow.Options{Estimator: byChars, Journal: func(delta []byte) error { size = len(delta); return nil }})
		h := chat(turns, 50)
		prepare(t, m, h[:len(h)-2])
		prepare(t, m, h)
		return size
	}
	short, long := last(20), last(200)
	assert.InDelta(t, short, long, 40, "a few digits more")
	assert.Less(t, long, 700)
}

// A journal that fails costs the call and nothing else: the next one goes on as if it had not been made.
func TestJournalFails(t *testing.T) {
	full := errors.New("no space left on device")
	c := newClock()
	fails := false
	o := winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nfine so far"), Now: c.Now, HistoryTurns: 12, Compact: &winnow.CompactOptions{KeepRecent: 500}}
	plain := o
	o.Journal = func([]byte) error {
		if fails {
			return full
		}
		return nil
	}
	want, m := newManager(t, 24_000, &plain), newManager(t, 24_000, &o)
	h := append(agentSession(20, 3_000), chat(40, 1_000)...)
	for n := 1; n <= len(h); n++ {
		if n%7 == 0 {
			c.pass(6 * time.Minute)
		}
		expected, err := want.Prepare(t.Context(), h[:n])
		require.NoError(t, err)
		before := snapshotOf(t, m)
		fails = true
		_, err = m.Prepare(t.Context(), h[:n])
		require.ErrorIs(t, err, full)
		require.JSONEq(t, before, snapshotOf(t, m), "the manager is as it was, at %d", n)
		fails = false
		r := prepare(t, m, h[:n])
		sameMessages(t, expected.Messages, r.Messages, fmt.Sprint("the request at ", n))
		require.Equal(t, expected.FirstChanged, r.FirstChanged)
	}
	before := snapshotOf(t, m)
	fails = true
	_, err := m.Compact(t.Context(), append(h, chat(10, 2_000)...), "")
	require.ErrorIs(t, err, full)
	require.JSONEq(t, before, snapshotOf(t, m))
}

// A host that recovers from a panic of its own journal goes on with a manager whose state is what was written.
func TestJournalPanics(t *testing.T) {
	panics := false
	o := &winnow.Options{Now: newClock().Now, Journal: func([]byte) error {
		if panics {
			panic("out of memory")
		}
		return nil
	}}
	m := newManager(t, 24_000, o)
	h := agentSession(10, 3_000)
	for n := 1; n <= len(h); n++ {
		before := snapshotOf(t, m)
		panics = true
		assert.Panics(t, func() { _, _ = m.Prepare(t.Context(), h[:n]) })
		require.JSONEq(t, before, snapshotOf(t, m), "at %d", n)
		panics = false
		prepare(t, m, h[:n])
	}
}

// A smaller request that nobody could write down was not sent: the same refusal, told again, has the same answer.
func TestJournalFailsInRecover(t *testing.T) {
	full := errors.New("no space left on device")
	for _, cause := range []string{
		"prompt is too long: 19000 tokens > 12000 maximum", // a limit
		"context length exceeded",                          // a guess
		"413 Request Entity Too Large",
	} {
		fails := false
		o := winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nfine so far"), Now: newClock().Now, Compact: &winnow.CompactOptions{KeepRecent: 500}}
		plain := o
		o.Journal = func([]byte) error {
			if fails {
				return full
			}
			return nil
		}
		want, m := newManager(t, 24_000, &plain), newManager(t, 24_000, &o)
		h := append(agentSession(8, 3_000), chat(10, 1_000)...)
		prepare(t, want, h)
		prepare(t, m, h)
		for k := range 3 { // from the second one on, a run is open
			expected, wantErr := want.Recover(t.Context(), h, errors.New(cause))
			before := snapshotOf(t, m)
			for fails = true; fails && wantErr == nil; fails = false {
				for range 5 {
					_, err := m.Recover(t.Context(), h, errors.New(cause))
					require.ErrorIs(t, err, full)
					require.JSONEq(t, before, snapshotOf(t, m), "%s: refusal %d", cause, k)
				}
			}
			fails = false
			r, err := m.Recover(t.Context(), h, errors.New(cause))
			require.Equal(t, wantErr, err)
			if wantErr == nil {
				sameMessages(t, expected.Messages, r.Messages, fmt.Sprint(cause, ": refusal ", k))
				require.Equal(t, expected.Rung, r.Rung)
			}
		}
	}
}

func TestRestoreRefusesDeltas(t *testing.T) {
	var deltas [][]byte
	journaledRun(t, func(delta []byte) error { deltas = append(deltas, delta); return nil }, func(*winnow.Manager, []winnow.Message, *winnow.Request) {})
	edit := func(delta []byte, name, value string) []byte {
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(delta, &fields))
		fields[name] = json.RawMessage(value)
		b, err := json.Marshal(fields)
		require.NoError(t, err)
		return b
	}
	first := deltas[0]
	for _, tt := range []struct {
		name   string
		deltas [][]byte
		reason string
	}{
		{"the first is missing", deltas[1:], "nobody knows what was sent before"},
		{"one is missing", slices.Concat(deltas[:3], deltas[4:6]), "what was sent would be another request"},
		{"cut off", [][]byte{first, deltas[1][:len(deltas[1])/2]}, "a line that was not written to its end"},
		{"empty", [][]byte{{}}, "a line without a delta"},
		{"a snapshot", [][]byte{[]byte(`{"winnow":1}`)}, "a state is not a delta"},
		{"no version", [][]byte{edit(first, "winnow", "0")}, "nobody knows what it is"},
		{"newer version", [][]byte{edit(first, "winnow", "2")}, "a newer program wrote it"},
		{"from behind the end", [][]byte{edit(first, "from", "1")}, "nothing was sent before"},
		{"from before the beginning", [][]byte{edit(first, "from", "-1")}, "there is no such message"},
		{"an empty key", [][]byte{edit(first, "sent", `[""]`)}, "likewise"},
		{"a bad key", [][]byte{edit(first, "sent", `["zz"]`)}, "a key that names no message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newManager(t, 24_000, nil)
			prepare(t, m, agentSession(3, 400))
			before := snapshotOf(t, m)
			require.Error(t, m.Restore(nil, tt.deltas...), tt.reason)
			require.Equal(t, before, snapshotOf(t, m), "the manager changed")
		})
	}
	m := newManager(t, 24_000, nil)
	require.NoError(t, m.Restore(nil, deltas[0], deltas[0], deltas[1], deltas[0]), "what is there already is skipped")
}

// Whatever stands in a delta, Restore takes it or refuses it, and the manager works on.
func FuzzRestoreDeltas(f *testing.F) {
	var deltas [][]byte
	journaledRun(f, func(delta []byte) error { deltas = append(deltas, delta); return nil }, func(*winnow.Manager, []winnow.Message, *winnow.Request) {})
	for _, d := range deltas[:2] {
		f.Add([]byte(""), d)
	}
	f.Add([]byte(`{"winnow":1,"deltas":7}`), deltas[7])
	h := agentSession(3, 400)
	f.Fuzz(func(t *testing.T, state, delta []byte) {
		m := newManager(t, 24_000, &winnow.Options{Estimator: byChars})
		before := snapshotOf(t, m)
		if m.Restore(state, delta) != nil {
			require.Equal(t, before, snapshotOf(t, m), "refused, and changed all the same")
			return
		}
		if r, err := m.Prepare(t.Context(), h); err == nil {
			require.NoError(t, validateRequest(r.Messages))
		}
	})
}

// A host that is killed goes on from its journal: what was sent is sent with the same bytes, and costs what a cached
// prompt costs.
func ExampleJournal() {
	var log [][]byte // a file
	options := &winnow.Options{Journal: func(delta []byte) error {
		log = append(log, delta)
		return nil
	}}
	m, _ := winnow.New(200_000, options)
	history := []winnow.Message{user("Fix the typo in the README."), assistant("Fixed."), user("Now the one in the docs.")}
	for n := 1; n <= len(history); n += 2 {
		if _, err := m.Prepare(context.Background(), history[:n]); err != nil {
			fmt.Println(err)
		}
	}

	again, _ := winnow.New(200_000, options) // in another process
	if err := again.Restore(nil, log...); err != nil {
		fmt.Println(err)
	}
	r, _ := again.Prepare(context.Background(), history)
	fmt.Println(len(log), "deltas; the first message that differs from what was sent:", r.FirstChanged)
	// Output: 3 deltas; the first message that differs from what was sent: 3
}

// BenchmarkJournal is what a journal adds to a request that goes on from the last one.
func BenchmarkJournal(b *testing.B) {
	for _, n := range []int{200, 20_000} {
		for _, journal := range []struct {
			name  string
			write winnow.Journal
		}{{"without", nil}, {"with", func([]byte) error { return nil }}} {
			b.Run(journal.name+"/"+itoa(n), func(b *testing.B) {
				m := newManager(b, 1_000_000_000, &winnow.Options{Journal: journal.write})
				grown := append(make([]winnow.Message, 0, n+1_000_000), transcript(n, clean)...)
				prepare(b, m, grown)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					grown = append(grown, userSays("go on with "+itoa(i)))
					prepare(b, m, grown)
				}
			})
		}
	}
}
