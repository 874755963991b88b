package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/internal/files"
)

// An archive is a gzip file in the place of a log. The time in its header is when it was made, the name there is the
// log's. It counts only if the log itself does not exist: if archiving or restoring was interrupted, both exist, and
// the log is right.

const archiveSuffix = ".gz" // follows the name of the log

// maxArchived means that all of an archive is read.
const maxArchived = math.MaxInt64

// isLeftArchive reports whether name, one of names, is an archive whose log still exists.
func isLeftArchive(name string, names []string) bool {
	log, ok := strings.CutSuffix(name, logSuffix+archiveSuffix)
	return ok && slices.Contains(names, log+logSuffix)
}

// openToRead opens a log or its archive. Of an archive it reads at most limit bytes.
func (d *directory) openToRead(log string, limit int64) (files.File, error) {
	return openToRead(d.fs, log, limit)
}

func openToRead(fsys files.FS, log string, limit int64) (files.File, error) {
	f, err := fsys.Open(log, os.O_RDONLY, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	archive, err := fsys.Open(log+archiveSuffix, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // it may have been restored in the meantime
		return fsys.Open(log, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	text, err := readAllOf(archive, limit)
	if err != nil {
		return nil, fmt.Errorf("session: the archive %s%s: %w", log, archiveSuffix, err)
	}
	return &unpacked{Reader: bytes.NewReader(text)}, nil
}

// linesOf returns a reader of the lines of an archive.
func linesOf(archive files.File) (io.Reader, error) {
	text, err := fileReader(archive)
	if err != nil {
		return nil, err
	}
	return readArchive(text)
}

func readAllOf(archive files.File, limit int64) ([]byte, error) {
	lines, err := linesOf(archive)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(lines, limit))
}

// fileReader reads a file from its beginning.
func fileReader(f files.File) (io.Reader, error) {
	size, err := f.Size()
	return io.NewSectionReader(f, 0, size), err
}

// unpacked is the content of an archive as a read-only file.
type unpacked struct{ *bytes.Reader }

var errReadOnly = errors.New("session: an archive was opened for reading")

func (u *unpacked) Size() (int64, error)      { return u.Reader.Size(), nil }
func (u *unpacked) Write([]byte) (int, error) { return 0, errReadOnly }
func (u *unpacked) Written() (int64, error)   { return 0, errReadOnly }
func (u *unpacked) Truncate(int64) error      { return errReadOnly }
func (u *unpacked) Sync() error               { return errReadOnly }
func (u *unpacked) Lock() error               { return errReadOnly }
func (u *unpacked) TryLock() (bool, error)    { return false, errReadOnly }
func (u *unpacked) Unlock() error             { return errReadOnly }
func (u *unpacked) Close() error              { return nil }

// packTo writes the archive of a log, and reads it back.
func packTo(to files.File, log func() io.Reader, name string, made time.Time) error {
	out := bufio.NewWriterSize(to, copySize)
	if err := writeArchive(out, log(), name, made); err != nil {
		return err // Flush would report it again
	}
	if err := out.Flush(); err != nil {
		return err
	}
	again, err := fileReader(to)
	if err != nil {
		return err
	}
	return checkArchive(again, log())
}

// unpack replaces an archive by its log. The lock is held.
func (d *directory) unpack(log string) error {
	archive, err := d.fs.Open(log+archiveSuffix, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer archive.Close()
	lines, err := linesOf(archive)
	if err == nil {
		err = d.writeFrom(log, lines, true)
	}
	if err != nil {
		return fmt.Errorf("session: the archive %s%s: %w", log, archiveSuffix, err)
	}
	if err := d.fs.Remove(log + archiveSuffix); err != nil {
		return err
	}
	return d.fs.SyncDir(directoryOf(log))
}
