//go:build !linux || !(amd64 || arm64)

package files

import "errors"

func statAt(uintptr, string) (found, error) { return found{}, errors.ErrUnsupported }
