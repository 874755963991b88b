//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// identity tells files apart, independent of their names.
type identity struct{ device, inode uint64 }

func (i identity) isSame(other identity) bool { return i == other }

func identify(info fs.FileInfo) identity {
	return identityIn(info.Sys().(*syscall.Stat_t))
}

// The fields have other types on other systems.
func identityIn(s *syscall.Stat_t) identity { return identity{uint64(s.Dev), uint64(s.Ino)} }

func identityOf(f *os.File) (identity, error) {
	var s syscall.Stat_t
	err := fstat(f, &s)
	return identityIn(&s), err
}

func sizeOf(f *os.File) (int64, error) {
	var s syscall.Stat_t
	err := fstat(f, &s)
	return s.Size, err
}

// writtenTo returns the offset of f: an appending write moves it to the end of the new data.
func writtenTo(f *os.File) (int64, error) {
	at, err := syscall.Seek(int(f.Fd()), 0, io.SeekCurrent)
	if err != nil {
		return 0, &os.PathError{Op: "seek", Path: f.Name(), Err: err}
	}
	return at, nil
}

// fstat is [os.File.Stat] without its allocations: each append calls it twice.
func fstat(f *os.File, s *syscall.Stat_t) error {
	for {
		err := syscall.Fstat(int(f.Fd()), s)
		if err == nil {
			return nil
		}
		if err != syscall.EINTR {
			return &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
		}
	}
}
