package session

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"

	"github.com/winnowgo/winnow/session/internal/files"
)

// lockMarks is the text of a log.lock. It is empty for nearly all sessions, and only grows: when a log is replaced
// (nextByte) or rewritten (a rewriteByte and the checksum of its name), or the session is deleted (deletedByte).
type lockMarks []byte

const (
	deletedByte = 'd'
	nextByte    = '.'
	rewriteByte = 'W'
)

func readMarks(lock files.File) (lockMarks, error) {
	size, err := lock.Size()
	if err != nil || size == 0 {
		return nil, err
	}
	text := make([]byte, size)
	n, err := lock.ReadAt(text, 0)
	if n == len(text) {
		err = nil
	}
	return text[:n], err
}

// marksAt reads a log.lock by its name. It asks for the length first, because that is cheaper than opening the file.
func marksAt(fsys files.FS, lock string) (lockMarks, error) {
	size, err := fsys.SizeOf(lock)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, files.ErrLink) {
		return nil, nil
	}
	if size == 0 || err != nil {
		return nil, err
	}
	f, err := fsys.Open(lock, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readMarks(f)
}

// isDeleted reports whether the session is deleted.
func (m lockMarks) isDeleted() bool { return bytes.IndexByte(m, deletedByte) >= 0 }

// idOf returns the [Log.ID] of a log, by the name of its file or its archive. A rewrite changes the ID but not the
// name.
func (m lockMarks) idOf(file string) string {
	name, _, _ := strings.Cut(file, logSuffix)
	if n := bytes.Count(m, rewriteMark(name)); n > 0 {
		return fmt.Sprintf("%s-r%d", name, n)
	}
	return name
}

// rewriteMark is what a rewrite of a log appends to the lock. It never holds a deletedByte.
func rewriteMark(name string) []byte {
	return fmt.Appendf(nil, "%c%08X", rewriteByte, crc32.Checksum([]byte(name), castagnoli))
}
