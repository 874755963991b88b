package tokencount

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"github.com/pkoukk/tiktoken-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/samples"
	"github.com/winnowgo/winnow/internal/test/times"
)

// oracle encodes as tiktoken-go does: it cuts by the pattern, and merges by itself.
type oracle struct {
	pattern *regexp2.Regexp
	core    *tiktoken.Tiktoken
}

var oracles = map[string]func() oracle{
	"o200k_base":  sync.OnceValue(func() oracle { return newOracle(O200k(), o200kPattern) }),
	"cl100k_base": sync.OnceValue(func() oracle { return newOracle(CL100k(), cl100kPattern) }),
}

func newOracle(e *Encoding, pattern string) oracle {
	ranks := map[string]int{}
	for token, rank := range e.vocabulary.ranks {
		ranks[token] = int(rank)
	}
	// The library makes a pattern of the special tokens and needs one; EncodeOrdinary uses none.
	special := map[string]int{"<|endoftext|>": len(ranks) + 1}
	core, err := tiktoken.NewCoreBPE(ranks, special, pattern)
	if err != nil {
		panic(err)
	}
	encoding := &tiktoken.Encoding{PatStr: pattern, MergeableRanks: ranks, SpecialTokens: special}
	return oracle{regexp2.MustCompile(pattern, regexp2.None), tiktoken.NewTiktoken(core, encoding, nil)}
}

// pieces cuts s by the pattern.
func (o oracle) pieces(t testing.TB, s string) []string {
	var out []string
	for m, err := o.pattern.FindStringMatch(s); m != nil; m, err = o.pattern.FindNextMatch(m) {
		require.NoError(t, err)
		out = append(out, m.String())
	}
	return out
}

// pieces cuts s, which is valid UTF-8, as Count does.
func (e *Encoding) pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		n := e.piece(s)
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// checkPieces reports whether s is cut as by the pattern.
func checkPieces(t testing.TB, name, s string) bool {
	want, got := oracles[name]().pieces(t, s), encodings[name]().pieces(s)
	return assert.Equal(t, want, got, "%s: %q", name, s)
}

func eachEncoding(t *testing.T, check func(t *testing.T, name string)) {
	for name := range encodings {
		t.Run(name, func(t *testing.T) { check(t, name) })
	}
}

// Every character up to U+3000, and of the others those at which the class changes and a sample, is of the class that
// the pattern finds: alone between words, before a word, before a sign, behind a sign and behind an apostrophe.
func TestPiecesOfCharacters(t *testing.T) {
	step := rune(times.Every(97 * 4))
	classOf := func(r rune) class {
		c, _ := classAt(string(r), 0)
		return c
	}
	eachEncoding(t, func(t *testing.T, name string) {
		var b strings.Builder
		check := func() bool {
			defer b.Reset()
			return checkPieces(t, name, b.String())
		}
		for r := rune(0); r <= unicode.MaxRune; r++ {
			sampled := r < 0x3000 || r%step == 0 || classOf(r) != classOf(r-1) || classOf(r) != classOf(r+1)
			if !sampled || !utf8.ValidRune(r) {
				continue
			}
			b.WriteString("x" + string(r) + "A " + string(r) + "-" + string(r) + "\n" + string(r) + string(r) + "1'" + string(r) + "e")
			if b.Len() > 1000 && !check() {
				return
			}
		}
		check()
	})
}

// alphabet has characters of every class, and those that the patterns name.
var alphabet = []string{
	"a", "b", "A", "B", "ǅ", "ʰ", "你", "\u0301", "\u20dd", "1", "²", "Ⅷ", " ", " ", "\t", "\u00a0", "\u2003", "\u0085", "\u2028", "\n", "\r",
	"'", "s", "'S", "'re", "'LL", "'ve", "'t", "ſ", "'ſ", "K", "/", "/", "-", "😀", "\ufe0f", "\u200d", "$", "\x00", "\uFFFD", "é", "É", "𝐀", "𐐀", "𐐨", "𝟙", "𠀀",
}

// Random texts of all classes are cut as by the patterns.
func TestPiecesOfRandomTexts(t *testing.T) {
	rounds := times.Of(10_000)
	eachEncoding(t, func(t *testing.T, name string) {
		r := rand.New(rand.NewPCG(1, 2))
		for range rounds {
			var b strings.Builder
			few := 1 + r.IntN(len(alphabet)) // of few kinds, longer rows
			from := r.IntN(len(alphabet))
			for range 1 + r.IntN(24) {
				b.WriteString(alphabet[(from+r.IntN(few))%len(alphabet)])
			}
			if !checkPieces(t, name, b.String()) {
				return
			}
		}
	})
}

