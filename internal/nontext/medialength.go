package nontext

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// MediaLength returns the pages of a PDF, or the seconds of a WAV, MP3, AAC, FLAC, Ogg or MP4. Zeros stand for anything
// else, and for a length that the file does not say or that cannot be true.
func MediaLength(b []byte) (pages, seconds int) {
	return file{
		size: len(b),
		at: func(from, n int) []byte {
			if from < 0 || n <= 0 || from >= len(b) {
				return nil
			}
			return b[from:min(len(b), from+n)]
		},
		all: func() io.Reader { return bytes.NewReader(b) },
	}.length()
}

// MediaLengthBase64 is Bytes for a file in standard Base64. It decodes no more than it reads.
func MediaLengthBase64(s string) (pages, seconds int) {
	s = strings.TrimRight(s, "=")
	coding := base64.RawStdEncoding
	return file{
		size: coding.DecodedLen(len(s)),
		at: func(from, n int) []byte {
			first := from / 3 * 4 // four characters are three bytes
			if from < 0 || n <= 0 || first >= len(s) {
				return nil
			}
			b, err := coding.DecodeString(s[first:min(len(s), (from+n+2)/3*4)])
			if err != nil || from%3 >= len(b) {
				return nil
			}
			b = b[from%3:]
			return b[:min(len(b), n)]
		},
		all: func() io.Reader { return &decoder{rest: s} },
	}.length()
}

// decoder decodes Base64 in pieces that are large enough to be quick.
type decoder struct {
	rest         string
	decoded      []byte
	encoded, out [32 << 10]byte
}

func (d *decoder) Read(b []byte) (int, error) {
	if len(d.decoded) == 0 {
		if d.rest == "" {
			return 0, io.EOF
		}
		n := copy(d.encoded[:], d.rest)
		d.rest = d.rest[n:]
		n, err := base64.RawStdEncoding.Decode(d.out[:], d.encoded[:n])
		if err != nil {
			return 0, err
		}
		d.decoded = d.out[:n]
	}
	n := copy(b, d.decoded)
	d.decoded = d.decoded[n:]
	return n, nil
}

// MediaLengthURL is Base64 for a data URL. Of another URL nothing is known.
func MediaLengthURL(url string) (pages, seconds int) {
	const longestHead = 128
	head, _, ok := strings.Cut(url[:min(len(url), longestHead)], ";base64,")
	if !ok || !strings.HasPrefix(head, "data:") {
		return 0, 0
	}
	return MediaLengthBase64(url[len(head)+len(";base64,"):])
}

// file gives access to the bytes of a file.
type file struct {
	size int
	at   func(from, n int) []byte // up to n bytes from an offset on; nil: there are none, or they cannot be read
	all  func() io.Reader
}

func (f file) length() (pages, seconds int) {
	head, played := f.at(0, 64), 0.0
	is := func(at int, magic string) bool {
		return len(head) >= at+len(magic) && string(head[at:at+len(magic)]) == magic
	}
	switch {
	case is(0, "%PDF-"):
		return pdfPages(f.all(), f.size), 0
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
func (f file) plausible(seconds float64) int {
	const least, most = 20, 64 << 20
	size := float64(f.size)
	if !(seconds > 0) || seconds*least > size || seconds*most < size {
		return 0
	}
	return max(1, int(math.Round(seconds)))
}

// mostChunks is how many parts of a file are looked at until the one that says the length.
const mostChunks = 256

// wav divides the bytes of the samples by those of a second.
func (f file) wav() float64 {
	rate := 0.0
	from := 12
	for range mostChunks {
		c := f.at(from, 20)
		if len(c) < 8 {
			return 0
		}
		size := int(binary.LittleEndian.Uint32(c[4:]))
		switch string(c[:4]) {
		case "fmt ":
			if len(c) < 20 {
				return 0
			}
			rate = float64(binary.LittleEndian.Uint32(c[16:]))
		case "data":
			// What is written as a stream has no size in its header, or the largest one.
			if rest := f.size - from - 8; size == 0 || size > rest {
				size = rest
			}
			return ratio(float64(size), rate)
		}
		from += 8 + size + size%2
	}
	return 0
}

func ratio(n, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return n / of
}

// flac divides the samples by those of a second: both are in the first block.
func flac(head []byte) float64 {
	if len(head) < 26 {
		return 0
	}
	rate := binary.BigEndian.Uint32(head[18:]) >> 12
	samples := binary.BigEndian.Uint64(head[18:]) & (1<<36 - 1)
	return ratio(float64(samples), float64(rate))
}

// ogg divides the position of the last page by the samples of a second, which the first page says.
func (f file) ogg(head []byte) float64 {
	const longestPage = 65_307
	tail := f.at(max(0, f.size-longestPage), longestPage)
	last := bytes.LastIndex(tail, []byte("OggS"))
	if len(head) < 64 || last < 0 || len(tail) < last+14 || head[26] > 16 {
		return 0
	}
	samples := float64(binary.LittleEndian.Uint64(tail[last+6:]))
	switch codec := head[27+int(head[26]):]; { // the first page has one packet
	case bytes.HasPrefix(codec, []byte("\x01vorbis")):
		return ratio(samples, float64(binary.LittleEndian.Uint32(codec[12:])))
	case bytes.HasPrefix(codec, []byte("OpusHead")):
		return samples / 48_000
	}
	return 0
}

// mp4 finds the header of the movie, among the boxes of the file and then among those of the movie.
func (f file) mp4() float64 {
	from, end, isMovie := 0, f.size, false
	for range mostChunks {
		b := f.at(from, 40)
		if len(b) < 16 || from >= end {
			return 0
		}
		size, header := uint64(binary.BigEndian.Uint32(b)), 8
		switch size {
		case 0:
			size = uint64(end - from)
		case 1:
			size, header = binary.BigEndian.Uint64(b[8:]), 16
		}
		if size < 8 || size > uint64(end-from) {
			return 0
		}
		switch kind := string(b[4:8]); {
		case kind == "moov" && !isMovie:
			from, end, isMovie = from+header, from+int(size), true
		case kind == "mvhd" && isMovie:
			return movieHeader(f.at(from+header, 32))
		default:
			from += int(size)
		}
	}
	return 0
}

func movieHeader(b []byte) float64 {
	switch {
	case len(b) < 32:
		return 0
	case b[0] == 1:
		return ratio(float64(binary.BigEndian.Uint64(b[24:])), float64(binary.BigEndian.Uint32(b[20:])))
	}
	return ratio(float64(binary.BigEndian.Uint32(b[16:])), float64(binary.BigEndian.Uint32(b[12:])))
}
