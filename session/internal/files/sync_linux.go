package files

import (
	"os"
	"syscall"
)

// syncData makes the data and the size of f durable, but not its times, which would cost a second write.
func syncData(f *os.File) error {
	return retried("fdatasync", f.Name(), func() error { return syscall.Fdatasync(int(f.Fd())) })
}
