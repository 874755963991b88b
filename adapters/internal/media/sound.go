package media

import (
	"bytes"
	"encoding/binary"
)

// mostChunks is how many parts of a file are looked at until the one that says the length.
const mostChunks = 256

// wav divides the bytes of the samples by those of a second.
func (f File) wav() float64 {
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
			if rest := int(f.Size()) - from - 8; size == 0 || size > rest {
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
func (f File) ogg(head []byte) float64 {
	const longestPage = 65_307
	tail := f.at(max(0, int(f.Size())-longestPage), longestPage)
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
func (f File) mp4() float64 {
	from, end, isMovie := 0, int(f.Size()), false
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
