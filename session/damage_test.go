package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

var damageAppends = flag.Int("damage.appends", 11, "of how many damaged logs one is opened and appended to; 1: all")

// This and eight have no common divisor, so that each bit of a byte is flipped equally often.
var damageStep = flag.Int("damage.step", 37, "the distance in bytes between the places at which a log is damaged; 1: all")

// shortLog is a log of about 100 short entries of all types. It ends in a reset, after which the process was killed:
// there is no other log.
type shortLog struct {
	fsys    *sessiontest.CrashFS
	opts    *session.Options
	name    string
	data    []byte
	entries []string // as JSON
	lines   []string // their texts in the log
	from    []int    // where the lines begin
	to      []int    // after their text, at the newline
	batch   []int    // number of the batch that a line belongs to
	types   map[entry.Type]int
}

func newShortLog(t *testing.T) *shortLog {
	ctx := context.Background()
	x := &shortLog{types: map[entry.Type]int{}}
	flush := func(context.Context, []winnow.Message) error { return nil }
	x.opts = &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 3_000, &winnow.Options{Compact: &winnow.CompactOptions{KeepRecent: 5, BeforeCompact: flush}}
	}}
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, x.opts)
	require.NoError(t, err)
	s := open(t, store, "k")
	title := "T"
	for n := range 7 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint("ask ", n))))
		require.NoError(t, s.Append(ctx, call(fmt.Sprint("c", n), "t"), session.Result(fmt.Sprint("c", n), "t", "out")))
		if n%3 == 2 {
			_, err := s.Do(ctx, echo) // writes what the manager's state changed by
			require.NoError(t, err)
		}
		require.NoError(t, s.Append(ctx, answer("\xffdone")))
		ids := s.View().IDs
		m := answer("other")
		require.NoError(t, s.Edit(ctx, ids[len(ids)-1], &m, "test"))
		require.NoError(t, s.AddData(ctx, "n", json.RawMessage(`[1]`)))
		require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
		require.NoError(t, store.SetLabel(ctx, "k", ids[0], "L"))
		require.NoError(t, store.AddUsage(ctx, "k", "m", winnow.Usage{Input: n}))
		require.NoError(t, s.Rewind(ctx, ids[len(ids)-2]))
		require.NoError(t, s.SummarizeBranch(ctx, ids[len(ids)-1], "S"))
		require.NoError(t, s.Inject(ctx, "h", true, session.User("hidden")))
		if n == 1 || n == 2 { // not later, so that the end of the session is worth a status
			_, err := s.Compact(ctx, "")
			require.NoError(t, err)
		}
	}
	ids := s.View().IDs
	require.NoError(t, s.Close())
	_, err = upkeep.EraseEntries(ctx, store, "k", readStored(t, fsys, store, "k").log, ids[len(ids)-1])
	require.NoError(t, err)
	s = open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("after the erasure")))
	log := readStored(t, fsys, store, "k").log
	x.name = logName(t, fsys, "k", log)
	fsys.After(func(op sessiontest.Operation) {
		if op.Name == "sync" && op.Path == x.name && x.fsys == nil {
			x.fsys = fsys.Kill()
		}
	})
	require.NoError(t, s.Reset(ctx, "R", json.RawMessage(`[2]`)))
	fsys.After(nil)
	require.NoError(t, s.Close())
	store, err = sessiontest.OpenFiles(x.fsys, x.opts)
	require.NoError(t, err)
	stored := readStored(t, x.fsys, store, "k")
	require.Equal(t, log, stored.log, "there is another log")
	x.data, err = x.fsys.ReadFile(x.name)
	require.NoError(t, err)
	at, batch := 0, 0
	for line := range bytes.Lines(x.data) {
		x.from, x.to, x.batch = append(x.from, at), append(x.to, at+len(line)-1), append(x.batch, batch)
		at += len(line)
		var e entry.Entry
		require.NoError(t, json.Unmarshal(line, &e))
		text, err := json.Marshal(e)
		require.NoError(t, err)
		x.types[e.Type]++
		x.entries, x.lines = append(x.entries, string(text)), append(x.lines, string(bytes.TrimSpace(line)))
		if e.Batch[0] == e.Batch[1] {
			batch++
		}
	}
	require.Len(t, stored.entries, len(x.entries))
	for _, kind := range []entry.Type{
		entry.TypeSession, entry.TypeMessage, entry.TypeCustomMessage, entry.TypeCustom, entry.TypeCompaction,
		entry.TypeEdit, entry.TypeBranchSummary, entry.TypeState, entry.TypeLeaf, entry.TypeLabel, entry.TypeInfo,
		entry.TypeUsage, entry.TypeErased, entry.TypeStatus, entry.TypeFlush, entry.TypeReset,
	} {
		require.Positive(t, x.types[kind], kind)
	}
	return x
}

