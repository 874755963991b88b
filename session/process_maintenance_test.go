package session_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// keeperChild writes, begins anew, archives and erases until it is killed. It reports its work: "A text" was appended,
// "e text" is about to be erased, "E text" was erased.
func keeperChild(dir string) error {
	store, err := session.OpenDirectory(dir, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	begun := time.Now().UnixNano() // ids of processes come round again in 32 768 kills
	random := rand.New(rand.NewPCG(uint64(begun), 1))
	for n := 0; ; n++ {
		key := fmt.Sprint("key ", random.IntN(4))
		if err := keeperStep(ctx, store, random, key, fmt.Sprintf("<%d-%d>", begun, n)); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
}

func keeperStep(ctx context.Context, store *session.Store, random *rand.Rand, key, text string) error {
	s, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	if err := s.Append(ctx, session.User(text)); err != nil {
		return err
	}
	fmt.Println("A", text)
	if random.IntN(3) == 0 {
		if err := s.Reset(ctx, "test", nil); err != nil {
			return err
		}
	}
	v := s.View()
	if err := s.Close(); err != nil {
		return err
	}
	if random.IntN(2) == 0 {
		plan, err := upkeep.MakePlan(ctx, store, upkeep.Maintenance{ArchiveAfter: time.Nanosecond, ResetLogs: true})
		if err != nil {
			return err
		}
		if _, err := upkeep.Apply(ctx, store, plan); err != nil {
			return err
		}
	}
	if n := len(v.History); n > 0 && random.IntN(2) == 0 {
		i := random.IntN(n)
		gone := v.History[i].Parts[0].Text
		if gone == "[erased]" {
			return nil
		}
		fmt.Println("e", gone)
		if _, err := upkeep.EraseEntries(ctx, store, key, "", v.IDs[i]); err != nil {
			return err
		}
		fmt.Println("E", gone)
	}
	return nil
}

// rawFiles returns what is in all files of a directory, archives unpacked as well.
func rawFiles(t testing.TB, dir string) []byte {
	var all bytes.Buffer
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all.Write(text)
		if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
			_, _ = io.Copy(&all, z) // one that was not finished
		}
		return nil
	}))
	return all.Bytes()
}

// TestKilledKeeper kills a process that archives, erases and resets, at random times. What it appended is there unless
// it was erased; what was erased is in no file; and all sessions continue.
func TestKilledKeeper(t *testing.T) {
	t.Parallel()
	inTurns(*kills/2, func(runs int, random *rand.Rand) { killKeeper(t, runs, random) })
}

func killKeeper(t *testing.T, runs int, random *rand.Rand) {
	dir := t.TempDir()
	said := map[string]map[string]bool{"A": {}, "e": {}, "E": {}}
	for range runs {
		cmd, out := child(t, "keeper", dir)
		started, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for first := true; out.Scan(); first = false {
				if first {
					close(started)
				}
				if what, text, ok := strings.Cut(out.Text(), " "); ok && strings.HasSuffix(text, ">") {
					said[what][text] = true
				}
			}
		}()
		<-started
		time.Sleep(time.Duration(random.IntN(60_000)) * time.Microsecond)
		require.NoError(t, cmd.Process.Kill())
		<-done
		require.Error(t, cmd.Wait())
	}
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	ctx := context.Background()
	found := ""
	for _, text := range logsOf(t, store, "after the kills") {
		found += text
	}
	raw := rawFiles(t, dir)
	for text := range said["A"] {
		// Between "e" and "E" either is right.
		if !said["e"][text] {
			require.Contains(t, found, text, "what was appended")
		}
	}
	for text := range said["E"] {
		require.False(t, bytes.Contains(raw, []byte(text)), "%s was erased, and is in a file", text)
	}
	keys, err := store.Keys(ctx)
	require.NoError(t, err)
	for _, key := range keys {
		report, err := upkeep.Verify(ctx, store, key)
		require.NoError(t, err)
		require.Empty(t, report.Damage, key)
		say(t, store, key, "go on")
	}
	t.Logf("%d kills, %d texts appended, %d erased, %d bytes", runs, len(said["A"]), len(said["E"]), len(raw))
	require.NotEmpty(t, said["A"])
}

