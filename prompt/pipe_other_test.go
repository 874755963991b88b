//go:build !unix

package prompt_test

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
