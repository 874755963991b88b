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
	"time"
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
	var many strings.Builder
	for k := range 50_000 {
		fmt.Fprintf(&many, "word%d ", k)
	}
	start := time.Now()
	assert.Len(t, Words(many.String()), maxTerms)
	assert.Less(t, time.Since(start), time.Second, "the words that do not count are not compared with each other")
}

func anyLine(string) bool { return true }

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
		assert.Equal(t, tt.want, checkLines(t, tt.text, anyLine), tt.reason)
	}
	all := linesOf(long, anyLine)
	assert.True(t, strings.HasSuffix(all.line(1), " "), "a line is wrapped between words")
}

// checkLines reports how many lines a text has, which together are the text.
func checkLines(t testing.TB, text string, fits func(line string) bool) int {
	all := linesOf(text, fits)
	var b strings.Builder
	for n := 1; n <= all.count(); n++ {
		line := all.line(n)
		assert.LessOrEqual(t, len(line), MaxLine)
		assert.True(t, fits(line) || utf8.RuneCountInString(line) == 1, "%q in %q", line, text)
		assert.True(t, utf8.ValidString(line) || !utf8.ValidString(text), "%q in %q", line, text)
		assert.Equal(t, n, all.at(all.start(n)))
		assert.Equal(t, n, all.at(all.start(n+1)-1))
		b.WriteString(text[all.start(n):all.start(n+1)])
	}
	assert.Equal(t, text, b.String())
	return all.count()
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

// Lines that do not fit are made shorter, between characters.
func TestWrap(t *testing.T) {
	dice := rand.New(rand.NewPCG(2, 2))
	pieces := []string{"a", "word ", "上", "\n", "\n\n", "\xff", "\x80\x80", "<", "é", strings.Repeat("x", 30)}
	for range 3_000 {
		most := 1 + dice.IntN(12)
		var b strings.Builder
		for range dice.IntN(20) {
			b.WriteString(pieces[dice.IntN(len(pieces))])
		}
		checkLines(t, b.String(), func(line string) bool { return len(line)+2*strings.Count(line, "<") <= most })
	}
	narrow := func(line string) bool { return len(line) <= 500 }
	assert.Equal(t, 8, checkLines(t, strings.Repeat("x", 2*MaxLine), narrow))
	assert.Equal(t, 1, checkLines(t, strings.Repeat("x", 500), narrow))
	assert.Equal(t, 1, checkLines(t, "上", func(string) bool { return false }), "a character is not divided")
}

// answerTo returns an answer with much room for a call about a text.
func answerTo(text string, call Call) *Answer {
	return &Answer{
		Call: call, Room: 10_000, Tokens: func(text string) int { return len(text) }, Target: &Target{Text: text},
	}
}

func TestPatterns(t *testing.T) {
	text := "alpha 1\nbeta 2\n\nalpha 3\n" + strings.Repeat("x", 3_000) + " alpha 4"
	for _, tt := range []struct {
		pattern, reason string
		context         int
		want            string
	}{
		{"alpha [13]", "a literal", 0, "1: alpha 1\n--\n4: alpha 3\n"},
		{"^alpha [0-9]$", "the ends of a line", 1, "1: alpha 1\n2: beta 2\n3: \n4: alpha 3\n5: " + strings.Repeat("x", 600) + " …\n"},
		{"(?i)BETA", "flags", 0, "2: beta 2\n"},
		{"^$", "an empty line", 0, "3: \n"},
		{"alpha 4", "a wrapped line", 0, "6: … " + strings.Repeat("x", 592) + " alpha 4\n"},
		{"gamma", "nothing", 0, ""},
		{"[0-9]\nbeta", "never more than a line", 0, ""},
	} {
		r := answerTo(text, Call{Context: tt.context})
		got, _, err := r.findLines(t.Context(), r.target(), regexp.MustCompile(tt.pattern))
		require.NoError(t, err)
		assert.Equal(t, tt.want, got, tt.reason)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := answerTo(strings.Repeat("alpha\n", 1_000), Call{})
	looks := 0
	r.Tokens = func(text string) int { looks++; cancel(); return len(text) }
	_, _, err := r.findLines(ctx, r.target(), regexp.MustCompile("alph."))
	require.ErrorIs(t, err, context.Canceled, "a search ends with its context")
	assert.LessOrEqual(t, looks, linesBetweenLooks)
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
			r := answerTo(text, Call{Context: 1})
			shown, _, err := r.findLines(t.Context(), r.target(), re)
			require.NoError(t, err)
			assert.Equal(t, shown == "", !strings.Contains(shown, ": "))
		}
		checkLines(t, text, anyLine)
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
			r := answerTo(text, Call{})
			for b.Loop() {
				_, _, _ = r.findLines(b.Context(), r.target(), re)
			}
		})
	}
}
