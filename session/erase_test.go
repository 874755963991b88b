package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestEraseEntries: of a message that went through everything that a session does with one, no byte is left.
func TestEraseEntries(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, quotingOptions())
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("begin"), answer("yes?"), session.User(secret)))
	id := entryWith(t, store, "k", "4711-0815")
	_, err = s.Do(ctx, echo)
	require.NoError(t, err)
	for n := range 12 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprintf("message %d %s", n, strings.Repeat("word ", 400)))))
		_, err = s.Do(ctx, echo)
		require.NoError(t, err)
	}
	require.Positive(t, s.View().Counts.Compactions)
	compactions := s.View().Counts.Compactions
	require.NoError(t, store.SetLabel(ctx, "k", id, "label 4711-0815"))
	leaf := s.Leaf()
	require.NoError(t, s.Rewind(ctx, id))
	edited := session.User("edited: " + secret)
	require.NoError(t, s.Edit(ctx, id, &edited, "test"))
	require.NoError(t, s.SummarizeBranch(ctx, leaf, "on the other branch: "+secret))
	require.NoError(t, s.Close())
	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	s = open(t, store, "k")
	require.NoError(t, s.Rewind(ctx, leaf))
	before := s.View()
	require.NoError(t, s.Close())
	requireSomewhere(t, fsys, "4711-0815", "label 4711", "edited: the number", "on the other branch: the number")

	r, err := upkeep.EraseEntries(ctx, store, "k", "", id)
	require.NoError(t, err)
	requireNowhere(t, fsys, "after the erasure", secret, "4711-0815", "the number of the account")
	require.Equal(t, []string{id}, r.Entries)
	require.Len(t, r.Copies, 1)
	assert.Equal(t, "fork", r.Copies[0].Key)
	assert.Equal(t, []string{id}, r.Copies[0].Entries)
	assert.Positive(t, r.Bytes)
	assert.NotEmpty(t, r.With)
	receipt, err := json.Marshal(r)
	require.NoError(t, err)
	assert.NotContains(t, string(receipt), "4711-0815")

	for _, key := range []string{"k", "fork"} {
		report, err := upkeep.Verify(ctx, store, key)
		require.NoError(t, err)
		require.Empty(t, report.Damage, key)
		status, err := store.Status(ctx, key)
		require.NoError(t, err)
		s := open(t, store, key)
		require.Equal(t, status.Counts.Messages, s.View().Counts.Messages)
		require.Contains(t, texts(s.View()), "[erased]")
		require.NoError(t, s.Append(ctx, session.User("go on")))
		_, err = s.Do(ctx, func(_ context.Context, m []winnow.Message) (winnow.Message, error) {
			requireAccepted(t, m, key)
			for i := range m {
				for _, p := range m[i].Parts {
					assert.NotContains(t, p.Text, "4711-0815")
				}
			}
			return answer("gone on"), nil
		})
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, before.Counts.Turns+1, v.Counts.Turns, "what was erased still counts")
	assert.GreaterOrEqual(t, v.Counts.Compactions, compactions)
	requireNowhere(t, fsys, "after the session went on", secret, "4711-0815")

	again, err := upkeep.EraseEntries(ctx, store, "k", "", id)
	require.NoError(t, err, "once more is not an error")
	assert.Zero(t, again.Bytes)
	assert.Equal(t, []string{id}, again.Entries)
	_, err = upkeep.EraseEntries(ctx, store, "k", "", id, "nobody")
	require.ErrorIs(t, err, session.ErrNotFound)
	_, err = upkeep.EraseEntries(ctx, store, "nobody", "", id)
	require.ErrorIs(t, err, session.ErrNotFound)
	keys, err := store.Keys(ctx)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"k", "fork"}, keys, "to look for a session made none")
}

