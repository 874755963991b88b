package media

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noise is data that looks like what an encoder writes.
func noise(n int) []byte {
	b, r := make([]byte, n), rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// pages are the objects of n pages in two levels, and their root. The root is object 2.
func pages(n int, extra string) []string {
	var kids, objects []string
	for i := range n {
		parent := 3 + i/10
		if i%10 == 0 {
			kids = append(kids, fmt.Sprintf("%d 0 R", parent))
		}
		objects = append(objects, fmt.Sprintf(
			"<</Resources<</Font<</Type/Font/F1 5 0 R>>/Text(a (b) \\) > << )>>/Type /Page /Parent %d 0 R /MediaBox[0 0 612 792]>>", parent))
	}
	nodes := []string{fmt.Sprintf("<< /Type /Pages%s\n/Kids [%s]\n/Count %d >>", extra, strings.Join(kids, " "), n)}
	for i := range kids {
		nodes = append(nodes, fmt.Sprintf("<</Count %d/Kids[]/Type/Pages/Parent 2 0 R>>", min(10, n-10*i)))
	}
	return append(nodes, objects...)
}

func plainPDF(objects []string, picture int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog/Pages 2 0 R/Outlines<</Type/Outlines/Count 7777>>>>\nendobj\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+2, o)
		if i%7 == 0 {
			fmt.Fprintf(&b, "%d 0 obj\n<</Length %d>>\nstream\n%s\nendstream\nendobj\n", 1_000+i, picture, noise(picture))
		}
	}
	b.WriteString("xref\n0 1\n0000000000 65535 f \ntrailer\n<</Root 1 0 R/Size 9>>\nstartxref\n9\n%%EOF\n")
	return b.Bytes()
}

// packedPDF has its objects in streams of 50, and a table of them that is a stream too.
func packedPDF(objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i := 0; i < len(objects); i += 50 {
		var head, body strings.Builder
		for k, o := range objects[i:min(len(objects), i+50)] {
			fmt.Fprintf(&head, "%d %d ", i+k+2, body.Len())
			body.WriteString(o + "\n")
		}
		data := packed([]byte(head.String() + body.String()))
		fmt.Fprintf(&b, "%d 0 obj\n<</Type/ObjStm/N 50/First %d/Filter/FlateDecode/Length %d>>stream\r\n%s\r\nendstream\nendobj\n",
			9_000+i, head.Len(), len(data), data)
	}
	table := packed(noise(500))
	fmt.Fprintf(&b, "9999 0 obj\n<</Type/XRef/Root 1 0 R/W[1 2 1]/Filter/FlateDecode/Length %d>>stream\n%s\nendstream\nendobj\n", len(table), table)
	b.WriteString("startxref\n9\n%%EOF")
	return b.Bytes()
}

func TestPages(t *testing.T) {
	changed := append(plainPDF(pages(30, ""), 100), "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 12>>\nendobj\nstartxref\n9\n%%EOF"...)
	for name, c := range map[string]struct {
		file []byte
		want int
	}{
		"one page":                         {plainPDF(pages(1, ""), 10), 1},
		"plain":                            {plainPDF(pages(37, ""), 5_000), 37},
		"pictures above any buffer":        {plainPDF(pages(9, ""), 2<<20), 9},
		"a long list of pages":             {plainPDF(pages(3_000, "/Comment("+strings.Repeat("x", 100_000)+")"), 0), 3_000},
		"packed":                           {packedPDF(pages(123, "")), 123},
		"changed: what it had counts too":  {changed, 30},
		"a root that says too much":        {plainPDF(append([]string{"<</Type/Pages/Count 999999999>>"}, pages(3, "")[2:]...), 10), 3},
		"a picture of a PDF in a PDF":      {plainPDF([]string{"<</Length 9>>stream\n<</Type/Pages/Count 1>><</Type/Page>>endstream"}, 10), 0},
		"nothing but the mark":             {[]byte("%PDF-"), 0},
		"another document":                 {append([]byte("PK\x03\x04"), noise(3_000)...), 0},
		"an object that never ends":        {append([]byte("%PDF-1.4 1 0 obj <<"), bytes.Repeat([]byte("<</Type/Pages("), 200_000)...), 0},
		"packed, and nothing comes of it":  {[]byte("%PDF-1.7 1 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\nabcendstream endobj"), 0},
		"packed, and as large as it likes": {packedPDF([]string{strings.Repeat(" ", 100<<20), pages(1, "")[0]}), 0},
	} {
		n, seconds := Bytes(c.file).Length()
		assert.Equal(t, c.want, n, name)
		assert.Zero(t, seconds, name)
		n, _ = Text(base64.StdEncoding.EncodeToString(c.file)).Length()
		assert.Equal(t, c.want, n, "%s in Base64", name)
		n, _ = Text("data:application/pdf;base64," + base64.StdEncoding.EncodeToString(c.file)).Length()
		assert.Equal(t, c.want, n, "%s in a URL", name)
	}
	whole := packedPDF(pages(123, ""))
	for n := 0; n < len(whole); n += 97 { // cut: what is there
		got, _ := Bytes(whole[:n]).Length()
		assert.LessOrEqual(t, got, 123, n)
	}
}

func wav(seconds float64, rate, channels, bits int) []byte {
	data := noise(int(seconds*float64(rate)) * channels * bits / 8)
	b := []byte("RIFF\x00\x00\x00\x00WAVELIST\x03\x00\x00\x00abc\x00fmt \x10\x00\x00\x00\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(bits))
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(len(data)))
	return append(b, data...)
}