// check reads the log with other data and looks for what must and what may be there.
func (x *shortLog) check(t *testing.T, name string, data []byte, must func(i int) bool) {
	lines, damage, err := session.CountedLines(data)
	require.NoError(t, err)
	at := 0
	there := make([]bool, len(x.entries))
	for i, e := range x.entries {
		if at < len(lines) && (lines[at] == x.lines[i] || sameEntry(t, lines[at], e)) {
			there[i] = true
			at++
		} else if must(i) {
			require.Fail(t, "an entry is missing", "%s: %s\n%v", name, e, damage)
		}
	}
	if at < len(lines) {
		require.Fail(t, "an entry that was never written", "%s: %s", name, lines[at])
	}
	for i := 1; i < len(there); i++ {
		if x.batch[i] == x.batch[i-1] && there[i] != there[i-1] {
			require.Fail(t, "a part of a batch counts", "%s: %s", name, x.entries[i])
		}
	}
}

// with returns a store whose log has other data.
func (x *shortLog) with(t *testing.T, name string, data []byte) *session.Store {
	fsys := x.fsys.Clone()
	require.NoError(t, fsys.WriteFile(x.name, data))
	store, err := sessiontest.OpenFiles(fsys, x.opts)
	require.NoError(t, err, name)
	return store
}

// opens reads the session with the k-th damaged log, and appends to some.
func (x *shortLog) opens(t *testing.T, k int, name string, data []byte) {
	store := x.with(t, name, data)
	_, err := store.Read(context.Background(), "k")
	require.NoError(t, err, name)
	if k%*damageAppends == 0 {
		x.goesOn(t, name, store)
	}
}

func sameEntry(t *testing.T, line, want string) bool {
	var e entry.Entry
	if json.Unmarshal([]byte(line), &e) != nil {
		return false
	}
	text, err := json.Marshal(e)
	require.NoError(t, err)
	return string(text) == want
}

// goesOn opens the session, appends, and reads what was appended.
func (x *shortLog) goesOn(t *testing.T, name string, store *session.Store) {
	ctx := context.Background()
	s, err := store.Open(ctx, "k")
	require.NoError(t, err, name)
	require.NoError(t, s.Append(ctx, session.User("goes on"), answer("yes")), name)
	want := s.View()
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err, name)
	require.Equal(t, want.IDs, v.IDs, name)
	require.Equal(t, want.History, v.History, name)
}

// wholeBatch reports whether all lines of the batch of line i fulfil ok.
func (x *shortLog) wholeBatch(i int, ok func(i int) bool) bool {
	for k := range x.batch {
		if x.batch[k] == x.batch[i] && !ok(k) {
			return false
		}
	}
	return true
}

func TestLogCutAnywhere(t *testing.T) {
	t.Parallel()
	x := newShortLog(t)
	t.Log(len(x.entries), "entries,", len(x.data), "bytes")
	for k := 0; k <= len(x.data); k += *damageStep {
		name, data := fmt.Sprint("cut at ", k), x.data[:k]
		x.check(t, name, data, func(i int) bool {
			return x.wholeBatch(i, func(i int) bool { return x.to[i] <= k })
		})
		x.opens(t, k, name, data)
	}
}

func TestLogWithAFlippedBit(t *testing.T) {
	t.Parallel()
	x := newShortLog(t)
	for k := 0; k < len(x.data); k += *damageStep {
		data := slices.Clone(x.data)
		data[k] ^= 1 << (k % 8)
		name := fmt.Sprintf("bit %d of byte %d flipped: %q", k%8, k, data[k])
		x.check(t, name, data, func(i int) bool {
			return x.wholeBatch(i, func(i int) bool { return k < x.from[i] || k >= x.to[i] })
		})
		x.opens(t, k, name, data)
	}
}

