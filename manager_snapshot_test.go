package winnow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Snapshot and Restore: a conversation goes on in another process as if nothing had happened.

// wornManager returns a manager with everything that a snapshot can hold (a checkpoint, edits, a turn that
// the limit begins at), its options and the history so far.
func wornManager(t testing.TB) (*winnow.Manager, func() *winnow.Options, []winnow.Message) {
	c := newClock()
	options := func() *winnow.Options {
		return &winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nfine so far"), Now: c.Now, HistoryTurns: 12}
	}
	m := newManager(t, 24_000, options())
	h := named(append(inPlace(agentSession(20, 3_000)), chat(40, 1_000)...))
	for n := 8; n <= len(h)-8; n += 8 {
		prepare(t, m, h[:n])
		c.pass(time.Duration(n%3) * 3 * time.Minute)
		if n == 120 {
			compact(t, m, h[:n])
		}
	}
	state := snapshotOf(t, m)
	for _, field := range []string{`"sent"`, `"sentAt"`, `"edits"`, `"checkpoint"`, `"turnStart"`} {
		require.True(t, strings.Contains(state, field), "no %s", field)
	}
	return m, options, h
}

func TestManagerRestoreRefuses(t *testing.T) {
	good := func() string { m, _, _ := wornManager(t); return snapshotOf(t, m) }()
	edit := func(f func(fields map[string]json.RawMessage)) string {
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(good), &fields))
		f(fields)
		b, err := json.Marshal(fields)
		require.NoError(t, err)
		return string(b)
	}
	set := func(name, value string) string {
		return edit(func(fields map[string]json.RawMessage) { fields[name] = json.RawMessage(value) })
	}
	for _, tt := range []struct{ name, state, reason string }{
		{"nothing", "", "an empty file"},
		{"null", "null", "a field that was never written"},
		{"other JSON", `{"name":"winnow","version":"1.2.3"}`, "a file of something else"},
		{"messages", `[{"role":"user","parts":[]}]`, "a transcript is not a state"},
		{"text", "winnow 1", "it is not JSON"},
		{"no version", edit(func(fields map[string]json.RawMessage) { delete(fields, "winnow") }), "nobody knows what it is"},
		{"older version", set("winnow", "0"), "there was none"},
		{"newer version", set("winnow", "2"), "a newer program wrote it"},
		{"version that is not a number", set("winnow", `"1"`), "it is not a version"},
		{"a short key", set("sent", `["00ff"]`), "a key that names no message"},
		{"a long key", set("sent", `["`+strings.Repeat("0", 34)+`"]`), "a key that names no message"},
		{"a key of other letters", set("sent", `["`+strings.Repeat("z", 32)+`"]`), "a key that names no message"},
		{"edits of an odd key", set("edits", `{"x":{}}`), "an edit of no message"},
		{"a checkpoint of an odd key", set("checkpoint", `{"firstKept":{"key":"12"}}`), "a summary that stands before no message"},
		{"a malformed time", set("sentAt", `"yesterday"`), "when a request was sent decides what is pruned"},
		{"something behind it", good + "{}", "two files in one"},
	} {
		t.Run(tt.name, func(t *testing.T) { requireRefused(t, tt.state, tt.reason) })
	}
	for n := 0; n < len(good); n += 1 + len(good)/200 {
		requireRefused(t, good[:n], "a file that was not written to its end")
	}
	m := newManager(t, 24_000, nil)
	require.NoError(t, m.Restore([]byte(set("fromTheFuture", `{"a":[1,2,3]}`))), "fields that are not known are ignored")
	require.Equal(t, good, snapshotOf(t, m))
	require.NoError(t, m.Restore([]byte(" \n"+good+"\n")), "white space around it says nothing")
}

// requireRefused: the error is not a panic, and the manager is as it was.
func requireRefused(t *testing.T, state, reason string, deltas ...[]byte) {
	t.Helper()
	m := newManager(t, 24_000, nil)
	prepare(t, m, agentSession(3, 400))
	before := snapshotOf(t, m)
	require.Error(t, m.Restore([]byte(state), deltas...), reason)
	require.Equal(t, before, snapshotOf(t, m), "%s: the manager changed", reason)
}

