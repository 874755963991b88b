package sessiontest

import (
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
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
	LossOrder               // data: all of it; of directories any of the changes that were not synced
)

// Losses lists every Loss.
func Losses() []Loss {
	return []Loss{LossAll, LossNone, LossPrefix, LossBlocks, LossHoles, LossEntries, LossOrder}
}

func (l Loss) String() string {
	return [...]string{"all", "none", "prefix", "blocks", "holes", "entries", "order"}[l]
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
	boot  int // how many power losses there were
	count int
	after func(Operation)
	fault func(Operation) Fault
}

// node is a file or a directory.
type node struct {
	isDir bool

	// Neither is changed in place: a change gives the file another slice, so that what is copied shares them.
	data   []byte // as a process sees it
	disk   []byte // as it is after a power loss
	failed bool   // a sync failed: what was not on the disk then never gets there

	entries map[string]*node // of a directory, as a process sees it
	durable map[string]*node

	owner *handle // who holds the lock
}

// NewCrashFS returns an empty file system.
func NewCrashFS() *CrashFS {
	c := &CrashFS{}
	c.root = c.newNode(true)
	return c
}

func (c *CrashFS) newNode(isDir bool) *node {
	n := &node{isDir: isDir}
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
	next := &CrashFS{boot: c.boot + 1}
	next.root = next.survive(c.root, loss, random, map[*node]*node{})
	return next
}

// Clone returns a copy of the file system as processes see it. Locks are gone.
func (c *CrashFS) Clone() *CrashFS {
	next := c.Crash(LossNone, nil)
	next.boot = c.boot
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
	for _, name := range sortedNames(entries) { // in order, so that random gives the same again
		s.entries[name] = c.survive(entries[name], loss, random, done)
		s.durable[name] = s.entries[name]
	}
	return s
}

// someEntries returns the entries of a directory of whose changes since the last sync each one got to the disk or not.
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
	if n.failed && loss != LossNone { // the kernel believes that it is on the disk
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
