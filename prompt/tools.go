package prompt

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/count"
)

// Tool is a tool of an agent, and how a prompt offers it.
type Tool struct {
	winnow.Tool

	Summary string `json:"-"` // shown next to its name in the prompt (the first line of Description)
	Always  bool   `json:"-"` // with Options.OnDemand, still send its schema with every request
}

// ToolSize is the size of a tool.
type ToolSize struct {
	Name         string `json:"name"`
	SummaryChars int    `json:"summaryChars"`    // length of its summary
	SchemaChars  int    `json:"schemaChars"`     // length of its schema as compact JSON
	Properties   int    `json:"propertiesCount"` // properties at the top level of the schema
	Tokens       int    `json:"tokens"`          // tokens that the provider gets; 0 for a tool that is loaded on demand
}

func (t *Tool) summary() string {
	s := t.Summary
	if s == "" {
		s, _, _ = strings.Cut(strings.TrimSpace(t.Description), "\n")
	}
	return oneLine(s)
}

// allowed returns the tools that the mode may use, by name. If two have the same name, the first counts.
func (a *assembler) allowed(tools []Tool) []Tool {
	patterns, limited := a.Options.Tools[a.in.Mode]
	tools = slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool {
		return limited && !slices.ContainsFunc(patterns, func(p string) bool { return matches(p, t.Name) })
	})
	slices.SortStableFunc(tools, compareTools)
	return slices.CompactFunc(tools, func(a, b Tool) bool { return a.Name == b.Name })
}

func compareTools(a, b Tool) int {
	if a.Name != b.Name {
		return cmp.Compare(a.Name, b.Name)
	}
	return cmp.Or(cmp.Compare(a.Description, b.Description), bytes.Compare(a.Schema, b.Schema))
}

// matches reports whether a name matches a pattern, in which * stands for any characters.
func matches(pattern, name string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if name, star = strings.CutPrefix(name, first); !star {
		return false
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// isSent reports whether the schema of a tool is sent with every request.
func (t *Tool) isSent(onDemand bool) bool {
	return !onDemand || t.Always || t.Name == loadToolName || t.Name == callToolName
}

// toolList lists tools.
type toolList struct {
	tools    []Tool // by name
	onDemand bool
	count    *counter
}

// line returns a tool's line in the list.
func (l *toolList) line(t *Tool, withSummary bool) string {
	line := "- " + cleanName(t.Name)
	if s := t.summary(); withSummary && s != "" {
		line += ": " + clip(s, maxSummary)
	}
	return line + "\n"
}

// maxSummary is how much of a summary is shown, in characters. A line of the reference's own tools has at most 200.
const maxSummary = 400

// list lists the first n tools; tools on demand only by name.
func (l *toolList) list(n int, withSummaries bool) string {
	var b strings.Builder
	b.WriteString("## Tooling\n\n")
	var names []string
	for i := range l.tools[:n] {
		if t := &l.tools[i]; t.isSent(l.onDemand) {
			b.WriteString(l.line(t, withSummaries))
		} else {
			names = append(names, cleanName(t.Name))
		}
	}
	if len(names) > 0 {
		b.WriteString("\nMore tools, loaded on demand: read the parameters of one with " + loadToolName +
			", then call it with " + callToolName + ".\n")
		b.WriteString(strings.Join(names, ", ") + "\n")
	}
	if more := len(l.tools) - n; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (l *toolList) full() string { return l.list(len(l.tools), true) }

// within returns the list that fits a limit: with summaries, else only names, else only the first names.
func (l *toolList) within(limit size) (string, *Cut) {
	full := l.full()
	if l.count.size(full).fits(limit) {
		return full, nil
	}
	shown := 0
	text, ok := largest(1, len(l.tools), func(n int) (string, bool) {
		text := l.list(n, false)
		ok := l.count.size(text).fits(limit)
		if ok {
			shown = max(shown, n)
		}
		return text, ok
	})
	c := &Cut{Chars: chars(full), Kept: chars(text), Reason: "names alone"}
	for i := range l.tools[shown:] {
		c.Left = append(c.Left, l.tools[shown+i].Name)
	}
	if !ok {
		c.Reason = reasonLast
	}
	return text, c
}

// measureTools measures the schemas.
func (a *assembler) measureTools() {
	out := a.out
	sum := 0
	for i := range a.in.Tools {
		t := &a.in.Tools[i]
		s := ToolSize{Name: t.Name, SummaryChars: chars(t.summary())}
		s.SchemaChars, s.Properties = chars(string(compactJSON(t.Schema))), len(readSchema(t.Schema).properties)
		if t.isSent(a.OnDemand) {
			s.Tokens = a.Form.tokens(t, a.count)
			own := *t
			own.Schema = slices.Clone(t.Schema) // the host may change its own
			out.Tools = append(out.Tools, own)
			sum = count.Add(sum, s.Tokens)
		}
		out.ToolSizes = append(out.ToolSizes, s)
	}
	if len(out.Tools) > 0 {
		sum = count.Add(sum, a.Form.once())
	}
	out.ToolTokens = sum
	var b strings.Builder
	for _, t := range out.Tools {
		b.WriteString(t.Name + "\n" + t.Description + "\n" + string(t.Schema) + "\n")
	}
	out.toolPrint = fingerprint(b.String())
}
