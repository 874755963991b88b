package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
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
	h := append(inPlace(agentSession(20, 3_000)), chat(40, 1_000)...)
	for i := range h {
		h[i].ID, h[i].Source = nameOf(i), nil
	}
	for n := 8; n <= len(h)-8; n += 8 {
		prepare(t, m, h[:n])
		c.pass(time.Duration(n%3) * 3 * time.Minute)
		if n == 120 {
			_, err := m.Compact(context.Background(), h[:n], "")
			require.NoError(t, err)
		}
	}
	state := snapshotOf(t, m)
	for _, field := range []string{`"sent"`, `"sentAt"`, `"edits"`, `"checkpoint"`, `"turnStart"`} {
		require.True(t, strings.Contains(state, field), "no %s", field)
	}
	return m, options, h
}

func TestManagerSnapshotGoesOn(t *testing.T) {
	m, options, h := wornManager(t)
	state := snapshotOf(t, m)
	other := newManager(t, 24_000, options())
	require.NoError(t, other.Restore([]byte(state)))
	require.Equal(t, state, snapshotOf(t, other), "what was restored is what was saved")
	for n := len(h) - 8; n <= len(h); n++ {
		require.Equal(t, m.Plan(h[:n]), other.Plan(h[:n]))
		want, err := m.Prepare(t.Context(), h[:n])
		require.NoError(t, err)
		got := prepare(t, other, h[:n])
		sameMessages(t, want.Messages, got.Messages, "the request at "+itoa(n))
		require.Equal(t, want, got)
	}
	require.Equal(t, snapshotOf(t, m), snapshotOf(t, other))
}

func TestManagerSnapshotOfNothing(t *testing.T) {
	state := snapshotOf(t, newManager(t, 24_000, nil))
	m, _, h := wornManager(t)
	require.NoError(t, m.Restore([]byte(state)), "the state of a manager that has sent nothing")
	require.Equal(t, state, snapshotOf(t, m), "what was there before is gone")
	_, err := m.Prepare(t.Context(), h[:4])
	require.NoError(t, err)
}

// The texts of the conversation are the host's: a snapshot holds those of edits and of the summary alone.
func TestManagerSnapshotHoldsNoHistory(t *testing.T) {
	m := newManager(t, 200_000, &winnow.Options{Tools: &winnow.ToolOptions{Keep: []string{"*"}}})
	h := agentSession(50, 2_000)
	prepare(t, m, h)
	state := snapshotOf(t, m)
	assert.Less(t, len(state), 60*len(h), "some bytes a message")
	assert.NotContains(t, state, "mark")
}

// Bytes that are not text come back as they were: the prefix that was sent is the same after a restart.
func TestManagerSnapshotKeepsBytes(t *testing.T) {
	odd := strings.Repeat("line \xff\xfe of \u2028 \x00 <b> \ud7ff output\n", 2_000)
	h := list(userSays("show\xff"), modelCalls("a", "b\xff"), toolSays("a", odd), toolSays("b\xff", odd), modelSays("done"), userSays("and?"))
	o := &winnow.Options{Now: newClock().Now}
	m := newManager(t, 16_000, o)
	want := prepare(t, m, h)
	require.NotEmpty(t, want.Edits)
	other := newManager(t, 16_000, o)
	require.NoError(t, other.Restore([]byte(snapshotOf(t, m))))
	got := prepare(t, other, h)
	sameWire(t, want.Messages, got.Messages, "after a restart")
	require.Equal(t, len(want.Messages), got.FirstChanged)
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
		t.Run(tt.name, func(t *testing.T) {
			requireRefused(t, tt.state, tt.reason)
		})
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
func requireRefused(t *testing.T, state, reason string) {
	t.Helper()
	m := newManager(t, 24_000, nil)
	prepare(t, m, agentSession(3, 400))
	before := snapshotOf(t, m)
	require.Error(t, m.Restore([]byte(state)), reason)
	require.Equal(t, before, snapshotOf(t, m), "%s: the manager changed", reason)
}

// Whatever Restore takes, the manager works on: it gives requests that fit, or says that they do not, and
// what it saves can be restored.
func FuzzManagerRestore(f *testing.F) {
	m, _, h := wornManager(f)
	f.Add([]byte(snapshotOf(f, m)))
	f.Add([]byte(snapshotOf(f, newManager(f, 8_000, nil))))
	f.Add([]byte(`{"winnow":1,"tokens":-5,"sentAt":"0001-01-01T00:00:00Z","turnStart":{"key":"` + strings.Repeat("0", 32) + `","index":-9}}`))
	f.Add([]byte(`{"winnow":1,"edits":{"` + strings.Repeat("a", 32) + `":{"message":{"role":"tool"},"tokens":9223372036854775807,"op":"clear"}}}`))
	f.Add([]byte(`{"winnow":1,"checkpoint":{"text":"eA==","firstKept":{"key":"` + strings.Repeat("1", 32) + `","index":2},"carried":{"failures":[{}],"more":-1}}}`))
	h = h[len(h)-30:]
	f.Fuzz(func(t *testing.T, state []byte) {
		m := newManager(t, 24_000, &winnow.Options{Estimator: byChars})
		before := snapshotOf(t, m)
		if m.Restore(state) != nil {
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
		_, err = m.Compact(t.Context(), h, "")
		if err != nil {
			require.ErrorIs(t, err, winnow.ErrCompaction)
		}
	})
}

// Plan reads the edits of a snapshot by the manager's own estimator, and leaves the snapshot as it is.
func TestPlanLeavesARestoredSnapshot(t *testing.T) {
	h := inPlace(agentSession(30, 4_000))
	options := winnow.Options{Estimator: byChars, Compact: &winnow.CompactOptions{Off: true}}
	m := newManager(t, 20_000, &options)
	prepare(t, m, h)
	other := winnow.EstimatorFunc(func(m winnow.Message) int { return 7 + estimateAll(byChars, []winnow.Message{m}) })
	options.Estimator = other
	restored := newManager(t, 20_000, &options)
	require.NoError(t, restored.Restore([]byte(snapshotOf(t, m))))
	state := snapshotOf(t, restored)
	require.Contains(t, state, `"edits":{"`)
	restored.Plan(h)
	assert.Equal(t, state, snapshotOf(t, restored))
}
