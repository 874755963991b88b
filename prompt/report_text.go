package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The text of a report is that of the reference's command /context; Winnow's additions come at the end.

const (
	listedSkills = 20 // names of skills
	listedTools  = 30 // names of tools
	detailLines  = 30 // lines in each list of sizes
)

// ReportHelp lists the words that [Report.Text] accepts, as the reference's command /context does.
const ReportHelp = `/context: what fills the context window
/context list: a short breakdown
/context detail: sizes by file, skill and tool
/context json: for machines`

// Text returns the report in the form that word names: "list" (or "show"), "detail" (or "deep") or "json". Any other
// word returns [ReportHelp].
func (r *Report) Text(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "list", "show":
		return r.List()
	case "detail", "deep":
		return r.Detail()
	case "json":
		return r.JSON()
	}
	return ReportHelp
}

// List returns a short form of the report.
func (r *Report) List() string {
	lines := r.begin("🧠 Context breakdown")
	lines = append(lines, r.skillLines()...)
	lines = append(lines, r.toolLines()...)
	return strings.Join(append(lines, r.end()...), "\n")
}

// Detail returns the report with the size of each skill, tool and section.
func (r *Report) Detail() string {
	lines := r.begin("🧠 Context breakdown (detailed)")
	lines = append(lines, r.skillLines()...)
	if skills := r.Skills.Entries; len(skills) > 0 {
		size := func(s SkillSize) (string, int) { return s.Name, s.Chars }
		lines = append(lines, top("Top skills (prompt entry size):", "skills", skills, size, charsAndTokens)...)
	}
	lines = append(lines, "")
	lines = append(lines, r.toolLines()...)
	topTools := func(title string, size func(ToolSize) int, format func(int) string) []string {
		return top(title, "tools", r.Tools.Entries, func(t ToolSize) (string, int) { return t.Name, size(t) }, format)
	}
	schema, summary := func(t ToolSize) int { return t.SchemaChars }, func(t ToolSize) int { return t.SummaryChars }
	lines = append(lines, topTools("Top tools (schema size):", schema, charsAndTokens)...)
	lines = append(lines, "")
	lines = append(lines, topTools("Top tools (summary text size):", summary, charsAndTokens)...)
	lines = append(lines, "")
	params := func(n int) string { return fmt.Sprintf("%d params", n) }
	lines = append(lines, topTools("Tools (param count):", func(t ToolSize) int { return t.Properties }, params)...)
	lines = append(lines, r.end()...)
	lines = append(lines, "", "Sections of the system prompt:")
	for _, s := range r.Sections {
		lines = append(lines, fmt.Sprintf("- %s (%s): %s chars, %s tokens", s.Name, s.Kind, comma(s.Chars),
			comma(s.Tokens)))
	}
	lines = append(lines, "", "Largest messages:")
	for _, m := range r.Largest {
		name := strings.TrimRight(fmt.Sprintf("- #%d %s %s", m.Index, m.Role, cleanName(m.Tool)), " ")
		lines = append(lines, name+": "+comma(m.Tokens)+" tokens")
	}
	return strings.Join(lines, "\n")
}

// charsAndTokens returns a size as the reference prints it, at four characters per token.
func charsAndTokens(n int) string {
	return fmt.Sprintf("%s chars (~%s tok)", comma(n), comma((n+3)/4))
}

// begin returns the first lines of both forms.
func (r *Report) begin(title string) []string {
	workspace := "(none)"
	if r.WorkspaceDir != "" {
		workspace = cleanName(r.WorkspaceDir)
	}
	sandbox := Sandbox{Mode: "unknown"}
	if r.Sandbox != nil {
		sandbox = *r.Sandbox
	}
	lines := []string{
		title,
		"Workspace: " + workspace,
		"Bootstrap max/file: " + comma(r.MaxFileChars) + " chars",
		"Bootstrap max/total: " + comma(r.MaxTotalChars) + " chars",
		fmt.Sprintf("Sandbox: mode=%s sandboxed=%t", sandbox.Mode, sandbox.Sandboxed),
		fmt.Sprintf("System prompt (%s): %s (Project Context %s)",
			r.Source, charsAndTokens(r.SystemPrompt.Chars), charsAndTokens(r.SystemPrompt.Context)),
	}
	if w := r.warning(); w != "" {
		lines = append(lines, "", w)
	}
	lines = append(lines, "", "Injected workspace files:")
	for i := range r.Files {
		lines = append(lines, r.Files[i].line())
	}
	return append(lines, "")
}

func (f *FileReport) line() string {
	status, raw, injected := "OK", charsAndTokens(f.Raw), charsAndTokens(f.Injected)
	switch {
	case f.Missing:
		status, raw, injected = "MISSING", "0", "0"
	case f.Truncated:
		status = "TRUNCATED"
	}
	return fmt.Sprintf("- %s: %s | raw %s | injected %s", cleanName(f.Name), status, raw, injected)
}

