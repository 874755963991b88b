package dir

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// An archive is a gzip file in the place of a log. The time in its header is when it was made, the name there is the
// log's, and the comment says what lists need to know, so that they need not unpack it. It counts only if the log
// itself does not exist: if archiving or restoring was interrupted, both exist, and the log is right.

const archiveSuffix = ".gz" // follows the name of the log

// MaxArchived means that all of an archive is read.
const MaxArchived = math.MaxInt64

// isLeftArchive reports whether name, one of names, is an archive whose log still exists.
func isLeftArchive(name string, names []string) bool {
	log, ok := strings.CutSuffix(name, logSuffix+archiveSuffix)
	return ok && slices.Contains(names, log+logSuffix)
}

// errBadArchive: the file was read, and is no whole archive.
var errBadArchive = errors.New("it is damaged")

// openToRead opens a log or its archive. Of an archive it reads at most limit bytes.
func (d *Directory) openToRead(log string, limit int64) (files.File, error) {
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
	if failed := (*fs.PathError)(nil); err != nil && !errors.As(err, &failed) {
		err = fmt.Errorf("%w: %w", errBadArchive, err)
	}
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
func packTo(to files.File, log func() io.Reader, head gzip.Header) error {
	out := bufio.NewWriterSize(to, copySize)
	if err := writeArchive(out, log(), head); err != nil {
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
func (d *Directory) unpack(log string) error {
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

// An archive is a log compressed with gzip. The time in its header is when the archive was made; the name is the log's.

// copySize is how many bytes are read and written at once.
const copySize = 64 << 10

// writeArchive writes the archive of a log.
func writeArchive(to io.Writer, log io.Reader, head gzip.Header) error {
	z := gzip.NewWriter(to)
	z.Header = head
	_, err := io.Copy(z, log)
	return errors.Join(err, z.Close())
}

// readArchive returns a reader of the lines of an archive.
func readArchive(archive io.Reader) (io.Reader, error) {
	return gzip.NewReader(bufio.NewReaderSize(archive, copySize))
}

// archiveTime reads from the first bytes of an archive when it was made. It returns zero if they are not an archive's.
func archiveTime(archive io.ReaderAt) time.Time {
	var head [8]byte // RFC 1952: two bytes of magic, method, flags, time
	if _, err := archive.ReadAt(head[:], 0); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		return time.Time{}
	}
	return time.Unix(int64(binary.LittleEndian.Uint32(head[4:])), 0).UTC()
}

// checkArchive returns an error if the content of an archive differs from the log.
func checkArchive(archive, log io.Reader) error {
	lines, err := readArchive(archive)
	if err != nil {
		return err
	}
	same, err := ReadSame(lines, log)
	if err == nil && !same {
		err = errors.New("session: the archive does not hold what the log does")
	}
	return err
}

// ReadSame says that two readers give the same bytes.
func ReadSame(a, b io.Reader) (bool, error) {
	bufA, bufB := make([]byte, copySize), make([]byte, copySize)
	for {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB)
		if n != m || !bytes.Equal(bufA[:n], bufB[:m]) {
			return false, nil
		}
		ended := isEnd(errA) && isEnd(errB)
		if ended || errA != nil || errB != nil {
			if ended {
				errA, errB = nil, nil
			}
			return ended, errors.Join(errA, errB)
		}
	}
}

func isEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// archivedListed is the comment of an archive.
type archivedListed struct {
	Bytes    int64     `json:"bytes"` // of the log, up to the last line that counts
	Updated  time.Time `json:"updated,omitzero"`
	Pinned   bool      `json:"pinned,omitempty"`
	Archived bool      `json:"archived,omitempty"`
}

// listedComment returns the comment for the archive of a log: "" if the log cannot be read.
func listedComment(ctx context.Context, log backend.Log) string {
	l, bytes, err := readListed(ctx, "", log)
	if err != nil {
		return ""
	}
	text, err := json.Marshal(archivedListed{bytes, l.updated, l.pinned, l.archived})
	if err != nil {
		return ""
	}
	return string(text)
}

// readComment reads the comment of an archive. It returns false if there is none, as in archives of earlier versions
// and in those that were rewritten.
func readComment(fsys files.FS, name, key string) (l listed, bytes int64, ok bool) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return l, 0, false
	}
	defer f.Close()
	z, err := gzip.NewReader(io.NewSectionReader(f, 0, jsonl.HeadStep))
	if err != nil {
		return l, 0, false
	}
	var c archivedListed
	if json.Unmarshal([]byte(z.Comment), &c) != nil {
		return l, 0, false
	}
	return listed{key, c.Updated, c.Pinned, c.Archived}, c.Bytes, true
}
