package winnow

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/tokencount"
)

func userSays(s string) Message { return Message{Role: RoleUser, Parts: []Part{{Text: s}}} }

func assistantSays(s string, calls ...Part) Message {
	return Message{Role: RoleAssistant, Parts: append([]Part{{Text: s}}, calls...)}
}

func toolCall(id, name, args string) Part {
	return Part{Kind: KindToolCall, ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func resultOf(id, name, text string, failed bool) Message {
	return Message{Role: RoleTool, ToolCallID: id, ToolName: name, IsError: failed, Parts: []Part{{Text: text}}}
}

// working is a short session of a coding agent.
func working() []Message {
	return []Message{
		userSays("Fix the parser in internal/parse/lexer.go.\nNever touch the generated files. Keep it short."),
		assistantSays("I will run the tests.", toolCall("1", "bash", `{"command":"go test ./internal/parse"}`)),
		resultOf("1", "bash", "--- FAIL: TestLexer\n    lexer_test.go:41: unexpected token\nexit code 1", true),
		assistantSays("The problem is that scanNumber reads past the end because the buffer is not checked.",
			toolCall("2", "edit", `{"path":"internal/parse/lexer.go","oldText":"a","newText":"b"}`),
			toolCall("3", "write_file", `{"file_path":"internal/parse/number.go","content":"package parse"}`)),
		resultOf("2", "edit", "ok", false),
		resultOf("3", "write_file", "permission denied", true),
		assistantSays("", toolCall("4", "shell", `{"command":["bash","-lc","go test ./..."]}`)),
		{Role: RoleTool, ToolCallID: "4", ToolName: "shell", Details: json.RawMessage(`{"exitCode":0}`), Parts: []Part{{Text: "ok"}}},
		assistantSays("All tests pass. Next step: the release notes in docs/CHANGES.md."),
	}
}

func digestOf(t testing.TB, r SummaryRequest) string {
	t.Helper()
	text, err := Digest().Summarize(context.Background(), r)
	require.NoError(t, err)
	return text
}

func TestDigestSaysWhatMatters(t *testing.T) {
	got := digestOf(t, SummaryRequest{Messages: working()})
	for _, tc := range []struct{ want, reason string }{
		{digest.Frame + "\n## Goal\n- Fix the parser in internal/parse/lexer.go.\n  Never touch the generated files. Keep it short.\n", "the request verbatim"},
		{"- Last said: All tests pass. Next step: the release notes in docs/CHANGES.md.", "the last words"},
		{"internal/parse/number.go", "names that are likely to be needed again"},
	} {
		assert.Contains(t, got, tc.want, tc.reason)
	}
	injected := Message{Role: RoleUser, Injected: true, Parts: []Part{{Text: "You must always answer in French."}}}
	got = digestOf(t, SummaryRequest{Messages: append(working(), injected)})
	assert.NotContains(t, got, "French", "what the host inserted is no request")
}

func TestDigestIsBounded(t *testing.T) {
	large := numbered(300, 3_000)
	for i := range 2_000 {
		large = append(large, userSays(fmt.Sprintf("You must never use src/module%d/file_%d.go, hash %08x%08x, 必须保留。", i, i, i*7919, i)))
	}
	for _, limit := range []int{-1, 0, 1, 24, 50, 199, 200, 500, 4_000, 16_000, 100_000} {
		got := digestOf(t, SummaryRequest{Messages: large, MaxTokens: limit, Previous: strings.Repeat("- earlier fact_number_one\n", 10_000)})
		most := max(digest.LeastTokens, limit)
		if limit <= 0 {
			most = digest.DefaultTokens
		}
		assert.LessOrEqual(t, tokencount.Cautious(got), most, "limit %d", limit)
		assert.LessOrEqual(t, textTokens(CharsPerToken(4), got), most, "limit %d", limit)
		assert.LessOrEqual(t, len(got), digest.ByteLimit(most), "limit %d", limit)
		assert.NotEmpty(t, got)
		if most >= 500 && most < 20_000 {
			assert.Greater(t, tokencount.Cautious(got), most/2, "limit %d: the room is used", limit)
		}
	}
}

func TestDigestMergesPrevious(t *testing.T) {
	r := SummaryRequest{Messages: working(), MaxTokens: 1_500}
	first := digestOf(t, r)
	text, longest := first, 0
	for i := range 25 {
		text = digestOf(t, SummaryRequest{MaxTokens: 1_500, Previous: text, Messages: []Message{
			userSays(fmt.Sprintf("Now look at step%d/file.go, please.", i)),
			assistantSays("Done.", toolCall("x", "bash", fmt.Sprintf(`{"command":"make step%d"}`, i))),
			resultOf("x", "bash", "exit code 0", false),
		}})
		longest = max(longest, tokencount.Cautious(text))
	}
	assert.LessOrEqual(t, longest, 1_500)
	assert.Contains(t, text, "Fix the parser in internal/parse/lexer.go.", "the first request survives 25 digests")
	assert.Contains(t, text, "Now look at step24/file.go, please.")
	for _, once := range []string{digest.Frame, "## Goal", digest.IdentifiersHeading, "Last said: "} {
		assert.Equal(t, 1, strings.Count(text, once), once)
	}

	again := digestOf(t, SummaryRequest{MaxTokens: 1_500, Previous: first})
	assert.Equal(t, digestOf(t, SummaryRequest{MaxTokens: 1_500, Previous: again}), again, "a digest of a digest alone settles")
}

func TestDigestReadsAModelsSummary(t *testing.T) {
	got := digestOf(t, SummaryRequest{Previous: `## Goal
Ship version 2.4.1.

## Constraints & Preferences
- Ask before deleting.

## Progress
### Done
- [x] Wrote cmd/ship/main.go
### Blocked
- none

## Key Decisions
- **No cgo**: it breaks the cross build

## Critical Context
The build host is build7.example.com:2222.`})
	for _, want := range []string{"Ship version 2.4.1.", "Ask before deleting.", "cmd/ship/main.go", "**No cgo**: it breaks the cross build", "build7.example.com:2222"} {
		assert.Contains(t, got, want)
	}
}

func TestDigestIsDeterministic(t *testing.T) {
	h := numbered(50, 500)
	want := digestOf(t, SummaryRequest{Messages: h, MaxTokens: 900})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 5 {
		got, err := Digest().Summarize(ctx, SummaryRequest{Messages: h, MaxTokens: 900})
		require.NoError(t, err, "it never fails")
		require.Equal(t, want, got)
	}
}

func FuzzDigest(f *testing.F) {
	f.Add("Never do a/b.go\n必须", `{"command":"x"}`, "## Goal\n- a\n  b\nLast said: x", 100)
	f.Add("「", `{"path":"/a//b","input":"*** Update File: x"}`, "- Paths: a/b c/d", 3_000)
	f.Fuzz(func(t *testing.T, text, args, previous string, limit int) {
		limit %= 20_000
		r := SummaryRequest{MaxTokens: limit, Previous: previous, Messages: []Message{
			userSays(text),
			assistantSays(previous, Part{Kind: KindToolCall, ID: "1", Name: "write", Arguments: json.RawMessage(args)}),
			{Role: RoleTool, ToolCallID: "1", IsError: limit%2 == 0, Details: json.RawMessage(args), Parts: []Part{{Text: text + previous}}},
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

func BenchmarkDigest(b *testing.B) {
	line := "2026-03-01 INFO internal/parse/lexer.go:41 request_id=3f2a9c1b served /v1/users in 17ms for user_name\n"
	var h []Message
	for i := range 100 {
		id := fmt.Sprint(i)
		h = append(h, userSays("Look at the log, and never delete it."), assistantSays("I look.", toolCall(id, "bash", `{"command":"cat log"}`)),
			resultOf(id, "bash", strings.Repeat(line, 5<<20/100/len(line)), i%5 == 0))
	}
	b.SetBytes(5 << 20)
	b.ReportAllocs()
	for b.Loop() {
		_ = digester{}.digest(SummaryRequest{Messages: h, MaxTokens: 4_000})
	}
}

func ExampleDigest() {
	text, _ := Digest().Summarize(context.Background(), SummaryRequest{Messages: working()[:3]})
	fmt.Println(text)
	// Output:
	// Written by code, without a model, from what it stands for:
	// ## Goal
	// - Fix the parser in internal/parse/lexer.go.
	//   Never touch the generated files. Keep it short.
	// - Last said: I will run the tests.
	// ## Identifiers
	// - Paths: lexer_test.go
	// - Names: TestLexer
}

// A digest prepares the messages one by one. To copy each message would take an allocation for each.
func TestDigestCopiesNoMessage(t *testing.T) {
	h := []Message{userSays("begin")}
	for len(h) < 4_000 {
		h = append(h, assistantSays("ok"), userSays("yes"))
	}
	allocations := testing.AllocsPerRun(3, func() {
		m, err := New(8_000, nil)
		require.NoError(t, err)
		r, err := m.Prepare(t.Context(), h)
		require.NoError(t, err)
		require.NotNil(t, r.Compaction)
	})
	assert.Less(t, allocations, 0.8*float64(len(h)))
}
