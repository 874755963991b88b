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

// growingSession is a conversation of the given number of turns whose results grow: an agent that reads files, some of them
// again, writes them and runs commands, some of which fail.
func growingSession(d dice, turns int) []winnow.Message {
	var h []winnow.Message
	calls := 0
	step := func(size int) {
		var m winnow.Message
		m.Role = winnow.RoleAssistant
		if d.IntN(3) == 0 {
			m.Parts = append(m.Parts, thinkPart("what next? "+itoa(calls), []string{"", "sig" + itoa(calls)}[d.IntN(2)]))
		}
		if d.IntN(3) == 0 {
			m.Parts = append(m.Parts, textPart("next: step_"+itoa(calls)))
		}
		first := calls
		for range 1 + d.IntN(4)/3 {
			p := callPart("call_"+itoa(calls), []string{"read", "exec", "write"}[d.IntN(3)])
			calls++
			file := "dir/file_" + itoa(d.IntN(12)) + ".go"
			p.Arguments = []byte(`{"path":"` + file + `"}`)
			if p.Name == "write" {
				p.Arguments = []byte(`{"path":"` + file + `","content":"` + strings.Repeat(`line of name_`+itoa(calls)+`\n`, d.IntN(1+size/8)) + `"}`)
			}
			m.Parts = append(m.Parts, p)
		}
		h = append(h, m)
		for _, p := range m.Parts[len(m.Parts)-(calls-first):] {
			text := "result of " + p.ID + "\n" + asciiText[calls*37%10_000:][:d.IntN(1+size)] + "\nsee name_" + itoa(calls) + "\nexit status 0\n"
			r := toolSays(p.ID, text)
			r.ToolName, r.IsError = p.Name, d.IntN(9) == 0
			h = append(h, r)
		}
	}
	for i := range turns {
		m := userSays("request " + itoa(i) + ": go on with task_" + itoa(i))
		m.Pinned = d.IntN(40) == 0
		h = append(h, m)
		for range d.IntN(4) {
			step(200 + 10*i)
		}
		h = append(h, modelSays("done with task_"+itoa(i)))
	}
	return named(h)
}

// Whichever way a request is made, it is the same: by a manager that goes on from its last request, by one that takes
// each history as a new one, by one that was saved and restored; and Plan says so before. Between epochs each is a prefix
// of the next, and FirstChanged says where it is not.
func TestRequestsAgree(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		window  int
		options winnow.Options
	}{
		{"roomy", 2_000_000, winnow.Options{}},
		{"no cache", 2_000_000, winnow.Options{Cache: &winnow.CacheOptions{None: true}}},
		{"dropped thinking", 2_000_000, winnow.Options{Thinking: winnow.ThinkingDropped, Cache: &winnow.CacheOptions{ReadPrice: 0.5, WritePrice: 1}}},
		{"bound thinking", 10_000, winnow.Options{Thinking: winnow.ThinkingBound, Compact: &winnow.CompactOptions{Off: true}}},
		{"narrow", 16_000, winnow.Options{}},
		{"narrow, no compaction", 12_000, winnow.Options{Compact: &winnow.CompactOptions{Off: true}, HistoryTurns: 20}},
		{"cut", 2_000_000, winnow.Options{Truncate: &winnow.TruncateOptions{MaxChars: 1_500, MinKeepChars: 500}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := seeded(uint64(len(tt.name)))
			turns := 70
			if tt.name == "roomy" && *winnow.Times > 1 { // there is an epoch behind the first quarter
				turns = 200
			}
			h := growingSession(d, turns)
			c := newClock()
			tt.options.FoldAbove, tt.options.Estimator, tt.options.Now = -1, winnow.CharsPerToken(4), c.Now
			short, copied, long := newManager(t, tt.window, &tt.options), newManager(t, tt.window, &tt.options), newManager(t, tt.window, &tt.options)
			check := requestCheck{estimator: winnow.CharsPerToken(4)}
			var last []winnow.Message
			requests, epochs := 0, 0
			steps(h, func(in []winnow.Message) {
				plan := short.Plan(in)
				r := prepare(t, short, in)
				if !plan.NeedsCompaction {
					sameRequest(t, plan, r, "Plan", len(in))
				}
				sameRequest(t, prepare(t, copied, deepCopy(in)), r, "of a copy", len(in))

				state, err := long.Snapshot()
				require.NoError(t, err)
				if requests%7 == 0 { // in another process
					long = newManager(t, tt.window, &tt.options)
				}
				require.NoError(t, long.Restore(state))
				sameRequest(t, prepare(t, long, in), r, "restored", len(in))

				at := firstDifference(last, r.Messages)
				require.Equal(t, at, r.FirstChanged, "request %d", requests)
				if at < len(last) {
					epochs++
				}
				if requests%11 == 0 {
					check.check(t, in, r)
				}
				last = append([]winnow.Message(nil), r.Messages...)
				requests++
				c.pass(time.Duration(d.IntN(60)) * time.Second)
				if d.IntN(50) == 0 {
					c.pass(time.Hour)
				}
			})
			t.Logf("%d requests, %d epochs", requests, epochs)
			assert.Positive(t, epochs)
		})
	}
}

// sameRequest compares all but what the host put into messages: after a restore it is found again where it can be.
func sameRequest(t *testing.T, want, got *winnow.Request, note string, at int) {
	t.Helper()
	sameWire(t, want.Messages, got.Messages, "%s at %d", note, at)
	sameWire(t, want.History, got.History, "%s at %d: History", note, at)
	require.True(t, slices.Equal(want.Edits, got.Edits), "%s at %d: Edits", note, at)
	x, y := *want, *got
	for _, r := range []*winnow.Request{&x, &y} {
		r.Messages, r.History, r.Edits, r.Compaction = nil, nil, nil, nil
	}
	require.Equal(t, x, y, "%s at %d", note, at)
	require.Equal(t, want.Compaction, got.Compaction, "%s at %d", note, at)
}
