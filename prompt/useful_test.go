package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/openclaw"
	"github.com/winnowgo/winnow/prompt"
)

// twelveFiles are files from 300 to 400 000 characters. Each of more than 2 000 has its rules in its middle.
func twelveFiles() (files []prompt.File) {
	sizes := []int{300, 1_200, 4_000, 8_000, 15_000, 19_000, 25_000, 40_000, 80_000, 150_000, 250_000, 400_000}
	names := append(prompt.FileNames(prompt.FirstRunFiles), "NOTES.md", "PLAN.md", "STYLE.md", "TEAM.md")
	for i, n := range sizes {
		name := names[(i*5+3)%len(names)]
		files = append(files, prompt.File{Name: name, Path: "/w/" + name, Text: fileWithRules(name, n)})
	}
	return files
}

func fileWithRules(name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", name)
	section := func(i int) {
		fmt.Fprintf(&b, "## Topic %d of %s\n\n%s\n\n", i, name, strings.Repeat("The team agreed on this and wrote down why. ", 50))
	}
	i := 0
	for ; b.Len() < n/2; i++ {
		section(i)
	}
	fmt.Fprintf(&b, "## Session Startup\n\nRead the plan of %s first.\n\n## Red Lines\n\n- %s: never push to main.\n- Never print a key.\n\n### Exceptions\n\nNone.\n\n", name, name)
	for ; b.Len() < n; i++ {
		section(i)
	}
	return b.String()
}

// rulesOf returns the sections of a file that OpenClaw takes for rules.
func rulesOf(text string) string { return prompt.ExtractRules(text, openclaw.RuleHeadings()...) }

func TestTwelveFilesKeepRulesAndOutline(t *testing.T) {
	files := twelveFiles()
	count := func(o prompt.Options) (rules, outlines int) {
		o.RuleHeadings = openclaw.RuleHeadings()
		a, err := prompt.Assemble(prompt.Input{Files: files}, &o)
		require.NoError(t, err)
		total := 0
		for _, p := range a.Parts {
			total += p.Chars
		}
		assert.LessOrEqual(t, total, 150_000+len(prompt.FileNames(prompt.WorkspaceFiles))*300)
		for _, f := range files {
			shown := ""
			for _, p := range a.Parts {
				if p.Kind == prompt.PartFile && p.Name == f.Name {
					shown = p.Text
				}
			}
			if rulesOf(shown) == rulesOf(f.Text) {
				rules++
			}
			whole := shown != ""
			for _, l := range strings.Split(f.Text, "\n") {
				whole = whole && (!strings.HasPrefix(l, "#") || strings.Contains(shown, l))
			}
			if whole {
				outlines++
			}
		}
		return rules, outlines
	}
	rules, outlines := count(prompt.Options{})
	theirs, theirOutlines := count(prompt.Options{HeadTail: true})
	t.Logf("of %d files: rules kept %d, outline kept %d; the reference's cut: %d and %d", len(files), rules, outlines, theirs, theirOutlines)
	assert.Equal(t, len(files), rules)
	assert.Equal(t, len(files), outlines)
	rules, outlines = count(prompt.Options{Window: 200_000}) // tokens bind as well
	assert.Equal(t, len(files), rules)
	assert.Equal(t, len(files), outlines)
}

// The cost of 566 tools, and how much an allow-list and schemas on demand save.
func TestManyTools(t *testing.T) {
	tools := manyTools(566)
	allow := prompt.Allowed{}
	for i := range 20 {
		allow = append(allow, tools[i*7].Name)
	}
	measure := func(mode prompt.Mode, o prompt.Options) *prompt.Assembly {
		o.Window, o.Tools, o.Form, o.Estimator = 200_000, map[prompt.Mode]prompt.Allowed{prompt.Minimal: allow}, prompt.FormAnthropic, estimators[1]
		list := tools
		if o.OnDemand {
			list = append(prompt.OnDemandTools(), tools...)
		}
		a, err := prompt.Assemble(prompt.Input{Tools: list, Mode: mode}, &o)
		require.NoError(t, err)
		t.Logf("%-8s on demand %-5t: %3d schemas %7d tokens, list %5d tokens, warnings %d", mode, o.OnDemand, len(a.Tools), a.ToolTokens, a.TextTokens, len(a.Warnings))
		return a
	}
	full, minimal := measure(prompt.Full, prompt.Options{}), measure(prompt.Minimal, prompt.Options{})
	demand, none := measure(prompt.Full, prompt.Options{OnDemand: true}), measure(prompt.None, prompt.Options{})
	assert.NotEmpty(t, full.Warnings, "more than a fifth of the window")
	assert.Len(t, minimal.Tools, 20)
	assert.Empty(t, minimal.Warnings)
	assert.Less(t, minimal.Tokens, full.Tokens/20)
	assert.Less(t, demand.Tokens, full.Tokens/20)
	assert.Len(t, demand.Tools, 2)
	for _, tool := range tools {
		assert.Contains(t, demand.Text, tool.Name, "each can be loaded")
	}
	assert.Empty(t, none.Text)
}