// TestEraseWhatLiesBeside: torn tails, copies of a log whose sync failed, damage within the log, and unfinished files.
func TestEraseWhatLiesBeside(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	say(t, store, "k", "begin")
	log := func() string {
		report, err := upkeep.Verify(ctx, store, "k")
		require.NoError(t, err)
		return logName(t, fsys, "k", report.Log)
	}
	say(t, store, "k", secret)
	id := entryWith(t, store, "k", word)

	text, err := fsys.ReadFile(log())
	require.NoError(t, err)
	at := bytes.LastIndex(text[:len(text)-1], []byte("\n")) + 1
	line := bytes.Clone(text[at:])
	damaged := bytes.Replace(line, []byte("4711"), []byte("4712"), 1) // a bit that flipped: its checksum is wrong
	text = append(text, damaged...)
	text = append(text, "no line 4712-0815 \x00\x00\r\n"...)
	text = append(text, line[:len(line)-30]...) // it was written twice, and the second time the process ended
	require.NoError(t, fsys.WriteFile(log(), text))
	say(t, store, "k", "after the tear") // cuts the tail off

	s := open(t, store, "k")
	fsys.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if op.Name == "sync" {
			return sessiontest.Fault{Err: assert.AnError}
		}
		return sessiontest.Fault{}
	})
	require.ErrorIs(t, s.Append(ctx, session.User("not synced")), session.ErrSync)
	fsys.Fail(nil)
	require.NoError(t, s.Close())
	say(t, store, "k", "after the failed sync") // copies the log

	for _, suffix := range []string{".gz.0123abcd.tmp", ".replaced"} { // earlier versions kept the log that was copied
		left, err := fsys.Open(log()+suffix, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		_, err = left.Write([]byte(secret))
		require.NoError(t, err)
		require.NoError(t, left.Close())
	}

	files := filesOf(t, fsys)
	for _, suffix := range []string{".torn-", ".replaced", ".tmp"} {
		found := false
		for name, text := range files {
			found = found || strings.Contains(name, suffix) && bytes.Contains(text, []byte(word))
		}
		require.True(t, found, "the text is in a file *%s", suffix)
	}
	r, err := upkeep.EraseEntries(ctx, store, "k", "", id)
	require.NoError(t, err)
	requireNowhere(t, fsys, "after the erasure", word, "4712-0815", "the number of the account")
	assert.Len(t, r.Parts, 2, "the torn tail and the copy")
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, []string{"begin", "[erased]", "after the tear", "not synced", "after the failed sync"}, texts(v))
	report, err := upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	assert.Empty(t, report.Damage, "where the damage was there are blank lines")
}

// TestEraseInOlderLogs: in the log of before a reset, and in its archive.
func TestEraseInOlderLogs(t *testing.T) {
	y := newYard(t)
	ctx := context.Background()
	y.lies("k", 90*oneDay, secret)
	y.resets("k", 80*oneDay)
	y.lies("k", 80*oneDay, "secret of the second log")
	parts, err := y.store.Parts(ctx, "k")
	require.NoError(t, err)
	old := parts[0].Log
	_, err = upkeep.EraseEntries(ctx, y.store, "k", "", "e2", "e99")
	require.ErrorIs(t, err, session.ErrNotFound)

	y.apply(y.plan(upkeep.Maintenance{ResetLogs: true}))
	requireSomewhere(t, y.fs, word)
	r, err := upkeep.EraseEntries(ctx, y.store, "k", old, "e2")
	require.NoError(t, err)
	requireNowhere(t, y.fs, "in the archive", word)
	requireSomewhere(t, y.fs, "secret of the second log")
	parts, err = y.store.Parts(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, backend.PartArchive, parts[0].Kind, "the archive stays one")
	assert.NotEqual(t, old, r.Log)
	assert.Equal(t, parts[0].Log, r.Log, "the ID that it has since")
	again, err := upkeep.EraseEntries(ctx, y.store, "k", r.Log, "e2")
	require.NoError(t, err)
	assert.Equal(t, r.Log, again.Log, "it was not rewritten again")

	y.apply(y.plan(upkeep.Maintenance{ArchiveAfter: oneDay}))
	_, err = upkeep.EraseEntries(ctx, y.store, "k", "", "e2")
	require.NoError(t, err)
	requireNowhere(t, y.fs, "in the archive of the newest log", "secret of the second log")
	assert.Equal(t, []string{"[erased]", "last"}, heard(t, y.store, "k"))
	_, err = upkeep.EraseEntries(ctx, y.store, "k", "no such log", "e2")
	require.ErrorIs(t, err, session.ErrNotFound)
}

// TestErasersAtTheSameTime: each erases in all forks, and gives their logs other IDs while the others look for them.
func TestErasersAtTheSameTime(t *testing.T) {
	ctx := t.Context()
	directory, err := sessiontest.OpenFiles(sessiontest.NewCrashFS(), nil)
	require.NoError(t, err)
	for name, store := range map[string]*session.Store{"directory": directory, "memory": session.NewMemory(nil)} {
		t.Run(name, func(t *testing.T) {
			s := open(t, store, "k")
			const secrets, forks = 4, 3
			for n := range secrets {
				require.NoError(t, s.Append(ctx, session.User(fmt.Sprintf("secret <%d>", n)), answer("yes")))
			}
			ids := s.View().IDs
			require.NoError(t, s.Close())
			for n := range forks {
				require.NoError(t, store.Fork(ctx, "k", ids[len(ids)-1], fmt.Sprint("fork ", n)))
			}
			var wg sync.WaitGroup
			for n := range secrets {
				wg.Go(func() {
					_, err := upkeep.EraseEntries(ctx, store, "k", "", ids[2*n])
					assert.NoError(t, err)
				})
			}
			wg.Wait()
			for key, err := range store.All(ctx, session.Query{}) {
				require.NoError(t, err)
				v, err := store.Read(ctx, key.Key)
				require.NoError(t, err)
				for _, text := range texts(v) {
					assert.NotContains(t, text, "secret", key.Key)
				}
			}
		})
	}
}

