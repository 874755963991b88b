package prompt_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

// runs is a text as runs of a text repeated.
type runs string

func (r *runs) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(r))
	}
	var list [][2]json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	var b strings.Builder
	for _, run := range list {
		var text string
		var n int
		if err := json.Unmarshal(run[0], &text); err != nil {
			return err
		}
		if err := json.Unmarshal(run[1], &n); err != nil {
			return err
		}
		b.WriteString(strings.Repeat(text, n))
	}
	*r = runs(b.String())
	return nil
}

// vector is one case of testdata/vectors.json. What the reference does was worked out from its description, apart from
// this package.
type vector struct {
	Kind, Rule, Reason string
	Want               json.RawMessage

	Files []struct {
		Name, Path string
		Text       runs
		Missing    bool
	}
	MaxFile, MaxTotal, N int

	Names      []string
	List, Name string

	Skills []struct {
		Name, Description, Location string
		Hidden                      bool
	}
	Many                *struct{ Count, Description json.RawMessage }
	Home, WantNote      string
	MaxSkills, MaxChars int
	WantCount           int

	What  string
	Count int
}

func (v *vector) want(t *testing.T, out any) { require.NoError(t, json.Unmarshal(v.Want, out)) }

// The reference's rules, case by case.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var vectors []vector
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.GreaterOrEqual(t, len(vectors), 140)
	checks := map[string]func(*testing.T, *vector){
		"files": checkFiles, "order": checkOrder, "list": checkList, "mode": checkMode, "skills": checkSkills,
		"size": checkSize, "status": checkStatus, "names": checkNames,
	}
	for i := range vectors {
		v := &vectors[i]
		t.Run(fmt.Sprintf("%03d %s", i, v.Kind), func(t *testing.T) {
			check := checks[v.Kind]
			require.NotNil(t, check)
			t.Logf("%s: %s", v.Rule, v.Reason)
			check(t, v)
		})
	}
}

// reference assembles with the reference's limits.
func reference(t *testing.T, in prompt.Input, o prompt.Options) *prompt.Assembly {
	o.HeadTail = true
	a, err := prompt.Assemble(in, &o)
	require.NoError(t, err)
	return a
}

func (v *vector) files() (files []prompt.File) {
	for _, f := range v.Files {
		files = append(files, prompt.File{Name: f.Name, Path: f.Path, Text: string(f.Text), Missing: f.Missing})
	}
	return files
}

func checkFiles(t *testing.T, v *vector) {
	a := reference(t, prompt.Input{Files: v.files()}, prompt.Options{MaxFileChars: v.MaxFile, MaxTotalChars: v.MaxTotal})
	var want [][2]runs
	v.want(t, &want)
	var got [][2]runs
	for _, p := range a.Parts {
		if p.Kind == prompt.PartFile {
			got = append(got, [2]runs{runs(p.Path), runs(p.Text)})
			assert.Contains(t, a.Text, "## "+p.Path+"\n\n"+p.Text)
		}
	}
	if len(want) == 0 {
		want = nil
	}
	assert.Equal(t, want, got)
	if len(got) > 0 {
		assert.Contains(t, a.Text, "# Project Context\n\n## ")
	}
}

func checkOrder(t *testing.T, v *vector) {
	var files []prompt.File
	for _, n := range v.Names {
		files = append(files, prompt.File{Name: n, Path: "/w/" + n, Text: n})
	}
	var want, got []string
	v.want(t, &want)
	for _, p := range reference(t, prompt.Input{Files: files}, prompt.Options{}).Parts {
		if p.Kind == prompt.PartFile {
			got = append(got, p.Name)
		}
	}
	assert.Equal(t, want, got)
}

func checkList(t *testing.T, v *vector) {
	var want []string
	v.want(t, &want)
	assert.Equal(t, want, prompt.FileNames(prompt.FileList(v.List)))
}

