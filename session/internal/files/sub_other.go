//go:build !(linux && (amd64 || arm64))

package files

// Sub opens a subdirectory.
func (r root) Sub(dir string) (FS, error) { return r.slowSub(dir) }
