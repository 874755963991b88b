package recall

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		text, reason string
		want         []string
	}{
		{"", "nothing", nil},
		{" ,.;\n", "no word", nil},
		{"the retry limit, Retry", "blanks, a stop word, and a word that comes again", []string{"retry", "limit"}},
		{"retry_limit/x-1.go", "names in code and paths", []string{"retry", "limit", "x", "1", "go"}},
		{"上下文x", "no blanks between words", []string{"上", "下", "文", "x"}},
		{"b\xff\xe4\xb8c", "bytes that are not characters", []string{"b", "c"}},
		{"to be", "nothing but stop words", []string{"to", "be"}},
	} {
		assert.Equal(t, tt.want, Words(tt.text), tt.reason)
	}
	assert.Len(t, Words("a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 b2 b3 b4 b5 b6 b7 b8 b9"), maxTerms)
}

var plain Wrap // lines of MaxLine bytes

func TestLines(t *testing.T) {
	long := strings.Repeat("word ", 1_000)
	for _, tt := range []struct {
		text   string
		want   int
		reason string
	}{
		{"", 0, "nothing"},
		{"a", 1, "no line end"},
		{"a\n", 1, "a line end"},
		{"a\n\nb", 3, "an empty line"},
		{long, 3, "a long line is wrapped"},
		{strings.Repeat("上", 2_000), 4, "between characters"},
		{strings.Repeat("\x80", 5_000), 3, "bytes that begin no character"},
	} {
		assert.Equal(t, tt.want, plain.Lines(tt.text), tt.reason)
		line := 0
		for at := 0; at < len(tt.text); {
			line++
			assert.Equal(t, at, plain.LineStart(tt.text, line), tt.reason)
			end, next := plain.LineEnd(tt.text, at)
			assert.LessOrEqual(t, end-at, MaxLine)
			assert.Equal(t, utf8.ValidString(tt.text), utf8.ValidString(tt.text[at:end]), tt.reason)
			assert.Equal(t, line, plain.LineAt(tt.text, at), tt.reason)
			assert.Equal(t, line, plain.LineAt(tt.text, next-1), tt.reason)
			at = next
		}
		assert.Equal(t, len(tt.text), plain.LineStart(tt.text, line+1), tt.reason)
	}
	end, _ := plain.LineEnd(long, 0)
	assert.True(t, strings.HasSuffix(long[:end], " "), "a line is wrapped between words")
}

func rank(query string, texts ...string) []Place {
	var found []Place
	for n, s := range texts {
		found = append(found, Places(s, n, Words(query))...)
	}
	return Best(found, 5)
}

func TestRanking(t *testing.T) {
	filler := strings.Repeat("the build goes on and on\n", 40)
	texts := []string{
		filler + "the retry limit is 17\n" + filler,
		filler + "retry the build\n",
		filler,
	}
	best := rank("Retry LIMIT", texts...)
	require.Len(t, best, 2)
	assert.Equal(t, 0, best[0].Text, "both words are better than one")
	assert.Contains(t, texts[0][best[0].From:best[0].To], "retry limit is 17")
	assert.Equal(t, 4, best[0].Score)
	assert.Equal(t, 1, best[1].Text)
	assert.Empty(t, rank("absent", texts...))
	assert.Empty(t, rank("", texts...))
	assert.Empty(t, rank("x"))
	assert.Equal(t, 0, rank("mark1", "mark1", "mark12")[0].Text, "a word by itself is better than one within another")
	equal := rank("limit", "limit", "limit")
	assert.Equal(t, 1, equal[0].Text, "of equal places the newer one comes first")
}

// Each byte of a text is in one passage.
func TestPassages(t *testing.T) {
	for _, s := range []string{strings.Repeat("x", 10_000), strings.Repeat("line\n", 1_000), strings.Repeat("上", 3_000), "\n\n"} {
		at := 0
		for at < len(s) {
			to := passageEnd(s, at)
			require.Greater(t, to, at)
			assert.LessOrEqual(t, to-at, MaxLine+1)
			at = to
		}
		assert.Equal(t, len(s), at)
	}
}

func TestMatches(t *testing.T) {
	text := "alpha 1\nbeta 2\n\nalpha 3\n" + strings.Repeat("x", 3_000) + " alpha 4"
	for _, tt := range []struct {
		pattern, reason string
		want            []int
	}{
		{"alpha", "a literal", []int{1, 4, 6}},
		{"^alpha [0-9]$", "the ends of a line", []int{1, 4}},
		{"(?i)BETA", "flags", []int{2}},
		{"^$", "an empty line", []int{3}},
		{"gamma", "nothing", nil},
		{"[0-9]\nbeta", "never more than a line", nil},
	} {
		var got []int
		err := plain.Matches(t.Context(), text, regexp.MustCompile(tt.pattern), func(m Match) bool {
			got = append(got, m.Line)
			return true
		})
		require.NoError(t, err)
		assert.Equal(t, tt.want, got, tt.reason)
	}
	calls := 0
	once := func(Match) bool { calls++; return false }
	require.NoError(t, plain.Matches(t.Context(), text, regexp.MustCompile("alpha"), once))
	assert.Equal(t, 1, calls, "it ends where f says so")
	ctx, cancel := context.WithCancel(t.Context())
	text, calls = strings.Repeat("alpha\n", 1_000), 0
	err := plain.Matches(ctx, text, regexp.MustCompile("alph."), func(Match) bool { calls++; cancel(); return true })
	require.ErrorIs(t, err, context.Canceled, "a search ends with its context")
	assert.LessOrEqual(t, calls, linesBetweenLooks)
}

