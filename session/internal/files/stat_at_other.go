//go:build !linux || !(amd64 || arm64)

package files

import (
	"errors"
	"os"
)

func statAt(*os.File, string) (found, error) { return found{}, errors.ErrUnsupported }
