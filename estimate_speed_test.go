package winnow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/nontext"
)

var sink int

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
	for _, name := range nontext.Families() {
		e, err := NewEstimator(name)
		require.NoError(t, err)
		assert.Zero(t, testing.AllocsPerRun(100, func() { sink += e.Estimate(m) }), name)
	}
}
