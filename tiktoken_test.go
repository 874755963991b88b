package winnow

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

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
			if testing.Short() && i%20 != 0 {
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

func TestTiktokenBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("encodes 8 MB")
	}
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		count := exactTokens(t, name)
		count("warm up")
		for unit, tokens := range map[string]int{
			"a": 131_072, " ": 0, "你": 349_525, "U29tZSBiYXNlNjQ+/": 0, "\n": 0, "-": 0, "天地玄黃宇宙洪荒": 0, "<|endoftext|>": 0,
		} {
			text := strings.Repeat(unit, 1<<20/len(unit))
			start := time.Now()
			n := count(text)
			took := time.Since(start)
			t.Logf("%s: 1 MB of %q: %d tokens in %v", name, unit, n, took.Round(time.Millisecond))
			assert.Less(t, took, 6*time.Second, "%q", unit) // under two where nothing else runs
			if tokens > 0 {
				assert.Equal(t, tokens, n, "%q", unit)
			}
		}
	}
}

func TestTiktokenSizeCap(t *testing.T) {
	count := exactTokens(t, "o200k_base")
	text := strings.Repeat("word ", maxExactBytes/5+1)
	start := time.Now()
	n := count(text)
	assert.Less(t, time.Since(start), 500*time.Millisecond)
	assert.InEpsilon(t, len(text)/5, n, .3)
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
	start := time.Now()
	require.NotNil(t, e.load("o200k_base", o200kVocabulary, o200kPattern).bpe)
	took := time.Since(start)
	t.Logf("o200k_base: loaded in %v, keeps %.0f MB", took.Round(time.Millisecond), heap()-before)
	runtime.KeepAlive(&e)
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
