// Package media reads the size of a picture, the pages of a document and the seconds of a sound or a video from their
// bytes. It reads and decodes no more than it needs.
package media

import (
	"bytes"
	"encoding/base64"
	"io"
	"math"
	"strings"
)

// A File is what is looked at.
type File struct{ *io.SectionReader }

// Bytes is a file as it is.
func Bytes(b []byte) File { return File{io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))} }

// Text is a file in standard Base64, or in a data URL. Another URL has nothing in it.
func Text(s string) File {
	const longestHead = 128
	if head, _, ok := strings.Cut(s[:min(len(s), longestHead)], ";base64,"); ok && strings.HasPrefix(head, "data:") {
		s = s[len(head)+len(";base64,"):]
	}
	s = strings.TrimRight(s, "=")
	return File{io.NewSectionReader(encoded(s), 0, int64(base64.RawStdEncoding.DecodedLen(len(s))))}
}

// encoded is a text in Base64 without padding.
type encoded string

func (s encoded) ReadAt(b []byte, from int64) (int, error) {
	first, last := int(from)/3*4, (int(from)+len(b)+2)/3*4 // four characters are three bytes
	if first >= len(s) {
		return 0, io.EOF
	}
	decoded, err := base64.RawStdEncoding.DecodeString(string(s[first:min(len(s), last)]))
	if err != nil {
		return 0, err
	}
	n := copy(b, decoded[min(len(decoded), int(from)%3):])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// at returns up to n bytes from an offset on: none if there are none, or if they cannot be read.
func (f File) at(from, n int) []byte {
	if from < 0 || n <= 0 || int64(from) >= f.Size() {
		return nil
	}
	b := make([]byte, min(int64(n), f.Size()-int64(from)))
	read, _ := f.ReadAt(b, int64(from))
	return b[:read]
}

// Length returns the pages of a PDF, or the seconds of a WAV, MP3, AAC, FLAC, Ogg or MP4. Zeros stand for anything
// else, and for a length that the file does not say or that cannot be true.
func (f File) Length() (pages, seconds int) {
	head, played := f.at(0, 64), 0.0
	is := func(at int, magic string) bool {
		return len(head) >= at+len(magic) && string(head[at:at+len(magic)]) == magic
	}
	switch {
	case is(0, "%PDF-"):
		return f.pages(), 0
	case is(0, "RIFF") && is(8, "WAVE"):
		played = f.wav()
	case is(0, "fLaC"):
		played = flac(head)
	case is(0, "OggS"):
		played = f.ogg(head)
	case is(4, "ftyp"):
		played = f.mp4()
	default:
		played = f.frames(head)
	}
	return 0, f.plausible(played)
}

// plausible returns 0 for a length that no sound or video of this many bytes has: a second of silence takes 20 bytes at
// least, and one of the largest videos that providers take some megabytes. Others are rounded.
func (f File) plausible(seconds float64) int {
	const least, most = 20, 64 << 20
	size := float64(f.Size())
	if !(seconds > 0) || seconds*least > size || seconds*most < size {
		return 0
	}
	return max(1, int(math.Round(seconds)))
}
