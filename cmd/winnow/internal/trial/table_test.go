package trial

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
)

var update = flag.Bool("update", false, "write the table of docs/trial.md instead of comparing with it")

// model takes the step that is right with a chance, and a step of its own otherwise. With Winnow's request it loses a
// share of the questions: it takes a step that it never takes with the history.
type model struct{ itself, loses float64 }

// right is the chance of the right step with which two answers agree in a share of questions: others never do.
func (m model) answer(r *rand.Rand, right, loses float64) *Reply {
	page := fmt.Sprint(r.Uint64())
	switch {
	case r.Float64() < loses:
		page = "again"
	case r.Float64() < right:
		page = "right"
	}
	arguments, _ := json.Marshal(map[string]string{"page": page})
	return &Reply{Answer: ask.Answer{Message: winnow.Message{Role: winnow.RoleAssistant, Usage: &winnow.Usage{Input: 1},
		Parts: []winnow.Part{{Kind: winnow.KindToolCall, Name: "fetch", Arguments: arguments}}}}}
}

// trial asks it questions of sessions of two each.
func (m model) trial(t *testing.T, n int, r *rand.Rand) Difference {
	b := newBuilder(0)
	right := 0.0
	for right*right < m.itself { // two answers agree if both are right
		right += 0.001
	}
	for i := range n {
		loses := 0.0
		if m.loses > 0 {
			loses = m.loses / m.itself // of agreement, in points
		}
		b.steps(t.Context(), &Result{Question: &questions.Question{Session: fmt.Sprint(i / 2)}, Replies: map[string]*Reply{
			Whole: m.answer(r, right, 0), WholeAgain: m.answer(r, right, 0), Short: m.answer(r, right, loses)}})
	}
	return NewDifference(b.worse, b.shares[Whole], 1)
}

// TestTable: how often a trial says something wrong. With -update docs/trial.md gets the table, of 400 trials each;
// otherwise a few are made, which must not be far from what the page says.
func TestTable(t *testing.T) {
	t.Parallel()
	trials := 25.0
	if *update {
		trials = 400
	}
	var b strings.Builder
	b.WriteString("| the model agrees with itself in | and with Winnow's request is worse by | n = 50: “worse” | “not worse” | n = 200: “worse” | “not worse” |\n|---|---|---|---|---|---|\n")
	r := rand.New(rand.NewPCG(2, 3))
	var got []float64
	for _, m := range []model{{0.95, 0}, {0.95, 0.05}, {0.95, 0.1}, {0.95, 0.2}, {0.8, 0}, {0.8, 0.05}, {0.8, 0.1}, {0.8, 0.2}, {0.6, 0}, {0.6, 0.2}} {
		fmt.Fprintf(&b, "| %.0f %% | %.0f points |", 100*m.itself, 100*m.loses)
		for _, n := range []int{50, 200} {
			said := map[string]int{}
			for range int(trials) {
				d := m.trial(t, n, r)
				said[d.Verdict()]++
			}
			worse, not := float64(said["worse"])/trials, float64(said["not worse"])/trials
			got = append(got, worse, not)
			fmt.Fprintf(&b, " %s | %s |", percent(worse), percent(not))
		}
		b.WriteByte('\n')
	}
	const page = "../../../../docs/trial.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	begin := strings.Index(string(text), "| the model agrees with itself in |")
	require.GreaterOrEqual(t, begin, 0)
	end := begin + strings.Index(string(text[begin:]), "\n\n") + 1
	if *update {
		text = bytes.Join([][]byte{text[:begin], []byte(b.String()), text[end:]}, nil)
		require.NoError(t, os.WriteFile(page, text, 0o644))
		return
	}
	i := 0
	for row := range strings.Lines(string(text[begin:end])) {
		cells := strings.Split(row, "|")
		for k := 3; k < 7 && !strings.HasPrefix(row, "|-") && !strings.HasPrefix(row, "| the"); k++ {
			var said float64
			_, err := fmt.Sscanf(strings.TrimSpace(cells[k]), "%f %%", &said)
			require.NoError(t, err)
			assert.InDelta(t, said/100, got[i], 0.25, "%s", row)
			i++
		}
	}
	assert.Len(t, got, i)
}
