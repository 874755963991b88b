package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

func TestCheck(t *testing.T) {
	call := func(ids ...string) winnow.Message {
		m := winnow.Message{Role: winnow.RoleAssistant}
		for _, id := range ids {
			m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "bash"})
		}
		return m
	}
	result := func(id string) winnow.Message { return winnow.Message{Role: winnow.RoleTool, ToolCallID: id} }
	user := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "hi"}}}
	for _, tt := range []struct {
		why      string
		messages []winnow.Message
		want     string // part of the problem; "" for none
	}{
		{"a call and its result", []winnow.Message{user, call("a"), result("a"), user}, ""},
		{"results in any order", []winnow.Message{user, call("a", "b"), result("b"), result("a"), user}, ""},
		{"a call that waits at the end", []winnow.Message{user, call("a", "b"), result("a")}, ""},
		{"a call without result", []winnow.Message{user, call("a", "b"), result("a"), user}, "1 calls before message 4 have no result"},
		{"a result behind another message", []winnow.Message{user, call("a"), user, result("a")}, "1 calls before message 3"},
		{"a result of nothing", []winnow.Message{user, result("a")}, `message 2 is a result of "a"`},
		{"a second result", []winnow.Message{user, call("a"), result("a"), result("a")}, `message 4 is a result of "a"`},
		{"an id used in two turns", []winnow.Message{user, call("a"), result("a"), call("a"), result("a")}, "used twice"},
		{"an id used twice in a message", []winnow.Message{user, call("a", "a"), result("a")}, "used twice"},
	} {
		got := check(tt.messages)
		if tt.want == "" {
			assert.Empty(t, got, tt.why)
		} else {
			assert.Contains(t, got, tt.want, tt.why)
		}
	}
}

func TestSessions(t *testing.T) {
	private := regexp.MustCompile(`(?i)/(work|tmp|root|home|users|usr|private)/|goproxy|proxy\.|registry\.|@[a-z0-9.-]+\.(com|example)`)
	estimator, err := winnow.NewEstimator("")
	require.NoError(t, err)
	tokens := map[string]int{}
	for _, name := range builtin() {
		history, err := load(name)
		require.NoError(t, err)
		turns := 0
		for i, m := range history {
			tokens[name] += estimator.Estimate(m)
			require.False(t, m.Time.IsZero(), "%s, message %d has the time of its recording", name, i)
			if m.Role == winnow.RoleUser {
				turns++
			}
			for _, s := range append(strings.Split(recording.Text(&m), "\n"), arguments(&m)) {
				require.Empty(t, private.FindString(s), "%s, message %d: %s", name, i, s)
			}
		}
		assert.GreaterOrEqual(t, turns, 5, "%s has several turns", name)
		assert.NotEmpty(t, check(history), "%s is as it was recorded: not valid until it is repaired", name)
	}
	assert.Greater(t, tokens["english"], 150_000)
	assert.Greater(t, tokens["chinese"], 20_000)
}

// arguments are those of the calls of m, as JSON.
func arguments(m *winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.Write(p.Arguments)
	}
	return b.String()
}

// What the user and the assistant say in the Chinese session is Chinese.
func TestChineseSession(t *testing.T) {
	history, err := load("chinese")
	require.NoError(t, err)
	han, results := 0, 0
	for i, m := range history {
		n := 0
		for _, r := range recording.Text(&m) {
			if unicode.Is(unicode.Han, r) {
				n++
			}
		}
		switch {
		case m.Role == winnow.RoleTool && n > 100:
			results++
		case m.Role != winnow.RoleTool && recording.Text(&m) != "":
			assert.NotZero(t, n, "message %d: %s", i, recording.Text(&m))
			han += n
		}
	}
	assert.Greater(t, han, 1_500, "characters of what is said")
	assert.GreaterOrEqual(t, results, 5, "results with Chinese text")
}

func TestBar(t *testing.T) {
	q := request{Tokens: 12_000, Budget: 24_000, Fits: true, Shares: shares{Kept: 8_900, Summarized: 2_000, Trimmed: 1_000, Cleared: 10, Cut: 90}}
	assert.Equal(t, "SSct/███████············|        ", bar(&q, 32_000), "a cell for all that is there")
	q = request{Tokens: 24_000, Budget: 24_000, Fits: true, Shares: shares{Kept: 24_000}}
	assert.Equal(t, strings.Repeat("█", 24)+"|        ", bar(&q, 32_000), "full")
	q = request{Tokens: 30_000, Budget: 24_000}
	assert.Equal(t, strings.Repeat("!", 33), bar(&q, 32_000), "too large")
	q = request{Tokens: 3, Budget: 5, Fits: true, Shares: shares{Cleared: 1, Trimmed: 1, Cut: 1}}
	assert.Equal(t, barCells+1, utf8.RuneCountInString(bar(&q, 7)), "a window of seven tokens")
}

func TestFold(t *testing.T) {
	busy := recording.Change{Op: winnow.OpTrim}
	var requests []request
	for i := range 6 {
		q := request{Request: i + 1, Turn: 1 + i/4, Fits: true, Valid: true, appendsOnly: true}
		if i == 2 {
			q.Changes = []recording.Change{busy}
		}
		requests = append(requests, q)
	}
	assert.Equal(t, "1-2 3-3 4-4 5-6", spans(fold(requests, false)), "calm ones together, not beyond a turn")
	assert.Equal(t, "1-1 2-2 3-3 4-4 5-5 6-6", spans(fold(requests, true)), "each")

	requests = nil
	for i := range 200 {
		q := request{Request: i + 1, Turn: 1, Fits: true, Valid: true, Changes: []recording.Change{busy}}
		if i == 100 {
			q.Compaction = &compaction{}
		}
		requests = append(requests, q)
	}
	assert.Equal(t, "1-100 101-101 102-200", spans(fold(requests, false)), "too many lines to read: only compactions stand out")
}

func spans(runs [][]request) string {
	var out []string
	for _, run := range runs {
		out = append(out, fmt.Sprintf("%d-%d", run[0].Request, run[len(run)-1].Request))
	}
	return strings.Join(out, " ")
}