// Where this package is not the reference, on purpose.
func TestDifferencesFromTheReference(t *testing.T) {
	long := fileWithRules("AGENTS.md", 60_000)
	files := []prompt.File{
		{Name: "AGENTS.md", Path: "/w/AGENTS.md", Text: long}, {Name: "SOUL.md", Path: "/w/SOUL.md", Text: fileWithRules("SOUL.md", 60_000)},
		{Name: "MEMORY.md", Path: "/w/MEMORY.md", Text: fileWithRules("MEMORY.md", 60_000)},
	}
	both := func(in prompt.Input, o prompt.Options) (theirs, ours *prompt.Assembly) {
		o.RuleHeadings = openclaw.RuleHeadings()
		theirs = reference(t, in, o)
		ours, err := prompt.Assemble(in, &o)
		require.NoError(t, err)
		return theirs, ours
	}
	share := func(a *prompt.Assembly, name string) int {
		for _, p := range a.Parts {
			if p.Name == name {
				return p.Chars
			}
		}
		return 0
	}

	theirs, ours := both(prompt.Input{Files: files}, prompt.Options{MaxTotalChars: 35_300})
	assert.Less(t, share(theirs, "MEMORY.md"), 2_000, "S17: the last file gets what is left")
	assert.Greater(t, share(ours, "MEMORY.md"), 10_000, "shares are max-min")

	one := prompt.Input{Files: files[:1]}
	theirs, ours = both(one, prompt.Options{MaxFileChars: 500})
	assert.Greater(t, share(theirs, "AGENTS.md"), 500, "S18: the notice comes on top of the limit")
	assert.LessOrEqual(t, share(ours, "AGENTS.md"), 500, "it counts against it")
	theirs, ours = both(one, prompt.Options{})
	assert.NotContains(t, theirs.Text, "## Red Lines", "S18: cut in the middle of the rules")
	assert.Contains(t, ours.Text, rulesOf(long), "rules are kept")
	assert.NotContains(t, theirs.Text, "Topic 10 of", "70 % and 20 %")
	assert.Contains(t, ours.Text, "Topic 10 of", "the outline is kept")
	assert.Contains(t, ours.Text, "Left out: ", "the notice names sections")

	theirs, ours = both(prompt.Input{Files: files}, prompt.Options{MaxTotalChars: 17_000})
	assert.Zero(t, share(theirs, "MEMORY.md"), "S24: files behind the end are dropped")
	assert.NotZero(t, share(ours, "MEMORY.md"))
	require.NotEmpty(t, theirs.Cuts)
	assert.Equal(t, "MEMORY.md", theirs.Cuts[len(theirs.Cuts)-1].Name, "in its own form too, this package names them")

	var skills []prompt.Skill
	for i := range 200 {
		skills = append(skills, prompt.Skill{Name: fmt.Sprintf("s-%03d", i), Description: strings.Repeat("what it does and when ", 12), Location: "/k"})
	}
	theirs, ours = both(prompt.Input{Skills: skills[:149]}, prompt.Options{MaxSkillChars: 25_000})
	assert.Less(t, strings.Count(theirs.Text, "<skill>"), 100, "the first that fit")
	assert.Equal(t, 149, strings.Count(ours.Text, "<skill>"), "all of them, with shorter descriptions")
	assert.Equal(t, 149, strings.Count(ours.Text, "<description>"))
	_, ours = both(prompt.Input{Skills: skills[:149]}, prompt.Options{MaxSkillChars: 8_000})
	assert.Equal(t, 149, strings.Count(ours.Text, "<skill>"), "then names alone")
	assert.Zero(t, strings.Count(ours.Text, "<description>"))
	_, ours = both(prompt.Input{Skills: skills[:149]}, prompt.Options{MaxSkillChars: 2_000})
	assert.Regexp(t, `and \d+ more`, ours.Text, "then the first of them")
	theirs, ours = both(prompt.Input{Skills: skills}, prompt.Options{})
	assert.Contains(t, theirs.Text, "⚠️ Skills truncated: included")
	assert.Contains(t, ours.Text, "and 50 more")

	clock := prompt.Input{Sections: []prompt.Section{{Name: "Runtime", Text: "Runtime: host=a", Volatile: true}}}
	_, ours = both(clock, prompt.Options{})
	assert.Empty(t, ours.Text, "S22: what is volatile stands in no system prompt")
	assert.Contains(t, ours.Changes(nil).Parts[0].Text, "Runtime: host=a")

	emoji := prompt.Input{Files: []prompt.File{{Name: "USER.md", Path: "/w", Text: strings.Repeat("🙂", 100)}}}
	theirs, _ = both(emoji, prompt.Options{MaxFileChars: 100})
	assert.False(t, theirs.Parts[1].Cut, "a character is a code point: 100 of them, not 200")
	theirs, _ = both(prompt.Input{Files: files[:1]}, prompt.Options{MaxFileChars: 4})
	assert.Less(t, share(theirs, "AGENTS.md"), 200, "S18: slice(-0) would keep the whole text")
}
