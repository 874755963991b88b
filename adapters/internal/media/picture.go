package media

import (
	"bufio"
	"encoding/binary"
	"image"
	_ "image/gif"  // for DecodeConfig
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
)

// Pixels returns the width and the height of a PNG, JPEG, GIF or WebP, or zeros of anything else.
func (f File) Pixels() (width, height int) {
	head := f.at(0, 30)
	if len(head) == 30 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return webP(head)
	}
	c, _, err := image.DecodeConfig(bufio.NewReader(f))
	const most = 1 << 24 // pixels a side: no provider takes such an image
	if err != nil || max(c.Width, c.Height) > most {
		return 0, 0
	}
	return c.Width, c.Height
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
