package nontext

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"io"
	"strconv"
)

const (
	// An object longer than this is a picture or a font: what is behind it is not looked at.
	longestObject = 512 << 10
	// All packed objects of a file together may be so many times as large as the file, and have as many bytes at most.
	mostGrowth, leastUnpacked, mostUnpacked = 8, 1 << 20, 64 << 20
)

// pdf is what was seen of a PDF.
type pdf struct {
	pages  int // objects that are a page
	count  int // that the root of the pages says, the last one in the file: a changed document has another one behind
	left   int // bytes that may still be unpacked
	unpack io.Reader
	flat   []byte // of the dictionary that is read; its memory is used again
}

// pdfPages returns the number of pages that the root of a document's pages says. It is believed if the document has so
// many pages, whether in objects of their own or packed together. Of an encrypted document the packed ones cannot be
// read.
func pdfPages(r io.Reader, size int) int {
	p := pdf{left: min(mostUnpacked, leastUnpacked+mostGrowth*size)}
	objects := bufio.NewScanner(whole{r})
	objects.Buffer(make([]byte, 64<<10), longestObject)
	objects.Split(splitObjects)
	for objects.Scan() {
		dictionary, stream, _ := bytes.Cut(objects.Bytes(), []byte("stream"))
		switch {
		case bytes.Contains(dictionary, []byte("/ObjStm")):
			p.packed(dictionary, stream)
		case bytes.Contains(dictionary, []byte("/Page")): // most are something else
			p.read(dictionary)
		}
	}
	if objects.Err() != nil || p.count > p.pages {
		return 0
	}
	return p.count
}

// whole fills what it reads into: a scanner would look at all that it has after each little piece.
type whole struct{ io.Reader }

func (r whole) Read(b []byte) (int, error) {
	n, err := io.ReadFull(r.Reader, b)
	if n > 0 {
		err = nil
	}
	return n, err
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

// packed reads a stream of objects.
func (p *pdf) packed(dictionary, stream []byte) {
	if !bytes.Contains(dictionary, []byte("/FlateDecode")) {
		p.read(stream)
		return
	}
	data, err := bytes.NewReader(bytes.TrimLeft(stream, "\r\n")), error(nil)
	if p.unpack == nil {
		p.unpack, err = zlib.NewReader(data)
	} else { // its tables are larger than most streams
		err = p.unpack.(zlib.Resetter).Reset(data, nil)
	}
	if err != nil {
		return
	}
	b, _ := io.ReadAll(io.LimitReader(p.unpack, int64(p.left))) // of a damaged one, what can be read
	p.left -= len(b)
	p.read(b)
}

// read looks at each dictionary of b that stands in no other one, without those in it and without its texts.
func (p *pdf) read(b []byte) {
	depth, begin := 0, 0 // begin: of what is not in p.flat yet
	for i := 0; i+1 < len(b); i++ {
		switch {
		case b[i] == '(':
			end := endOfText(b, i)
			if depth == 1 {
				p.flat, begin = append(p.flat, b[begin:i]...), end
			}
			i = end
		case b[i] == '<' && b[i+1] == '<':
			if depth++; depth == 2 {
				p.flat = append(p.flat, b[begin:i]...)
			}
			i++
			begin = i + 1
		case b[i] == '>' && b[i+1] == '>' && depth > 0:
			if depth--; depth == 0 {
				p.dictionary(append(p.flat, b[begin:i]...))
				p.flat = p.flat[:0]
			}
			i++
			begin = i + 1
		}
	}
	p.flat = p.flat[:0]
}

// endOfText returns where a text in parentheses ends that begins at i.
func endOfText(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return min(i, len(b))
}

func (p *pdf) dictionary(d []byte) {
	switch string(name(d, "/Type")) {
	case "/Page":
		p.pages++
	case "/Pages":
		value := string(name(d, "/Count"))
		n, err := strconv.Atoi(value)
		isReference := bytes.Contains(d, []byte("/Count "+value+" 0 R"))
		if err == nil && n > 0 && !isReference && name(d, "/Parent") == nil { // with a parent, it is a part of the root
			p.count = n
		}
	}
}

// name returns the value of an entry of a dictionary, up to the next space or mark.
func name(d []byte, key string) []byte {
	for {
		i := bytes.Index(d, []byte(key))
		if i < 0 {
			return nil
		}
		d = d[i+len(key):]
		value := bytes.TrimLeft(d, " \t\r\n\f\x00")
		if len(value) == len(d) && (len(d) == 0 || bytes.IndexByte([]byte("/(<["), d[0]) < 0) {
			continue // a longer name
		}
		end := len(value)
		if end > 1 {
			if i := bytes.IndexAny(value[1:], " \t\r\n\f\x00/<>[]()"); i >= 0 {
				end = 1 + i
			}
		}
		return value[:end]
	}
}
