//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// identity tells files apart, whatever their names are.
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

// writtenTo returns the offset of f: a write moves it behind what it appended.
func writtenTo(f *os.File) (int64, error) {
	at, err := syscall.Seek(int(f.Fd()), 0, io.SeekCurrent)
	if err != nil {
		return 0, &os.PathError{Op: "seek", Path: f.Name(), Err: err}
	}
	return at, nil
}

// fstat is [os.File.Stat] without its garbage: it is called twice in each append.
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