// TestEraseOfWhatIsSaidAgain: a status repeats the title and the labels of the entries before it.
func TestEraseOfWhatIsSaidAgain(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	title := secret
	say(t, store, "k", strings.Repeat("long ", 2_000))
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	require.NoError(t, store.SetLabel(ctx, "k", "e2", "label "+word))
	say(t, store, "k", strings.Repeat("long ", 2_000)) // leaves a status when it is closed
	status := newest(t, store, entry.TypeStatus)
	ids := []string{newest(t, store, entry.TypeInfo), newest(t, store, entry.TypeLabel)}
	r, err := upkeep.EraseEntries(ctx, store, "k", "", ids...)
	require.NoError(t, err)
	assert.Contains(t, r.With, status)
	requireNowhere(t, fsys, "after the erasure", word)
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Nil(t, v.Info.Title)
	assert.Empty(t, v.Labels)
	assert.Len(t, v.History, 2)

	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	_, err = store.List(ctx, session.Query{})
	require.NoError(t, err)
	_, err = upkeep.Erase(ctx, store, "k")
	require.NoError(t, err)
	requireNowhere(t, fsys, "after the erasure of the session", word)
	page, err := store.List(ctx, session.Query{})
	require.NoError(t, err)
	assert.Empty(t, page.Sessions)
}

// TestEraseWaitsForItsTurn: nobody has the session open while it is rewritten, and who wrote beside the branch
// meanwhile is not lost.
func TestEraseWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		store := session.NewMemory(nil)
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, session.User(secret)))
		done := make(chan error, 1)
		go func() {
			_, err := upkeep.EraseEntries(ctx, store, "k", "", "e2")
			done <- err
		}()
		synctest.Wait()
		require.Empty(t, done, "it did not wait")
		title := "title"
		require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
		require.NoError(t, s.Append(ctx, answer("yes")))
		synctest.Wait()
		require.Empty(t, done, "it did not wait")
		require.NoError(t, s.Close())
		require.NoError(t, <-done)
		v, err := store.Read(ctx, "k")
		require.NoError(t, err)
		assert.Equal(t, []string{"[erased]", "yes"}, texts(v))
		assert.Equal(t, &title, v.Info.Title)

		s = open(t, store, "k")
		defer s.Close()
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		_, err = upkeep.EraseEntries(short, store, "k", "", "e2")
		require.ErrorIs(t, err, session.ErrBusy)
	})
}

// TestEraseOfASession: logs, archives and the files beside them, even if somebody has it open; forks are named.
func TestEraseOfASession(t *testing.T) {
	y := newYard(t)
	ctx := context.Background()
	y.lies("k", 90*oneDay, secret)
	require.NoError(t, y.store.Fork(ctx, "k", "", "fork"))
	y.resets("k", 80*oneDay)
	y.apply(y.plan(upkeep.Maintenance{ResetLogs: true}))
	y.lies("k", 0, "more of "+secret)
	s := open(t, y.store, "k")
	defer s.Close()
	parts, err := y.store.Parts(ctx, "k")
	require.NoError(t, err)
	r, err := upkeep.Erase(ctx, y.store, "k")
	require.NoError(t, err)
	assert.Equal(t, parts, r.Parts)
	assert.Equal(t, parts[0].Bytes+parts[1].Bytes, r.Bytes)
	assert.Equal(t, []string{"fork"}, r.Forks)
	require.ErrorIs(t, s.Append(ctx, session.User("late")), session.ErrDeleted)
	for name := range filesOf(t, y.fs) {
		require.NotContains(t, name, "k-k/")
	}
	_, err = upkeep.Erase(ctx, y.store, "fork")
	require.NoError(t, err)
	requireNowhere(t, y.fs, "after both are erased", word)
	r, err = upkeep.Erase(ctx, y.store, "k")
	require.NoError(t, err, "there is none")
	assert.Zero(t, r.Bytes)
	_, err = upkeep.Erase(ctx, y.store, "")
	require.ErrorIs(t, err, session.ErrKey)
}
