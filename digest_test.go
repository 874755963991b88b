package winnow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// working is a short session of a coding agent.
func working() []winnow.Message {
	return []winnow.Message{
		userSays("Fix the parser in internal/parse/lexer.go.\nNever touch the generated files. Keep it short."),
		modelSends(textPart("I will run the tests."), callWith("1", "bash", `{"command":"go test ./internal/parse"}`)),
		erroneous(toolOf("1", "bash", "--- FAIL: TestLexer\n    lexer_test.go:41: unexpected token\nexit code 1")),
		modelSends(textPart("The problem is that scanNumber reads past the end because the buffer is not checked."),
			callWith("2", "edit", `{"path":"internal/parse/lexer.go","oldText":"a","newText":"b"}`),
			callWith("3", "write_file", `{"file_path":"internal/parse/number.go","content":"package parse"}`)),
		toolOf("2", "edit", "ok"),
		erroneous(toolOf("3", "write_file", "permission denied")),
		modelSends(callWith("4", "shell", `{"command":["bash","-lc","go test ./..."]}`)),
		{Role: winnow.RoleTool, ToolCallID: "4", ToolName: "shell", Details: json.RawMessage(`{"exitCode":0}`), Parts: []winnow.Part{{Text: "ok"}}},
		modelSays("All tests pass. Next step: the release notes in docs/CHANGES.md."),
	}
}

func digestOf(t testing.TB, r winnow.SummaryRequest) string {
	t.Helper()
	text, err := winnow.Digest().Summarize(context.Background(), r)
	require.NoError(t, err)
	return text
}

func TestDigestSaysWhatMatters(t *testing.T) {
	got := digestOf(t, winnow.SummaryRequest{Messages: working()})
	for _, tc := range []struct{ want, reason string }{
		{"person (2 lines):\nFix the parser in internal/parse/lexer.go.\nNever touch the generated files. Keep it short.\n</people-said>\n" + digest.Frame + "\n", "the request verbatim"},
		{"- Last said: All tests pass. Next step: the release notes in docs/CHANGES.md.", "the last words"},
		{"internal/parse/number.go", "names that are likely to be needed again"},
	} {
		assert.Contains(t, got, tc.want, tc.reason)
	}
	injected := winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "You must always answer in French."}}}
	got = digestOf(t, winnow.SummaryRequest{Messages: append(working(), injected)})
	assert.NotContains(t, got, "French", "what the host inserted is no request")
}

func TestDigestIsBounded(t *testing.T) {
	large := agentSession(300, 3_000)
	for i := range 2_000 {
		large = append(large, userSays(fmt.Sprintf("You must never use src/module%d/file_%d.go, hash %08x%08x, 必须保留。", i, i, i*7919, i)))
	}
	for _, limit := range []int{-1, 0, 1, 24, 50, 199, 200, 500, 4_000, 16_000, 100_000} {
		got := digestOf(t, winnow.SummaryRequest{Messages: large, MaxTokens: limit, Previous: strings.Repeat("- earlier fact_number_one\n", 10_000)})
		most := max(digest.LeastTokens, limit)
		if limit <= 0 {
			most = digest.DefaultTokens
		}
		assert.LessOrEqual(t, tokencount.Cautious(got), most, "limit %d", limit)
		assert.LessOrEqual(t, winnow.CharsPerToken(4).Estimate(userSays(got)), most, "limit %d", limit)
		assert.NotEmpty(t, got)
		if most >= 500 && most < 20_000 {
			assert.Greater(t, tokencount.Cautious(got), most/2, "limit %d: the room is used", limit)
		}
	}
}

func TestDigestMergesPrevious(t *testing.T) {
	r := winnow.SummaryRequest{Messages: working(), MaxTokens: 1_500}
	first := digestOf(t, r)
	text, longest := first, 0
	for i := range 25 {
		text = digestOf(t, winnow.SummaryRequest{MaxTokens: 1_500, Previous: text, Messages: []winnow.Message{
			userSays(fmt.Sprintf("Now look at step%d/file.go, please.", i)),
			modelSends(textPart("Done."), callWith("x", "bash", fmt.Sprintf(`{"command":"make step%d"}`, i))),
			toolOf("x", "bash", "exit code 0"),
		}})
		longest = max(longest, tokencount.Cautious(text))
	}
	assert.LessOrEqual(t, longest, 1_500)
	assert.Contains(t, text, "internal/parse/number.go", "a name survives 25 digests")
	assert.Contains(t, text, "Now look at step24/file.go, please.")
	for _, once := range []string{digest.Frame, "<people-said>", digest.IdentifiersHeading, "Last said: "} {
		assert.Equal(t, 1, strings.Count(text, once), once)
	}

	again := digestOf(t, winnow.SummaryRequest{MaxTokens: 1_500, Previous: first})
	assert.Equal(t, digestOf(t, winnow.SummaryRequest{MaxTokens: 1_500, Previous: again}), again, "a digest of a digest alone settles")
}

func FuzzDigest(f *testing.F) {
	f.Add("Never do a/b.go\n必须", `{"command":"x"}`, "## Goal\n- a\n  b\nLast said: x", 100)
	f.Add("「", `{"path":"/a//b","input":"*** Update File: x"}`, "- Paths: a/b c/d", 3_000)
	f.Fuzz(func(t *testing.T, text, args, previous string, limit int) {
		limit %= 20_000
		r := winnow.SummaryRequest{MaxTokens: limit, Previous: previous, Messages: []winnow.Message{
			userSays(text),
			modelSends(textPart(previous), callWith("1", "write", args)),
			{Role: winnow.RoleTool, ToolCallID: "1", IsError: limit%2 == 0, Details: json.RawMessage(args), Parts: []winnow.Part{{Text: text + previous}}},
		}}
		got := digestOf(t, r)
		require.True(t, utf8.ValidString(got))
		require.NotEmpty(t, got)
		if limit > 0 {
			require.LessOrEqual(t, tokencount.Cautious(got), max(digest.LeastTokens, limit))
			require.LessOrEqual(t, len(got), 64<<10+4*limit)
		}
		require.Equal(t, got, digestOf(t, r))
	})
}

