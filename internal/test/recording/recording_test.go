package recording_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

func message(role winnow.Role, text string) winnow.Message {
	return winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}}
}

func TestRead(t *testing.T) {
	const line = `{"role":"user","parts":[{"text":"hi"}]}`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(line))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, tt := range []struct{ name, data, problem string }{
		{"lines", line + "\n" + line, ""},
		{"an array", "[" + line + "]", ""},
		{"packed", packed.String(), ""},
		{"half a packed file", packed.String()[:packed.Len()/2], "gzip"},
		{"nothing", "", "no message"},
		{"an empty array", "[]", "no message"},
		{"another thing", "<html>", "syntax"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := recording.Read([]byte(tt.data))
			if tt.problem != "" {
				require.ErrorContains(t, err, tt.problem)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "hi", recording.Text(&h[0]))
		})
	}
}

func TestRequests(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := []winnow.Message{
		message(winnow.RoleAssistant, "An answer that nobody asked for."),
		message(winnow.RoleUser, "One?"), message(winnow.RoleAssistant, "One."),
		message(winnow.RoleUser, "Two?"),
	}
	h[1].Time, h[2].Usage = noon, &winnow.Usage{Input: 5}
	q, err := recording.Requests(h)
	require.NoError(t, err)
	require.Len(t, q, 1, "as many as there are answers: the last question has none")
	assert.Len(t, q[0].History, 2)
	assert.Equal(t, noon, q[0].At)
	assert.NotNil(t, h[2].Usage, "what was passed in is not written to")

	said := func(stop string, u *winnow.Usage) winnow.Message {
		m := message(winnow.RoleAssistant, "text")
		m.StopReason, m.Usage = stop, u
		return m
	}
	none, some := &winnow.Usage{}, &winnow.Usage{Input: 5}
	for _, tt := range []struct {
		said winnow.Message
		want int
		why  string
	}{
		{said("", none), 1, "the host wrote it: others were billed"},
		{said("error", none), 1, "the call failed"},
		{said("aborted", none), 2, "it was stopped, and had begun"},
		{said("stop", nil), 2, "not counted"},
		{said("error", some), 2, "failed and billed"},
	} {
		more := append(h[:3:3], message(winnow.RoleUser, "Two?"), tt.said)
		q, err := recording.Requests(more)
		require.NoError(t, err)
		assert.Len(t, q, tt.want, tt.why)
		assert.Nil(t, q[0].History[1].Usage)
	}
	unbilled := []winnow.Message{h[1], said("", none)}
	q, err = recording.Requests(unbilled)
	require.NoError(t, err)
	assert.Len(t, q, 1, "a host that counts nothing")

	_, err = recording.Requests(h[:1])
	assert.ErrorContains(t, err, "no request")
}

func TestChanges(t *testing.T) {
	var l recording.Ledger
	trim := winnow.Edit{Op: winnow.OpTrim, Index: 3, Before: 100, After: 40, Reason: "old"}
	gone := winnow.Edit{Op: winnow.OpClear, Index: 3, Before: 100, After: 10, Reason: "older"}
	assert.Equal(t, []recording.Change{{Op: winnow.OpTrim, Index: 3, Before: 100, After: 40, Saved: 60, Reason: "old"}}, l.Changes([]winnow.Edit{trim}, 0))
	assert.Empty(t, l.Changes([]winnow.Edit{trim}, 0), "it was done before")
	assert.Equal(t, []recording.Change{{Op: winnow.OpClear, Index: 3, Before: 40, After: 10, Saved: 30, Reason: "older"}}, l.Changes([]winnow.Edit{gone}, 0), "against the request before")
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s, want string
		columns int
		why     string
	}{
		{"abc", "abc", 3, "it fits"},
		{"abcd", "ab…", 3, "the ellipsis takes a column"},
		{"中文字", "中文字", 6, "two columns a character"},
		{"中文字", "中文…", 5, "room for two of them and the ellipsis"},
		{"中文字", "中…", 4, "a character is never cut in two"},
		{"", "", 3, "nothing"},
	} {
		got := recording.Clip(tt.s, tt.columns)
		assert.Equal(t, tt.want, got, tt.why)
		assert.True(t, utf8.ValidString(got), tt.why)
	}
}

func TestComma(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1_000: "1,000", 1_234_567: "1,234,567", -22: "-22", -123: "-123", -1_234: "-1,234"} {
		assert.Equal(t, want, recording.Comma(n))
	}
}

func TestReadOtherForm(t *testing.T) {
	_, err := recording.Read([]byte(`{"role":"user","content":"hi"}` + "\n" + `{"role":"assistant","content":"yes"}`))
	assert.ErrorContains(t, err, `no message has "parts"`, "the form of a chat API: it would be a session of empty messages")
}

// TestGatewayNotesAreNoAnswers: what a gateway says in the model's name, with a usage of nothing, is no request.
func TestGatewayNotesAreNoAnswers(t *testing.T) {
	person := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Hello?"}}}
	says := func(text string, u *winnow.Usage) winnow.Message {
		return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}, Usage: u}
	}
	free, paid := &winnow.Usage{}, &winnow.Usage{Input: 10}
	for _, tt := range []struct {
		name     string
		recorded []winnow.Message
		requests int
	}{
		{"billed answers", []winnow.Message{person, says("yes", paid), says("gateway restarted", free)}, 1},
		{"answers whose usage is not recorded", []winnow.Message{person, says("gateway restarted", free), person, says("yes", nil)}, 1},
		{"answers that are counted as nothing", []winnow.Message{person, says("yes", free), person, says("yes", free)}, 2},
		{"a note behind such an answer", []winnow.Message{person, says("yes", free), says("gateway restarted", free), says("again", free), person, says("yes", free)}, 2},
	} {
		got, err := recording.Requests(tt.recorded)
		require.NoError(t, err, tt.name)
		assert.Len(t, got, tt.requests, tt.name)
	}
}

// TestModel: the model is that of the conversation, though sub-agents in the same file answered more often.
func TestModel(t *testing.T) {
	line := func(id, parent, role, model string, isSide bool) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"isSidechain":%t,"sessionId":"s","cwd":"/w","version":"2","message":`+
			`{"role":%q,"id":%q,"model":%q,"content":"text"}}`+"\n", role, id, parent, isSide, role, id, model)
	}
	s, err := recording.Open([]byte(line("1", "", "user", "", false) + line("2", "1", "assistant", "claude-opus-4-6", false) +
		line("3", "", "user", "", true) + line("4", "3", "assistant", "claude-haiku-4-5", true) + line("5", "4", "assistant", "claude-haiku-4-5", true)))
	require.NoError(t, err)
	assert.Len(t, s.Messages, 2)
	assert.Equal(t, "claude-opus-4-6", s.Model)
}