// The lines around a match are those of the text, wrapped or not.
func TestAround(t *testing.T) {
	text := "one\ntwo\n" + strings.Repeat("x", 5_000) + "\nalpha\nlast"
	var starts []int
	for at := 0; at < len(text); _, at = plain.LineEnd(text, at) {
		starts = append(starts, at)
	}
	for k, from := range starts {
		for before := range 9 {
			var got []int
			plain.Around(text, Match{Line: k + 1, From: from}, before, 1, func(line, from, _ int) {
				assert.Equal(t, starts[line-1], from)
				got = append(got, line)
			})
			assert.Equal(t, max(1, k+1-before), got[0])
			assert.Equal(t, min(len(starts), k+2), got[len(got)-1])
		}
	}
}

// Lines that do not fit are made shorter, between characters. They are the whole text, and every function has the same.
func TestWrap(t *testing.T) {
	dice := rand.New(rand.NewPCG(2, 2))
	pieces := []string{"a", "word ", "上", "\n", "\n\n", "\xff", "\x80\x80", "<", "é", strings.Repeat("x", 30)}
	for range 3_000 {
		most := 1 + dice.IntN(12)
		fits := func(line string) bool { return len(line)+2*strings.Count(line, "<") <= most }
		w := Wrap{Fits: fits, Sure: dice.IntN(most/3 + 1)}
		var b strings.Builder
		for range dice.IntN(20) {
			b.WriteString(pieces[dice.IntN(len(pieces))])
		}
		text := b.String()
		var starts []int
		for at := 0; at < len(text); {
			starts = append(starts, at)
			end, next := w.LineEnd(text, at)
			require.Greater(t, next, at, "%q", text)
			line := text[at:end]
			assert.True(t, fits(line) || utf8.RuneCountInString(line) == 1, "%q in %q", line, text)
			if utf8.ValidString(text) {
				assert.True(t, utf8.ValidString(line), "%q in %q", line, text)
			}
			assert.Equal(t, len(starts), w.LineAt(text, at))
			assert.Equal(t, len(starts), w.LineAt(text, next-1))
			assert.Equal(t, at, w.LineStart(text, len(starts)))
			at = next
		}
		require.Equal(t, len(starts), w.Lines(text), "%q", text)
		if len(starts) == 0 {
			continue
		}
		k, before := dice.IntN(len(starts)), dice.IntN(6)
		first := max(0, k-before)
		w.Around(text, Match{Line: k + 1, From: starts[k]}, before, 0, func(line, from, _ int) {
			assert.Equal(t, first+1, line)
			assert.Equal(t, starts[first], from)
			first++
		})
		assert.Equal(t, k+1, first)
	}
	narrow := Wrap{Fits: func(line string) bool { return len(line) <= 500 }}
	assert.Equal(t, 8, narrow.Lines(strings.Repeat("x", 2*MaxLine)))
	assert.Equal(t, 1, narrow.Lines(strings.Repeat("x", 500)))
	assert.Equal(t, 1, Wrap{Fits: func(string) bool { return false }}.Lines("上"), "a character is not divided")
}

func FuzzSearch(f *testing.F) {
	f.Add("retry limit", "the retry limit\nis 17", "[0-9]+")
	f.Add("上\xff", strings.Repeat("\xe4\xb8", 2_000), "(a*)*b")
	f.Fuzz(func(t *testing.T, query, text, pattern string) {
		for _, p := range Best(Places(text, 0, Words(query)), 3) {
			assert.True(t, 0 <= p.From && p.From <= p.At && p.At < p.To && p.To <= len(text))
			assert.Positive(t, p.Score)
		}
		if re, err := regexp.Compile(pattern); err == nil {
			_ = plain.Matches(t.Context(), text, re, func(m Match) bool {
				assert.True(t, re.MatchString(text[m.From:m.To]))
				assert.Equal(t, m.Line, plain.LineAt(text, m.From))
				return true
			})
		}
	})
}

// sourceText is Go code of this repository, again and again.
func sourceText(tb testing.TB, size int) string {
	files, err := filepath.Glob("../../*.go")
	require.NoError(tb, err)
	var b strings.Builder
	for b.Len() < size {
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(tb, err)
			b.Write(data)
		}
	}
	return b.String()[:size]
}

func BenchmarkRanking(b *testing.B) {
	for _, size := range []int{5_000_000, 100_000_000} {
		text := sourceText(b, size)
		for _, query := range []string{"retry limit seventeen", "the request of a message is in the history and not the summary"} {
			b.Run(fmt.Sprintf("%dMB/%d", size/1_000_000, len(query)), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					Best(Places(text, 0, Words(query)), 8)
				}
			})
		}
	}
}

func BenchmarkMatches(b *testing.B) {
	text := sourceText(b, 5_000_000)
	for _, pattern := range []string{"ReadMessages", "(?i)read.*messages", "(a|aa)+$"} {
		re := regexp.MustCompile(pattern)
		b.Run(pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_ = plain.Matches(b.Context(), text, re, func(Match) bool { return true })
			}
		})
	}
}
