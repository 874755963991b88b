package files

import (
	"path/filepath"
	"syscall"
)

// Types of file systems whose locks and syncs depend on a server, from statfs(2) and the kernel's magic.h.
var network = map[int64]bool{
	0x6969:     true, // NFS
	0x517b:     true, // SMB
	0xff534d42: true, // CIFS
	0xfe534d42: true, // SMB2
	0x5346414f: true, // AFS
	0x00c36400: true, // Ceph
	0x0bd00bd0: true, // Lustre
	0x47504653: true, // GPFS
}

// IsNetwork reports whether name, or the directory that it will be created in, is on a network file system.
func IsNetwork(name string) bool {
	for {
		var s syscall.Statfs_t
		if err := syscall.Statfs(name, &s); err == nil {
			return network[int64(s.Type)&0xffffffff]
		}
		parent := filepath.Dir(name)
		if parent == name {
			return false
		}
		name = parent
	}
}
