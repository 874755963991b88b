package sessiontest

import (
	"hash/maphash"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/internal/dir"
	"github.com/winnowgo/winnow/session/internal/files"
)

// Loss is what a power loss does to unsynced changes.
type Loss int

const (
	LossAll     Loss = iota // none of them is on the disk
	LossNone                // all of them are, as after the end of a process
	LossPrefix              // data: a prefix of what was written
	LossBlocks              // data: any of its 512-byte blocks; the others keep their old content, or are NULs
	LossHoles               // data: the new size, with NULs after the synced part
	LossEntries             // data: all of it; directories: unsynced entries are missing
	LossOrder               // data: all of it; directories: any subset of the unsynced changes
)

// Losses lists every Loss.
func Losses() []Loss {
	return []Loss{LossAll, LossNone, LossPrefix, LossBlocks, LossHoles, LossEntries, LossOrder}
}

func (l Loss) String() string {
	return [...]string{"all", "none", "prefix", "blocks", "holes", "entries", "order"}[l]
}

// blockSize is the unit that a disk writes atomically.
const blockSize = 512

// Operation is one call that changes the file system.
type Operation struct {
	Index int    // from 1
	Name  string // create, write, truncate, sync, syncdir, mkdir, rename, remove
	Path  string
}

// Fault replaces the effect of an operation.
type Fault struct {
	Err   error // nil: no fault
	Short int   // of a write: number of bytes written nevertheless; -1: half of them
}

// CrashFS is a file system in memory that tracks what is on the disk and what is only in the kernel's cache. It is safe
// for concurrent use.
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

	// Neither slice is changed in place: a change replaces it, so that copies of the file can share it.
	data   []byte // as a process sees it
	disk   []byte // as it is after a power loss
	failed bool   // a sync failed: data that was not on the disk then never gets there

	entries map[string]*node // entries of a directory, as a process sees it
	durable map[string]*node

	owner *handle // who holds the lock
}

// NewCrashFS returns an empty file system.
func NewCrashFS() *CrashFS {
	c := &CrashFS{}
	c.root = c.newNode(true)
	return c
}

// OpenFiles is [session.OpenDirectory] on another file system, such as a CrashFS.
func OpenFiles(fsys files.FS, opts *session.Options) (*session.Store, error) {
	d, err := dir.Open(fsys, session.New(nil, opts).Options().Now)
	if err != nil {
		return nil, err
	}
	return session.New(d, opts), nil
}

func (c *CrashFS) newNode(isDir bool) *node {
	n := &node{isDir: isDir}
	if isDir {
		n.entries, n.durable = map[string]*node{}, map[string]*node{}
	}
	return n
}

// After sets a function that is called after every operation that changed something, without locks held.
func (c *CrashFS) After(f func(Operation)) { c.after = f }

// Fail sets a function that decides, before every operation that would change something, whether it fails.
func (c *CrashFS) Fail(f func(Operation) Fault) { c.fault = f }

// Operations returns the number of operations so far.
func (c *CrashFS) Operations() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Crash returns the file system after a power loss at this moment, without locks. c itself is not changed.
func (c *CrashFS) Crash(loss Loss, random *rand.Rand) *CrashFS {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := &CrashFS{}
	next.root = next.survive(c.root, loss, random, map[*node]*node{})
	return next
}

// Kill returns a copy of the file system as it is after all its processes were killed: without locks, and with the
// cache of the kernel as it was, so that a later power loss still takes what was not synced.
func (c *CrashFS) Kill() *CrashFS {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := &CrashFS{}
	next.root = next.outlive(c.root, map[*node]*node{})
	return next
}

// outlive returns a copy of n, both of what is on the disk and of what is only in the cache.
func (c *CrashFS) outlive(n *node, done map[*node]*node) *node {
	if s := done[n]; s != nil {
		return s
	}
	s := c.newNode(n.isDir)
	done[n] = s
	s.data, s.disk, s.failed = n.data, n.disk, n.failed
	for name, entry := range n.entries {
		s.entries[name] = c.outlive(entry, done)
	}
	for name, entry := range n.durable {
		s.durable[name] = c.outlive(entry, done)
	}
	return s
}

// Clone returns a copy of the file system as processes see it, without locks.
func (c *CrashFS) Clone() *CrashFS {
	return c.Crash(LossNone, nil)
}

// digestSeed is the seed of all digests of this process.
var digestSeed = maphash.MakeSeed()

// Digest returns a hash of all names and contents as processes see them. File systems with the same digest behave in
// the same way after [CrashFS.Crash], so that a test need look at only one of them.
func (c *CrashFS) Digest() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(digestSeed)
	c.root.digest(&h)
	return h.Sum64()
}

func (n *node) digest(h *maphash.Hash) {
	maphash.WriteComparable(h, n.isDir)
	maphash.WriteComparable(h, len(n.data)+len(n.entries))
	h.Write(n.data)
	for _, name := range sortedNames(n.entries) {
		maphash.WriteComparable(h, len(name))
		h.WriteString(name)
		n.entries[name].digest(h)
	}
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
		s.disk = s.data
		return s
	}
	entries := n.entries
	switch loss {
	case LossAll, LossEntries:
		entries = n.durable
	case LossOrder:
		entries = n.someEntries(random)
	}
	for _, name := range sortedNames(entries) { // sorted, so that random is reproducible
		s.entries[name] = c.survive(entries[name], loss, random, done)
		s.durable[name] = s.entries[name]
	}
	return s
}

// someEntries returns the entries of a directory after a power loss: each change since the last sync reached the disk
// or not, at random.
func (n *node) someEntries(random *rand.Rand) map[string]*node {
	names := append(sortedNames(n.entries), sortedNames(n.durable)...)
	slices.Sort(names)
	some := map[string]*node{}
	for _, name := range slices.Compact(names) {
		now, then := n.entries[name], n.durable[name]
		if now != then && random.IntN(2) == 0 {
			now = then
		}
		if now != nil {
			some[name] = now
		}
	}
	return some
}

// after returns the data of a file after a power loss.
func (n *node) after(loss Loss, random *rand.Rand) []byte {
	if n.failed && loss != LossNone { // the kernel wrongly believes that it is on the disk
		return n.disk
	}
	switch loss {
	case LossAll:
		return n.disk
	case LossPrefix:
		if len(n.data) <= len(n.disk) {
			return n.data
		}
		return n.data[:len(n.disk)+random.IntN(len(n.data)-len(n.disk)+1)]
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
	return n.data
}

func sortedNames(m map[string]*node) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// change runs f as an operation, unless it has to fail. The lock is not held before and after.
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

// WriteFile replaces the content of an existing file, as if the new content had long been on the disk.
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