// Three characters of any classes in any order, with -times 6 all of them, are cut as by the patterns.
func TestPiecesOfThree(t *testing.T) {
	every := times.Every(6) // of the first
	eachEncoding(t, func(t *testing.T, name string) {
		for i, a := range alphabet {
			if i%every != 0 {
				continue
			}
			for _, b := range alphabet {
				for _, c := range alphabet {
					if !checkPieces(t, name, a+b+c) {
						return
					}
				}
			}
		}
	})
}

func TestPiecesOfSamples(t *testing.T) {
	all, every := samples.Read(t), times.Every(20)
	eachEncoding(t, func(t *testing.T, name string) {
		for i, s := range all {
			if i%every != 0 {
				continue
			}
			if !checkPieces(t, name, strings.ToValidUTF8(s.Text[:min(len(s.Text), 8000)], "\uFFFD")) {
				return
			}
		}
	})
}

// The texts of recorded sessions are cut as by the patterns, and have as many tokens as tiktoken-go counts. With
// $WINNOW_WHOLE_CORPUS set they are read whole, which takes minutes.
func TestCountOfRecordedSessions(t *testing.T) {
	files, err := filepath.Glob("../../../shared/corpus/*.jsonl.gz")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no recorded sessions")
	}
	limit, step := 8<<10, times.Every(40)
	if os.Getenv("WINNOW_WHOLE_CORPUS") != "" {
		limit, step = 1<<30, 1
	}
	eachEncoding(t, func(t *testing.T, name string) {
		count, want, bytes := exactTokens(t, name), oracles[name](), 0
		for i := 0; i < len(files); i += step {
			left := limit
			eachString(t, files[i], func(s string) bool {
				s = s[:min(len(s), left, 64<<10)]
				left -= len(s)
				bytes += len(s)
				return assert.Equal(t, len(want.core.EncodeOrdinary(s)), count(s), "%s: %q", files[i], s) && left > 0
			})
			if t.Failed() {
				return
			}
		}
		t.Logf("%d bytes", bytes)
	})
}

// eachString calls f with the strings of a recorded session, until it returns false.
func eachString(t *testing.T, path string, f func(s string) bool) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<28)
	var walk func(v any) bool
	walk = func(v any) bool {
		switch v := v.(type) {
		case string:
			return f(v)
		case []any:
			for _, e := range v {
				if !walk(e) {
					return false
				}
			}
		case map[string]any:
			for _, e := range v {
				if !walk(e) {
					return false
				}
			}
		}
		return true
	}
	for lines.Scan() {
		var v any
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		if !walk(v) {
			return
		}
	}
	require.NoError(t, lines.Err())
}

// Pieces of all lengths are merged as tiktoken-go merges them, by the scan and by the heap, also where bytes repeat.
func TestMerge(t *testing.T) {
	rounds := times.Of(600)
	eachEncoding(t, func(t *testing.T, name string) {
		e, core := encodings[name](), oracles[name]().core
		r := rand.New(rand.NewPCG(3, 4))
		m := merger{vocabulary: e.vocabulary}
		letters := "etaoinshrdlucmfwypvbgkjqxz"
		for range rounds {
			b := make([]byte, 1+r.IntN(3*48))
			few := 1 + r.IntN(len(letters))
			for i := range b {
				b[i] = letters[r.IntN(few)]
			}
			s, want := string(b), 0
			if want = len(core.EncodeOrdinary(s)); !assert.Equal(t, want, m.tokens(s), s) {
				return
			}
		}
	})
}

func TestVocabulary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, name string) {
		v := encodings[name]().vocabulary
		assert.Len(t, v.ranks, map[string]int{"o200k_base": 199_998, "cl100k_base": 100_256}[name])
		assert.Equal(t, uint32(none), v.rank("no token has spaces in it"))
		assert.Equal(t, uint32(none), v.rank(strings.Repeat("x", 1000)))
	})
}

func FuzzCount(f *testing.F) {
	for _, s := range []string{"", "it's 12345 WORDS\r\n\n  and//\n/\n", "a\xff\xfe b", "\n/ x", "\u0345́é你", "ABCʰDEF 'LL \u0301AB  "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, encoding := range encodings {
			n := encoding().Count(s)
			require.Equal(t, len(oracles[name]().core.EncodeOrdinary(s)), n, "%s: %q", name, s)
			if utf8.ValidString(s) && !checkPieces(t, name, s) {
				return
			}
		}
	})
}
