//go:build !(linux && (amd64 || arm64))

package files

// Sub opens a directory within.
func (r root) Sub(dir string) (FS, error) { return r.slowSub(dir) }