// Whatever Restore takes, of states and deltas, the manager works on: it gives requests that fit, or says that they do not, and
// what it saves can be restored.
func FuzzManagerRestore(f *testing.F) {
	m, _, h := wornManager(f)
	f.Add([]byte(snapshotOf(f, m)), []byte(nil))
	f.Add([]byte(snapshotOf(f, newManager(f, 8_000, nil))), []byte(nil))
	f.Add([]byte(`{"winnow":1,"tokens":-5,"sentAt":"0001-01-01T00:00:00Z","turnStart":{"key":"`+strings.Repeat("0", 32)+`","index":-9}}`), []byte(nil))
	f.Add([]byte(`{"winnow":1,"edits":{"`+strings.Repeat("a", 32)+`":{"message":{"role":"tool"},"tokens":9223372036854775807,"op":"clear"}}}`), []byte(nil))
	f.Add([]byte(`{"winnow":1,"checkpoint":{"text":"eA==","firstKept":{"key":"`+strings.Repeat("1", 32)+`","index":2},"carried":{"failures":[{}],"more":-1}}}`), []byte(nil))
	var written [][]byte
	journaledRun(f, &written, func(*winnow.Manager, []winnow.Message, *winnow.Request) {})
	f.Add([]byte(""), written[0])
	f.Add([]byte(""), written[1])
	f.Add([]byte(`{"winnow":1,"deltas":7}`), written[7])
	h = h[len(h)-30:]
	f.Fuzz(func(t *testing.T, state, delta []byte) {
		m := newManager(t, 24_000, &winnow.Options{Estimator: byChars})
		before := snapshotOf(t, m)
		var deltas [][]byte
		if len(delta) > 0 {
			deltas = append(deltas, delta)
		}
		if m.Restore(state, deltas...) != nil {
			require.Equal(t, before, snapshotOf(t, m), "refused, and changed all the same")
			return
		}
		once := snapshotOf(t, m)
		again := newManager(t, 24_000, nil)
		require.NoError(t, again.Restore([]byte(once)), "what was saved can be restored")
		require.Equal(t, once, snapshotOf(t, again))
		m.Plan(h)
		r, err := m.Prepare(t.Context(), h)
		if err != nil {
			require.True(t, errors.Is(err, winnow.ErrOverflow), "%v", err)
			return
		}
		require.LessOrEqual(t, r.Tokens, r.Budget)
		require.NoError(t, validateRequest(r.Messages))
		_, err = m.Compact(t.Context(), h, "")
		if err != nil {
			require.ErrorIs(t, err, winnow.ErrCompaction)
		}
	})
}

// A snapshot whose records are damaged is refused.
func TestRestoreRefusesDamagedRecords(t *testing.T) {
	t.Parallel()
	m := folding(t, winnow.Options{})
	prepare(t, m, runs(12))
	state := snapshotOf(t, m)
	require.Contains(t, state, `"records":[{`)
	for _, damage := range [][2]string{
		{`"count":`, `"count":-`}, {`"text":"`, `"text":"AAAA`}, {`"run":"`, `"run":"x`}, {`"last":"`, `"last":"x`},
	} {
		at := strings.Index(state, `"records"`)
		damaged := state[:at] + strings.Replace(state[at:], damage[0], damage[1], 1)
		require.NotEqual(t, state, damaged)
		assert.Error(t, folding(t, winnow.Options{}).Restore([]byte(damaged)), damage[1])
	}
}