// openerChild opens sessions, writes, pauses and writes again, and pins some of them, until its input ends. While it
// has a session open, and once it has pinned one, nothing of it may go. It says "P key n" for a session of n messages
// that is pinned. The sessions that it opens change as it goes on: those that it leaves behind can be deleted, however
// slow the other process is.
func openerChild(dir string) error {
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	random := rand.New(rand.NewPCG(uint64(os.Getpid()), 2))
	yes := true
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprint("key ", n/10+random.IntN(20))
		if err := openerTurn(store, random, key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if n%10 != 0 {
			continue
		}
		key = fmt.Sprint("pinned ", n)
		if err := openerTurn(store, random, key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		err := store.SetInfo(context.Background(), key, session.Info{Pinned: &yes})
		if errors.Is(err, session.ErrNotFound) { // it was archived and deleted before
			continue
		}
		if err != nil {
			return err
		}
		v, err := store.Read(context.Background(), key)
		if err != nil {
			return fmt.Errorf("%s, which is pinned: %w", key, err)
		}
		fmt.Printf("P|%s|%d\n", key, len(v.History))
	}
	return nil
}

// childWithInput is [child] for one that goes on until its input ends.
func childWithInput(t *testing.T, kind, dir string) (*exec.Cmd, *bufio.Scanner, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SESSION_CHILD="+kind, "SESSION_DIR="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out), in
}

func openerTurn(store *session.Store, random *rand.Rand, key string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer s.Close()
	for range 3 {
		before := len(s.View().History)
		if err := s.Append(ctx, session.User("text")); err != nil {
			return err
		}
		time.Sleep(time.Duration(random.IntN(500)) * time.Microsecond)
		v, err := store.Read(ctx, key)
		if err != nil {
			return fmt.Errorf("while it is open: %w", err)
		}
		if len(v.History) != before+1 {
			return fmt.Errorf("while it is open there are %d messages, and were %d", len(v.History), before+1)
		}
	}
	return nil
}

// TestApplyWhileAnotherProcessOpens: plans are made and applied as fast as possible, which archive and delete whatever
// they may, while two other processes open and pin sessions.
func TestApplyWhileAnotherProcessOpens(t *testing.T) {
	t.Parallel()
	duration := *concurrentTime
	if testing.Short() {
		duration = 500 * time.Millisecond
	}
	ctx := context.Background()
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, &session.Options{
		Now: func() time.Time { return time.Now().Add(time.Hour) }, // archives are old as soon as they are made
	})
	require.NoError(t, err)
	pinned := map[string]int{}
	var ends []func()
	for range 2 {
		cmd, out, in := childWithInput(t, "opener", dir)
		done := make(chan map[string]int)
		go func() {
			found := map[string]int{}
			for out.Scan() {
				if f := strings.Split(out.Text(), "|"); len(f) == 3 {
					n, _ := strconv.Atoi(f[2])
					found[f[1]] = n
				}
			}
			done <- found
		}()
		ends = append(ends, func() {
			in.Close()
			for key, n := range <-done {
				pinned[key] = max(pinned[key], n)
			}
			assert.NoError(t, cmd.Wait())
		})
	}
	policy := upkeep.Maintenance{ArchiveAfter: time.Nanosecond, KeepArchives: time.Nanosecond, ResetLogs: true}
	archived, deleted, kept := 0, 0, 0
	begin := time.Now()
	for deleted == 0 || time.Since(begin) < duration {
		plan, err := upkeep.MakePlan(ctx, store, policy)
		require.NoError(t, err)
		a, err := upkeep.Apply(ctx, store, plan)
		require.NoError(t, err)
		kept += len(a.Kept) + len(plan.Kept)
		for _, action := range a.Done {
			if action.Op == upkeep.OpArchive {
				archived++
			} else {
				deleted++
			}
		}
	}
	for _, end := range ends {
		end()
	}
	for key, n := range pinned {
		v, err := store.Read(ctx, key)
		require.NoError(t, err, key)
		require.GreaterOrEqual(t, len(v.History), n, key)
	}
	require.NotEmpty(t, pinned)
	t.Logf("%d archived, %d deleted, %d left alone, %d pinned", archived, deleted, kept, len(pinned))
}
