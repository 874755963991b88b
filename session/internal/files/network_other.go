//go:build !linux && !darwin

package files

// IsNetwork says that name is on a network file system, where that can be told.
func IsNetwork(string) bool { return false }