// A host can go on with fewer tools, in a smaller window or in the same, and after two restarts without a request between
// them: counts of its old process are no reason for an error, because only an answer to a new request could correct
// them. A process that goes on knows its tools, and believes the count.
func TestRestoredWithFewerTools(t *testing.T) {
	t.Parallel()
	const tools = 60_000
	for _, tt := range []struct {
		name     string
		window   int
		answered bool // the old process knew the count, or it is first seen in the restored history
		more     int  // tokens of the next request
	}{{"known", 32_000, true, 0}, {"in the history", 32_000, false, 0}, {"the same window", 200_000, true, 130_000}} {
		options := winnow.Options{Estimator: byChars, Compact: &winnow.CompactOptions{Off: true}}
		m := newManager(t, 200_000, &options)
		h := list(user("Begin."))
		prepare(t, m, h)
		h = append(h, billed(modelSays("Yes."), winnow.Usage{Input: tools + 10}), user("And then? "+of(4*tt.more)))
		if tt.answered {
			prepare(t, m, h[:2])
		}
		state := snapshotOf(t, m)
		if tt.window == 200_000 {
			_, err := m.Prepare(t.Context(), h)
			require.ErrorIs(t, err, winnow.ErrOverflow, tt.name)
		}
		for range 2 {
			restored := restarted(t, tt.window, &options, state)
			state = snapshotOf(t, restored)
			plan := restored.Plan(h)
			r := prepare(t, restored, h)
			assert.InDelta(t, tt.more, r.Tokens, 1_000, tt.name)
			assert.Equal(t, r.Tokens, plan.Tokens, "%s: as planned", tt.name)
			on := append(slices.Clip(h), billed(modelSays("Yes."), winnow.Usage{Input: 500 + r.Tokens}), user("And now?"))
			assert.InDelta(t, 500+tt.more, prepare(t, restored, on).Tokens, 100, "%s: the new count holds", tt.name)
		}
		// What does not fit without such counts either is an error as before, and the counts are still believed.
		restored := restarted(t, tt.window, &options, state)
		_, err := restored.Prepare(t.Context(), append(h[:2:2], user(of(4*tt.window))))
		require.ErrorIs(t, err, winnow.ErrOverflow, tt.name)
		assert.Equal(t, state, snapshotOf(t, restored), tt.name)
	}
}

// A process that is restarted while the summarizer is down does not ask it more often than one that goes on, and asks for
// a summary of the same size. For another model it asks.
func TestRestoredInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		const window = 20_000
		down := fails(errDown)
		clock := newClock()
		options := func(s winnow.Summarizer) *winnow.Options {
			return &winnow.Options{Summarizer: s, Estimator: byChars, Now: clock.Now, Tools: keepAll}
		}
		m := newManager(t, window, options(down))
		opened, rooms := 0, 0
		log := chat(160, 1_000)
		for n := 2; n < len(log); n += 2 {
			state := []byte(snapshotOf(t, m))
			before, again, other := down.count(), fails(errDown), fails(errDown)
			restored, another := newManager(t, window, options(again)), newManager(t, window-500, options(other))
			require.NoError(t, restored.Restore(state))
			require.NoError(t, another.Restore(state))
			want := prepare(t, m, log[:n])
			got := prepare(t, restored, log[:n])
			prepare(t, another, log[:n])
			require.Equal(t, down.count()-before, again.count(), "calls for request %d", n)
			require.Equal(t, want, got, "request %d", n)
			for k, req := range again.calls {
				require.Equal(t, down.calls[before+k].MaxTokens, req.MaxTokens, "request %d", n)
				rooms++
			}
			if again.count() == 0 && other.count() > 0 {
				opened++
			}
		}
		assert.Greater(t, rooms, 2)
		assert.Positive(t, opened, "the breaker was open, and closed for another window")
	})
}

// The journal: a conversation goes on from what was written down, wherever it was interrupted.