func checkMode(t *testing.T, v *vector) {
	var want, got []prompt.Mode
	v.want(t, &want)
	for _, m := range []prompt.Mode{prompt.Full, prompt.Minimal, prompt.None} {
		if reference(t, prompt.Input{Sections: []prompt.Section{{Name: v.Name, Text: "text"}}, Mode: m}, prompt.Options{}).Text != "" {
			got = append(got, m)
		}
	}
	assert.Equal(t, want, got)
}

func checkSkills(t *testing.T, v *vector) {
	var skills []prompt.Skill
	for _, s := range v.Skills {
		skills = append(skills, prompt.Skill{Name: s.Name, Description: s.Description, Location: s.Location, Hidden: s.Hidden})
	}
	if v.Many != nil {
		var n int
		var description string
		require.NoError(t, json.Unmarshal(v.Many.Count, &n))
		require.NoError(t, json.Unmarshal(v.Many.Description, &description))
		for i := range n {
			name := fmt.Sprintf("s-%03d", i)
			skills = append(skills, prompt.Skill{Name: name, Description: description, Location: "/k/" + name + "/SKILL.md"})
		}
	}
	a := reference(t, prompt.Input{Skills: skills}, prompt.Options{Home: v.Home, MaxSkills: v.MaxSkills, MaxSkillChars: v.MaxChars})
	assert.Equal(t, v.WantCount, strings.Count(a.Text, "<skill>"))
	if v.WantNote != "" {
		assert.Contains(t, a.Text, v.WantNote+"\n<available_skills>", "before the list")
	} else {
		assert.NotContains(t, a.Text, "truncated")
	}
	if v.Want != nil {
		var want string
		v.want(t, &want)
		assert.True(t, strings.HasSuffix(a.Text, want), "%s", a.Text)
		assert.Equal(t, want == "", a.Text == "")
	}
}

// line returns the first line of a report that begins so.
func line(t *testing.T, text, begin string) string {
	lines := strings.Split(text, "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, begin) })
	require.GreaterOrEqual(t, i, 0, begin)
	return lines[i]
}

func checkSize(t *testing.T, v *vector) {
	a := reference(t, prompt.Input{Files: []prompt.File{{Name: "AGENTS.md", Path: "/w", Text: strings.Repeat("a", v.N)}}}, prompt.Options{})
	var want string
	v.want(t, &want)
	assert.Equal(t, want, line(t, prompt.NewReport(a, nil, winnow.Usage{}).List(), "- AGENTS.md"))
}

func checkStatus(t *testing.T, v *vector) {
	f := prompt.File{Name: "AGENTS.md", Path: "/w", Missing: v.N < 0, Text: strings.Repeat("a", max(0, v.N))}
	r := prompt.NewReport(reference(t, prompt.Input{Files: []prompt.File{f}}, prompt.Options{MaxFileChars: v.MaxFile}), nil, winnow.Usage{})
	var want string
	v.want(t, &want)
	assert.Equal(t, want, line(t, r.List(), "- AGENTS.md"))
	assert.Equal(t, want, line(t, r.Detail(), "- AGENTS.md"))
	assert.Equal(t, !f.Missing, strings.Contains(r.List(), "⚠ Bootstrap context is over configured limits: 1 file(s) truncated"))
}

func checkNames(t *testing.T, v *vector) {
	var in prompt.Input
	for i := range v.Count {
		name := fmt.Sprintf("t-%03d", i)
		if v.What == "Tools" {
			in.Tools = append(in.Tools, prompt.Tool{Tool: winnow.Tool{Name: name}})
		} else {
			in.Skills = append(in.Skills, prompt.Skill{Name: name, Description: "d"})
		}
	}
	var want string
	v.want(t, &want)
	list := prompt.NewReport(reference(t, in, prompt.Options{}), nil, winnow.Usage{}).List()
	assert.Equal(t, v.What+": "+want, line(t, list, v.What+": "))
	if v.What == "Skills" {
		assert.Contains(t, list, fmt.Sprintf("(%d skills)", v.Count))
	}
}
