package winnow

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// speedTexts are texts of 1 MB; "mixed" is all samples, 13 MB.
func speedTexts(t testing.TB) map[string]string {
	t.Helper()
	var mixed strings.Builder
	for _, s := range samples(t) {
		mixed.WriteString(s.Text)
	}
	fill := func(s string) string { return strings.Repeat(s, 1<<20/len(s)) }
	return map[string]string{
		"mixed":    mixed.String(),
		"english":  fill("The quick brown fox jumps over the lazy dog, and nobody minds. "),
		"russian":  fill("Съешь же ещё этих мягких французских булок, да выпей чаю. "),
		"han":      fill("天地玄黃宇宙洪荒日月盈昃辰宿列張"),
		"a":        fill("a"),
		"rows":     fill("aaab"),
		"accents":  fill("é a"),
		"flip":     fill("éж"),
		"emoji":    fill("😀"),
		"invalid":  fill("\xff"),
		"cut":      fill("\xf0\x9f\x98"),
		"odd":      fill("abcdefgé"),
		"hindi":    fill("सभी मनुष्यों को गौरव "),
		"control":  fill("\x00\x01"),
		"newlines": fill(" \n"),
	}
}

var sink int

// BenchmarkEstimate runs the estimator beside utf8.RuneCountInString on the same texts.
func BenchmarkEstimate(b *testing.B) {
	estimate := textEstimate(b, "o200k")
	for name, text := range speedTexts(b) {
		b.Run(name+"/estimate", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				sink += estimate(text)
			}
		})
		b.Run(name+"/runecount", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				sink += utf8.RuneCountInString(text)
			}
		})
	}
}

// best returns the shortest of n runs.
func best(n int, f func()) time.Duration {
	least := time.Duration(1<<63 - 1)
	for range n {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

func TestEstimateSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	estimate := textEstimate(t, "o200k")
	for name, text := range speedTexts(t) {
		ours, theirs := time.Hour, time.Hour
		for range 20 { // in turn: the clock of a shared machine is not steady
			ours = min(ours, best(1, func() { sink += estimate(text) }))
			theirs = min(theirs, best(1, func() { sink += utf8.RuneCountInString(text) }))
		}
		ratio := float64(theirs) / float64(ours)
		t.Logf("%-9s %6.0f MB/s, %.2f of utf8.RuneCountInString", name, float64(len(text))/1e6/ours.Seconds(), ratio)
		// Half of what is measured: the machine may have other work to do.
		assert.Greater(t, ratio, 0.05, name)
	}
}

func TestEstimateLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	e, err := NewEstimator("")
	require.NoError(t, err)
	for _, unit := range []string{"word, ", "é天", "\xff"} {
		small := Message{Parts: []Part{{Text: strings.Repeat(unit, 5<<20/len(unit))}}}
		large := Message{Parts: []Part{{Text: strings.Repeat(unit, 50<<20/len(unit))}}}
		a := best(1, func() { sink += e.Estimate(small) })
		b := best(1, func() { sink += e.Estimate(large) })
		assert.Less(t, b, 30*a, "%q: ten times the text in %v instead of %v", unit, b, a)
		assert.InEpsilon(t, 10*e.Estimate(small), e.Estimate(large), .01, "%q", unit)
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
