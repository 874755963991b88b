package winnow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// factList is a summary of the given number of facts under a heading, a line each, of about 20 tokens.
func factList(heading, line string, n int) string {
	var b strings.Builder
	b.WriteString("## Goal\nShip the billing service.\n\n" + heading + "\n")
	for i := range n {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}

// previousSummaries are summaries as models write them, with other headings than those that they were asked for.
var previousSummaries = []struct{ name, heading, line, fact string }{
	{"as asked", "## Critical Context", "- The ledger of tenant T%04d is closed on Fridays, by wish of finance.", "T%04d is closed on Fridays"},
	{"other headings", "## Facts", "- The ledger of tenant T%04d is closed on Fridays, by wish of finance.", "T%04d is closed on Fridays"},
	{"bold headings", "**What we know:**", "* The ledger of tenant T%04d is closed on Fridays.", "T%04d is closed on Fridays"},
	{"Chinese", "## 关键事实", "- 租户T%04d的账本每周五关闭,这是财务部门的要求。", "T%04d的账本每周五关闭"},
	{"Chinese without marks", "关键事实：", "租户T%04d的账本每周五关闭。", "T%04d的账本每周五关闭"},
	{"one paragraph", "", "The ledger of tenant T%04d is closed on Fridays. ", "T%04d is closed on Fridays"},
}

func countFacts(text, fact string, n int) (found int) {
	for i := range n {
		if strings.Contains(text, fmt.Sprintf(fact, i)) {
			found++
		}
	}
	return found
}

// An earlier summary stays whole up to half of a digest, whatever is new, and above that as far as half of it goes.
func TestDigestKeepsThePreviousSummary(t *testing.T) {
	const facts = 60
	news := append(numbered(300, 3_000), working()...)
	for _, tt := range previousSummaries {
		t.Run(tt.name, func(t *testing.T) {
			previous := factList(tt.heading, tt.line, facts)
			if tt.heading == "" {
				previous = strings.ReplaceAll(strings.TrimPrefix(previous, "## Goal\n"), "\n", "")
			}
			size := tokencount.Cautious(previous)
			got := digestOf(t, SummaryRequest{Messages: news, Previous: previous, MaxTokens: 2*size + 150})
			assert.Equal(t, facts, countFacts(got, tt.fact, facts), "it is whole up to half of the room")
			assert.Contains(t, got, "Ship the billing service.")
			assert.Contains(t, got, "Never touch the generated files.", "and what is new stands beside it")
			assert.LessOrEqual(t, tokencount.Cautious(got), 2*size+150)
			got = digestOf(t, SummaryRequest{Messages: news, Previous: previous, MaxTokens: size})
			assert.Greater(t, countFacts(got, tt.fact, facts), facts*2/5, "half of it in half of the room, and none of them cut in two")
			assert.LessOrEqual(t, tokencount.Cautious(got), size)
		})
	}
}

// What an earlier summary says stays as it stands, but for the lines that only a digest writes.
func TestDigestQuotesThePreviousSummary(t *testing.T) {
	previous := "So far:\nall is well.\n\n## Key Decisions\n- **No cgo**: it breaks the cross build\n\n## 备注\n- 保留\n```\n# no heading\n```"
	got := digestOf(t, SummaryRequest{Messages: working(), Previous: previous, MaxTokens: 2_000})
	assert.Contains(t, got, digest.Frame+"\n"+previous+"\n## Since then\n- Fix the parser")
	again := digestOf(t, SummaryRequest{Previous: got, MaxTokens: 2_000})
	assert.Contains(t, again, previous)
	assert.NotContains(t, again, "Last said", "there are no later words")
}
