package sessiontest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/winnowgo/winnow/session/internal/files"
)

// Open implements the Open of files.FS.
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

func (c *CrashFS) SizeOf(name string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(name)
	if err == nil && n.isDir {
		err = files.ErrLink
	}
	if err != nil {
		return 0, failure("stat", name, err)
	}
	return int64(len(n.data)), nil
}

// Sub returns c itself with other names, for reading.
func (c *CrashFS) Sub(dir string) (files.Dir, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.find(dir)
	if err == nil && !n.isDir {
		err = files.ErrLink
	}
	return crashSub{c, dir}, failure("open", dir, err)
}

// crashSub is a directory of a [CrashFS].
type crashSub struct {
	fs  *CrashFS
	dir string
}

func (s crashSub) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	return s.fs.Open(path.Join(s.dir, name), flag, perm)
}
func (s crashSub) List(dir string) ([]string, error) { return s.fs.List(path.Join(s.dir, dir)) }
func (s crashSub) SizeOf(name string) (int64, error) { return s.fs.SizeOf(path.Join(s.dir, name)) }
func (s crashSub) Sub(dir string) (files.Dir, error) { return s.fs.Sub(path.Join(s.dir, dir)) }
func (s crashSub) Close() error                      { return nil }

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

// Sync makes the data durable. After a failed Sync the kernel considers the pages clean: later calls report no error,
// but data that was not on the disk never gets there.
func (h *handle) Sync() error {
	return h.fs.change("sync", h.name, func(fault Fault) error {
		if fault.Err != nil {
			h.node.failed = true
			return failure("sync", h.name, fault.Err)
		}
		if !h.node.failed {
			h.node.disk = h.node.data
		}
		return nil
	})
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
