// Package files is the file system that a directory store needs. [OpenRoot] implements it on a directory of the
// operating system; tests implement it with one that loses power.
package files

import (
	"io"
	"io/fs"
)

// FS is a directory that can be changed.
type FS interface {
	Dir
	Mkdir(name string, perm fs.FileMode) error
	Rename(from, to string) error // replaces to if it exists
	Remove(name string) error
	SyncDir(dir string) error // makes its entries durable
	// IsLinked reports whether name still names f.
	IsLinked(f File, name string) bool
}

// Dir is a directory. Names are slash-separated paths within it.
type Dir interface {
	// Open opens a regular file: os.O_RDONLY, or os.O_RDWR with or without os.O_CREATE and os.O_EXCL. A symbolic link
	// is an error.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	List(dir string) ([]string, error) // sorted
	SizeOf(name string) (int64, error) // of a regular file
	// Sub opens a subdirectory for reading. A symbolic link on the way is an error. Names in it have no slash, and List
	// lists only the subdirectory itself.
	Sub(dir string) (Dir, error)
	Close() error
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Writer // appends, in one write(2)
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error // makes the data durable

	// takes the kernel's exclusive lock, which ends with the process; false: another has it
	TryLock() (bool, error)
	Unlock() error
	Close() error // releases the lock
}
