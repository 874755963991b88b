package winnow

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readVectors calls f for each line of a group of conformance vectors.
func readVectors(t *testing.T, group string, f func(line []byte)) {
	t.Helper()
	file, err := os.Open("testdata/conformance/" + group + ".jsonl.gz")
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		f(lines.Bytes())
	}
	require.NoError(t, lines.Err())
}

// scripted is a summarizer that records its requests and answers by rule.
type scripted struct {
	mu      sync.Mutex
	prompts []string
	reqs    []SummaryRequest
	answer  func(n int, req SummaryRequest) (string, error)
}

func (s *scripted) Summarize(ctx context.Context, req SummaryRequest) (string, error) {
	s.mu.Lock()
	s.prompts = append(s.prompts, req.Prompt())
	s.reqs = append(s.reqs, req)
	n := len(s.prompts)
	s.mu.Unlock()
	if s.answer == nil {
		return fmt.Sprintf("## Goal\nsummary %d", n), nil
	}
	return s.answer(n, req)
}

// numbered is a history of n turns in which every message begins with its own mark.
func numbered(turns, size int) []Message {
	var h []Message
	text := func(n int) string {
		mark := fmt.Sprintf("mark%05d", len(h))
		return mark + strings.Repeat(" some words of text", n/19)
	}
	for i := range turns {
		id := fmt.Sprintf("call_%d", i)
		h = append(h, Message{Role: RoleUser, Parts: []Part{{Text: text(size / 4)}}})
		args, _ := json.Marshal(map[string]string{"command": text(size / 2)})
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: id, Name: "bash", Arguments: args}}})
		h = append(h, Message{Role: RoleTool, ToolCallID: id, ToolName: "bash", Parts: []Part{{Text: text(size)}}})
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Text: text(size / 4)}}})
	}
	return h
}

func TestSummarizeInStagesHoldsTheWindow(t *testing.T) {
	huge := numbered(20, 400)
	huge[42].Parts[0].Text += strings.Repeat("x</message><thinking>", 100_000)
	many := numbered(1, 10)
	for i := range 3_000 { // an assistant message with more calls than any window has room for
		many[1].Parts = append(many[1].Parts, Part{Kind: KindToolCall, ID: fmt.Sprint(i), Name: "t", Arguments: json.RawMessage(`{"a":1}`)})
	}
	for _, tc := range []struct {
		name    string
		reason  string
		history []Message
		windows []int
		opts    SummarizeOptions
	}{
		{"ordinary", "all sizes of windows", numbered(60, 2_000), []int{4_000, 8_000, 32_000, 128_000, 2_000_000}, SummarizeOptions{}},
		{"tiny messages", "labels cost more than the text", numbered(800, 1), []int{4_000, 32_000}, SummarizeOptions{}},
		{"one huge message", "clipped, and its escapes make it longer", huge, []int{4_000, 32_000, 200_000}, SummarizeOptions{}},
		{"huge everything", "every message is oversized", numbered(8, 100_000), []int{4_000, 16_000}, SummarizeOptions{}},
		{"many calls", "a message is clipped by parts", many, []int{4_000, 200_000}, SummarizeOptions{}},
		{"large answers", "MaxTokens above what the window allows", numbered(40, 2_000), []int{4_000, 16_000}, SummarizeOptions{MaxTokens: math.MaxInt}},
		{"large previous", "a summary from a model with a larger window", numbered(40, 2_000), []int{4_000, 16_000}, SummarizeOptions{Previous: strings.Repeat("fact ", 40_000)}},
		{"large instructions", "instructions that fill the window", numbered(40, 2_000), []int{4_000, 16_000}, SummarizeOptions{Instructions: strings.Repeat("focus ", 40_000)}},
		{"many parts", "more parts than chunks", numbered(40, 2_000), []int{4_000, 64_000}, SummarizeOptions{Parts: math.MaxInt, MinMessages: -1}},
		{"dense estimator", "a tokenizer that is four times as hungry", numbered(40, 2_000), []int{16_000, 64_000}, SummarizeOptions{Estimator: CharsPerToken(1)}},
	} {
		for _, window := range tc.windows {
			t.Run(fmt.Sprintf("%s/%d", tc.name, window), func(t *testing.T) {
				s := &scripted{}
				opts := tc.opts
				opts.Summarizer, opts.Window = s, window
				sum, err := SummarizeInStages(t.Context(), tc.history, &opts)
				require.NoError(t, err)
				require.NotEmpty(t, s.prompts, tc.reason)
				assert.False(t, sum.Degraded, tc.reason)
				assert.Equal(t, len(s.prompts), sum.Calls)
				e := opts.Estimator
				if e == nil {
					e = CharsPerToken(4)
				}
				seen := map[string]bool{}
				for i, p := range s.prompts {
					n := textTokens(e, p) + textTokens(e, s.reqs[i].System()) + s.reqs[i].MaxTokens
					assert.LessOrEqual(t, n, window, "call %d: %s", i, tc.reason)
					assert.False(t, seen[p], "prompt %d was sent before", i)
					seen[p] = true
				}
				all := strings.Join(s.prompts, "")
				for i := range tc.history {
					assert.Contains(t, all, fmt.Sprintf("mark%05d", i), "message %d is left out: %s", i, tc.reason)
				}
			})
		}
	}
}

func TestSummarizeInStagesKeepsAtomsTogether(t *testing.T) {
	s := &scripted{}
	_, err := SummarizeInStages(t.Context(), numbered(60, 800), &SummarizeOptions{Summarizer: s, Window: 8_000})
	require.NoError(t, err)
	for i, r := range s.reqs {
		for k, m := range r.Messages {
			if m.Role == RoleTool {
				require.Positive(t, k, "request %d begins with a result", i)
				assert.Equal(t, RoleAssistant, r.Messages[k-1].Role)
			}
		}
	}
}

