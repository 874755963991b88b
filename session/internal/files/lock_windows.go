package files

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// Windows cannot sync directories; the file system journals their entries.
const cannotSyncDirs = true

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel32.NewProc("LockFileEx")
	unlockFileEx = kernel32.NewProc("UnlockFileEx")
)

const (
	lockfileFailImmediately = 1
	lockfileExclusive       = 2
	lockViolation           = syscall.Errno(33)

	// Locks of Windows are mandatory: one byte far beyond all data is locked, so that the file can still be read.
	lockedByteHigh = 0x7fffffff
)

func tryLock(f *os.File) (bool, error) {
	err := call(f, lockFileEx, lockfileExclusive|lockfileFailImmediately)
	if errors.Is(err, lockViolation) || errors.Is(err, syscall.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error { return call(f, unlockFileEx, 0) }

func call(f *os.File, proc *syscall.LazyProc, flags uintptr) error {
	at := syscall.Overlapped{OffsetHigh: lockedByteHigh}
	var ok uintptr
	var err error
	if proc == lockFileEx {
		ok, _, err = proc.Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	} else {
		ok, _, err = proc.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	}
	if ok != 0 {
		return nil
	}
	return &os.PathError{Op: proc.Name, Path: f.Name(), Err: err}
}
