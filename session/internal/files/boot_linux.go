package files

import (
	"os"
	"strings"
)

// boot returns the id that the kernel takes when it starts.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
