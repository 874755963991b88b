package winnow

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func exactTokens(t testing.TB, name string) func(string) int {
	t.Helper()
	e, err := TiktokenEstimator(name)
	require.NoError(t, err)
	return e.(tiktokenEstimator).textTokens
}

func TestTiktokenSamples(t *testing.T) {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		count := exactTokens(t, name)
		for i, s := range samples(t) {
			if testing.Short() && i%20 != 0 || !*allRecorded && i%4 != 0 {
				continue
			}
			if s.Name == "ansi/038" { // see carriageReturns
				assert.InDelta(t, s.Counts[name], count(s.Text), 4)
				continue
			}
			assert.Equal(t, s.Counts[name], count(s.Text), "%s of %s", name, s.Name)
		}
	}
}

// onePiece are texts that the patterns take for one piece however often they are repeated: to encode them
// whole would take time by the square of their length.
var onePiece = map[string]string{
	"letter": "a", "space": " ", "Chinese": "你", "Chinese text": "天地玄黃宇宙洪荒", "line end": "\n",
	"ruler": "-", "no UTF-8": "\xff", "control": "\x00", "joiner": "-\u200d", "slashes": "-/",
	"signs with marks": "--\u0301", "emoji with selectors": "😀\ufe0f", "marks": "\u0301", "lines of slashes": "//\n", "paths": "/\r\n",
}

func TestTiktokenCutsPieces(t *testing.T) {
	for _, enc := range []*encoding{loadO200k(), loadCL100k()} {
		for name, unit := range onePiece {
			for _, maxRun := range []int{maxRunBytes, maxRunBytesShort} {
				text := strings.Repeat(unit, 4*maxRun/len(unit))
				end := enc.segmentEnd(text, maxRun)
				assert.Positive(t, end, name)
				assert.LessOrEqual(t, end, maxRun+utf8.UTFMax*cutChars, name)
			}
		}
	}
}

// A megabyte of the worst text is counted, and where the true count is known it is right.
func TestTiktokenMegabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("encodes 6 MB")
	}
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		count := exactTokens(t, name)
		assert.Equal(t, 131_072, count(strings.Repeat("a", 1<<20)), name)
		assert.Equal(t, 349_525, count(strings.Repeat("你", 1<<20/3)), name)
		assert.Positive(t, count(strings.Repeat("😀\ufe0f", 1<<20/7)), name)
		perToken := map[string]int{"o200k_base": 8, "cl100k_base": 4}[name] // of U+FFFD
		assert.Equal(t, 1<<20/perToken, count(strings.Repeat("\xff\x80\xbf\xfe", 1<<18)), name)
	}
}

// BenchmarkTiktoken counts a megabyte of the worst texts. It is to take less than two seconds.
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
					sink += count(text)
				}
			})
		}
	}
}

// What one call takes is bounded by the texts of a message together, however many parts they are.
func TestTiktokenSizeCap(t *testing.T) {
	exact, err := TiktokenEstimator("o200k_base")
	require.NoError(t, err)
	estimate, err := NewEstimator("o200k")
	require.NoError(t, err)
	half := Part{Text: strings.Repeat("word ", maxExactBytes/10)}
	message := func(parts ...Part) Message { return Message{Role: RoleUser, Parts: parts} }
	for _, tt := range []struct {
		name      string
		message   Message
		estimated bool
	}{
		{"at the cap", message(half, half), false},
		{"one text above it", message(Part{Text: half.Text + half.Text + "words"}), true},
		{"several above it together", message(half, half, Part{Text: "words"}), true},
		{"arguments count", message(half, half, Part{Kind: KindToolCall, Arguments: []byte(`{"a":1}`)}), true},
	} {
		got, estimated := exact.Estimate(tt.message), estimate.Estimate(tt.message)
		assert.Equal(t, tt.estimated, got == estimated, "%s: %d, estimated %d", tt.name, got, estimated)
		assert.InEpsilon(t, maxExactBytes/5, got, .3, tt.name)
	}
}

// A cut where a token ends changes no count.
func TestTiktokenSegments(t *testing.T) {
	count := exactTokens(t, "o200k_base")
	var text strings.Builder
	for _, s := range samples(t) {
		if s.Category != "patho" && s.Category != "base64" {
			text.WriteString(s.Text[:min(len(s.Text), 400)])
			text.WriteString("\n")
		}
	}
	whole := text.String()
	require.Greater(t, len(whole), 3*segmentBytes)
	assert.Equal(t, len(loadO200k().bpe.EncodeOrdinary(whole)), count(whole))
}

func TestTiktokenUnknown(t *testing.T) {
	_, err := TiktokenEstimator("p50k")
	assert.ErrorContains(t, err, `"o200k_base"`)
}

func TestTiktokenConcurrent(t *testing.T) {
	e, err := TiktokenEstimator("cl100k_base")
	require.NoError(t, err)
	m := Message{Role: RoleUser, Parts: []Part{{Text: "The quick brown fox"}}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { assert.Equal(t, openAIStructure.message+4, e.Estimate(m)) })
	}
	wg.Wait()
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
	var e encoding
	require.NotNil(t, e.load("o200k_base", o200kVocabulary, o200kPattern).bpe)
	t.Logf("o200k_base keeps %.0f MB", heap()-before)
	assert.Less(t, heap()-before, 40.0, "MB that stay")
	runtime.KeepAlive(&e)
}

// BenchmarkTiktokenLoad is what the first count costs.
func BenchmarkTiktokenLoad(b *testing.B) {
	for b.Loop() {
		new(encoding).load("o200k_base", o200kVocabulary, o200kPattern)
	}
}

// A program that never calls TiktokenEstimator has no vocabulary in it.
func TestTiktokenLinkedOnDemand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.exe")
	require.NoError(t, os.WriteFile(source, []byte(`package main

import "github.com/winnowgo/winnow"

func main() {
	e, err := winnow.NewEstimator("o200k")
	println(e.Estimate(winnow.Message{}), err)
}
`), 0o644))
	out, err := exec.Command(tool, "build", "-o", binary, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	code, err := os.ReadFile(binary)
	require.NoError(t, err)
	assert.Contains(t, string(code), constantsFile[:1000], "what is called is in the program")
	assert.NotContains(t, string(code), o200kVocabulary[:4096])
	assert.NotContains(t, string(code), cl100kVocabulary[:4096])
}

func FuzzTiktoken(f *testing.F) {
	for _, s := range []string{"", "a\xff\xfe", "<|endoftext|>", "\n/ x", "\u0345́é你"} {
		f.Add(s)
	}
	e, err := TiktokenEstimator("cl100k_base")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, s string) {
		m := Message{Parts: []Part{{Text: s}}}
		n := e.Estimate(m)
		assert.GreaterOrEqual(t, n, 0)
		assert.LessOrEqual(t, n, e.(bounded).atMost(&m))
	})
}
