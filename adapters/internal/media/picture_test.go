package media

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files are images of one size in each format.
func files(t testing.TB, width, height int) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
	out := map[string][]byte{}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"png":  func(b *bytes.Buffer) error { return png.Encode(b, picture) },
		"jpeg": func(b *bytes.Buffer) error { return jpeg.Encode(b, picture, nil) },
		"gif":  func(b *bytes.Buffer) error { return gif.Encode(b, picture, nil) },
	} {
		var b bytes.Buffer
		require.NoError(t, encode(&b))
		out[name] = b.Bytes()
	}
	// A JPEG of a camera: a thumbnail of its own in front, and padding.
	thumbnail := append([]byte{0xff, 0xe1, 0xff, 0xf0}, bytes.Repeat([]byte{0xff, 0xc0}, (0xfff0-2)/2)...)
	out["camera"] = append(append([]byte{0xff, 0xd8}, append(thumbnail, 0xff)...), out["jpeg"][2:]...)
	w, h := width-1, height-1
	out["webp extended"] = append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), byte(w), byte(w>>8), byte(w>>16), byte(h), byte(h>>8), byte(h>>16))
	bits := uint32(w) | uint32(h)<<14
	out["webp lossless"] = append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f"), byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24), 0, 0, 0, 0, 0)
	out["webp lossy"] = append([]byte("RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a"), byte(width), byte(width>>8), byte(height), byte(height>>8))
	return out
}

func TestSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {640, 480}, {33, 7001}} {
		for name, b := range files(t, size[0], size[1]) {
			w, h := Bytes(b).Pixels()
			assert.Equal(t, size, [2]int{w, h}, name)
			text := base64.StdEncoding.EncodeToString(b)
			w, h = Text(text).Pixels()
			assert.Equal(t, size, [2]int{w, h}, "%s in Base64", name)
			w, h = Text("data:image/png;base64," + text).Pixels()
			assert.Equal(t, size, [2]int{w, h}, "%s in a URL", name)
			for n := range min(len(b), 200) { // cut: nothing wrong is said
				if w, h := Bytes(b[:n]).Pixels(); w != 0 || h != 0 {
					assert.Equal(t, size, [2]int{w, h}, "%d bytes of %s", n, name)
				}
			}
		}
	}
	for _, none := range []string{"", "x", "https://example.com/a.png", "data:image/png;base64,", "data:image/png;base64,!!!!", "data:text/plain;base64,aGk="} {
		w, h := Text(none).Pixels()
		assert.Zero(t, w+h, none)
	}
}

func FuzzSizes(f *testing.F) {
	for _, b := range files(f, 640, 480) {
		f.Add(b[:min(len(b), 2_000)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w, h := Bytes(b).Pixels()
		if w < 0 || h < 0 {
			t.Errorf("%d × %d", w, h)
		}
		if w2, h2 := Text(base64.StdEncoding.EncodeToString(b)).Pixels(); w2 != w || h2 != h {
			t.Errorf("%d × %d, in Base64 %d × %d", w, h, w2, h2)
		}
		Text(fmt.Sprintf("data:image/png;base64,%s", b)).Pixels()
	})
}

func BenchmarkBase64(b *testing.B) {
	for name, file := range files(b, 1920, 1080) {
		text := base64.StdEncoding.EncodeToString(file)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Text(text).Pixels()
			}
		})
	}
}
