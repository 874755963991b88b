package prompt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/prompt"
)

// long is for the figures that are written down; a sample finds what breaks.
// words are what random texts are made of: prose, other scripts, headings, fences, long lines.
var words = []string{"the", "window", "is", "full", "of", "tools.", "中文字", "naïve", "🙂", "\n", "\n\n", "\n## Red Lines\n", "\n# Top\n", "\n### Deep\nx\n",
	"\n```go\nfunc main() {}\n\n# no heading\n```\n", "\n~~~\nopen", "- item\n", "\u2028", "a,b;c"}

func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	for n := r.IntN(most + 1); b.Len() < n; {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(3) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func randomInput(r *rand.Rand) prompt.Input {
	in := prompt.Input{Mode: []prompt.Mode{prompt.Full, prompt.Full, prompt.Minimal, prompt.None}[r.IntN(4)]}
	for i := range r.IntN(4) {
		in.Sections = append(in.Sections, prompt.Section{
			Name: fmt.Sprint("Section ", i), Text: randomText(r, 300), Required: r.IntN(3) == 0, Volatile: r.IntN(4) == 0, Priority: r.IntN(3),
			Max: r.IntN(2) * r.IntN(400),
		})
	}
	names := prompt.FileNames(prompt.FirstRunFiles)
	for i := range r.IntN(5) {
		f := prompt.File{Name: names[i], Path: "/w/" + names[i], Text: randomText(r, 1+r.IntN(1_500)), Missing: r.IntN(8) == 0, Priority: r.IntN(3)}
		if r.IntN(20) == 0 {
			f.Path = ""
		}
		in.Files = append(in.Files, f)
	}
	for i := range r.IntN(4) {
		in.Skills = append(in.Skills, prompt.Skill{Name: fmt.Sprint("skill-", i), Description: randomText(r, 200), Location: "/s"})
	}
	for i := range r.IntN(4) {
		in.Tools = append(in.Tools, prompt.Tool{Tool: winnow.Tool{Name: fmt.Sprint("tool_", i), Description: randomText(r, 100), Schema: []byte(`{"type":"object"}`)}})
	}
	return in
}

func randomOptions(r *rand.Rand) *prompt.Options {
	return &prompt.Options{
		MaxTokens: 1 + r.IntN(900), MaxTotalChars: 1 + r.IntN(3_500), MaxFileChars: 1 + r.IntN(1_500),
		HeadTail: r.IntN(4) == 0, Estimator: estimators[r.IntN(len(estimators))], OnDemand: r.IntN(4) == 0, MaxSkillChars: r.IntN(3) * 150,
	}
}

var estimators = func() []winnow.Estimator {
	family, err := winnow.NewEstimator("claude")
	if err != nil {
		panic(err)
	}
	return []winnow.Estimator{winnow.CharsPerToken(4), family}
}()

func tokensOf(e winnow.Estimator, s string) int {
	one := func(s string) int {
		return e.Estimate(winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: s}}})
	}
	return one(s) - one("")
}

// The invariants of an assembly hold for any input.
func TestAssembleProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	for range times.Of(1_200) {
		checkAssembly(t, r, randomInput(r), randomOptions(r))
	}
}

func checkAssembly(t *testing.T, r *rand.Rand, in prompt.Input, o *prompt.Options) {
	a, err := prompt.Assemble(in, o)
	if err != nil {
		var tooLarge *prompt.TooLargeError
		require.True(t, errors.As(err, &tooLarge) && errors.Is(err, prompt.ErrTooLarge), "%v", err)
		require.Greater(t, tooLarge.Need, tooLarge.Limit)
		require.True(t, slices.ContainsFunc(in.Sections, func(s prompt.Section) bool { return s.Required && s.Name == tooLarge.Section }))
		return
	}
	require.LessOrEqual(t, a.TextTokens, a.MaxTokens, "the result is within the budget")
	require.LessOrEqual(t, tokensOf(o.Estimator, a.Text), a.MaxTokens, "measured as a whole too")
	require.True(t, utf8.ValidString(a.Text), "%q %+v", a.Text, o)
	checkParts(t, in, a)
	checkLeftOut(t, in, a)

	shuffled := in
	shuffled.Files, shuffled.Skills, shuffled.Tools = shuffle(r, in.Files), shuffle(r, in.Skills), shuffle(r, in.Tools)
	b, err := prompt.Assemble(shuffled, o)
	require.NoError(t, err)
	require.Equal(t, a.Text, b.Text, "the order of files, skills and tools changes nothing")
	require.Equal(t, a.Fingerprint, b.Fingerprint)
}

