package winnow

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/winnowgo/winnow/internal/sections"
)

// A skeleton has all the headings and nothing below them: what stands there is what a digest says.
func TestCompactionFillsEmptyHeadings(t *testing.T) {
	h := []Message{
		{Role: RoleUser, Parts: []Part{{Text: "Port the parser to Go."}}},
		{Role: RoleAssistant, Parts: []Part{{Text: "The next step is the lexer."}}},
	}
	h = append(h, work(400)...)
	headings := []string{"## Goal", "## Progress", "### Done", "### In Progress", "### Blocked", "## Key Decisions", "## Next Steps"}
	for _, nothing := range []string{"", "\n", "None.", "- (none)", "- N/A", "*None yet*", "…", "无"} {
		s := SummarizerFunc(func(context.Context, SummaryRequest) (string, error) {
			return strings.Join(headings, "\n"+nothing+"\n") + "\n" + nothing, nil
		})
		r, err := workManager(t, s, CompactOptions{}).Compact(t.Context(), h, "")
		require.NoError(t, err)
		text := r.Compaction.Summary
		assert.Contains(t, r.Compaction.Repaired, "sections", "%q", nothing)
		for _, want := range []string{"## Goal\n- Port the parser to Go.", "Last said: "} {
			assert.True(t, strings.Contains(text, want), "%q: %q", nothing, want)
		}
		for _, heading := range headings {
			assert.LessOrEqual(t, strings.Count("\n"+text, "\n"+heading+"\n"), 1, "%q: %s", nothing, heading)
		}
	}
}

func TestWithoutEmptySections(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{"", "", "nothing"},
		{"All is well.", "All is well.", "no heading"},
		{"Well.\n\n## Goal\n\n## Next\n- go", "Well.\n\n## Next\n- go", "what stands before the first heading stays"},
		{"## Progress\n### Done\n- it\n### Blocked\n(none)\n## Next", "## Progress\n\n### Done\n- it", "a heading stays for what is below it"},
		{"# Session\n## Goal\nnone\n## Next\n- go", "# Session\n\n## Next\n- go", "a title stays"},
		{"## A\n### b\n- N/A\n## C\nfine", "## C\nfine", "a heading with nothing but empty ones goes"},
		{"## Goal\nNone of the tests pass.", "## Goal\nNone of the tests pass.", "a sentence says something"},
		{"#channel\n#!/bin/sh", "#channel\n#!/bin/sh", "no headings"},
	} {
		assert.Equal(t, tt.want, sections.WithoutEmpty(tt.in), tt.reason)
	}
}

// A summary that reads like ones that the history has already is told apart by a mark that does not grow.
func TestSummariesAreToldApart(t *testing.T) {
	m, err := New(20_000, nil)
	require.NoError(t, err)
	text := sections.Begin + "## Goal\nTalk." + sections.End
	var h []Message
	for i := range 40 {
		cp := &checkpoint{message: Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: text}}}}
		d := m.draft(h, nil)
		m.makeUnique(cp, d.view)
		for _, f := range d.view.facts {
			require.NotEqual(t, f.key, cp.key)
		}
		require.LessOrEqual(t, len(cp.message.Parts[0].Text), len(text)+40, "summary %d", i)
		body, _ := sections.Read(joinedText(&cp.message))
		require.Equal(t, "## Goal\nTalk.", body, "the mark is not part of the summary")
		h = append(h, cp.message)
	}
}
