//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package files

import (
	"errors"
	"os"
)

const cannotSyncDirs = false

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
func unlock(*os.File) error          { return errors.ErrUnsupported }
