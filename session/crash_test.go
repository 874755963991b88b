package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

var crashPrograms = flag.Int("crash.programs", 16, "random programs that the crash test runs, each with a crash after every file operation")

// stored is the content of a log.
type stored struct {
	log     string
	entries []string // the texts of the lines that count
	raw     []byte
	damage  []entry.Damage
}

func readStored(t testing.TB, fsys *sessiontest.CrashFS, store *session.Store, key string) (out stored) {
	return readStoredAfter(t, fsys, store, key, stored{})
}

// readStoredAfter is readStored. If the log begins with what is known of it, only the rest is decoded.
func readStoredAfter(
	t testing.TB, fsys *sessiontest.CrashFS, store *session.Store, key string, known stored,
) (out stored) {
	report, err := upkeep.Verify(context.Background(), store, key)
	if err != nil {
		require.ErrorIs(t, err, session.ErrNotFound)
		return out
	}
	out.log, out.damage = report.Log, report.Damage
	out.raw = readLog(t, fsys, key, out.log)
	isKnown := out.log == known.log && len(known.damage) == 0 && bytes.HasPrefix(out.raw, known.raw)
	if !isKnown || known.endsInBatch() {
		known = stored{}
	}
	rest, _, err := session.CountedLines(out.raw[len(known.raw):])
	require.NoError(t, err)
	out.entries = append(slices.Clip(known.entries), rest...)
	require.Len(t, out.entries, report.Entries)
	return out
}

var batchOf = regexp.MustCompile(`"batch":\[(\d+),(\d+)\]`)

// endsInBatch reports whether the last entry is not the last of its batch: dropVolatileEnd may drop what is behind it.
func (s *stored) endsInBatch() bool {
	if len(s.entries) == 0 {
		return false
	}
	place := batchOf.FindStringSubmatch(s.entries[len(s.entries)-1])
	return place != nil && place[1] != place[2]
}

// TestCrash loses power after every file operation of random programs, in every way that a disk may lose what was not
// synced.
func TestCrash(t *testing.T) {
	programs := *crashPrograms
	if testing.Short() {
		programs = min(programs, 4)
	}
	const shards = 8
	for shard := range shards {
		t.Run(fmt.Sprint("shard", shard), func(t *testing.T) {
			t.Parallel()
			var sum crashSum
			for seed := shard; seed < programs; seed += shards {
				crashProgram(t, uint64(seed), nil, &sum)
			}
			t.Log(sum)
		})
	}
}

// TestCrashSealed is the same with entries that are sealed, with a key that changes.
func TestCrashSealed(t *testing.T) {
	programs := *crashPrograms / 8
	if testing.Short() {
		programs = min(programs, 2)
	}
	for shard := range 4 {
		t.Run(fmt.Sprint("shard", shard), func(t *testing.T) {
			t.Parallel()
			var sum crashSum
			for seed := shard; seed < programs; seed += 4 {
				crashProgram(t, uint64(1000+seed), changingKeys(), &sum)
			}
			t.Log(sum)
		})
	}
}

func crashProgram(t *testing.T, seed uint64, seal session.Sealer, sum *crashSum) {
	ctx := context.Background()
	p := &program{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), key: "k", seal: seal, now: time.Unix(1_700_000_000, 0),
	}
	c := newCrashes(t, fmt.Sprint("program ", seed), p.key, seed, seal, window)
	var err error
	p.store, err = sessiontest.OpenFiles(c.fsys, p.options())
	require.NoError(t, err)
	for range 12 {
		require.NoError(t, p.step(ctx), "program %d", seed)
		c.acknowledge(p.store, p.forks...)
	}
	if p.s != nil {
		require.NoError(t, p.s.Close())
	}
	sum.add(c)
}

// crashSum counts what a test did.
type crashSum struct{ operations, losses, looks, requests, overflows int }

func (s *crashSum) add(c *crashes) {
	s.operations += c.fsys.Operations()
	s.losses, s.looks = s.losses+c.count, s.looks+c.looks
	s.requests, s.overflows = s.requests+c.requests, s.overflows+c.overflows
}

func (s crashSum) String() string {
	return fmt.Sprintf("%d operations, %d power losses that left %d different file systems, %d requests accepted, %d overflows",
		s.operations, s.losses, s.looks, s.requests, s.overflows)
}

// crashes loses power after each operation of what is done with a session, and looks at what is left.
type crashes struct {
	*testing.T
	name   string
	key    string
	seal   session.Sealer
	fsys   *sessiontest.CrashFS
	losses *rand.Rand

	manager     func(string) (int, *winnow.Options) // as before the crash
	mayOverflow bool                                // the messages need not fit into the window

	count int // of power losses
	looks int // at what they left; equal file systems are looked at once

	requests  int // that the provider accepted
	overflows int

	ack   stored            // what was acknowledged
	forks map[string]stored // by key
	seen  map[uint64]bool   // digests of what was looked at since then
}

