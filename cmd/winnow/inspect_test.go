package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/agents"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/prompt"
)

// TestInspectFinds: without a file the sessions in the usual places are listed, the newest first, and a number, or an
// answer, chooses one. A directory is a table with a sum.
func TestInspectFinds(t *testing.T) {
	s := newShell(t)
	code, out, errs := s.run("inspect")
	assert.Equal(t, exitProblem, code)
	assert.Empty(t, out)
	assert.Contains(t, errs, "no session of Claude Code, Codex, OpenClaw or pi in its usual place")

	s.fill()
	for i, move := range [][2]string{
		{"claude/5e551011.jsonl", ".claude/projects/-home-me/5e551011.jsonl"},
		{"codex/rollout-1.jsonl", ".codex/sessions/2026/06/01/rollout-1.jsonl"},
		{"openclaw", ".openclaw/agents/main/sessions"},
	} {
		to := filepath.Join(s.dir, move[1])
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.Rename(filepath.Join(s.dir, move[0]), to))
		if !strings.HasSuffix(to, ".jsonl") {
			to = filepath.Join(to, "s1.jsonl")
		}
		at := s.now.Add(time.Duration(i) * time.Hour)
		require.NoError(t, os.Chtimes(to, at, at))
	}
	code, out, _ = s.run("inspect")
	assert.Equal(t, exitOK, code)
	golden(t, "inspect-list", out)

	_, third, _ := s.run("inspect 3")
	_, named, _ := s.run("inspect DIR/.claude/projects/-home-me/5e551011.jsonl")
	assert.Equal(t, named, third)
	s.ask = func(question string) string {
		assert.Contains(t, question, "Which one?")
		return "3"
	}
	_, asked, _ := s.run("inspect")
	assert.True(t, strings.HasSuffix(asked, named), "the list, and the session that was chosen")
	code, _, errs = s.run("inspect 4")
	assert.Equal(t, exitProblem, code)
	assert.Contains(t, errs, "there are 3 sessions")

	code, out, errs = s.run("inspect DIR")
	assert.Equal(t, exitOK, code, errs)
	golden(t, "inspect-table", out)
	code, out, _ = s.run("inspect -json DIR")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, 3, strings.Count(out, "\n"))

	code, out, errs = s.run("inspect 1 -o DIR/page.html")
	assert.Equal(t, exitOK, code)
	assert.Regexp(t, `^written: .*page.html\n$`, out+errs)
	page, err := os.ReadFile(filepath.Join(s.dir, "page.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "<title>s1.jsonl – Winnow inspect</title>")
}

// TestCheck: of a recording that was compacted, and of one that was not.
func TestCheck(t *testing.T) {
	s := newShell(t)
	s.fill()
	english := filepath.Join("..", "..", "examples", "quickstart", "sessions", "english.jsonl.gz")
	data, err := os.ReadFile(english)
	require.NoError(t, err)
	history, err := recording.Read(data)
	require.NoError(t, err)
	file := agents.Write(agents.Claude, history[:50], agents.Options{Compact: true}, rand.New(rand.NewPCG(3, 3)))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "compacted.jsonl"), file.Data, 0o600))
	code, out, errs := s.run("check DIR/compacted.jsonl")
	assert.Equal(t, exitOK, code, errs)
	golden(t, "check", out)
	_, out, _ = s.run("check -json " + english)
	assert.Contains(t, out, `"recorded":false`)
}

// TestReportAddsUp: in any report the parts of what is used add up to it, and their shares to 100 %.
func TestReportAddsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(40, 6))
	number := regexp.MustCompile(`^[0-9,]+$`)
	for range 500 {
		r := &prompt.Report{}
		for range 1 + random.IntN(8) {
			r.History = append(r.History, prompt.KindReport{Kind: "user", Count: 1, Tokens: random.IntN(5_000)})
		}
		r.Tokens.Used = 1 + random.IntN(40_000) // more than the estimates, or less: what was billed corrects them
		tokens, shares := 0, 0
		for _, row := range filledRows(r)[1:] {
			require.Regexp(t, number, row[2])
			n, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
			require.NoError(t, err)
			tokens += n
			if percent, isNumber := strings.CutSuffix(row[3], " %"); isNumber && !strings.HasPrefix(percent, "less") {
				n, err := strconv.Atoi(percent)
				require.NoError(t, err)
				shares += n
			}
		}
		require.Equal(t, r.Tokens.Used, tokens)
		require.Equal(t, 100, shares)
	}
}
