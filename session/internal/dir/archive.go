package dir

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

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
func (d *Directory) writeArchive(name string, log io.Reader, head gzip.Header) error {
	return d.writeBy(name, true, func(f files.File) error {
		out := bufio.NewWriterSize(f, copySize)
		z := gzip.NewWriter(out)
		z.Header = head
		want, err := Copy(z, log)
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
		got, err := Copy(io.Discard, lines)
		if err == nil && got != want {
			err = errors.New("session: the archive does not hold what the log does")
		}
		return err
	})
}

// Copy copies a text and returns its checksum.
func Copy(to io.Writer, from io.Reader) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, h), from)
	return [sha256.Size]byte(h.Sum(nil)), err
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

// archiveHead reads the header of an archive. It is empty if the file is none.
func archiveHead(in files.Dir, name string) (head gzip.Header, err error) {
	f, err := in.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return head, err
	}
	defer f.Close()
	if z, err := gzip.NewReader(io.NewSectionReader(f, 0, jsonl.HeadStep)); err == nil {
		head = z.Header
	}
	return head, nil
}

// listedComment returns the comment for the archive of a log: "" if the log cannot be read.
func listedComment(ctx context.Context, log backend.Log) string {
	l, err := readListed(ctx, "", log)
	text, failed := json.Marshal(l)
	if err != nil || failed != nil {
		return ""
	}
	return string(text)
}

// readComment reads the comment of an archive. It returns false if there is none, as in archives
// that were rewritten.
func readComment(in files.Dir, name, key string) (l listed, ok bool) {
	head, err := archiveHead(in, name)
	ok = err == nil && json.Unmarshal([]byte(head.Comment), &l) == nil
	l.key = key
	return l, ok
}
