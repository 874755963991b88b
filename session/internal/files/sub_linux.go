//go:build amd64 || arm64

package files

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// openDir is an open directory. What is in it is found by its descriptor, which takes a third less processor time than
// [os.Root] does when a hundred thousand directories are visited.
type openDir struct{ *os.File }

func (r root) Sub(dir string) (Dir, error) {
	self, err := r.dir.Open(".")
	if err != nil {
		return nil, err
	}
	at := openDir{self}
	for name := range strings.SplitSeq(dir, "/") {
		next, err := at.open(name, syscall.O_DIRECTORY)
		at.Close()
		if err != nil {
			return nil, err
		}
		at.File = next
	}
	return at, nil
}

// open opens a name in the directory. It does not follow links.
func (d openDir) open(name string, flag int) (f *os.File, err error) {
	if strings.Contains(name, "/") || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	err = retried("open", name, func() error {
		fd, err := syscall.Openat(int(d.Fd()), name, flag|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		switch err {
		case nil:
			f = os.NewFile(uintptr(fd), name)
		case syscall.ELOOP, syscall.ENOTDIR:
			err = ErrLink
		}
		return err
	})
	return f, err
}

func (d openDir) Sub(name string) (Dir, error) {
	sub, err := d.open(name, syscall.O_DIRECTORY)
	return openDir{sub}, err
}

func (d openDir) Open(name string, flag int, _ fs.FileMode) (File, error) {
	if _, err := d.SizeOf(name); err != nil { // opening a pipe may wait for ever
		return nil, err
	}
	f, err := d.open(name, flag)
	if err != nil {
		return nil, err
	}
	return &file{File: f}, nil
}

func (d openDir) List(string) ([]string, error) {
	if _, err := d.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// SizeOf uses a system call that package syscall does not export.
func (d openDir) SizeOf(name string) (size int64, err error) {
	const (
		noFollow    = 0x100 // AT_SYMLINK_NOFOLLOW of fcntl.h
		callOnAMD64 = 262   // newfstatat of asm/unistd_64.h
		callOnARM64 = 79    // newfstatat of asm-generic/unistd.h
	)
	call := uintptr(callOnARM64)
	if runtime.GOARCH == "amd64" {
		call = callOnAMD64
	}
	text, err := syscall.BytePtrFromString(name)
	if err != nil {
		return 0, err
	}
	var s syscall.Stat_t
	err = retried("stat", name, func() error {
		_, _, errno := syscall.Syscall6(call, d.Fd(), uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(&s)),
			noFollow, 0, 0)
		switch {
		case errno != 0:
			return errno
		case s.Mode&syscall.S_IFMT != syscall.S_IFREG:
			return ErrLink
		}
		size = s.Size
		return nil
	})
	return size, err
}