func newCrashes(t *testing.T, name, key string, seed uint64, seal session.Sealer, window int) *crashes {
	c := &crashes{T: t, name: name, key: key, seal: seal, fsys: sessiontest.NewCrashFS()}
	c.losses, c.forks, c.seen = rand.New(rand.NewPCG(seed, 2)), map[string]stored{}, map[uint64]bool{}
	c.manager = func(string) (int, *winnow.Options) {
		return window, &winnow.Options{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}
	}
	c.fsys.After(c.crash)
	return c
}

func (c *crashes) options() *session.Options {
	return &session.Options{Seal: c.seal, Manager: c.manager}
}

// acknowledge records what has to survive from here on.
func (c *crashes) acknowledge(store *session.Store, forks ...string) {
	c.ack = c.read(c.fsys, store)
	c.ack.dropVolatileEnd()
	for _, key := range forks {
		fork := readStored(c, c.fsys, store, key)
		fork.dropVolatileEnd()
		if fork.log != "" {
			c.forks[key] = fork
		}
	}
	clear(c.seen)
}

// read is readStored for the session. It decodes only what follows the acknowledged lines, if these are there.
func (c *crashes) read(fsys *sessiontest.CrashFS, store *session.Store) stored {
	return readStoredAfter(c, fsys, store, c.key, c.ack)
}

func (c *crashes) crash(op sessiontest.Operation) {
	attempted := stored{}
	for i, loss := range append([]sessiontest.Loss{sessiontest.LossNone}, sessiontest.Losses()...) {
		crashed := c.fsys.Crash(loss, c.losses)
		digest := crashed.Digest()
		if i > 0 {
			c.count++
			if c.seen[digest] {
				continue
			}
			c.seen[digest] = true
			c.looks++
		}
		store, err := sessiontest.OpenFiles(crashed, c.options())
		name := fmt.Sprintf("%s, after operation %d (%s %s), loss %s", c.name, op.Index, op.Name, op.Path, loss)
		require.NoError(c, err, name)
		if i == 0 {
			attempted = c.read(crashed, store)
			continue
		}
		for key, fork := range c.forks {
			got := readStored(c, crashed, store, key)
			require.Equal(c, fork.log, got.log, "%s: %s", name, key)
			require.True(c, bytes.HasPrefix(got.raw, fork.raw), "%s: of %s something is missing", name, key)
		}
		c.checkRecovered(name, crashed, store, attempted)
	}
	c.kill(op)
}

// kill ends the process after an operation. Another one continues, and then the power fails: what the second one
// acknowledges builds on what the first one left in the kernel's cache.
func (c *crashes) kill(op sessiontest.Operation) {
	ctx := context.Background()
	killed := c.fsys.Kill()
	name := fmt.Sprintf("%s, killed after operation %d (%s %s)", c.name, op.Index, op.Name, op.Path)
	store, err := sessiontest.OpenFiles(killed, c.options())
	require.NoError(c, err, name)
	s, err := store.Open(ctx, c.key)
	require.NoError(c, err, name)
	require.NoError(c, s.Append(ctx, session.User("after the kill")), name)
	want := c.read(killed, store)
	require.NoError(c, s.Close(), name)
	for _, loss := range []sessiontest.Loss{sessiontest.LossAll, sessiontest.LossOrder} {
		crashed := killed.Crash(loss, c.losses)
		store, err := sessiontest.OpenFiles(crashed, c.options())
		require.NoError(c, err, name)
		got := c.read(crashed, store)
		require.Equal(c, want.log, got.log, "%s, and then a power loss (%s)", name, loss)
		require.True(c, bytes.HasPrefix(got.raw, want.raw), "%s: after a power loss (%s) something is missing", name, loss)
	}
}

// dropVolatileEnd removes entries at the end that become durable only with the next message: states, and what closing a
// session leaves.
func (s *stored) dropVolatileEnd() {
	whole := len(s.entries)
	for n := len(s.entries); n > 0 && isVolatile(s.entries[n-1]); n-- {
		s.entries = s.entries[:n-1]
		s.raw = s.raw[:bytes.LastIndexByte(s.raw[:len(s.raw)-1], '\n')+1]
	}
	if len(s.entries) == 1 && len(s.entries) < whole { // the log began with a state
		*s = stored{}
	}
}

