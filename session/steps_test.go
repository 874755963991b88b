package session_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// Processes that share a file system take turns by a schedule: one operation of one process at a time, including reads.
// So a test can ask for an order of operations that happens once in a thousand runs.

// segment is a part of a schedule.
type segment struct {
	process int
	steps   int  // operations that it does
	kill    bool // it, then
}

// process runs a script on the shared file system until it is killed.
type process struct {
	fs      *sessiontest.CrashFS
	store   *session.Store
	session *session.Session // that it has open
	acked   map[string]int   // turns by key, of all processes
	dropped map[string]int   // how often all turns of a key were dropped
	reader  sessiontest.FeedReader

	steps   chan struct{} // sent when an operation is about to begin; closed when the script has ended
	grant   chan struct{}
	free    bool // it runs without a schedule
	ended   bool
	killed  bool
	blocked bool // the last operation asked for a lock that another one has
	count   int
	handles []files.File
	err     error
}

var errEnded = errors.New("the process was killed")

// step waits until the next operation may begin.
func (p *process) step() error {
	if p.killed {
		return errEnded
	}
	if p.free {
		return nil
	}
	p.steps <- struct{}{}
	<-p.grant
	if p.killed {
		return errEnded
	}
	p.count++
	return nil
}

// end closes the files of the process, as the kernel does.
func (p *process) end() {
	p.killed = true
	for _, f := range p.handles {
		_ = f.Close()
	}
}

// kill ends the process between two operations.
func (p *process) kill() {
	p.end()
	for !p.ended {
		p.resume()
	}
}

// resume lets the script go on until its next operation.
func (p *process) resume() {
	p.blocked = false
	p.grant <- struct{}{}
	_, more := <-p.steps
	p.ended = !more
}

// steppedFS is the file system as a process sees it.
type steppedFS struct {
	files.FS
	process *process
}

func (s steppedFS) dir() steppedDir { return steppedDir{s.FS, s.process} }

func (s steppedFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	return s.dir().Open(name, flag, perm)
}
func (s steppedFS) List(dir string) ([]string, error) { return s.dir().List(dir) }
func (s steppedFS) SizeOf(name string) (int64, error) { return s.dir().SizeOf(name) }
func (s steppedFS) Sub(dir string) (files.Dir, error) { return s.dir().Sub(dir) }

func (s steppedFS) Mkdir(name string, perm fs.FileMode) error {
	return s.do(func() error { return s.FS.Mkdir(name, perm) })
}

func (s steppedFS) Rename(from, to string) error {
	return s.do(func() error { return s.FS.Rename(from, to) })
}
func (s steppedFS) Remove(name string) error { return s.do(func() error { return s.FS.Remove(name) }) }
func (s steppedFS) SyncDir(dir string) error { return s.do(func() error { return s.FS.SyncDir(dir) }) }
func (s steppedFS) Close() error             { return nil }

func (s steppedFS) do(f func() error) error {
	if err := s.process.step(); err != nil {
		return err
	}
	return f()
}

func (s steppedFS) IsLinked(f files.File, name string) bool {
	return s.process.step() == nil && s.FS.IsLinked(f.(*steppedFile).File, name)
}

// steppedDir is a directory for reading, as a process sees it.
type steppedDir struct {
	files.Dir
	process *process
}

func (s steppedDir) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	if err := s.process.step(); err != nil {
		return nil, err
	}
	f, err := s.Dir.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	s.process.handles = append(s.process.handles, f)
	return &steppedFile{f, s.process}, nil
}

func (s steppedDir) List(dir string) ([]string, error) {
	if err := s.process.step(); err != nil {
		return nil, err
	}
	return s.Dir.List(dir)
}

func (s steppedDir) SizeOf(name string) (int64, error) {
	if err := s.process.step(); err != nil {
		return 0, err
	}
	return s.Dir.SizeOf(name)
}

func (s steppedDir) Sub(dir string) (files.Dir, error) {
	if err := s.process.step(); err != nil {
		return nil, err
	}
	sub, err := s.Dir.Sub(dir)
	return steppedDir{sub, s.process}, err
}

type steppedFile struct {
	files.File
	process *process
}

func (f *steppedFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.process.step(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *steppedFile) Write(b []byte) (int, error) {
	if err := f.process.step(); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *steppedFile) Size() (int64, error) {
	if err := f.process.step(); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *steppedFile) Truncate(size int64) error {
	if err := f.process.step(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *steppedFile) Sync() error { return nil } // nothing loses power here

func (f *steppedFile) TryLock() (bool, error) {
	if err := f.process.step(); err != nil {
		return false, err
	}
	ok, err := f.File.TryLock()
	f.process.blocked = !ok
	return ok, err
}

func (f *steppedFile) Unlock() error {
	if err := f.process.step(); err != nil {
		return err
	}
	return f.File.Unlock()
}

func (f *steppedFile) Close() error {
	if err := f.process.step(); err != nil {
		return err
	}
	return f.File.Close()
}

// script is what a process does: at first without a schedule, then by one.
type script struct {
	name   string
	before func(context.Context, *process) error
	then   func(context.Context, *process) error
}

// runSchedule runs programs by a schedule, and then those that are left to their ends. It returns the processes, and
// how many operations each began.
func runSchedule(t *testing.T, shared *sessiontest.CrashFS, scripts []script, schedule []segment) []*process {
	ctx := t.Context()
	acked, dropped := map[string]int{}, map[string]int{}
	processes := make([]*process, len(scripts))
	for i := range scripts {
		p := &process{fs: shared, acked: acked, dropped: dropped, free: true, steps: make(chan struct{}), grant: make(chan struct{})}
		var err error
		p.store, err = sessiontest.OpenFiles(steppedFS{shared, p}, nil)
		require.NoError(t, err)
		session.ReadWithOne(p.store)
		processes[i] = p
	}
	for i, p := range processes {
		if scripts[i].before != nil {
			require.NoError(t, scripts[i].before(ctx, p), scripts[i].name)
		}
	}
	for i, p := range processes {
		p.free = false
		go func() {
			p.err = scripts[i].then(ctx, p)
			if p.free = true; p.err != nil {
				p.end()
			}
			close(p.steps)
		}()
		_, more := <-p.steps
		p.ended = !more
	}
	advance := func(p *process) {
		p.resume()
		for tries := 0; p.blocked && !p.ended; tries++ { // those that it waits for have to go on
			for _, other := range processes {
				if other != p && !other.ended && !other.killed {
					other.resume()
				}
			}
			p.resume()
			require.Less(t, tries, 10_000, "the processes wait for each other")
		}
	}
	for _, s := range schedule {
		p := processes[s.process]
		for n := 0; !p.ended && !p.killed && n < s.steps; n++ {
			advance(p)
		}
		if s.kill && !p.killed {
			p.kill()
		}
	}
	for _, p := range processes {
		for !p.ended {
			advance(p)
		}
	}
	return processes
}
