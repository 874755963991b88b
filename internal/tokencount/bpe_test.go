package tokencount

import (
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/samples"
	"github.com/winnowgo/winnow/internal/test/times"
)

// encodings are what [TiktokenEstimator] offers, by their names.
var encodings = map[string]func() *Encoding{"o200k_base": O200k, "cl100k_base": CL100k}

// exactTokens returns the function that counts with the encoding of that name.
func exactTokens(t testing.TB, name string) func(string) int {
	return encodings[name]().Count
}

// onePiece are texts that the patterns take for one piece however often they are repeated.
var onePiece = map[string]string{
	"letter": "a", "space": " ", "Chinese": "你", "Chinese text": "天地玄黃宇宙洪荒", "line end": "\n",
	"ruler": "-", "no UTF-8": "\xff", "control": "\x00", "joiner": "-\u200d", "slashes": "-/",
	"signs with marks": "--\u0301", "emoji with selectors": "😀\ufe0f", "marks": "\u0301", "lines of slashes": "//\n", "paths": "/\r\n",
}

func TestTiktokenSamples(t *testing.T) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		count := exactTokens(t, name)
		for i, s := range samples.Read(t) {
			if i%times.Every(20) != 0 {
				continue
			}
			if s.Name == "ansi/038" || strings.HasPrefix(s.Name, "patho/") { // see carriageReturns and maxPieceBytes
				assert.InDelta(t, s.Counts[name], count(s.Text), 4)
				continue
			}
			assert.Equal(t, s.Counts[name], count(s.Text), "%s of %s", name, s.Name)
		}
	}
}

// Much of the worst text is counted, with -times 6 a megabyte, and where the true count is known it is right.
func TestTiktokenMegabyte(t *testing.T) {
	size := times.Of(3 << 16)
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		count := exactTokens(t, name)
		assert.Equal(t, size/8, count(strings.Repeat("a", size)), name)
		assert.Equal(t, size/3, count(strings.Repeat("你", size/3)), name)
		assert.Positive(t, count(strings.Repeat("😀\ufe0f", size/7)), name)
		perToken := map[string]int{"o200k_base": 8, "cl100k_base": 4}[name] // of U+FFFD
		assert.Equal(t, size/perToken, count(strings.Repeat("\xff\x80\xbf\xfe", size/4)), name)
	}
}

// BenchmarkTiktoken counts a megabyte of the worst texts. It is to take less than a fifth of a second.
func BenchmarkTiktoken(b *testing.B) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		count := exactTokens(b, name)
		count("warm up")
		units := maps.Clone(onePiece)
		units["base64"] = "U29tZSBiYXNlNjQ+/"
		for unit, repeated := range units {
			text := strings.Repeat(repeated, 1<<20/len(repeated))
			b.Run(name+"/"+unit, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					count(text)
				}
			})
		}
	}
}

// BenchmarkCount counts what BENCHMARKS.md has rows for, and reads it once for comparison.
func BenchmarkCount(b *testing.B) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(b, err)
	raw := make([]byte, 225_000)
	rand.NewChaCha8([32]byte{}).Read(raw)
	count := exactTokens(b, "o200k_base")
	count("warm up")
	for _, row := range []struct{ name, text string }{
		{"text", strings.Repeat(string(readme), 250_000/len(readme)+1)[:250_000]},
		{"letter", strings.Repeat("a", 1<<20)},
		{"base64", base64.StdEncoding.EncodeToString(raw)},
	} {
		for name, f := range map[string]func(string) int{"count": count, "floor": utf8.RuneCountInString} {
			b.Run(row.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(row.text)))
				b.ReportAllocs()
				for b.Loop() {
					f(row.text)
				}
			})
		}
	}
}

func TestTiktokenMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("loads a vocabulary")
	}
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	before := heap()
	var e Encoding
	require.NotNil(t, e.load(o200kVocabulary, o200kPiece).vocabulary)
	t.Logf("o200k_base keeps %.0f MB", heap()-before)
	assert.Less(t, heap()-before, 12.0, "MB that stay")
	runtime.KeepAlive(&e)
}

// BenchmarkTiktokenLoad is what the first count costs.
func BenchmarkTiktokenLoad(b *testing.B) {
	for b.Loop() {
		new(Encoding).load(o200kVocabulary, o200kPiece)
	}
}
