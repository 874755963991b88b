package winnow

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// speedTexts are texts of 1 MB; "mixed" is all samples, 13 MB. Those from "accents" on are the worst that
// was found: characters of one and of more bytes by turns, and bytes that are no text.
func speedTexts(t testing.TB) map[string]string {
	t.Helper()
	var mixed strings.Builder
	for _, s := range samples(t) {
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

var sink int

// BenchmarkEstimate reports how fast texts are estimated beside utf8.RuneCountInString, by turns in the
// same run, as the clock of a shared machine is not steady.
func BenchmarkEstimate(b *testing.B) {
	estimate := textEstimate(b, "o200k")
	for name, text := range speedTexts(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			ours, theirs := time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				sink += estimate(text)
				between := time.Now()
				sink += utf8.RuneCountInString(text)
				ours, theirs = min(ours, between.Sub(start)), min(theirs, time.Since(between))
			}
			b.ReportMetric(float64(len(text))/1e6/ours.Seconds(), "best-MB/s")
			b.ReportMetric(float64(theirs)/float64(ours), "of-runecount")
		})
	}
}

// BenchmarkEstimateLong shows that ten times the text takes ten times as long: the MB/s are the same.
func BenchmarkEstimateLong(b *testing.B) {
	e, err := NewEstimator("")
	require.NoError(b, err)
	for name, unit := range map[string]string{"words": "word, ", "scripts": "é天", "invalid": "\xff"} {
		for size, bytes := range map[string]int{"5MB": 5 << 20, "50MB": 50 << 20} {
			m := Message{Parts: []Part{{Text: strings.Repeat(unit, bytes/len(unit))}}}
			b.Run(name+"/"+size, func(b *testing.B) {
				b.SetBytes(int64(bytes))
				for b.Loop() {
					sink += e.Estimate(m)
				}
			})
		}
	}
}

// Ten times the text costs ten times the tokens: nothing saturates or overflows. BenchmarkEstimateLong has the times.
func TestEstimateOfLongText(t *testing.T) {
	if testing.Short() {
		t.Skip("estimates 165 MB")
	}
	e, err := NewEstimator("")
	require.NoError(t, err)
	for _, unit := range []string{"word, ", "é天", "\xff"} {
		small := Message{Parts: []Part{{Text: strings.Repeat(unit, 5<<20/len(unit))}}}
		large := Message{Parts: []Part{{Text: strings.Repeat(unit, 50<<20/len(unit))}}}
		assert.InEpsilon(t, 10*e.Estimate(small), e.Estimate(large), .001, "%q", unit)
	}
}

func TestEstimateNoAllocs(t *testing.T) {
	m := Message{Role: RoleAssistant, Parts: []Part{
		{Text: "Grüße, мир, 世界 \xff 😀"}, {Kind: KindThinking, Text: "well", Signature: "abc"},
		{Kind: KindToolCall, Name: "read", Arguments: []byte(`{"path":"a.go"}`)}, {Kind: KindImage}, {Kind: "video", Bytes: 10},
	}}
	for _, f := range families {
		e, err := NewEstimator(f.name)
		require.NoError(t, err)
		assert.Zero(t, testing.AllocsPerRun(100, func() { sink += e.Estimate(m) }), f.name)
	}
}
