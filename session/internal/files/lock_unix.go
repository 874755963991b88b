//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package files

import (
	"errors"
	"os"
	"syscall"
)

// The locks are those of flock. They belong to the open file and not to the process, so that two goroutines exclude
// each other as two processes do. They end with the process.

const cannotSyncDirs = false

func tryLock(f *os.File) (bool, error) {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	return retried("flock", f.Name(), func() error { return syscall.Flock(int(f.Fd()), how) })
}

// retried calls the system until no signal interrupts it.
func retried(op, name string, call func() error) error {
	for {
		switch err := call(); err {
		case nil:
			return nil
		case syscall.EINTR:
		default:
			return &os.PathError{Op: op, Path: name, Err: err}
		}
	}
}