// journaledRun plays a conversation in which all happens that a journal has to hold: edits, pauses, summaries, refusals
// with and without numbers, a turn limit, a rewind. step is called after each request, whose delta is appended to deltas.
func journaledRun(t testing.TB, deltas *[][]byte, step func(m *winnow.Manager, h []winnow.Message, r *winnow.Request)) func() *winnow.Options {
	c := newClock()
	options := func() *winnow.Options {
		journal := func(delta []byte) error { *deltas = append(*deltas, delta); return nil }
		return &winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nfine so far"), Now: c.Now, HistoryTurns: 4, Journal: journal, Compact: &winnow.CompactOptions{KeepRecent: 500}}
	}
	m := newManager(t, 24_000, options())
	h := named(append(inPlace(agentSession(20, 3_000)), chat(40, 1_000)...))
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
			r := compact(t, m, grown)
			step(m, grown, r)
		case 100:
			step(m, h[:70], prepare(t, m, h[:70]))
		}
		if n > 120 && n < 128 { // single messages
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
	states := []string{""}
	options := journaledRun(t, &deltas, func(m *winnow.Manager, h []winnow.Message, r *winnow.Request) {
		calls := len(states)
		require.Len(t, deltas, calls, "one delta a request")
		require.NotContains(t, string(deltas[calls-1]), "\n", "one line")
		state := snapshotOf(t, m)
		states = append(states, state)
		for _, from := range []int{0, calls / 2, calls - 1} {
			other := restarted(t, 24_000, nil, states[from], deltas...)
			require.JSONEq(t, state, snapshotOf(t, other), "from the state after %d of %d requests", from, calls)
		}
	})
	require.Greater(t, len(states), 40)
	for _, field := range []string{"sent", "sentAt", "edits", "checkpoint", "turnStart", "attempt", "gone"} {
		assert.Contains(t, string(bytes.Join(deltas, nil)), `"`+field+`"`, "a run without it shows little")
	}
	other := restarted(t, 24_000, options(), "", deltas...)
	prepare(t, other, append(agentSession(20, 3_000), chat(40, 1_000)...))
	require.Len(t, deltas, len(states), "a manager that was restored goes on with the journal")
	require.JSONEq(t, snapshotOf(t, other), snapshotOf(t, restarted(t, 24_000, nil, "", deltas...)))
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

// unnumbered returns a snapshot without the number of its delta: that of a delta that failed is not used again.
func unnumbered(snapshot string) string {
	return regexp.MustCompile(`,?"deltas":\d+`).ReplaceAllString(snapshot, "")
}

// A journal that fails costs the call and nothing else: the next one goes on as if it had not been made. So it is for a
// host that recovers from a panic of its own journal. What it was given is there then, or it is not: both can be read.
func TestJournalFails(t *testing.T) {
	full := errors.New("no space left on device")
	for _, how := range []struct{ panics, isWritten bool }{{}, {panics: true}, {isWritten: true}, {true, true}} {
		panics := how.panics
		c := newClock()
		fails := false
		var log [][]byte
		o := winnow.Options{Estimator: byChars, Summarizer: says("## Goal\nfine so far"), Now: c.Now, HistoryTurns: 12, Compact: &winnow.CompactOptions{KeepRecent: 500}}
		plain := o
		o.Journal = func(delta []byte) error {
			if !fails || how.isWritten {
				log = append(log, delta)
			}
			switch {
			case fails && panics:
				panic("out of memory")
			case fails:
				return full
			}
			return nil
		}
		want, m := newManager(t, 24_000, &plain), newManager(t, 24_000, &o)
		inVain := func(call func() (*winnow.Request, error)) {
			before := unnumbered(snapshotOf(t, m))
			fails = true
			if panics {
				assert.Panics(t, func() { _, _ = call() })
			} else {
				_, err := call()
				require.ErrorIs(t, err, full)
			}
			fails = false
			require.JSONEq(t, before, unnumbered(snapshotOf(t, m)), "the manager is as it was")
		}
		h := append(agentSession(20, 3_000), chat(40, 1_000)...)
		for n := 1; n <= len(h); n++ {
			if n%7 == 0 {
				c.pass(6 * time.Minute)
			}
			expected := prepare(t, want, h[:n])
			inVain(func() (*winnow.Request, error) { return m.Prepare(t.Context(), h[:n]) })
			r := prepare(t, m, h[:n])
			sameMessages(t, expected.Messages, r.Messages, fmt.Sprint("the request at ", n))
			require.Equal(t, expected.FirstChanged, r.FirstChanged)
			if n%10 == 0 {
				require.JSONEq(t, snapshotOf(t, m), snapshotOf(t, restarted(t, 24_000, nil, "", log...)), "at %d", n)
			}
		}
		inVain(func() (*winnow.Request, error) { return m.Compact(t.Context(), append(h, chat(10, 2_000)...), "") })
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
			before := unnumbered(snapshotOf(t, m))
			for fails = true; fails && wantErr == nil; fails = false {
				for range 5 {
					_, err := m.Recover(t.Context(), h, errors.New(cause))
					require.ErrorIs(t, err, full)
					require.JSONEq(t, before, unnumbered(snapshotOf(t, m)), "%s: refusal %d", cause, k)
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
	journaledRun(t, &deltas, func(*winnow.Manager, []winnow.Message, *winnow.Request) {})
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
			requireRefused(t, "", tt.reason, tt.deltas...)
		})
	}
	m := newManager(t, 24_000, nil)
	require.NoError(t, m.Restore(nil, deltas[0], deltas[0], deltas[1], deltas[0]), "what is there already is skipped")
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