func shuffle[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// checkParts: the parts are the whole, and required sections stand in it.
func checkParts(t *testing.T, in prompt.Input, a *prompt.Assembly) {
	at, tokens := 0, 0
	for _, p := range a.Parts {
		if p.Volatile {
			continue
		}
		require.Equal(t, at, p.Start, "parts leave no gap")
		require.True(t, strings.HasSuffix(a.Text[p.Start:p.End], p.Text))
		require.Equal(t, utf8.RuneCountInString(p.Text), p.Chars)
		at, tokens = p.End, tokens+p.Tokens
	}
	require.Equal(t, len(a.Text), at)
	require.Equal(t, a.TextTokens, tokens)
	require.Equal(t, a.Text, strings.Join(a.Blocks, ""))
	for _, s := range in.Sections {
		if s.Required && !s.Volatile && a.Mode != prompt.None && strings.TrimSpace(s.Text) != "" {
			require.Contains(t, a.Text, s.Text)
		}
	}
}

// checkLeftOut: what does not stand whole in the text is named.
func checkLeftOut(t *testing.T, in prompt.Input, a *prompt.Assembly) {
	if a.Mode == prompt.None {
		return
	}
	named := func(name string) bool {
		return slices.ContainsFunc(a.Cuts, func(c prompt.Cut) bool { return c.Name == name })
	}
	for _, f := range in.Files {
		if !f.Missing && !strings.Contains(a.Text, strings.TrimRight(f.Text, " \n\u2028")) {
			require.True(t, named(f.Name), f.Name)
		}
	}
	for _, s := range in.Sections {
		if !s.Volatile && strings.TrimSpace(s.Text) != "" && !strings.Contains(a.Text, s.Text) {
			require.True(t, named(s.Name), s.Name)
		}
	}
	for _, c := range a.Cuts {
		require.LessOrEqual(t, c.Kept, c.Chars, c.Name)
		if c.Kind == prompt.PartFile && c.Kept < c.Chars && c.Reason != "it has no path" {
			require.NotEmpty(t, c.Left, "%s: %s", c.Name, c.Reason)
		}
	}
}

// What the host does to its own tools does not change an assembly.
func TestAssembleOwnsItsTools(t *testing.T) {
	own := []prompt.Tool{{Tool: winnow.Tool{Name: "read", Schema: []byte(`{"type":"object"}`)}}}
	a, err := prompt.Assemble(prompt.Input{Tools: own}, &prompt.Options{Estimator: winnow.CharsPerToken(4)})
	require.NoError(t, err)
	own[0].Name, own[0].Schema[0] = "grep", 'x'
	require.Equal(t, []prompt.Tool{{Tool: winnow.Tool{Name: "read", Schema: []byte(`{"type":"object"}`)}}}, a.Tools)
}

// A required section is whole or an error, the volatile ones too.
func TestRequiredVolatile(t *testing.T) {
	_, err := prompt.Assemble(prompt.Input{Sections: []prompt.Section{
		{Name: "Now", Text: strings.Repeat("x", 300), Max: 200, Required: true, Volatile: true},
	}}, &prompt.Options{Estimator: winnow.CharsPerToken(4)})
	var tooLarge *prompt.TooLargeError
	require.ErrorAs(t, err, &tooLarge)
	require.Equal(t, "Now", tooLarge.Section)
	require.Equal(t, 100, tooLarge.Need-tooLarge.Limit)
}

// A file of which nothing may be shown has no heading either.
func TestAssembleNoHeadingWithoutText(t *testing.T) {
	a, err := prompt.Assemble(prompt.Input{Files: []prompt.File{{Name: "A.md", Path: "/w/A.md", Text: "text"}, {Name: "B.md", Path: "/w/B.md"}}},
		&prompt.Options{MaxFileChars: -1, Estimator: winnow.CharsPerToken(4)})
	require.NoError(t, err)
	require.NotContains(t, a.Text, "/w/A.md")
	require.Contains(t, a.Text, "/w/B.md", "it is empty, and shown as that")
	require.Equal(t, "A.md", a.Cuts[0].Name)
}

// Of two files with the same priority the larger one gets at least as much of the budget. What is kept of its text can
// be less by the room of the notice, which counts against the share: a file of 500 characters is whole in a share of 500, and one of
// 501 is cut there. To keep as much of it, either the budget would have to be exceeded, or a file that fits its share
// would have to be cut.
func TestLargerFileGetsNoLess(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("a line of text.\n", n/16+1)[:n] }
	for _, e := range estimators {
		for small := 400; small < 4_000; small += 97 {
			for _, large := range []int{small + 1, small + 200, 3 * small} {
				for _, total := range []int{small, 2 * small, 2*small + 1, 3 * small} {
					a, err := prompt.Assemble(prompt.Input{Files: []prompt.File{
						{Name: "A.md", Path: "/w/A.md", Text: lines(large)}, {Name: "B.md", Path: "/w/B.md", Text: lines(small)},
					}}, &prompt.Options{MaxTotalChars: total, Estimator: e})
					require.NoError(t, err)
					n := kept(a)
					notice := min(max(n["B.md"]/3, 40), 640) // a quarter of the share in characters and tokens, 120 tokens at most
					const slack = 64                         // the cut line, the mark, and estimates that do not add up
					require.GreaterOrEqual(t, n["A.md"]+notice+slack, n["B.md"], "%d, %d in %d: %v", large, small, total, n)
				}
			}
		}
	}
}

