package winnow

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No result gets longer than it was, nor than mostRemainder of it, whatever counts its tokens.
func TestDropShrinks(t *testing.T) {
	standard, err := NewEstimator("")
	require.NoError(t, err)
	dropped, refused := 0, 0
	for name, e := range map[string]Estimator{
		"characters": CharsPerToken(4), "standard": standard,
		"each the same": EstimatorFunc(func(Message) int { return 1_000 }),
		"nothing":       EstimatorFunc(func(Message) int { return 0 }),
		"below zero":    EstimatorFunc(func(Message) int { return -1_000 }),
		"short is dear": EstimatorFunc(func(m Message) int { return 5_000 - len(joinedText(&m))/10 }),
	} {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 3))
			s := randomScript(r, 20)
			for i := range s.history {
				m := &s.history[i]
				if m.Role == RoleTool && r.IntN(3) == 0 {
					m.Parts = []Part{{Text: strings.Repeat(randomText(r), r.IntN(40))}}
				}
				if hasCalls(m) {
					s.inPlace(i + 1)
				}
			}
			m, err := New(1_000_000, &Options{FoldAbove: -1, Estimator: e, Compact: &CompactOptions{Off: true}})
			require.NoError(t, err)
			d := replay(m, s.history)
			before := append([]int(nil), d.view.tokens...)
			list := d.staleParts(true)
			d.drop(list)
			for _, p := range list {
				if d.view.edited[p.index] == nil {
					refused++
					continue
				}
				dropped++
				require.LessOrEqual(t, float64(d.view.tokens[p.index]), mostRemainder*float64(before[p.index]), "%s, seed %d", name, seed)
			}
		}
	}
	assert.Greater(t, dropped, 500)
	assert.Greater(t, refused, 50)
}

// A name that several results hold stays in the newest of them, and nowhere if it stands in what is not dropped.
func TestNamesStayOnce(t *testing.T) {
	filler := strings.Repeat("some words that name nothing at all\n", 30)
	s := newScript()
	s.history[0].Parts[0].Text = "please look at ask_for_this"
	oldest := s.inPlace(s.call("exec", `{"n":1}`, "ran\n"+filler+"in_all in_both in_oldest ask_for_this said_by_model in_arguments in_thinking\n"+filler))
	s.history[oldest-1].Parts = append([]Part{{Kind: KindThinking, Text: "in_thinking"}}, s.history[oldest-1].Parts...)
	middle := s.inPlace(s.call("exec", `{"n":2,"x":"in_arguments"}`, "ran\n"+filler+"in_all in_both in_middle\n"+filler))
	newest := s.inPlace(s.call("exec", `{"n":3}`, "ran\n"+filler+"in_all in_newest\n"+filler))
	s.history = append(s.history, assistantSays("said_by_model"))
	s.answers(4)
	remains := func(o Options) (texts [3]string) {
		d := replayed(t, o, s.history)
		d.drop(d.staleParts(true))
		for k, i := range []int{oldest, middle, newest} {
			texts[k] = joinedText(&d.view.messages[i])
		}
		return texts
	}
	texts := remains(Options{})
	assert.Contains(t, texts[2], "Names in it: in_all in_newest]")
	assert.Contains(t, texts[1], "Names in it: in_both in_middle]", "in_all stands in a newer one")
	assert.Contains(t, texts[0], "Names in it: in_oldest]", "the others stand in newer ones, or in what is not dropped")

	texts = remains(Options{Thinking: ThinkingDropped})
	assert.Contains(t, texts[0], "Names in it: in_oldest in_thinking]", "thinking is left out as well: what is named there alone is lost")
}
