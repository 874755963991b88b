package files

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// root is a directory of the operating system. No name leads out of it.
type root struct{ dir *os.Root }

// OpenRoot opens a directory, which it makes if there is none.
func OpenRoot(name string) (FS, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return root{dir}, nil
}

// ErrLink is the error of a name that is a symbolic link, or no regular file.
var ErrLink = errors.New("not a regular file or directory")

func (r root) Open(name string, flag int, perm fs.FileMode) (File, error) {
	name = filepath.FromSlash(name)
	if flag&os.O_RDWR != 0 {
		flag |= os.O_APPEND
	}
	before, err := r.dir.Lstat(name)
	if err == nil && !before.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrLink}
	}
	f, err := r.dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if before != nil { // a link that was put there in between
		after, err := f.Stat()
		if err != nil || !os.SameFile(before, after) {
			f.Close()
			return nil, errors.Join(err, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist})
		}
	}
	return &file{f}, nil
}

func (r root) Mkdir(name string, perm fs.FileMode) error {
	return r.dir.Mkdir(filepath.FromSlash(name), perm)
}

func (r root) Rename(from, to string) error {
	return r.dir.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

func (r root) Remove(name string) error { return r.dir.Remove(filepath.FromSlash(name)) }
func (r root) Close() error             { return r.dir.Close() }

func (r root) List(dir string) ([]string, error) {
	f, err := r.dir.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (r root) IsDir(name string) (bool, error) {
	info, err := r.dir.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, &fs.PathError{Op: "open", Path: name, Err: ErrLink}
	}
	return true, nil
}

func (r root) SizeOf(name string) (int64, error) {
	info, err := r.dir.Lstat(filepath.FromSlash(name))
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "stat", Path: name, Err: ErrLink}
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (r root) Sub(dir string) (FS, error) {
	if ok, err := r.IsDir(dir); !ok || err != nil { // OpenRoot follows links within
		return nil, cmp.Or(err, error(&fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}))
	}
	sub, err := r.dir.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	return root{sub}, nil
}

func (r root) Boot() string { return boot() }

func (r root) SyncDir(dir string) error {
	f, err := r.dir.Open(filepath.FromSlash(path.Clean(dir)))
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	// Some file systems have nothing to sync for a directory, and say so.
	isNeedless := cannotSyncDirs || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
	if err != nil && !isNeedless {
		return fmt.Errorf("sync of %s: %w", dir, err)
	}
	return nil
}

func (r root) IsLinked(f File, name string) bool {
	own, err := f.(*file).Stat()
	if err != nil {
		return false
	}
	there, err := r.dir.Lstat(filepath.FromSlash(name))
	return err == nil && os.SameFile(own, there)
}

type file struct{ *os.File }

func (f *file) Size() (int64, error)   { return sizeOf(f.File) }
func (f *file) Sync() error            { return syncData(f.File) }
func (f *file) TryLock() (bool, error) { return tryLock(f.File) }
func (f *file) Unlock() error          { return unlock(f.File) }
