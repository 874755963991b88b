package adaptertest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// PNG returns an image of 64 × 48 pixels, and the same in Base64.
func PNG(t testing.TB) (file []byte, text string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 48))))
	return b.Bytes(), base64.StdEncoding.EncodeToString(b.Bytes())
}

// CheckImages requires that a history has n images, all equal to that of PNG.
func CheckImages(t testing.TB, history []winnow.Message, want int) {
	t.Helper()
	n := 0
	for i := range history {
		for _, p := range history[i].Parts {
			if p.Kind != winnow.KindImage {
				continue
			}
			if n++; p.Width != 64 || p.Height != 48 {
				t.Errorf("message %d has an image of %d × %d pixels", i, p.Width, p.Height)
			}
		}
	}
	if n != want {
		t.Errorf("%d images instead of %d", n, want)
	}
}
