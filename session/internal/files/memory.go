package files

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// memory is a directory in memory.
type memory struct {
	tree *sync.Mutex // protects the entries of all directories
	dir  *memoryNode
}

// memoryNode is a directory, if it has entries, or a file. A file that was replaced stays for those who have it open.
type memoryNode struct {
	entries map[string]*memoryNode

	mu     sync.Mutex
	data   []byte
	holder *memoryFile // of the lock
}

// NewMemory returns a file system in memory. It is never full, and syncs do nothing.
func NewMemory() FS {
	return memory{new(sync.Mutex), &memoryNode{entries: map[string]*memoryNode{}}}
}

// find returns what a name stands for, nil if there is nothing. The tree is locked.
func (m memory) find(name string) *memoryNode {
	n := m.dir
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part != "." && n != nil {
			n = n.entries[part]
		}
	}
	return n
}

// change finds the directory of a name, and calls f with the entries of that.
func (m memory) change(op, name string, f func(entries map[string]*memoryNode, base string) error) error {
	m.tree.Lock()
	defer m.tree.Unlock()
	err := fs.ErrNotExist
	if dir := m.find(path.Dir(name)); dir != nil && dir.entries != nil {
		err = f(dir.entries, path.Base(name))
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (m memory) Open(name string, flag int, _ fs.FileMode) (f File, err error) {
	err = m.change("open", name, func(entries map[string]*memoryNode, base string) error {
		n := entries[base]
		switch {
		case n == nil && flag&os.O_CREATE == 0:
			return fs.ErrNotExist
		case n == nil:
			n = &memoryNode{}
			entries[base] = n
		case n.entries != nil:
			return ErrLink
		case flag&os.O_EXCL != 0:
			return fs.ErrExist
		}
		f = &memoryFile{node: n}
		return nil
	})
	return f, err
}

func (m memory) Mkdir(name string, _ fs.FileMode) error {
	return m.change("mkdir", name, func(entries map[string]*memoryNode, base string) error {
		if entries[base] != nil {
			return fs.ErrExist
		}
		entries[base] = &memoryNode{entries: map[string]*memoryNode{}}
		return nil
	})
}

func (m memory) Rename(from, to string) error {
	return m.change("rename", from, func(entries map[string]*memoryNode, base string) error {
		n, into := entries[base], m.find(path.Dir(to))
		if n == nil || into == nil {
			return fs.ErrNotExist
		}
		delete(entries, base)
		into.entries[path.Base(to)] = n
		return nil
	})
}

func (m memory) Remove(name string) error {
	return m.change("remove", name, func(entries map[string]*memoryNode, base string) error {
		n := entries[base]
		if n == nil {
			return fs.ErrNotExist
		}
		if len(n.entries) > 0 {
			return fs.ErrExist // as ENOTEMPTY
		}
		delete(entries, base)
		return nil
	})
}

func (m memory) List(dir string) ([]string, error) {
	m.tree.Lock()
	defer m.tree.Unlock()
	n := m.find(dir)
	if n == nil || n.entries == nil {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	return slices.Sorted(maps.Keys(n.entries)), nil
}

func (m memory) SizeOf(name string) (int64, error) {
	f, err := m.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	return f.Size()
}

func (m memory) Sub(dir string) (Dir, error) {
	m.tree.Lock()
	defer m.tree.Unlock()
	n := m.find(dir)
	if n == nil || n.entries == nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	return memory{m.tree, n}, nil
}

func (m memory) IsLinked(f File, name string) bool {
	m.tree.Lock()
	defer m.tree.Unlock()
	return m.find(name) == f.(*memoryFile).node
}

func (memory) SyncDir(string) error { return nil }
func (memory) Close() error         { return nil }

// memoryFile is an open file.
type memoryFile struct{ node *memoryNode }

func (f *memoryFile) ReadAt(p []byte, off int64) (int, error) {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	return bytes.NewReader(f.node.data).ReadAt(p, off)
}

func (f *memoryFile) Write(p []byte) (int, error) {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	f.node.data = append(f.node.data, p...)
	return len(p), nil
}

func (f *memoryFile) Size() (int64, error) {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	return int64(len(f.node.data)), nil
}

func (f *memoryFile) Truncate(size int64) error {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	f.node.data = f.node.data[:min(size, int64(len(f.node.data)))]
	return nil
}

func (f *memoryFile) Sync() error { return nil }

func (f *memoryFile) TryLock() (bool, error) {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	if f.node.holder == nil {
		f.node.holder = f
	}
	return f.node.holder == f, nil
}

func (f *memoryFile) Unlock() error {
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	if f.node.holder == f {
		f.node.holder = nil
	}
	return nil
}

func (f *memoryFile) Close() error { return f.Unlock() }
