package sessiontest

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

// Loss is what a power loss does to what was not synced.
type Loss int

const (
	LossAll     Loss = iota // nothing of it is on the disk
	LossNone                // all of it is, as after the end of a process
	LossPrefix              // data: a prefix of what was written
	LossBlocks              // data: any of its 512-byte blocks; the others are as they were, or NUL
	LossHoles               // data: the new size, with NULs behind what was synced
	LossEntries             // data: all of it; of directories the entries that were not synced are missing
)

// Losses lists every Loss.
func Losses() []Loss {
	return []Loss{LossAll, LossNone, LossPrefix, LossBlocks, LossHoles, LossEntries}
}

func (l Loss) String() string {
	return [...]string{"all", "none", "prefix", "blocks", "holes", "entries"}[l]
}

// blockSize is the unit that a disk writes whole.
const blockSize = 512

// Operation is one call that changes the file system.
type Operation struct {
	Index int    // from 1
	Name  string // create, write, truncate, sync, syncdir, mkdir, rename, remove
	Path  string
}

// Fault is what becomes of an operation instead of its effect.
type Fault struct {
	Err   error // nil: none
	Short int   // of a write: so many bytes are written nevertheless; -1: half of them
}

// CrashFS is a file system in memory that knows what is on the disk and what only in the cache of the kernel. It is
// safe for concurrent use.
type CrashFS struct {
	mu    sync.Mutex
	root  *node
	count int
	after func(Operation)
	fault func(Operation) Fault
}

// node is a file or a directory.
type node struct {
	isDir bool

	data   []byte // as a process sees it
	disk   []byte // as it is after a power loss
	failed bool   // a sync failed: what was not on the disk then never gets there

	entries map[string]*node // of a directory, as a process sees it
	durable map[string]*node

	owner *handle // who holds the lock
	freed *sync.Cond
}

// NewCrashFS returns an empty file system.
func NewCrashFS() *CrashFS {
	c := &CrashFS{}
	c.root = c.newNode(true)
	return c
}

func (c *CrashFS) newNode(isDir bool) *node {
	n := &node{isDir: isDir, freed: sync.NewCond(&c.mu)}
	if isDir {
		n.entries, n.durable = map[string]*node{}, map[string]*node{}
	}
	return n
}

// After has f called after every operation that changed something, with no lock held.
func (c *CrashFS) After(f func(Operation)) { c.after = f }

// Fail has f asked before every operation that would change something whether it fails.
func (c *CrashFS) Fail(f func(Operation) Fault) { c.fault = f }

// Operations returns how many operations there were.
func (c *CrashFS) Operations() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Crash returns the file system as it is after a power loss at this moment. c goes on as it was. Locks are gone.
func (c *CrashFS) Crash(loss Loss, random *rand.Rand) *CrashFS {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := &CrashFS{}
	next.root = next.survive(c.root, loss, random, map[*node]*node{})
	return next
}

// survive returns what is left of n.
func (c *CrashFS) survive(n *node, loss Loss, random *rand.Rand, done map[*node]*node) *node {
	if s := done[n]; s != nil {
		return s
	}
	s := c.newNode(n.isDir)
	done[n] = s
	if !n.isDir {
		s.data = n.after(loss, random)
		s.disk = slices.Clone(s.data)
		return s
	}
	entries := n.entries
	if loss == LossAll || loss == LossEntries {
		entries = n.durable
	}
	for _, name := range sortedNames(entries) { // in order, so that random gives the same again
		s.entries[name] = c.survive(entries[name], loss, random, done)
		s.durable[name] = s.entries[name]
	}
	return s
}

// after returns the data of a file after a power loss.
func (n *node) after(loss Loss, random *rand.Rand) []byte {
	if n.failed && loss != LossNone { // the kernel believes that it is on the disk
		return slices.Clone(n.disk)
	}
	switch loss {
	case LossAll:
		return slices.Clone(n.disk)
	case LossPrefix:
		if len(n.data) <= len(n.disk) {
			return slices.Clone(n.data)
		}
		return slices.Clone(n.data[:len(n.disk)+random.IntN(len(n.data)-len(n.disk)+1)])
	case LossHoles:
		out := make([]byte, len(n.data))
		copy(out, n.disk)
		return out
	case LossBlocks:
		out := make([]byte, len(n.data))
		copy(out, n.disk)
		for at := 0; at < len(n.data); at += blockSize {
			if random.IntN(2) == 0 {
				copy(out[at:min(at+blockSize, len(out))], n.data[at:])
			}
		}
		return out
	}
	return slices.Clone(n.data)
}

