package media

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"io"
)

const (
	// An object longer than this is a picture or a font: what is behind it is not looked at.
	longestObject = 512 << 10
	// All packed objects of a file together may be so many times as large as the file, and have as many bytes at most.
	mostGrowth, leastUnpacked, mostUnpacked = 8, 1 << 20, 64 << 20
)

// pages returns how many pages a PDF has, whether as objects of their own or packed together. Pages that a change took
// out or wrote anew may still be in the file, and count. Packed ones of an encrypted document cannot be read.
func (f File) pages() (n int) {
	left := min(mostUnpacked, leastUnpacked+mostGrowth*f.Size())
	objects := bufio.NewScanner(bufio.NewReaderSize(f, longestObject))
	objects.Buffer(make([]byte, longestObject), longestObject)
	objects.Split(splitObjects)
	for objects.Scan() {
		object, stream, _ := bytes.Cut(objects.Bytes(), []byte("stream"))
		if bytes.Contains(object, []byte("/ObjStm")) {
			object = stream
			if unpack, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(stream, "\r\n"))); err == nil {
				object, _ = io.ReadAll(io.LimitReader(unpack, left)) // of a damaged one, what can be read
				left -= int64(len(object))
			}
		}
		n += pagesIn(object)
	}
	if objects.Err() != nil {
		return 0
	}
	return n
}

// pagesIn returns how many objects in data have the type of a page: /Type /Page, and not /Pages.
func pagesIn(data []byte) (n int) {
	for {
		before, behind, isFound := bytes.Cut(data, []byte("/Page"))
		if !isFound || len(behind) == 0 {
			return n
		}
		isWhole := behind[0]|0x20 < 'a' || behind[0]|0x20 > 'z'
		if isWhole && bytes.HasSuffix(bytes.TrimRight(before, " \t\r\n\f"), []byte("/Type")) {
			n++
		}
		data = behind
	}
}

// splitObjects is the [bufio.SplitFunc] for the objects of a PDF.
func splitObjects(data []byte, atEOF bool) (advance int, token []byte, err error) {
	end := []byte("endobj")
	switch i := bytes.Index(data, end); {
	case i >= 0:
		return i + len(end), data[:i], nil
	case len(data) >= longestObject: // its end may begin in this part
		return len(data) - len(end), data, nil
	case atEOF && len(data) > 0:
		return len(data), data, nil
	}
	return 0, nil, nil
}
