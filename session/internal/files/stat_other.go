//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package files

import (
	"io/fs"
	"os"
)

// identity tells files apart, independent of their names.
type identity struct{ info fs.FileInfo }

func (i identity) isSame(other identity) bool { return os.SameFile(i.info, other.info) }

func identify(info fs.FileInfo) identity { return identity{info} }

func identityOf(f *os.File) (identity, error) {
	info, err := f.Stat()
	return identity{info}, err
}

func sizeOf(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// writtenTo returns the length of f, because it is unknown whether an appending write moves the offset on this system.
// If others append at the same time, the result may include their data.
func writtenTo(f *os.File) (int64, error) { return sizeOf(f) }
