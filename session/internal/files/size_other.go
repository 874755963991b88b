//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package files

import "os"

func sizeOf(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