func TestReadersAcceptWhatPeopleAndDisksDo(t *testing.T) {
	x := newShortLog(t)
	all := func(int) bool { return true }
	for name, data := range map[string][]byte{
		"CRLF":                         bytes.ReplaceAll(x.data, []byte("\n"), []byte("\r\n")),
		"a byte order mark":            append([]byte("\ufeff"), x.data...),
		"NULs between lines":           bytes.ReplaceAll(x.data, []byte("\n"), []byte("\n\x00\x00\x00")),
		"lines of NULs":                bytes.ReplaceAll(x.data, []byte("\n"), []byte("\n\x00\x00\x00\n")),
		"blank lines":                  bytes.ReplaceAll(x.data, []byte("\n"), []byte("\n\n \n")),
		"no newline at the end":        bytes.TrimSuffix(x.data, []byte("\n")),
		"no newlines":                  fuse(x.data, 10),
		"a line of something else":     append([]byte("hello\n"), x.data...),
		"nested beginnings of a line":  append([]byte(`{"seq":{"seq":{"seq":`+"\n"), x.data...),
		"lines without checksums":      withoutSums(x.data),
		"white space within the lines": bytes.ReplaceAll(withoutSums(x.data), []byte(`{"seq":`), []byte(`{ "seq" : `)),
	} {
		t.Run(name, func(t *testing.T) {
			x.check(t, name, data, all)
			x.goesOn(t, name, x.with(t, name, data))
		})
	}
}

// fuse removes the newline after every n-th line.
func fuse(data []byte, n int) (out []byte) {
	i := 0
	for line := range bytes.Lines(data) {
		if i++; i%n == 0 {
			line = bytes.TrimSuffix(line, []byte("\n"))
		}
		out = append(out, line...)
	}
	return out
}

func withoutSums(data []byte) (out []byte) {
	for line := range bytes.Lines(data) {
		i := bytes.LastIndex(line, []byte(`,"crc":"`))
		out = append(append(out, line[:i]...), '}', '\n')
	}
	return out
}

// TestLostDelta damages each state of a log in turn. That costs at most the provider's cache: the history is whole, and
// later states count again.
func TestLostDelta(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	now := time.Unix(1_700_000_000, 0)
	opts := &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 4_000, &winnow.Options{Now: func() time.Time { return now }}
	}}
	store, err := sessiontest.OpenFiles(fsys, opts)
	require.NoError(t, err)
	s := open(t, store, "k")
	for n := range 12 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint("question ", n, strings.Repeat(" words", 60)))))
		_, err := s.Do(ctx, echo)
		require.NoError(t, err)
	}
	whole := s.View()
	require.NoError(t, s.Close())
	name := logName(t, fsys, "k", readStored(t, fsys, store, "k").log)
	data, err := fsys.ReadFile(name)
	require.NoError(t, err)
	states := 0
	for at, next := 0, 0; at < len(data); at = next {
		next = at + bytes.IndexByte(data[at:], '\n') + 1
		if !bytes.Contains(data[at:next], []byte(`"type":"state"`)) || bytes.Contains(data[at:next], []byte(`"batch"`)) {
			continue
		}
		states++
		damaged := slices.Clone(data)
		damaged[next-30] ^= 1
		require.NoError(t, fsys.WriteFile(name, damaged))
		s := open(t, store, "k")
		require.Equal(t, whole.History, s.View().History)
		require.NoError(t, s.Append(ctx, session.User("goes on")))
		first, err := s.Prepare(ctx)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		s = open(t, store, "k")
		again, err := s.Prepare(ctx)
		require.NoError(t, err)
		require.Equal(t, first.Messages, again.Messages)
		require.Equal(t, len(first.Messages), again.FirstChanged, "the state that was written since counts")
		require.NoError(t, s.Close())
	}
	require.Greater(t, states, 5)
}

// TestAppendBehindABrokenBatch damages the first line of the last batch. The other line does not count, but its seq is
// used up: new entries get a higher one.
func TestAppendBehindABrokenBatch(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one")))
	require.NoError(t, s.Append(ctx, answer("two"), session.User("three")))
	require.NoError(t, s.Close())
	name := logName(t, fsys, "k", readStored(t, fsys, store, "k").log)
	data, err := fsys.ReadFile(name)
	require.NoError(t, err)
	data[bytes.Index(data, []byte(`"text":"two"`))+9] ^= 1
	require.NoError(t, fsys.WriteFile(name, data))
	s = open(t, store, "k")
	assert.Equal(t, []string{"one"}, texts(s.View()))
	require.NoError(t, s.Append(ctx, session.User("four")))
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "four"}, texts(v))
	report, err := upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	assert.Len(t, report.Damage, 2)
}
