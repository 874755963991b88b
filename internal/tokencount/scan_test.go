package tokencount

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/samples"
)

// speedTexts are texts of 1 MB; "mixed" is all samples, 13 MB. Those from "accents" on are the worst that
// was found: characters of one and of more bytes by turns, and bytes that are not text.
func speedTexts(t testing.TB) map[string]string {
	t.Helper()
	var mixed strings.Builder
	for _, s := range samples.Read(t) {
		mixed.WriteString(s.Text)
	}
	fill := func(s string) string { return strings.Repeat(s, 1<<20/len(s)) }
	r := rand.New(rand.NewPCG(5, 6))
	noise, runes := make([]byte, 1<<20), make([]rune, 1<<19)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for i := range runes {
		runes[i] = []rune("a é жあ天ा😀-")[r.IntN(10)]
	}
	return map[string]string{
		"mixed":    mixed.String(),
		"english":  fill("The quick brown fox jumps over the lazy dog, and nobody minds. "),
		"code":     fill("\tif err := f(x[i], \"y\"); err != nil {\n\t\treturn nil, fmt.Errorf(\"f: %w\", err)\n\t}\n"),
		"russian":  fill("Съешь же ещё этих мягких французских булок, да выпей чаю. "),
		"han":      fill("天地玄黃宇宙洪荒日月盈昃辰宿列張"),
		"japanese": fill("これはトークンの数を数えるための文章です。"),
		"hindi":    fill("सभी मनुष्यों को गौरव "),
		"emoji":    fill("😀"),
		"rows":     fill("aaab----    \n"),
		"accents":  fill("é a"),
		"odd":      fill("abcdefgé"),
		"flip":     fill("éж"),
		"worst":    fill("😀a天'"),
		"invalid":  fill("\xff"),
		"cut":      fill("\xf0\x9f\x98"),
		"control":  fill("\x00\x01"),
		"noise":    string(noise),
		"runes":    string(runes),
	}
}

// BenchmarkEstimate reports how fast texts are estimated beside utf8.RuneCountInString, by turns in the
// same run, as the clock of a shared machine is not steady.
func BenchmarkEstimate(b *testing.B) {
	estimate := tableOf("o200k").Tokens
	for name, text := range speedTexts(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			sum, ours, theirs := 0, time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				sum += estimate(text)
				between := time.Now()
				sum += utf8.RuneCountInString(text)
				ours, theirs = min(ours, between.Sub(start)), min(theirs, time.Since(between))
			}
			require.Positive(b, sum)
			b.ReportMetric(float64(len(text))/1e6/ours.Seconds(), "best-MB/s")
			b.ReportMetric(float64(theirs)/float64(ours), "of-runecount")
		})
	}
}

// Eight bytes at once cost what they cost one by one, wherever rows of equal bytes begin and end.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	table := tableOf("o200k")
	for range 20_000 {
		text := make([]byte, r.IntN(40))
		for i := range text {
			if text[i] = "aB -=\n7\x00"[r.IntN(8)]; i > 0 && r.IntN(3) > 0 {
				text[i] = text[i-1]
			}
		}
		sum, prev, row := int64(0), 0, 0 // row: 0x80 if the byte before equals the one before it
		for _, c := range text {
			sum += int64(table.pair[prev|row|int(c)<<8])
			if row = 0; prev == int(c) {
				row = 0x80
			}
			prev = int(c)
		}
		require.Equal(t, sum, table.text(string(text)), "%q", text)
	}
}
