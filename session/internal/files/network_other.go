//go:build !linux && !darwin

package files

// IsNetwork reports whether name is on a network file system. It is always false: this system does not tell.
func IsNetwork(string) bool { return false }
