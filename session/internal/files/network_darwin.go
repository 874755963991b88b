package files

import "syscall"

const mntLocal = 0x1000 // MNT_LOCAL of sys/mount.h

// IsNetwork reports whether name is on a network file system.
func IsNetwork(name string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(name, &s) == nil && s.Flags&mntLocal == 0
}
