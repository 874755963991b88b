package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// fetching writes sessions of an agent that fetches page after page, so that records take the place of old ones.
func (s *shell) fetching(sessions int) {
	require.NoError(s.t, os.MkdirAll(filepath.Join(s.dir, "rec"), 0o755))
	for n := range sessions {
		history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: fmt.Sprintf("Fetch all pages of book %d, please.", n)}}}}
		for i := range 30 {
			id := fmt.Sprint("call", i)
			history = append(history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: id,
				Name: "fetch", Arguments: json.RawMessage(fmt.Sprintf(`{"page":"%d-%d"}`, n, i))}}})
			history = append(history, winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "fetch", Parts: []winnow.Part{{
				Text: strings.Repeat(fmt.Sprintf("page %d of book %d is as it was\n", i, n), 120)}}})
		}
		history = append(history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "Done."}}})
		var lines []string
		for _, m := range history {
			b, err := json.Marshal(m)
			require.NoError(s.t, err)
			lines = append(lines, string(b))
		}
		name := filepath.Join(s.dir, "rec", fmt.Sprint("s", n, ".jsonl"))
		require.NoError(s.t, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
}

// TestTrial: from sessions in a directory to figures, a page and a log, against a provider of one's own with a price.
func TestTrial(t *testing.T) {
	p := provider.New(provider.Options{Model: func(r *provider.Request) provider.Answer {
		if strings.HasPrefix(r.Last().Text, "Do not call") || !strings.Contains(r.Messages[0].Text, "book 3,") {
			return provider.Answer{Text: "Done."}
		}
		return provider.Answer{Text: fmt.Sprintf("It has %d messages. <script>alert(1)</script>", len(r.Messages)), Calls: []provider.ToolCall{{
			Name: "fetch", Arguments: json.RawMessage(fmt.Sprintf(`{"page":"%d"}`, len(r.Messages)))}}}
	}})
	server := httptest.NewServer(p)
	defer server.Close()
	t.Setenv("MY_KEY", "sk-secret-of-the-test")
	s := newShell(t)
	s.fetching(10)
	line := "trial DIR/rec -model m-1 -to " + server.URL + " -key MY_KEY -window 60000 -n 10 -log DIR/t.jsonl"

	code, _, errs := s.run(line)
	assert.Equal(t, exitProblem, code)
	assert.Contains(t, errs, "the price of m-1 is not known: -price 3,15")
	line += " -price 3,15,0.3"
	code, _, errs = s.run(line)
	assert.Equal(t, exitProblem, code)
	assert.Contains(t, errs, "nothing was sent; -yes spends the money without asking")
	assert.Contains(t, errs, "10 questions of 10 sessions to m-1 at 127.0.0.1")
	var asked []string
	s.ask = func(q string) string { asked = append(asked, q); return "" }
	code, _, _ = s.run(line)
	assert.Equal(t, exitOK, code, "no is the default")
	assert.Equal(t, []string{"Go on? [y/N] "}, asked)
	assert.Empty(t, p.Exchanges(), "nothing was sent so far")

	code, out, errs := s.run(line + " -yes -o DIR/t.html")
	assert.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, "10 questions of 10 sessions")
	assert.Contains(t, out, "Winnow's request, the next step: It is at most ")
	assert.Contains(t, errs, "10 of 10 questions, $")
	sent := len(p.Exchanges())
	page, err := os.ReadFile(filepath.Join(s.dir, "t.html"))
	require.NoError(t, err)
	for _, want := range []string{"1 disagreement<", "&lt;script&gt;alert(1)", "[Record of ", "127.0.0.1"} {
		assert.Contains(t, string(page), want)
	}
	for _, never := range []string{"<script", "src=", "href=", "url(", "sk-secret"} {
		assert.NotContains(t, string(page), never, "it asks the network for nothing, and has no key")
	}
	log, err := os.ReadFile(filepath.Join(s.dir, "t.jsonl"))
	require.NoError(t, err)
	assert.NotContains(t, string(log), "sk-secret")

	_, again, errs := s.run(line + " -yes")
	assert.Contains(t, errs, "10 have been asked, for $")
	assert.Contains(t, errs, "0 cost about $0.000.")
	assert.Equal(t, strings.Split(out, "written: ")[0], again, "the log has all answers")
	assert.Len(t, p.Exchanges(), sent)
	code, out, _ = s.run(line + " -yes -json")
	assert.Equal(t, exitOK, code)
	var report struct{ Questions int }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.Equal(t, 10, report.Questions)
}

// TestTrialRefused: what a user may have wrong is said before anything is sent, and what goes wrong then, with it.
func TestTrialRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no such model", http.StatusNotFound)
	}))
	defer server.Close()
	t.Setenv("ANTHROPIC_API_KEY", "")
	s := newShell(t)
	s.fetching(2)
	s.fill()
	for _, tt := range []struct{ line, want string }{
		{"trial DIR/rec", "-model says which model"},
		{"trial -model m -to http://localhost:1 -price 3,15", "there is no session there"},
		{"trial DIR/rec -model claude-sonnet-4-5", "the environment has no ANTHROPIC_API_KEY"},
		{"trial DIR/rec -model zeta-1", "-to says its address"},
		{"trial DIR/rec -model m -to localhost:1", "want an address"},
		{"trial DIR/rec -model m -to http://localhost:1 -price 3", "want two to four prices"},
		{"trial DIR/rec -model m -to http://localhost:1 -price 3,x", "want dollars for a million tokens"},
		{"trial DIR/rec -model m -to http://localhost:1 -price 3,15 -budget 0", "want a positive number"},
		{"trial DIR/none -model m -to http://localhost:1 -price 3,15", "no such file"},
		{"trial DIR/claude -model m -to http://localhost:1 -price 3,15 -log DIR/x.jsonl", "there is nothing to ask"},
		{"trial DIR/rec -model m -window 60000 -to " + server.URL + " -price 3,15 -yes -log DIR/x.jsonl", "refused with status 404: no such model; the same command goes on"},
		{"trial DIR/rec -model m -window 60000 -to http://127.0.0.1:1 -price 3,15 -yes -log DIR/y.jsonl", "connection refused"}, // at once
		{"trial DIR/rec DIR/claude -model m -window 60000 -to http://127.0.0.1:1 -price 3,15 -api messages -log DIR/y.jsonl",
			"1 session without a question: nothing is left out"}, // nothing was asked before: the log is made anew
	} {
		code, _, errs := s.run(tt.line)
		assert.Equal(t, exitProblem, code, tt.line)
		assert.Contains(t, errs, tt.want, tt.line)
	}
}

// TestTrialEstimate: what is left is said to cost what the answers so far were billed, not what was expected of them.
func TestTrialEstimate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":100000,"completion_tokens":10}}`))
	}))
	defer server.Close()
	s := newShell(t)
	s.fetching(2)
	line := "trial DIR/rec -model m -window 60000 -to " + server.URL + " -price 3,15,0.3 -n 2 -log DIR/t.jsonl"
	said := regexp.MustCompile(`1 have been asked, for \$([\d.]+)\. 1 cost about \$([\d.]+)`)
	code, _, errs := s.run(line + " -budget 1 -yes")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "The budget of $1.00 is spent.")
	_, _, errs = s.run(line)
	m := said.FindStringSubmatch(errs)
	require.NotNil(t, m, errs)
	var spent, ahead float64
	_, err := fmt.Sscan(m[1]+" "+m[2], &spent, &ahead)
	require.NoError(t, err)
	assert.Greater(t, spent, 1.0)
	assert.Greater(t, ahead, spent/4, "what was expected is some cents")
}
