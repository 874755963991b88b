package files

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// root is a directory of the operating system. No name can escape from it.
type root struct {
	dir  *os.Root
	self *os.File // the directory itself, for statAt; nil: names are looked up by dir
}

// OpenRoot opens a directory, and creates it if necessary, durably.
func OpenRoot(name string) (FS, error) {
	if err := makeAll(name); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	self, err := dir.Open(".")
	if err != nil {
		dir.Close()
		return nil, err
	}
	return root{dir, self}, nil
}

// makeAll is os.MkdirAll, and makes the entries of the directories that it creates durable.
func makeAll(name string) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(name, 0o700) // for its errors
	}
	parent := filepath.Dir(name)
	if parent == name {
		return os.MkdirAll(name, 0o700)
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
	name = filepath.FromSlash(name)
	if flag&os.O_RDWR != 0 {
		flag |= os.O_APPEND
	}
	before, err := r.stat(name)
	exists := err == nil
	if exists && !before.isRegular {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrLink}
	}
	f, err := r.dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	id, err := identityOf(f)
	if err != nil || exists && !id.isSame(before.id) { // somebody put a link there in between
		f.Close()
		return nil, errors.Join(err, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist})
	}
	return &file{File: f, id: id, root: r, name: name}, nil
}

// found describes what a name stands for. Links are not followed.
type found struct {
	id        identity
	size      int64
	isRegular bool
}

// stat looks up a name. A name in the directory itself takes one system call.
func (r root) stat(name string) (found, error) {
	if r.self != nil && isPlain(name) {
		if f, err := statAt(r.self.Fd(), name); !errors.Is(err, errors.ErrUnsupported) {
			return f, err
		}
	}
	info, err := r.dir.Lstat(name)
	if err != nil {
		return found{}, err
	}
	return found{identify(info), info.Size(), info.Mode().IsRegular()}, nil
}

// isPlain reports whether name leads neither out of a directory nor into a subdirectory.
func isPlain(name string) bool {
	switch name {
	case "", ".", "..":
		return false
	}
	return !strings.ContainsAny(name, `/\`+"\x00")
}

func (r root) Mkdir(name string, perm fs.FileMode) error {
	return r.dir.Mkdir(filepath.FromSlash(name), perm)
}

func (r root) Rename(from, to string) error {
	return r.dir.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

func (r root) Remove(name string) error { return r.dir.Remove(filepath.FromSlash(name)) }

func (r root) Close() error {
	err := r.dir.Close()
	if r.self != nil {
		err = errors.Join(err, r.self.Close())
	}
	return err
}

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
	f, err := r.stat(filepath.FromSlash(name))
	if err == nil && !f.isRegular {
		err = &fs.PathError{Op: "stat", Path: name, Err: ErrLink}
	}
	if err != nil {
		return 0, err
	}
	return f.size, nil
}

// slowSub is Sub on any system that os.Root supports.
func (r root) slowSub(dir string) (FS, error) {
	if ok, err := r.IsDir(dir); !ok || err != nil { // OpenRoot follows links within the root
		return nil, cmp.Or(err, error(&fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}))
	}
	sub, err := r.dir.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	return root{dir: sub}, nil
}

func (r root) SyncDir(dir string) error {
	f, err := r.dir.Open(filepath.FromSlash(path.Clean(dir)))
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
	there, err := r.stat(filepath.FromSlash(name))
	return err == nil && there.id.isSame(f.(*file).id)
}

type file struct {
	*os.File
	id       identity
	root     root
	name     string // within root
	isLocked bool
}

func (f *file) Size() (int64, error)    { return sizeOf(f.File) }
func (f *file) Written() (int64, error) { return writtenTo(f.File) }
func (f *file) Sync() error             { return syncData(f.File) }

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
	cut, err := f.root.dir.OpenFile(f.name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	id, err := identityOf(cut)
	if err == nil && !id.isSame(f.id) {
		err = &fs.PathError{Op: "truncate", Path: f.name, Err: fs.ErrNotExist}
	}
	if err == nil {
		err = cut.Truncate(size)
	}
	return errors.Join(err, cut.Close())
}

func (f *file) TryLock() (bool, error) {
	ok, err := tryLock(f.File)
	f.isLocked = f.isLocked || ok
	return ok, err
}

func (f *file) Unlock() error {
	f.isLocked = false
	return unlock(f.File)
}

// Close releases the lock explicitly. The kernel would release it only with the last descriptor, and a child process
// that is being started holds a copy of each one until it runs its program.
func (f *file) Close() error {
	var err error
	if f.isLocked {
		err = f.Unlock()
	}
	return errors.Join(err, f.File.Close())
}
