//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"os"
	"syscall"
)

// sizeOf returns the length of f, without the garbage of [os.File.Stat]: it is asked three times in each append.
func sizeOf(f *os.File) (int64, error) {
	var s syscall.Stat_t
	for {
		err := syscall.Fstat(int(f.Fd()), &s)
		if err == nil {
			return s.Size, nil
		}
		if err != syscall.EINTR {
			return 0, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
		}
	}
}
