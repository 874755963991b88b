package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/stats"
)

// TestBars: intervals lie where their numbers are.
func TestBars(t *testing.T) {
	e := stats.Estimate{Mean: 0.1, Low: -0.1, High: 0.3}
	assert.Equal(t, bar{40, 40, 60, 50}, difference(e))
	assert.Equal(t, bar{0, 100, 100, 50}, difference(stats.Estimate{Mean: 0.9, Low: -1, High: 1}), "it ends at 50 points")
	assert.Equal(t, bar{25, 50, 50, -1}, share(stats.Estimate{Mean: 0.5, Low: 0.25, High: 0.75}))
}

// TestDisagreement: a reader sees what each did, and what stood in place of what, as text whatever it holds.
func TestDisagreement(t *testing.T) {
	says := func(role winnow.Role, text string) winnow.Message {
		return winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}, Usage: &winnow.Usage{Input: 1}}
	}
	calls := func(page string) *trial.Reply {
		m := says(winnow.RoleAssistant, "I fetch <b>"+page+"</b>.")
		m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindToolCall, Name: "fetch", Arguments: []byte(`{"page":"` + page + `"}`)})
		return &trial.Reply{Answer: ask.Answer{Message: m}}
	}
	history := []winnow.Message{says(winnow.RoleUser, "Go on.\nPlease."), says(winnow.RoleAssistant, "An old step."),
		says(winnow.RoleUser, "And?"), says(winnow.RoleAssistant, "A newer step."), says(winnow.RoleUser, "And?")}
	q := &questions.Question{ID: "dir/s.jsonl:7", Session: "s", History: history, Whole: history, Next: says(winnow.RoleAssistant, "As recorded."),
		Short: []winnow.Message{history[0], says(winnow.RoleUser, "[Record of 2 earlier messages]"), history[3], history[4]}, Edits: []winnow.Edit{{Op: winnow.OpFold, Index: 1}}}
	r := &trial.Result{Question: q, Replies: map[string]*trial.Reply{trial.Whole: calls("1"), trial.WholeAgain: calls("1"), trial.Short: calls("2")}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, Input{Report: trial.NewReport(t.Context(), []*trial.Result{r}, 1, 1), Model: "m<i>", Host: "h",
		Found: questions.Found{Left: questions.Left{Images: 2}}}))
	page := b.String()
	for _, want := range []string{"1 disagreement<", "s.jsonl:7", "fetch 2", "&lt;b&gt;1&lt;/b&gt;", "As recorded.", "1, assistant: folded", "An old step.",
		"[Record of 2 earlier messages]", "1, user, for 1 to 2 of the history", "not answered", "2 images, for each of which a line stands", "m&lt;i&gt;"} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "Go on.", "what both have is no difference")
	assert.Equal(t, 0, strings.Count(page, "<script"))
	assert.Equal(t, "a\nb", clip(" a\r\nb\n"), "lines stay lines")
}