func (c *crashes) checkRecovered(
	name string, fsys *sessiontest.CrashFS, store *session.Store, attempted stored,
) {
	ctx := context.Background()
	t, key, ack := c.T, c.key, c.ack
	s, err := store.Open(ctx, key)
	require.NoError(t, err, name)
	got := c.read(fsys, store)
	switch {
	case got.log == attempted.log:
		same := 0 // entries, at the beginning
		for same < min(len(got.entries), len(attempted.entries)) && got.entries[same] == attempted.entries[same] {
			same++
		}
		requireSubsequence(t, got.entries[same:], attempted.entries[same:], name)
	case got.log == ack.log: // what came after it is lost
	default: // a log that ended in a reset got its successor
		require.GreaterOrEqual(t, got.log, ack.log, name)
		require.LessOrEqual(t, len(got.entries), 2, name) // a header, and what people know the session by
		require.Equal(t, got.log != "", len(got.entries) > 0, name)
	}
	if got.log == ack.log {
		require.GreaterOrEqual(t, len(got.entries), len(ack.entries), name)
		require.True(t, slices.Equal(ack.entries, got.entries[:len(ack.entries)]), "%s: an entry is not the same", name)
	}
	if ack.log != "" {
		require.True(t, bytes.HasPrefix(readLog(t, fsys, key, ack.log), ack.raw), "%s: what was acknowledged is missing", name)
	}
	requireWholeBatches(t, got.entries, name)
	requireDamageIsNamed(t, got, name)
	before := s.View().History
	require.NoError(t, s.Append(ctx, session.User("after the crash")), name)
	want := s.View()
	r, err := s.Prepare(ctx)
	if c.mayOverflow && errors.Is(err, winnow.ErrOverflow) {
		c.overflows++
	} else {
		require.NoError(t, err, name)
		requireAccepted(t, r.Messages, name)
		c.requests++
	}
	require.NoError(t, s.Close(), name)
	require.Len(t, want.History, len(before)+1, name)
	v, err := store.Read(ctx, key)
	require.NoError(t, err, name)
	require.Equal(t, want.History, v.History, name)
	require.Equal(t, want.IDs, v.IDs, name)
}

func requireSubsequence(t *testing.T, part, whole []string, name string) {
	at := 0
	for _, e := range part {
		for at < len(whole) && whole[at] != e {
			at++
		}
		require.Less(t, at, len(whole), "%s: no such entry: %s", name, e)
		at++
	}
}

// requireWholeBatches looks for batches independently: each begins with its first line, and ends with its last.
func requireWholeBatches(t *testing.T, lines []string, name string) {
	var before, batch [2]int64
	for _, line := range lines {
		batch = [2]int64{1, 1}
		if _, text, ok := strings.Cut(line, `,"batch":`); ok {
			require.NoError(t, json.NewDecoder(strings.NewReader(text)).Decode(&batch), name)
		}
		want := [2]int64{1, batch[1]}
		if before[0] < before[1] {
			want = [2]int64{before[0] + 1, before[1]}
		}
		require.Equal(t, want, batch, "%s: a part of a batch counts: %s", name, line)
		before = batch
	}
	require.Equal(t, before[1], before[0], "%s: the last batch has no end", name)
}

// requireDamageIsNamed looks for lines with a wrong checksum independently, and requires that the report has them.
func requireDamageIsNamed(t *testing.T, got stored, name string) {
	at := int64(0)
	for line := range bytes.Lines(got.raw) {
		if !hasRightSum(bytes.TrimRight(line, "\r\n")) {
			found := false
			for _, d := range got.damage {
				found = found || d.Offset < at+int64(len(line)) && at < d.Offset+max(1, d.Length)
			}
			require.True(t, found, "%s: damage at %d is not reported: %q", name, at, line)
		}
		at += int64(len(line))
	}
}

func readLog(t testing.TB, fsys *sessiontest.CrashFS, key, log string) []byte {
	text, err := fsys.ReadFile(logName(t, fsys, key, log))
	require.NoError(t, err)
	return text
}

// logName returns the name of a log in a directory store.
func logName(t testing.TB, fsys *sessiontest.CrashFS, key, log string) string {
	name := findLog(t, fsys, key, log)
	require.NotEmpty(t, name, "no log "+log)
	return name
}

// findLog is logName for a log that need not be there.
func findLog(t testing.TB, fsys *sessiontest.CrashFS, key, log string) string {
	log, _, _ = strings.Cut(log, "-r") // which says how often it was rewritten, under the same name
	parents, err := fsys.List("s")
	require.NoError(t, err)
	for _, parent := range parents {
		name := "s/" + parent + "/k-" + key + "/" + log + ".jsonl"
		if _, err := fsys.ReadFile(name); err == nil {
			return name
		}
	}
	return ""
}

func hasRightSum(line []byte) bool {
	i := bytes.LastIndex(line, []byte(`,"crc":"`))
	if i < 0 || len(line) != i+18 {
		return false
	}
	want, err := strconv.ParseUint(string(line[i+8:i+16]), 16, 32)
	return err == nil && crc32.Checksum(line[:i], crc32.MakeTable(crc32.Castagnoli)) == uint32(want)
}
