package session

import (
	"bytes"
	"errors"
	"io"
)

// CheckPatches returns an error if patches of a log of so many bytes are not in order, or reach beyond it. It is for
// backends.
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

// patched returns what a log of so many bytes is with patches, and with lines behind it.
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
