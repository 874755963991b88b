//go:build unix

package winnow

import (
	"syscall"
	"time"
)

// processorTime is what the process has used of the processor: what others do on the machine is not in it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