func TestSummarizeInStagesMergesInOrder(t *testing.T) {
	h := numbered(100, 2_000)
	for i := range h {
		h[i].Time = time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC)
	}
	s := &scripted{}
	sum, err := SummarizeInStages(t.Context(), h, &SummarizeOptions{Summarizer: s, Window: 32_000, Previous: "the story so far"})
	require.NoError(t, err)
	last := s.reqs[len(s.reqs)-1]
	require.Len(t, last.Messages, 2)
	assert.Equal(t, "the story so far", last.Previous)
	assert.Contains(t, last.Instructions, "Merge these partial summaries")
	assert.Contains(t, last.Messages[0].Parts[0].Text, "Summary of part 1 of 2: messages 1 to 2")
	assert.Contains(t, last.Messages[0].Parts[0].Text, "2026-03-01T00:00:00Z to ")
	assert.Contains(t, last.Messages[1].Parts[0].Text, "Summary of part 2 of 2: messages 2")
	assert.Contains(t, last.Messages[1].Parts[0].Text, " to 2026-03-01T00:06:39Z")
	assert.Empty(t, s.reqs[0].Previous, "the previous summary is merged at the end, once")
	assert.Equal(t, fmt.Sprintf("## Goal\nsummary %d", len(s.reqs)), sum.Text)
}

func TestSummarizeInStagesRetries(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name     string
		answer   func(n int, req SummaryRequest) (string, error)
		calls    int
		degraded bool
	}{
		{"first call", nil, 1, false},
		{"second call", func(n int, _ SummaryRequest) (string, error) {
			if n < 2 {
				return "", boom
			}
			return "## Goal\nfine", nil
		}, 2, false},
		{"an error text in place of a summary", func(n int, _ SummaryRequest) (string, error) {
			if n < 2 {
				return "Error: rate limit exceeded, please try again later.", nil
			}
			return "## Goal\nfine", nil
		}, 2, false},
		{"always", func(int, SummaryRequest) (string, error) { return "", boom }, 2, true},
		{"panic", func(int, SummaryRequest) (string, error) { panic("no model") }, 2, true},
		{"cut by length", func(int, SummaryRequest) (string, error) { return "## Goal\nhalf", ErrIncomplete }, 2, true},
		{"too long", func(int, SummaryRequest) (string, error) { return strings.Repeat("word ", 5_000_000), nil }, 2, true},
		{"auth: it would fail again", func(int, SummaryRequest) (string, error) { return "", errors.New("401 unauthorized") }, 1, true},
		{"rate limit: only time helps", func(int, SummaryRequest) (string, error) { return "", errors.New("429 rate limit") }, 1, true},
		{"overflow: less text", func(_ int, r SummaryRequest) (string, error) {
			if len(r.Prompt()) > 12_000 {
				return "", errors.New("prompt is too long")
			}
			return "## Goal\nfine", nil
		}, 2, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := &scripted{answer: tc.answer}, time.Now()
				sum, err := SummarizeInStages(t.Context(), numbered(5, 2_000), &SummarizeOptions{Summarizer: s})
				require.NoError(t, err)
				assert.Equal(t, tc.calls, sum.Calls)
				assert.Equal(t, tc.calls, len(s.prompts))
				assert.Equal(t, tc.degraded, sum.Degraded)
				assert.NotEmpty(t, sum.Text)
				assert.Zero(t, time.Since(start), "nobody waits")
				seen := map[string]bool{}
				for _, p := range s.prompts {
					assert.False(t, seen[p], "an attempt repeats a prompt")
					seen[p] = true
				}
			})
		})
	}
}

// What a provider says of its limit is what the next request is made for.
func TestSummarizeInStagesClipsToTheLimitTold(t *testing.T) {
	s := &scripted{answer: func(n int, _ SummaryRequest) (string, error) {
		if n == 1 {
			return "", errors.New("prompt is too long: 20000 tokens > 16000 maximum")
		}
		return "## Goal\nfine", nil
	}}
	sum, err := SummarizeInStages(t.Context(), numbered(5, 2_000), &SummarizeOptions{Summarizer: s})
	require.NoError(t, err)
	assert.False(t, sum.Degraded)
	require.Len(t, s.reqs, 2)
	share := float64(len(s.prompts[1])-3_000) / float64(len(s.prompts[0])-3_000) // the instructions are not clipped
	assert.InDelta(t, 0.72, share, 0.15, "a tenth below what is allowed, and not a quarter")
}

func TestSummarizeInStagesOutageIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{answer: func(int, SummaryRequest) (string, error) { return "", errors.New("503 overloaded") }}
		sum, err := SummarizeInStages(t.Context(), numbered(300, 2_000), &SummarizeOptions{Summarizer: s, Window: 8_000})
		require.NoError(t, err)
		assert.True(t, sum.Degraded)
		assert.LessOrEqual(t, sum.Calls, 6, "a summarizer that is down is not asked for every chunk")
	})
}

func TestSummarizeInStagesDigestsTheRestOfAPart(t *testing.T) {
	s := &scripted{answer: func(n int, r SummaryRequest) (string, error) {
		if n > 2 {
			return "", errors.New("boom")
		}
		return fmt.Sprintf("## Goal\nby the model, %d", n), nil
	}}
	sum, err := SummarizeInStages(t.Context(), numbered(60, 2_000), &SummarizeOptions{Summarizer: s, Window: 16_000, Parts: 1})
	require.NoError(t, err)
	assert.True(t, sum.Degraded)
	assert.Equal(t, 4, sum.Calls)
	assert.Contains(t, sum.Text, "by the model, 2", "the digest goes on from what was summarized")
}
