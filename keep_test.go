package winnow_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// shortened reports whether a result of r holds less than in h.
func shortened(r *winnow.Request, h []winnow.Message) bool {
	whole := 0
	for _, m := range h {
		whole += byChars.Estimate(m)
	}
	sent := 0
	for _, m := range r.Messages {
		sent += byChars.Estimate(m)
	}
	return sent < whole
}

// What each policy leaves out: nothing that fits, results, steps. What does not fit is made to fit by all of them.
func TestKeep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keep    winnow.KeepPolicy
		prune   *winnow.PruneOptions
		turns   int
		dropped []winnow.Op
	}{
		{"", nil, 30, []winnow.Op{winnow.OpFold}},
		{winnow.KeepWork, nil, 30, []winnow.Op{winnow.OpFold}},
		{winnow.KeepLittle, nil, 30, []winnow.Op{winnow.OpFold}},
		{winnow.KeepCalls, nil, 30, []winnow.Op{winnow.OpClear}},
		{winnow.KeepAll, nil, 30, nil},
		{winnow.KeepAll, &winnow.PruneOptions{SoftTrimRatio: 0.01, HardClearRatio: 0.01, MinPrunableToolChars: 1}, 9, nil},
		{winnow.KeepAll, nil, 70, []winnow.Op{winnow.OpFold}},
		{winnow.KeepCalls, nil, 70, []winnow.Op{winnow.OpClear}},
	} {
		c := newClock()
		m := newManager(t, 100_000, &winnow.Options{Estimator: byChars, Now: c.Now, Keep: tt.keep, Prune: tt.prune, Reserve: 1, Compact: &winnow.CompactOptions{Off: true}})
		h := agentSession(tt.turns, 4_000)
		var dropped []winnow.Op
		steps(h, func(in []winnow.Message) {
			for _, e := range prepare(t, m, in).Edits {
				if !slices.Contains(dropped, e.Op) {
					dropped = append(dropped, e.Op)
				}
			}
			if c.pass(time.Second); len(in)%8 == 0 {
				c.pass(time.Hour)
			}
		})
		assert.Equal(t, tt.dropped, dropped, "%q, %d turns", tt.keep, tt.turns)
	}
	_, err := winnow.New(1_000, &winnow.Options{Keep: "some"})
	assert.ErrorContains(t, err, "Keep")
}

// Files that are worked on stay whole in the turn of the work, and go in the next one.
func TestFilesInWork(t *testing.T) {
	t.Parallel()
	h := runs(40)
	call := func(step int, tool, arguments string) {
		h[2*step+1].Parts[1].Name, h[2*step+2].ToolName = tool, tool
		h[2*step+1].Parts[1].Arguments = json.RawMessage(arguments)
	}
	call(20, "read", `{"path":"src/old.go"}`) // too long ago
	call(26, "read", `{"path":"src/plan.go"}`)
	call(27, "read", `{"path":"src/done.go"}`)
	call(28, "edit", `{"path":"src/done.go","old":"a","new":"b"}`) // the work on this one is over
	call(29, "read", `{"path":"src/main.go"}`)                     // the third newest read of it
	call(30, "read", `{"path":"/repo/src/main.go"}`)
	call(31, "edit", `{"path":"src/main.go","old":"a","new":"b"}`)
	call(32, "exec", `{"command":"sed -n 1,20p src/main.go | head"}`)
	call(37, "edit", `{"path":"src/main.go","old":"b","new":"c"}`)
	for _, tt := range []struct {
		name  string
		keep  winnow.KeepPolicy
		more  []winnow.Message
		stays []int
	}{
		{"in the turn", winnow.KeepWork, nil, []int{26, 30, 32}},
		{"in the next turn", winnow.KeepWork, []winnow.Message{modelSays("Done."), userSays("And now?")}, nil},
		{"where little is kept", winnow.KeepLittle, nil, nil},
	} {
		in := named(append(slices.Clone(h), tt.more...))
		m := newManager(t, 1_000_000, &winnow.Options{Keep: tt.keep, Estimator: byChars, Cache: &winnow.CacheOptions{None: true}})
		r := prepare(t, m, in)
		var stays []int
		for step := range 36 {
			if holds(r, &in[2*step+2]) {
				stays = append(stays, step)
			}
		}
		assert.Equal(t, tt.stays, stays, tt.name)
		requestCheck{estimator: byChars}.check(t, in, r)
	}
}

