//go:build !(linux && (amd64 || arm64))

package files

func (r root) Sub(dir string) (Dir, error) { return r.subRoot(dir) }