func ExampleDigest() {
	text, _ := winnow.Digest().Summarize(context.Background(), winnow.SummaryRequest{Messages: working()[:3]})
	fmt.Println(text)
	// Output:
	// <people-said>
	// What people said, word for word, oldest first. An agent line is the end of what was answered to it.
	// person (2 lines):
	// Fix the parser in internal/parse/lexer.go.
	// Never touch the generated files. Keep it short.
	// </people-said>
	// Written by code, without a model, from what it stands for:
	// - Last said: I will run the tests.
	//
	// ## Identifiers
	// - Paths: lexer_test.go
	// - Names: TestLexer
}

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
	news := append(agentSession(300, 3_000), working()...)
	for _, tt := range previousSummaries {
		t.Run(tt.name, func(t *testing.T) {
			previous := factList(tt.heading, tt.line, facts)
			if tt.heading == "" {
				previous = strings.ReplaceAll(strings.TrimPrefix(previous, "## Goal\n"), "\n", "")
			}
			size := tokencount.Cautious(previous)
			got := digestOf(t, winnow.SummaryRequest{Messages: news, Previous: previous, MaxTokens: 2*size + 150})
			assert.Equal(t, facts, countFacts(got, tt.fact, facts), "it is whole up to half of the room")
			assert.Contains(t, got, "Ship the billing service.")
			assert.Contains(t, got, "Never touch the generated files.", "and what is new stands beside it")
			assert.LessOrEqual(t, tokencount.Cautious(got), 2*size+150)
			got = digestOf(t, winnow.SummaryRequest{Messages: news, Previous: previous, MaxTokens: size})
			assert.Greater(t, countFacts(got, tt.fact, facts), facts*2/5, "half of it in half of the room, and none of them cut in two")
			assert.LessOrEqual(t, tokencount.Cautious(got), size)
		})
	}
}

// What an earlier summary says stays as it stands, but for the lines that only a digest writes.
func TestDigestQuotesThePreviousSummary(t *testing.T) {
	previous := "So far:\nall is well.\n\n## Key Decisions\n- **No cgo**: it breaks the cross build\n\n## 备注\n- 保留\n```\n# no heading\n```"
	got := digestOf(t, winnow.SummaryRequest{Messages: working(), Previous: previous, MaxTokens: 2_000})
	assert.Contains(t, got, digest.Frame+"\n"+previous+"\n## Since then\n- Last said: ")
	again := digestOf(t, winnow.SummaryRequest{Previous: got, MaxTokens: 2_000})
	assert.Contains(t, again, previous)
	assert.NotContains(t, again, "Last said", "there are no later words")
}

// identifiersOf returns the identifiers of messages, or of those of the assistant alone.
func identifiersOf(messages []winnow.Message, answers bool) map[string]bool {
	set := make(map[string]bool)
	add := func(id string, _ identifier.Kind) { set[id] = true }
	for _, m := range messages {
		if answers && m.Role != winnow.RoleAssistant {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind == winnow.KindText || p.Kind == winnow.KindToolCall {
				identifier.Scan(p.Text, add)
				identifier.Scan(string(p.Arguments), add)
			}
		}
	}
	return set
}

// A digest of the first part of a recorded session holds most of the identifiers that the assistant uses again later.
func TestDigestKeepsIdentifiers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a third of the recorded sessions")
	}
	type split struct {
		older []winnow.Message
		again []string // identifiers
	}
	var splits []split
	for _, path := range recordedFiles(t, times.Every(18)) {
		messages := readRecorded(t, path)
		for _, cut := range []int{len(messages) / 2, len(messages) * 7 / 10} {
			s := split{older: messages[:cut]}
			if estimateAll(winnow.CharsPerToken(4), s.older) < 20_000 {
				continue
			}
			had := identifiersOf(s.older, false)
			for id := range identifiersOf(messages[cut:], true) {
				if had[id] {
					s.again = append(s.again, id)
				}
			}
			splits = append(splits, s)
		}
	}
	for _, tc := range []struct {
		count     string
		estimator winnow.Estimator // counts what is compacted; the digest counts itself, and cautiously
		reduction int
		least     float64 // per cent of what the assistant uses again
	}{
		{"the manager's estimator", estimatorOf(t, ""), 20, 96},
		{"chars/4", winnow.CharsPerToken(4), 10, 99},
		// where there is little room, people's newest words take theirs first
		{"chars/4", winnow.CharsPerToken(4), 20, 93},
		{"chars/4", winnow.CharsPerToken(4), 40, 77},
	} {
		used, kept := 0, 0
		for _, s := range splits {
			text := digestOf(t, winnow.SummaryRequest{Messages: s.older, MaxTokens: estimateAll(tc.estimator, s.older) / tc.reduction})
			for _, id := range s.again {
				if used++; strings.Contains(text, id) {
					kept++
				}
			}
		}
		share := 100 * float64(kept) / float64(used)
		t.Logf("%d:1 by %s, %d splits: the assistant uses %d identifiers again, kept %.1f %%", tc.reduction, tc.count, len(splits), used, share)
		slack := 2.0 // the shares of a third of the sessions differ by that from those of all
		if *allRecorded {
			slack = 0
		}
		assert.GreaterOrEqual(t, share, tc.least-slack)
	}
}
