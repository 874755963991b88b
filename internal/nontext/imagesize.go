package nontext

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// ImageSize returns the width and the height of a PNG, JPEG, GIF or WebP in pixels, or zeros of anything else.
func ImageSize(b []byte) (width, height int) {
	return read(func(from, n int) []byte {
		if from < 0 || from >= len(b) {
			return nil
		}
		return b[from:min(len(b), from+n)]
	})
}

// ImageSizeBase64 is Bytes for an image in standard Base64. It decodes no more than it reads.
func ImageSizeBase64(s string) (width, height int) {
	return read(func(from, n int) []byte {
		first := from / 3 * 4 // four characters are three bytes
		last := min(len(s), (from+n+2)/3*4)
		if from < 0 || first >= last {
			return nil
		}
		b, err := base64.StdEncoding.DecodeString(s[first:last])
		if err != nil || from%3 >= len(b) {
			return nil
		}
		b = b[from%3:]
		return b[:min(len(b), n)]
	})
}

// ImageSizeURL is Base64 for a data URL. Of another URL nothing is known.
func ImageSizeURL(url string) (width, height int) {
	const longestHead = 128
	head, rest, ok := strings.Cut(url[:min(len(url), longestHead)], ";base64,")
	if !ok || !strings.HasPrefix(head, "data:image/") {
		return 0, 0
	}
	return ImageSizeBase64(url[len(url[:min(len(url), longestHead)])-len(rest):])
}

// read finds the size. at returns up to n bytes of the file from an offset on.
func read(at func(from, n int) []byte) (width, height int) {
	head := at(0, 30)
	switch {
	case len(head) >= 24 && string(head[:8]) == "\x89PNG\r\n\x1a\n":
		return inRange(binary.BigEndian.Uint32(head[16:]), binary.BigEndian.Uint32(head[20:]))
	case len(head) >= 10 && (string(head[:6]) == "GIF87a" || string(head[:6]) == "GIF89a"):
		return int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	case len(head) >= 30 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return webP(head)
	case len(head) >= 4 && head[0] == 0xff && head[1] == 0xd8:
		return jpegSize(at)
	}
	return 0, 0
}

// inRange returns 0 for numbers that cannot be a size: no provider takes an image of 2^24 pixels a side.
func inRange(width, height uint32) (int, int) {
	const most = 1 << 24
	if width > most || height > most {
		return 0, 0
	}
	return int(width), int(height)
}

// webP reads the three kinds of WebP: lossy, lossless and extended.
func webP(head []byte) (width, height int) {
	switch string(head[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(head[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(head[28:])) & 0x3fff
	case "VP8L":
		bits := binary.LittleEndian.Uint32(head[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return int(uint32(head[24])|uint32(head[25])<<8|uint32(head[26])<<16) + 1,
			int(uint32(head[27])|uint32(head[28])<<8|uint32(head[29])<<16) + 1
	}
	return 0, 0
}

// jpegSize goes from segment to segment until the one that says the size. Thumbnails and profiles stand before it.
func jpegSize(at func(from, n int) []byte) (width, height int) {
	const mostSegments = 256
	from := 2
	for range mostSegments {
		s := at(from, 9)
		if len(s) < 9 || s[0] != 0xff {
			return 0, 0
		}
		switch marker := s[1]; {
		case marker == 0xff: // padding
			from++
			continue
		case beginsFrame(marker):
			return int(binary.BigEndian.Uint16(s[7:])), int(binary.BigEndian.Uint16(s[5:]))
		case marker == 0xd9, marker == 0xda: // the end, or the picture itself
			return 0, 0
		}
		from += 2 + int(binary.BigEndian.Uint16(s[2:]))
	}
	return 0, 0
}

// beginsFrame reports whether a marker of a JPEG begins a frame: SOF0 to SOF15, among which DHT, JPG and DAC stand.
func beginsFrame(marker byte) bool {
	switch marker {
	case 0xc4, 0xc8, 0xcc:
		return false
	}
	return marker >= 0xc0 && marker <= 0xcf
}
