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
	log, ok := strings.CutSuffix(name, archiveSuffix)
	return ok && slices.Contains(names, log)
}

// errBadArchive: the file was read, and is no whole archive.
var errBadArchive = errors.New("it is damaged")

// source is what a log or an archive is read from.
type source interface {
	io.ReaderAt
	Size() (int64, error)
	Close() error
}

// unpacked is the content of an archive.
type unpacked struct{ *bytes.Reader }

func (u unpacked) Size() (int64, error) { return u.Reader.Size(), nil }
func (u unpacked) Close() error         { return nil }

// openToRead opens a log or its archive. Of an archive it reads at most limit bytes.
func openToRead(in files.Dir, log string, limit int64) (source, error) {
	f, err := in.Open(log, os.O_RDONLY, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	archive, err := in.Open(log+archiveSuffix, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // it may have been restored in the meantime
		return in.Open(log, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	var text []byte
	lines, err := linesOf(archive)
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(lines, limit))
	}
	if failed := (*fs.PathError)(nil); err != nil && !errors.As(err, &failed) {
		err = fmt.Errorf("%w: %w", errBadArchive, err)
	}
	if err != nil {
		return nil, fmt.Errorf("session: the archive %s%s: %w", log, archiveSuffix, err)
	}
	return unpacked{bytes.NewReader(text)}, nil
}

// copySize is how many bytes are read and written at once.
const copySize = 64 << 10

// linesOf returns a reader of the lines of an archive.
func linesOf(archive io.ReaderAt) (io.Reader, error) {
	return gzip.NewReader(bufio.NewReaderSize(textOf(archive), copySize))
}

// writeArchive writes the archive of a log durably, after it has read it back and compared it.
func (d *Directory) writeArchive(name string, log func() io.Reader, head gzip.Header) error {
	return d.writeBy(name, true, func(f files.File) error {
		out := bufio.NewWriterSize(f, copySize)
		z := gzip.NewWriter(out)
		z.Header = head
		_, err := io.Copy(z, log())
		if err = errors.Join(err, z.Close()); err == nil {
			err = out.Flush()
		}
		if err != nil {
			return err
		}
		lines, err := linesOf(f)
		if err != nil {
			return err
		}
		same, err := ReadSame(lines, log())
		if err == nil && !same {
			err = errors.New("session: the archive does not hold what the log does")
		}
		return err
	})
}

// unpack replaces the archive of a log by the log. The lock is held.
func (l *directoryLog) unpack(name string) error {
	archive, err := l.directory.fs.Open(l.dir+"/"+name+archiveSuffix, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer archive.Close()
	lines, err := linesOf(archive)
	if err == nil {
		err = l.directory.writeFrom(l.dir+"/"+name, lines, true)
	}
	if err != nil {
		return fmt.Errorf("session: the archive %s/%s%s: %w", l.dir, name, archiveSuffix, err)
	}
	return l.sweep()
}

// archiveTime reads from the first bytes of an archive when it was made. It returns zero if they are not an archive's.
func archiveTime(archive io.ReaderAt) time.Time {
	var head [8]byte // RFC 1952: two bytes of magic, method, flags, time
	if _, err := archive.ReadAt(head[:], 0); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		return time.Time{}
	}
	return time.Unix(int64(binary.LittleEndian.Uint32(head[4:])), 0).UTC()
}

// ReadSame says that two readers give the same bytes.
func ReadSame(a, b io.Reader) (bool, error) {
	bufA, bufB := make([]byte, copySize), make([]byte, copySize)
	for {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB)
		if err := errors.Join(unlessEnd(errA), unlessEnd(errB)); err != nil || !bytes.Equal(bufA[:n], bufB[:m]) {
			return false, err
		}
		if n < copySize {
			return true, nil
		}
	}
}

func unlessEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

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
func readComment(in files.Dir, name, key string) (l listed, bytes int64, ok bool) {
	f, err := in.Open(name, os.O_RDONLY, 0)
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