// mp3 has frames of 44 100 samples a second, each with the next one of these bit rates, by their numbers.
func mp3(seconds float64, bits ...byte) []byte {
	var b []byte
	for i := range int(seconds * 44_100 / 1_152) {
		n := bits[i%len(bits)]
		f := append([]byte{0xff, 0xfb, n << 4, 0x44}, noise(144_000*bitRates[0][n]/44_100-4)...)
		b = append(b, f...)
	}
	return b
}

// sounds are files that play so many seconds.
func sounds(seconds float64) map[string][]byte {
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x4e\x10"), noise(0x4e<<7+0x10)...)
	streamed := wav(seconds, 8_000, 1, 16)
	binary.LittleEndian.PutUint32(streamed[bytes.Index(streamed, []byte("data"))+4:], 1<<32-1)
	late := []byte{}
	for range int(seconds * 22_050 / 576) {
		late = append(append(late, 0xff, 0xf3, 0x80, 0xc0), noise(72_000*64/22_050-4)...)
	}
	aac := []byte{}
	for range int(seconds * 48_000 / 1_024) {
		n := 341
		aac = append(append(aac, 0xff, 0xf1, 3<<2, byte(n>>11), byte(n>>3), byte(n<<5), 0), noise(n-7)...)
	}
	flac := append([]byte("fLaC\x00\x00\x00\x22\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00"), binary.BigEndian.AppendUint64(nil, 16_000<<44|uint64(seconds*16_000))...)
	ogg := func(head string, perSecond int) []byte {
		b := append([]byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x1e"+head), noise(int(seconds)*4_000)...)
		return binary.LittleEndian.AppendUint64(append(b, "OggS\x00\x04"...), uint64(seconds*float64(perSecond)))
	}
	return map[string][]byte{
		"wav": wav(seconds, 44_100, 2, 16), "wav, telephone": wav(seconds, 8_000, 1, 8), "wav, streamed": streamed,
		"mp3": mp3(seconds, 9), "mp3 with tags": append(tag, mp3(seconds, 11)...), "mp3, late version": late,
		"mp3, changing": mp3(seconds, 1, 14, 5),
		"aac":           aac, "flac": append(flac, noise(int(seconds)*20_000)...),
		"opus":   ogg("OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00\x00", 48_000),
		"vorbis": ogg("\x01vorbis\x00\x00\x00\x00\x02\x22\x56\x00\x00", 22_050),
		"mp4":    mp4(seconds, false), "mp4, long form": mp4(seconds, true),
	}
}

func box(name string, data ...[]byte) []byte {
	all := bytes.Join(data, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(all)+8)), name...), all...)
}

func mp4(seconds float64, long bool) []byte {
	header := binary.BigEndian.AppendUint32(make([]byte, 12, 100), 600)
	header = binary.BigEndian.AppendUint32(header, uint32(seconds*600))
	media := box("mdat", noise(int(seconds)*9_000))
	if long {
		header = binary.BigEndian.AppendUint32(append([]byte{1}, make([]byte, 19)...), 90_000)
		header = binary.BigEndian.AppendUint64(header, uint64(seconds*90_000))
		media = append(binary.BigEndian.AppendUint64([]byte("\x00\x00\x00\x01mdat"), uint64(len(media)+8)), media[8:]...)
	}
	return bytes.Join([][]byte{box("ftyp", []byte("isom\x00\x00\x00\x00")), media,
		box("moov", box("free", noise(40)), box("mvhd", header, make([]byte, 80)), box("trak", noise(90)))}, nil)
}

func TestSeconds(t *testing.T) {
	for _, want := range []float64{1, 20, 61} {
		for name, b := range sounds(want) {
			n, got := Bytes(b).Length()
			assert.Zero(t, n, name)
			assert.InDelta(t, want, got, 1, name)
			_, inText := Text(base64.StdEncoding.EncodeToString(b)).Length()
			assert.Equal(t, got, inText, "%s in Base64", name)
			for cut := range min(len(b), 400) {
				Bytes(b[:cut]).Length()
			}
		}
	}
	lying := wav(10, 8_000, 1, 8)
	binary.LittleEndian.PutUint32(lying[bytes.Index(lying, []byte("fmt "))+16:], 1)
	for name, b := range map[string][]byte{
		"one byte a second": lying, "an hour in a few bytes": mp4(3_600, false)[:16], "noise": noise(10_000), "none": nil,
		"a picture": append([]byte("\x89PNG\r\n\x1a\n"), noise(500)...), "marks alone": bytes.Repeat([]byte("\xff"), 10_000),
		"movies in movies": bytes.Repeat([]byte("\x00\x00\x10\x00ftyp\x00\x00\x00\x10moov"), 1_000),
	} {
		n, seconds := Bytes(b).Length()
		assert.Zero(t, n+seconds, name)
	}
	for _, none := range []string{"", "x", "https://example.com/a.wav", "data:audio/wav;base64,", "data:audio/wav;base64,!!!!", "data:,a"} {
		n, seconds := Text(none).Length()
		assert.Zero(t, n+seconds, none)
	}
}

func FuzzLength(f *testing.F) {
	f.Add(plainPDF(pages(3, ""), 10))
	f.Add(packedPDF(pages(3, "")))
	for _, b := range sounds(1) {
		f.Add(b[:min(len(b), 2_000)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, seconds := Bytes(b).Length()
		require.False(t, n < 0 || n > len(b)*mostGrowth+leastUnpacked || seconds < 0 || seconds > len(b))
		n2, seconds2 := Text(base64.StdEncoding.EncodeToString(b)).Length()
		require.Equal(t, n, n2)
		require.Equal(t, seconds, seconds2)
	})
}

func BenchmarkPages(b *testing.B) {
	for name, file := range map[string][]byte{"plain": plainPDF(pages(100, ""), 400_000), "packed": packedPDF(pages(2_000, ""))} {
		text := base64.StdEncoding.EncodeToString(file)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				Text(text).Length()
			}
		})
	}
}
