package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

// root is a directory of the operating system. No name can escape from it.
type root struct{ dir *os.Root }

// OpenRoot opens a directory, and creates it if necessary, durably.
func OpenRoot(name string) (FS, error) {
	if err := makeAll(name); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(name)
	return root{dir}, err
}

// makeAll is os.MkdirAll, and makes the entries of the directories that it creates durable.
func makeAll(name string) error {
	parent := filepath.Dir(name)
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) || parent == name {
		return os.MkdirAll(name, 0o700) // for its errors
	}
	if err := makeAll(parent); err != nil {
		return err
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		return err
	}
	f, err := os.Open(parent)
	if errors.Is(err, fs.ErrPermission) { // one may create in a directory that one may not read
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return syncDirectory(f)
}

// ErrLink is the error for a symbolic link, or anything else that is not a regular file or directory.
var ErrLink = errors.New("not a regular file or directory")

func (r root) Open(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_RDWR != 0 {
		flag |= os.O_APPEND
	}
	if _, err := r.SizeOf(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := r.dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{f, r.dir, name}, nil
}

func (r root) SizeOf(name string) (int64, error) {
	info, err := r.dir.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "stat", Path: name, Err: ErrLink}
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (r root) Mkdir(name string, perm fs.FileMode) error { return r.dir.Mkdir(name, perm) }
func (r root) Rename(from, to string) error              { return r.dir.Rename(from, to) }
func (r root) Remove(name string) error                  { return r.dir.Remove(name) }
func (r root) Close() error                              { return r.dir.Close() }

func (r root) List(dir string) ([]string, error) {
	f, err := r.dir.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (r root) Sub(dir string) (Dir, error) {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		info, err := r.dir.Lstat(dir[:i]) // OpenRoot follows links within the root
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: dir, Err: ErrLink}
		}
		if err != nil {
			return nil, err
		}
	}
	sub, err := r.dir.OpenRoot(dir)
	return root{sub}, err
}

func (r root) SyncDir(dir string) error {
	f, err := r.dir.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncDirectory(f)
}

func syncDirectory(f *os.File) error {
	err := f.Sync()
	// Some file systems have nothing to sync for a directory, and return an error that says so.
	isNeedless := cannotSyncDirs || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
	if err != nil && !isNeedless {
		return fmt.Errorf("sync of %s: %w", f.Name(), err)
	}
	return nil
}

func (r root) IsLinked(f File, name string) bool {
	there, err := r.dir.Lstat(name)
	if err != nil {
		return false
	}
	info, err := f.(*file).Stat()
	return err == nil && os.SameFile(there, info)
}

// file is an open file.
type file struct {
	*os.File
	dir  *os.Root
	name string
}

// Size returns the length. Unlike [os.File.Stat] it allocates nothing; appends do not depend on where a file stands.
func (f *file) Size() (int64, error) { return f.Seek(0, io.SeekEnd) }

func (f *file) Sync() error { return syncData(f.File) }

// appendingCannotCut: on Windows a handle that was opened for appending has no right to cut its file.
const appendingCannotCut = runtime.GOOS == "windows"

func (f *file) Truncate(size int64) error {
	if appendingCannotCut {
		return f.truncateByName(size)
	}
	return f.File.Truncate(size)
}

// truncateByName cuts the file through a handle of its own. It fails if the name has become that of another file.
func (f *file) truncateByName(size int64) error {
	cut, err := f.dir.OpenFile(f.name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	here, err := f.Stat()
	there, err2 := cut.Stat()
	err = errors.Join(err, err2)
	if err == nil && !os.SameFile(here, there) {
		err = &fs.PathError{Op: "truncate", Path: f.name, Err: fs.ErrNotExist}
	}
	if err == nil {
		err = cut.Truncate(size)
	}
	return errors.Join(err, cut.Close())
}

func (f *file) TryLock() (bool, error) { return tryLock(f.File) }
func (f *file) Unlock() error          { return unlock(f.File) }

// Close releases the lock explicitly. The kernel would release it only with the last descriptor, and a child process
// that is being started holds a copy of each one until it runs its program.
func (f *file) Close() error {
	_ = unlock(f.File) // most files were never locked
	return f.File.Close()
}
