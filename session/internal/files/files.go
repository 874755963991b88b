// Package files is what a directory store needs of a file system. It runs on a directory of the operating system, and
// in tests on one that loses power.
package files

import (
	"io"
	"io/fs"
)

// FS is a directory. Names are slash-separated paths within it.
type FS interface {
	// Open opens a regular file: os.O_RDONLY, or os.O_RDWR with or without os.O_CREATE and os.O_EXCL. A symbolic link
	// is an error.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(from, to string) error // replaces to
	Remove(name string) error
	List(dir string) ([]string, error) // sorted
	IsDir(name string) (bool, error)   // a symbolic link is an error
	SizeOf(name string) (int64, error) // of a regular file
	SyncDir(dir string) error          // makes its entries durable
	// Sub opens a directory within, for reading: the names in it have no slash, and List has no name but its own. It is
	// closed before what it is in.
	Sub(dir string) (FS, error)
	// IsLinked says that name is still the name of f.
	IsLinked(f File, name string) bool
	// Boot names the start of the system: what was not synced since another one may be lost. "": not known.
	Boot() string
	Close() error
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Writer // appends, in one write(2)
	// Written returns where the last Write ended. Others may have written behind it since.
	Written() (int64, error)
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error // makes the data durable

	// takes the exclusive lock of the kernel, which ends with the process; false: another has it
	TryLock() (bool, error)
	Unlock() error
	Close() error // releases the lock
}
