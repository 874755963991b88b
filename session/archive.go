package session

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// An archive is a log compressed with gzip. The time in its header is when the archive was made; the name is the log's.

// copySize is how many bytes are read and written at once.
const copySize = 64 << 10

// writeArchive writes the archive of a log.
func writeArchive(to io.Writer, log io.Reader, name string, made time.Time) error {
	z := gzip.NewWriter(to)
	z.Name, z.ModTime = name, made
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
	same, err := readSame(lines, log)
	if err == nil && !same {
		err = errors.New("session: the archive does not hold what the log does")
	}
	return err
}

// readSame says that two readers give the same bytes.
func readSame(a, b io.Reader) (bool, error) {
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
