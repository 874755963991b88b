//go:build !linux

package files

func boot() string { return "" }
