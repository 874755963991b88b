package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/openclaw"
	"github.com/winnowgo/winnow/prompt"
)

// kept is how much of each file is shown.
func kept(a *prompt.Assembly) map[string]int {
	out := map[string]int{}
	for _, p := range a.Parts {
		if p.Kind == prompt.PartFile {
			out[p.Name] = p.RawChars
		}
	}
	for _, c := range a.Cuts {
		if c.Kind == prompt.PartFile {
			out[c.Name] = c.Kept
		}
	}
	return out
}

// More characters, or more tokens, for all take nothing from anybody.
func TestMoreBudgetNeverGivesLess(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 6))
	for range times.Of(1_000) {
		in := randomInput(r)
		in.Mode, in.Sections = prompt.Full, nil
		o := randomOptions(r)
		o.HeadTail = false
		more := *o
		if r.IntN(2) == 0 {
			more.MaxTokens += 1 + r.IntN(300)
		} else {
			more.MaxTotalChars += 1 + r.IntN(1_000)
		}
		a, err := prompt.Assemble(in, o)
		require.NoError(t, err)
		b, err := prompt.Assemble(in, &more)
		require.NoError(t, err)
		after := kept(b)
		for name, n := range kept(a) {
			require.GreaterOrEqual(t, after[name], n, "%s: %d tokens, %d characters → %d, %d", name, o.MaxTokens, o.MaxTotalChars, more.MaxTokens, more.MaxTotalChars)
		}
	}
}

// fencesAreWhole reports whether each fence that is opened is closed, if the text closed all of its own.
func fencesAreWhole(s string) bool {
	return strings.Count("\n"+s, "\n```")%2 == 0
}

func TestCutKeepsFencesRulesAndOutline(t *testing.T) {
	var b strings.Builder
	b.WriteString("Preamble.\n\n# Agent\n\n")
	for i := range 30 {
		fmt.Fprintf(&b, "## Part %d\n\n%s\n\n```sh\n%s```\n\n", i, strings.Repeat("Do this and that. ", 20), strings.Repeat("run --all # no heading\n", 20))
		if i == 20 {
			b.WriteString("## Red Lines\n\n- Never delete backups.\n\n### Secrets\n\nNever print keys.\n\n")
		}
	}
	text := b.String()
	last := 0
	for limit := 400; limit < len(text)+200; limit += 97 {
		a, err := prompt.Assemble(prompt.Input{Files: []prompt.File{{Name: "AGENTS.md", Path: "/w/AGENTS.md", Text: text}}},
			&prompt.Options{MaxFileChars: limit, RuleHeadings: openclaw.RuleHeadings(), Estimator: winnow.CharsPerToken(4)})
		require.NoError(t, err)
		p := a.Parts[1]
		assert.LessOrEqual(t, utf8.RuneCountInString(p.Text), limit, "the notice counts")
		assert.True(t, fencesAreWhole(p.Text), "at %d", limit)
		if limit > 3_000 {
			assert.Equal(t, rulesOf(text), rulesOf(p.Text), "rules at %d", limit)
			for i := range 30 {
				assert.Contains(t, p.Text, fmt.Sprintf("## Part %d", i), "the outline at %d", limit)
			}
		}
		n := kept(a)["AGENTS.md"]
		assert.GreaterOrEqual(t, n, last)
		last = n
		if p.Cut {
			assert.Contains(t, p.Text, "AGENTS.md is cut")
		}
	}
}

// TestCutNamesFewTitles: what is kept of an assembly does not grow with the headings of a file.
func TestCutNamesFewTitles(t *testing.T) {
	var text strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&text, "## Part %d\n\nsome words that say something\n\n", i)
	}
	a, err := prompt.Assemble(prompt.Input{Files: []prompt.File{{Name: "A.md", Path: "A.md", Text: text.String()}}}, nil)
	require.NoError(t, err)
	require.Len(t, a.Cuts, 1)
	assert.Len(t, a.Cuts[0].Left, 100)
	assert.Equal(t, strings.Count(text.String(), "##")-100-strings.Count(a.Text, "some words"), a.Cuts[0].More)
}
