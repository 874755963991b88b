package session

import (
	"bytes"
	"errors"
	"io"
)

// CheckPatches returns an error if patches are out of order or reach beyond a log of size bytes. It is for backends.
func CheckPatches(size int64, patches []Patch) error {
	at := int64(0)
	for _, p := range patches {
		if p.Offset < at || p.Offset+int64(len(p.Text)) > size {
			return errors.New("session: patches overlap, or lie outside of the log")
		}
		at = p.Offset + int64(len(p.Text))
	}
	return nil
}

// patched returns a reader of the first size bytes of a log with patches applied and lines appended.
func patched(log io.ReaderAt, size int64, patches []Patch, lines []byte) io.Reader {
	var pieces []io.Reader
	at := int64(0)
	for _, p := range patches {
		pieces = append(pieces, io.NewSectionReader(log, at, p.Offset-at), bytes.NewReader(p.Text))
		at = p.Offset + int64(len(p.Text))
	}
	pieces = append(pieces, io.NewSectionReader(log, at, size-at), bytes.NewReader(lines))
	return io.MultiReader(pieces...)
}
