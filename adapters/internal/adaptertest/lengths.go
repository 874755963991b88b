package adaptertest

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
)

// The lengths of the files that PDF and WAV return.
const Pages, Seconds = 7, 3

// PDF returns a document of Pages pages with a picture above 400 KB, and the same in Base64.
func PDF() (file []byte, text string) {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n")
	fmt.Fprintf(&b, "2 0 obj<</Type/Pages/Kids[]/Count %d>>endobj\n", Pages)
	for i := range Pages {
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R>>endobj\n", i+3)
	}
	fmt.Fprintf(&b, "90 0 obj<</Length 400000>>stream\n%sendstream endobj\n%%%%EOF", strings.Repeat("8 obj <<", 50_000))
	return []byte(b.String()), base64.StdEncoding.EncodeToString([]byte(b.String()))
}

// WAV returns a sound of Seconds seconds, and the same in Base64.
func WAV() (file []byte, text string) {
	const rate = 16_000
	file = []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	file = append(file, "\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data"...)
	file = append(binary.LittleEndian.AppendUint32(file, Seconds*rate), make([]byte, Seconds*rate)...)
	return file, base64.StdEncoding.EncodeToString(file)
}

// CheckLengths requires that the opaque parts of a history are so many documents of PDF and sounds of WAV.
func CheckLengths(t testing.TB, history []winnow.Message, documents, sounds int) {
	t.Helper()
	for i := range history {
		for _, p := range history[i].Parts {
			switch {
			case p.Kind != winnow.KindOpaque:
			case p.Pages == Pages && p.Seconds == 0:
				documents--
			case p.Seconds == Seconds && p.Pages == 0:
				sounds--
			default:
				t.Errorf("message %d has %d pages and %d seconds of %s", i, p.Pages, p.Seconds, p.MediaType)
			}
		}
	}
	if documents != 0 || sounds != 0 {
		t.Errorf("%d documents and %d sounds are missing", documents, sounds)
	}
}
