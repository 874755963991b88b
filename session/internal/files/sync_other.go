//go:build !linux

package files

import "os"

// syncData makes f durable. On macOS the standard library uses F_FULLFSYNC, which reaches the disk.
func syncData(f *os.File) error { return f.Sync() }