// While the prompt cache is warm, files that were read in a turn that changed files stay whole in the next turn as well,
// because the work often goes on there.
func TestFilesOfTheTurnBefore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		tool  string // of a step of the turn before
		pause time.Duration
		stays bool // the file that was read in it, once the steps around it are folded
	}{
		{"the turn has changed a file", "edit", 0, true},
		{"it has changed none", "exec", 0, false},
		{"the prompt cache has expired", "edit", time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := runs(40)
			call := func(step int, tool, path string) {
				h[2*step+1].Parts[1].Name, h[2*step+2].ToolName = tool, tool
				h[2*step+1].Parts[1].Arguments = json.RawMessage(`{"path":"` + path + `"}`)
			}
			const changed, read = 8, 18
			call(changed, tt.tool, "src/done.go")
			call(read, "read", "src/plan.go")
			h = named(slices.Insert(h, 2*20+1, modelSays("Done."), userSays("And now?")))
			clock := newClock()
			m := newManager(t, 1_000_000, &winnow.Options{Estimator: byChars, Now: clock.Now, Minify: &winnow.MinifyOptions{Off: true}})
			for n := 1; ; n++ {
				require.Less(t, n, len(h), "nothing was folded in the new turn")
				if h[n-1].Role == winnow.RoleAssistant {
					continue
				}
				clock.pass(time.Second)
				if n == 2*20+3 {
					clock.pass(tt.pause)
				}
				r := prepare(t, m, h[:n])
				if n > 2*20+3 && !holds(r, &h[2*(read-1)+2]) {
					assert.Equal(t, tt.stays, holds(r, &h[2*read+2]))
					return
				}
			}
		})
	}
}

// What Keep holds is not trimmed while the request fits, also where every request is written anew; a host that asks for
// trims gets them.
func TestColdRequestIsNotTrimmed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		keep  winnow.KeepPolicy
		prune *winnow.PruneOptions
		trims bool
	}{
		{"files in work are held", winnow.KeepWork, nil, false},
		{"the newest steps are whole", winnow.KeepLittle, nil, false},
		{"all is kept", winnow.KeepAll, nil, false},
		{"nothing is held", winnow.KeepCalls, nil, true},
		{"the host asks for it", winnow.KeepWork, &winnow.PruneOptions{SoftTrimRatio: 0.3}, true},
		{"all is kept, whatever else the host says", winnow.KeepAll, &winnow.PruneOptions{SoftTrimRatio: 0.3}, false},
	} {
		h := []winnow.Message{userSays("Mend it.")}
		for i := range 4 {
			id, path := "c"+itoa(i), `{"path":"src/file`+itoa(i)+`.go"}`
			h = append(h, call(id, "read", path), result(id, "read", strings.Repeat("a line of the file\n", 500)))
		}
		o := winnow.Options{
			Keep: tt.keep, Prune: tt.prune, Estimator: byChars, Cache: &winnow.CacheOptions{None: true},
			Minify: &winnow.MinifyOptions{Off: true},
		}
		r := prepare(t, newManager(t, 24_000, &o), named(h))
		trimmed := slices.ContainsFunc(r.Edits, func(e winnow.Edit) bool { return e.Op == winnow.OpTrim })
		assert.Equal(t, tt.trims, trimmed, "%s %v", tt.name, r.Edits)
	}
}

// A step whose call was made again is carried longer the next time: what it said was missed.
func TestMissedOnce(t *testing.T) {
	t.Parallel()
	h := runs(32)
	for _, step := range []int{2, 22} {
		h[2*step+1].Parts[1].Arguments = json.RawMessage(`{"command":"git log"}`)
	}
	m := folding(t, winnow.Options{})
	require.False(t, holds(prepare(t, m, h[:1+2*20]), &h[2*2+2]), "it is folded")
	r := prepare(t, m, h[:1+2*28])
	assert.True(t, holds(r, &h[2*22+2]), "it is carried by eight requests")
	assert.False(t, holds(r, &h[2*23+2]), "as others are by four")
	assert.False(t, holds(prepare(t, m, h), &h[2*22+2]), "and no longer")
}

// A user who finds that little of the history is sent finds the reason and the option in the log, in one line.
func TestDropIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	c := newClock()
	h := agentSession(40, 6_000)
	m := newManager(t, 200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, Logger: logger})
	require.True(t, shortened(prepare(t, m, h), h))
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("\n")), log.String())
	assert.Contains(t, log.String(), `reason="nothing is in the prompt cache"`)
	assert.Contains(t, log.String(), "Keep")
	assert.Contains(t, log.String(), "tokens_whole=")

	log.Reset()
	h = append(h, agentSession(20, 6_000)...)
	steps(h[160:], func(in []winnow.Message) { prepare(t, m, h[:160+len(in)]) })
	assert.Contains(t, log.String(), `reason="carrying it further costs more than writing the cache again"`)

	log.Reset()
	whole := newManager(t, 1_000_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now, Logger: logger, Keep: winnow.KeepAll})
	require.False(t, shortened(prepare(t, whole, h), h))
	assert.Empty(t, log.String(), "nothing is dropped")
}
