package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
)

// closableFS is the file system of a store. Once the store is closed, its errors say so: the system would only say
// that some file is closed, or that a number names no file.
type closableFS struct {
	files.FS
	closed *atomic.Bool
}

func newClosableFS(fsys files.FS) closableFS { return closableFS{fsys, new(atomic.Bool)} }

// said adds to the error of a call that the store is closed.
func (c closableFS) said(err error) error {
	if err == nil || !c.closed.Load() || errors.Is(err, errs.ErrClosed) {
		return err
	}
	return fmt.Errorf("%w: %w", errs.ErrClosed, err)
}

func (c closableFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	f, err := c.FS.Open(name, flag, perm)
	return f, c.said(err)
}

func (c closableFS) Mkdir(name string, perm fs.FileMode) error {
	return c.said(c.FS.Mkdir(name, perm))
}

func (c closableFS) Rename(from, to string) error { return c.said(c.FS.Rename(from, to)) }

func (c closableFS) Remove(name string) error { return c.said(c.FS.Remove(name)) }

func (c closableFS) List(dir string) ([]string, error) {
	names, err := c.FS.List(dir)
	return names, c.said(err)
}

func (c closableFS) IsDir(name string) (bool, error) {
	ok, err := c.FS.IsDir(name)
	return ok, c.said(err)
}

func (c closableFS) SizeOf(name string) (int64, error) {
	n, err := c.FS.SizeOf(name)
	return n, c.said(err)
}

func (c closableFS) SyncDir(dir string) error { return c.said(c.FS.SyncDir(dir)) }

func (c closableFS) Sub(dir string) (files.FS, error) {
	sub, err := c.FS.Sub(dir)
	if err != nil {
		return nil, c.said(err)
	}
	return closableFS{sub, c.closed}, nil
}