func sortedNames(m map[string]*node) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// change runs f as an operation, unless it is to fail. The lock is not held before and after.
func (c *CrashFS) change(name, at string, f func(Fault) error) error {
	c.mu.Lock()
	c.count++
	op := Operation{Index: c.count, Name: name, Path: at}
	fault := Fault{}
	if c.fault != nil {
		fault = c.fault(op)
	}
	err := f(fault)
	after := c.after
	c.mu.Unlock()
	if after != nil {
		after(op)
	}
	return err
}

func (c *CrashFS) find(name string) (*node, error) {
	n := c.root
	for _, part := range split(name) {
		if !n.isDir {
			return nil, fs.ErrNotExist
		}
		if n = n.entries[part]; n == nil {
			return nil, fs.ErrNotExist
		}
	}
	return n, nil
}

func split(name string) []string {
	if name = path.Clean(name); name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

// parent returns the directory that name is in.
func (c *CrashFS) parent(name string) (*node, error) {
	n, err := c.find(path.Dir(name))
	if err == nil && !n.isDir {
		err = fs.ErrNotExist
	}
	return n, err
}

func failure(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// ReadFile returns what a file holds.
func (c *CrashFS) ReadFile(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	if err != nil {
		return nil, failure("read", name, err)
	}
	return slices.Clone(n.data), nil
}

// WriteFile gives a file that there is another content, as if it had been on the disk for long.
func (c *CrashFS) WriteFile(name string, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	if err != nil {
		return failure("write", name, err)
	}
	n.data, n.disk = slices.Clone(data), slices.Clone(data)
	return nil
}

// Open opens a file, as files.FS wants it.
func (c *CrashFS) Open(name string, flag int, _ fs.FileMode) (files.File, error) {
	c.mu.Lock()
	n, err := c.find(name)
	c.mu.Unlock()
	switch {
	case err == nil && n.isDir:
		return nil, failure("open", name, files.ErrLink)
	case err == nil && flag&os.O_EXCL != 0:
		return nil, failure("open", name, fs.ErrExist)
	case err == nil:
		return &handle{fs: c, node: n, name: name}, nil
	case flag&os.O_CREATE == 0:
		return nil, failure("open", name, err)
	}
	var h *handle
	err = c.change("create", name, func(fault Fault) error {
		dir, err := c.parent(name)
		if err != nil || fault.Err != nil {
			return failure("open", name, errors.Join(err, fault.Err))
		}
		base := path.Base(name)
		if dir.entries[base] == nil {
			dir.entries[base] = c.newNode(false)
		} else if flag&os.O_EXCL != 0 {
			return failure("open", name, fs.ErrExist)
		}
		h = &handle{fs: c, node: dir.entries[base], name: name}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (c *CrashFS) Mkdir(name string, _ fs.FileMode) error {
	c.mu.Lock()
	_, err := c.find(name)
	c.mu.Unlock()
	if err == nil { // changes nothing
		return failure("mkdir", name, fs.ErrExist)
	}
	return c.change("mkdir", name, func(fault Fault) error {
		dir, err := c.parent(name)
		if err != nil || fault.Err != nil {
			return failure("mkdir", name, errors.Join(err, fault.Err))
		}
		if dir.entries[path.Base(name)] == nil {
			dir.entries[path.Base(name)] = c.newNode(true)
		}
		return nil
	})
}

func (c *CrashFS) Rename(from, to string) error {
	return c.change("rename", to, func(fault Fault) error {
		source, err := c.parent(from)
		target, err2 := c.parent(to)
		if err := errors.Join(err, err2, fault.Err); err != nil {
			return failure("rename", from, err)
		}
		n := source.entries[path.Base(from)]
		if n == nil {
			return failure("rename", from, fs.ErrNotExist)
		}
		delete(source.entries, path.Base(from))
		target.entries[path.Base(to)] = n
		return nil
	})
}

func (c *CrashFS) Remove(name string) error {
	c.mu.Lock()
	_, err := c.find(name)
	c.mu.Unlock()
	if err != nil {
		return failure("remove", name, err)
	}
	return c.change("remove", name, func(fault Fault) error {
		dir, err := c.parent(name)
		if err != nil || fault.Err != nil {
			return failure("remove", name, errors.Join(err, fault.Err))
		}
		n := dir.entries[path.Base(name)]
		switch {
		case n == nil:
			return failure("remove", name, fs.ErrNotExist)
		case len(n.entries) > 0:
			return failure("remove", name, errors.New("directory not empty"))
		}
		delete(dir.entries, path.Base(name))
		return nil
	})
}

func (c *CrashFS) List(dir string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(dir)
	if err != nil {
		return nil, failure("list", dir, err)
	}
	return sortedNames(n.entries), nil
}

func (c *CrashFS) IsDir(name string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	if err != nil {
		return false, nil
	}
	if !n.isDir {
		return false, failure("open", name, files.ErrLink)
	}
	return true, nil
}

func (c *CrashFS) SyncDir(name string) error {
	return c.change("syncdir", name, func(fault Fault) error {
		n, err := c.find(name)
		if err != nil || fault.Err != nil {
			return failure("sync", name, errors.Join(err, fault.Err))
		}
		n.durable = make(map[string]*node, len(n.entries))
		for k, v := range n.entries {
			n.durable[k] = v
		}
		return nil
	})
}

func (c *CrashFS) IsLinked(f files.File, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	return err == nil && n == f.(*handle).node
}

func (c *CrashFS) Close() error { return nil }

// handle is an open file.
type handle struct {
	fs     *CrashFS
	node   *node
	name   string
	closed bool
}

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return 0, fs.ErrClosed
	}
	if off >= int64(len(h.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) Write(p []byte) (n int, err error) {
	err = h.fs.change("write", h.name, func(fault Fault) error {
		if h.closed {
			return fs.ErrClosed
		}
		if n = len(p); fault.Err != nil {
			if n = fault.Short; n < 0 {
				n = len(p) / 2
			}
			n = min(n, len(p))
		}
		h.node.data = append(h.node.data[:len(h.node.data):len(h.node.data)], p[:n]...)
		return failure("write", h.name, fault.Err)
	})
	return n, err
}

func (h *handle) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return 0, fs.ErrClosed
	}
	return int64(len(h.node.data)), nil
}

func (h *handle) Truncate(size int64) error {
	return h.fs.change("truncate", h.name, func(fault Fault) error {
		if fault.Err != nil {
			return failure("truncate", h.name, fault.Err)
		}
		data := make([]byte, size)
		copy(data, h.node.data)
		h.node.data = data
		return nil
	})
}

// Sync makes the data durable. After one that failed the kernel takes the pages for clean: later ones report no
// error, and what was not on the disk never gets there.
func (h *handle) Sync() error {
	return h.fs.change("sync", h.name, func(fault Fault) error {
		if fault.Err != nil {
			h.node.failed = true
			return failure("sync", h.name, fault.Err)
		}
		if !h.node.failed {
			h.node.disk = slices.Clone(h.node.data)
		}
		return nil
	})
}

func (h *handle) Lock() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	for h.node.owner != nil && h.node.owner != h {
		h.node.freed.Wait()
	}
	h.node.owner = h
	return nil
}

func (h *handle) TryLock() (bool, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.node.owner != nil && h.node.owner != h {
		return false, nil
	}
	h.node.owner = h
	return true, nil
}

func (h *handle) Unlock() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.unlock()
	return nil
}

func (h *handle) unlock() {
	if h.node.owner == h {
		h.node.owner = nil
		h.node.freed.Broadcast()
	}
}

func (h *handle) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return fs.ErrClosed
	}
	h.closed = true
	h.unlock()
	return nil
}
