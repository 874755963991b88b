package adaptertest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// PDF returns a document of 7 pages with a picture above 400 KB, and the same in Base64.
func PDF() (file []byte, text string) {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 7>>endobj\n")
	for i := range 7 {
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R>>endobj\n", i+3)
	}
	fmt.Fprintf(&b, "90 0 obj<</Length 400000>>stream\n%sendstream endobj\n%%%%EOF", strings.Repeat("8 obj <<", 50_000))
	return []byte(b.String()), base64.StdEncoding.EncodeToString([]byte(b.String()))
}

// WAV returns a sound of 3 seconds, and the same in Base64.
func WAV() (file []byte, text string) {
	const size = 3 * 16_000
	file = []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	file = append(file, "\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data"...)
	file = append(binary.LittleEndian.AppendUint32(file, size), make([]byte, size)...)
	return file, base64.StdEncoding.EncodeToString(file)
}

// CheckMedia requires that a history has so many images of PNG, documents of PDF and sounds of WAV, by their sizes, and
// nothing else beside texts and calls.
func CheckMedia(t testing.TB, history []winnow.Message, images, documents, sounds int) {
	t.Helper()
	type size struct{ width, height, pages, seconds int }
	got := map[size]int{}
	for i := range history {
		for _, p := range history[i].Parts {
			if p.Kind == winnow.KindImage || p.Kind == winnow.KindOpaque {
				got[size{p.Width, p.Height, p.Pages, p.Seconds}]++
			}
		}
	}
	want := map[size]int{{64, 48, 0, 0}: images, {0, 0, 7, 0}: documents, {0, 0, 0, 3}: sounds}
	for of, n := range want {
		if n == 0 {
			delete(want, of)
		}
	}
	assert.Equal(t, want, got)
}