// warning returns the lines that say which limits cut files.
func (r *Report) warning() string {
	raw, injected, count := 0, 0, 0
	for _, f := range r.Files {
		if f.Truncated {
			raw, injected, count = raw+f.Raw, injected+f.Injected, count+1
		}
	}
	if count == 0 {
		return ""
	}
	var causes []string
	for _, c := range []struct{ reason, text string }{
		{reasonFile, "exceeded max/file"}, {reasonTotal, "hit max/total"}, {reasonLast, "hit max/total"},
		{reasonNoPath, "have no path"},
		{reasonOwn, "exceeded their own limit"}, {reasonToken, "hit the prompt's share of the window"},
	} {
		n := 0
		for i := range r.Cuts {
			if r.Cuts[i].Kind == PartFile && r.Cuts[i].Reason == c.reason {
				n++
			}
		}
		if n > 0 {
			causes = append(causes, fmt.Sprintf("%d file(s) %s", n, c.text))
		}
	}
	return fmt.Sprintf("⚠ Bootstrap context is over configured limits: "+
		"%d file(s) truncated (%s raw chars -> %s injected chars). Causes: %s.", count, comma(raw), comma(injected),
		strings.Join(causes, "; "))
}

func (r *Report) skillLines() []string {
	names := make([]string, len(r.Skills.Entries))
	for i, s := range r.Skills.Entries {
		names[i] = cleanName(s.Name)
	}
	return []string{
		fmt.Sprintf("Skills list (system prompt text): %s (%d skills)", charsAndTokens(r.Skills.Chars), len(names)),
		"Skills: " + nameList(names, listedSkills),
	}
}

func (r *Report) toolLines() []string {
	names := make([]string, len(r.Tools.Entries))
	for i, t := range r.Tools.Entries {
		names[i] = cleanName(t.Name)
	}
	return []string{
		"Tool list (system prompt text): " + charsAndTokens(r.Tools.ListChars),
		"Tool schemas (JSON): " + charsAndTokens(r.Tools.SchemaChars) + " (counts toward context; not shown as text)",
		"Tools: " + nameList(names, listedTools),
	}
}

func nameList(names []string, most int) string {
	switch {
	case len(names) == 0:
		return "(none)"
	case len(names) <= most:
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (+%d more)", strings.Join(names[:most], ", "), len(names)-most)
}

// top lists the largest of some entries, which are called what.
func top[E any](
	title, what string, entries []E, size func(E) (name string, n int), format func(int) string,
) []string {
	lines := []string{title}
	bySize := slices.SortedStableFunc(slices.Values(entries), func(a, b E) int {
		_, n := size(a)
		_, m := size(b)
		return cmp.Compare(m, n)
	})
	for _, e := range bySize[:min(len(bySize), detailLines)] {
		name, n := size(e)
		lines = append(lines, "- "+cleanName(name)+": "+format(n))
	}
	if more := len(entries) - detailLines; more > 0 {
		lines = append(lines, fmt.Sprintf("… (+%d more %s)", more, what))
	}
	return lines
}

// end returns the reference's last line, followed by Winnow's additions.
func (r *Report) end() []string {
	s, t := r.session(), &r.Tokens
	window := "?"
	if t.Window > 0 {
		window = fmt.Sprint(t.Window)
	}
	total := "unknown"
	if r.Source == FromRun {
		total = comma(s.Total) + " total"
	}
	lines := []string{
		"", fmt.Sprintf("Session tokens (cached): %s / ctx=%s", total, window),
		"", fmt.Sprintf("Tokens: %s used (system prompt %s, tool schemas %s, history %s, correction %s)",
			comma(t.Used), comma(t.Prompt), comma(t.Schemas), comma(t.History), comma(t.Correction)),
	}
	if t.Window > 0 {
		lines = append(lines, fmt.Sprintf("Window: %s = used + reserve %s + free %s",
			comma(t.Window), comma(t.Reserve), comma(t.Window-t.Used-t.Reserve)))
	}
	for _, k := range r.History {
		lines = append(lines, fmt.Sprintf("- history, %s: %s tokens in %d", cleanName(k.Kind), comma(k.Tokens),
			k.Count))
	}
	for _, e := range r.Edits {
		lines = append(lines, fmt.Sprintf("- edits, %s: %d, %s tokens saved", e.Op, e.Count, comma(e.Saved)))
	}
	cache := fmt.Sprintf("Cache: %.1f %% expected", 100*r.Cache.Expected)
	if r.Source == FromRun {
		cache += fmt.Sprintf(", %.1f %% read and %.1f %% written as billed", 100*r.Cache.Billed, 100*r.Cache.Written)
	}
	return append(lines, cache)
}