// Without a least size of a file, a cut by head and tail comes to an end: its notice alone may exceed the budget.
func TestHeadTailEnds(t *testing.T) {
	in := prompt.Input{Files: []prompt.File{{Name: "AGENTS.md", Path: "AGENTS.md", Text: strings.Repeat("word ", 1_000)}}}
	for most := range 60 {
		a, err := prompt.Assemble(in, &prompt.Options{HeadTail: true, MinFileChars: -1, MaxTokens: most + 1})
		require.NoError(t, err)
		require.LessOrEqual(t, a.TextTokens, a.MaxTokens)
	}
}

// TestFileWithoutPath: a host that gives a name and a text wants the text in the prompt.
func TestFileWithoutPath(t *testing.T) {
	for _, c := range []struct {
		file   prompt.File
		want   string
		reason string
	}{
		{prompt.File{Name: "RULES.md", Text: "Be brief."}, "## RULES.md\n\nBe brief.", "the name stands in for the path"},
		{prompt.File{Name: "RULES.md", Path: " ", Text: "Be brief."}, "## RULES.md\n\nBe brief.", "a blank path counts as missing"},
		{prompt.File{Name: "RULES.md", Missing: true}, "[MISSING] Expected at: RULES.md", "in a notice as well"},
		{prompt.File{Name: "A.md", Path: "w/A.md", Text: "x"}, "## w/A.md\n\nx", "a path is shown as it is"},
	} {
		a, err := prompt.Assemble(prompt.Input{Files: []prompt.File{c.file}}, nil)
		require.NoError(t, err)
		require.Contains(t, a.Text, c.want, c.reason)
	}
	a, err := prompt.Assemble(prompt.Input{Files: []prompt.File{{Text: "Be brief."}}}, nil)
	require.NoError(t, err)
	require.Empty(t, a.Text)
	require.Len(t, a.Cuts, 1, "a file without a name or a path is left out, and the cuts tell of it")
}
