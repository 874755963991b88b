package prompt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

func assemble(t *testing.T, in prompt.Input) *prompt.Assembly {
	a, err := prompt.Assemble(in, &prompt.Options{Window: 200_000, Estimator: winnow.CharsPerToken(4)})
	require.NoError(t, err)
	return a
}

func textOf(m *winnow.Message) string {
	if m == nil {
		return ""
	}
	return m.Parts[0].Text
}

const memory = "# Memory\n\n## One\n\na\nb\nc\n\n## Two\n\nd\n\n## Three\n\ne\n"

// What is told of a change: as much as changed, by section and by line.
func TestChanges(t *testing.T) {
	file := func(text string) prompt.Input {
		return prompt.Input{Files: []prompt.File{{Name: "MEMORY.md", Path: "/w/MEMORY.md", Text: text}}}
	}
	for _, c := range []struct {
		after     string
		has, lack []string
		why       string
	}{
		{memory, nil, nil, "nothing changed"},
		{strings.Replace(memory, "b\n", "B\n", 1), []string{"MEMORY.md (changed)", "## One", "No longer:\nb", "Now:\nB"}, []string{"## Two", "c\n"}, "one line"},
		{memory + "f\n", []string{"## Three", "Now:\nf"}, []string{"No longer", "## One"}, "a line was added"},
		{memory + "\n## Four\n\ng\n", []string{"## Four\n\ng"}, []string{"## One", "## Two"}, "a section was added"},
		{strings.Replace(memory, "## Two\n\nd\n\n", "", 1), []string{"Removed: ## Two"}, []string{"## One", "## Three"}, "a section was removed"},
		{strings.Replace(memory, "## Two", "## Zwei", 1), []string{"## Zwei\n\nd", "Removed: ## Two"}, []string{"## One"}, "a section was renamed"},
	} {
		got := textOf(assemble(t, file(c.after)).Changes(assemble(t, file(memory))))
		assert.Equal(t, len(c.has) == 0, got == "", c.why)
		for _, s := range c.has {
			assert.Contains(t, got, s, c.why)
		}
		for _, s := range c.lack {
			assert.NotContains(t, got, s, c.why)
		}
	}

	gone := textOf(assemble(t, prompt.Input{}).Changes(assemble(t, file(memory))))
	assert.Contains(t, gone, "/w/MEMORY.md\n\nNo longer there.")
	came := assemble(t, file(memory)).Changes(assemble(t, prompt.Input{}))
	assert.Contains(t, textOf(came), "## Three\n\ne", "a file that came is told whole")
	assert.True(t, came.Injected, "the host's, not a person's")
	assert.Equal(t, winnow.RoleUser, came.Role)
}

// A conversation with a manager: the system prompt stays byte for byte while the cache is warm, whatever changes, and
// is taken over when it is cold and at a compaction; after a compaction volatile sections are told again.
func TestConversation(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	summary := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
		return "## Goal\nfine so far", nil
	})
	m, err := winnow.New(12_000, &winnow.Options{Now: func() time.Time { return now }, Summarizer: summary, Estimator: winnow.CharsPerToken(4)})
	require.NoError(t, err)
	var c prompt.Conversation
	var history []winnow.Message
	var told []string
	turn := func(date, note string) (*winnow.Request, *prompt.Assembly) {
		p := assemble(t, prompt.Input{
			Sections: []prompt.Section{{Name: "Identity", Text: "You are careful."}, {Name: "Date", Text: date, Volatile: true}},
			Files:    []prompt.File{{Name: "MEMORY.md", Path: "/w/MEMORY.md", Text: memory + note}},
		})
		update := c.Next(p, m.Cold())
		told = append(told, textOf(update))
		if update != nil {
			history = append(history, *update)
		}
		history = append(history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "What now? " + strings.Repeat("think about it ", 60)}}})
		r, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		sent := c.Sending(r)
		assert.NotContains(t, sent.Text, date, "what is volatile never stands in it")
		history = append(history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: strings.Repeat("An answer. ", 60)}}})
		return r, sent
	}
	_, first := turn("Monday", "")
	assert.Contains(t, told[0], "Monday")
	assert.NotContains(t, told[0], "Memory", "it stands in the system prompt")

	now = now.Add(time.Minute)
	_, sent := turn("Monday", "")
	assert.Same(t, first, sent)
	assert.Empty(t, told[1], "nothing differs")

	now = now.Add(time.Minute)
	_, sent = turn("Tuesday", "- note 1\n")
	assert.Equal(t, first.Text, sent.Text, "the cache is warm")
	assert.Contains(t, told[2], "Tuesday")
	assert.Contains(t, told[2], "- note 1")
	_, _ = turn("Tuesday", "- note 1\n")
	assert.Empty(t, told[3], "it was told")

	now = now.Add(time.Hour)
	_, sent = turn("Tuesday", "- note 1\n- note 2\n")
	assert.Contains(t, sent.Text, "- note 2", "the cache is cold")
	assert.Contains(t, told[4], "replaces all earlier updates of: /w/MEMORY.md", "a message of the history tells of an older text")
	assert.NotContains(t, told[4], "- note 2", "the system prompt says it")

	saved, err := json.Marshal(c)
	require.NoError(t, err)
	var other prompt.Conversation
	require.NoError(t, json.Unmarshal(saved, &other))
	assert.Equal(t, c.Sent.Text, other.Sent.Text)
	c = other // it continues after a restart

	for n := range 200 {
		now = now.Add(time.Minute)
		r, sent := turn("Wednesday", fmt.Sprintf("- note 1\n- note 2\n- note 3\n%s", strings.Repeat("- more\n", n/50)))
		if r.Compaction == nil {
			assert.NotContains(t, sent.Text, "note 3", "not yet")
			continue
		}
		assert.Contains(t, sent.Text, "- note 3", "a compaction takes it over")
		_, again := turn("Wednesday", "- note 1\n- note 2\n- note 3\n")
		assert.Contains(t, told[len(told)-1], "Wednesday", "what was told may be summarized away")
		assert.Equal(t, sent.Text, again.Text)
		return
	}
	t.Fatal("there was no compaction")
}

func TestAssemblyFromJSONRefusesWhatDoesNotFit(t *testing.T) {
	for _, data := range []string{
		`{"blocks":["abc"],"parts":[{"start":0,"end":9}]}`, `{"blocks":["abc"],"parts":[{"start":-1,"end":2}]}`,
		`{"blocks":["abc"],"parts":[{"start":2,"end":1}]}`, `{"blocks":["abc"],"parts":[{"start":0,"end":2,"heading":3}]}`, `{"blocks":1}`,
	} {
		var a prompt.Assembly
		assert.Error(t, json.Unmarshal([]byte(data), &a), data)
	}
}

// A message of the history tells of a text that was taken back since: the system prompt, which shows the first text again,
// must not be overruled by it.
func TestConversationOutdatesWhatItTold(t *testing.T) {
	file := func(text string) *prompt.Assembly {
		return assemble(t, prompt.Input{Files: []prompt.File{{Name: "USER.md", Path: "/w/USER.md", Text: text}}})
	}
	var c prompt.Conversation
	require.Nil(t, c.Next(file("Call her Ann."), true))
	require.Contains(t, textOf(c.Next(file("Call her Bea."), false)), "Bea")
	saved, err := json.Marshal(c)
	require.NoError(t, err)
	c = prompt.Conversation{}
	require.NoError(t, json.Unmarshal(saved, &c))
	update := textOf(c.Next(file("Call her Ann."), true))
	assert.Contains(t, update, "replaces all earlier updates of: /w/USER.md")
	require.Contains(t, c.Sent.Text, "Ann")
	assert.Nil(t, c.Next(file("Call her Ann."), true), "once")
	assert.Nil(t, c.Next(file("Call her Ann."), false), "once")

	var other prompt.Conversation
	require.Nil(t, other.Next(file("Call her Ann."), true))
	assert.Nil(t, other.Next(file("Call her Bea."), true), "nothing was told of it before")
}

// Parts that have one name, or one name once it is cleaned, are told apart by their order.
func TestChangesOfParts(t *testing.T) {
	in := prompt.Input{
		Sections: []prompt.Section{{Name: "Reminder", Text: "Call Ann.", Volatile: true}, {Name: "Reminder", Text: "Call Bea.", Volatile: true}},
		Files: []prompt.File{
			{Name: "A.md", Path: "/w/A.md", Text: "first"}, {Name: "A.md", Path: "/w/A\u200b.md", Text: "second"},
		},
	}
	a := assemble(t, in)
	assert.Nil(t, a.Changes(a), "nothing differs")
	in.Sections[1].Text = "Call Cleo."
	got := textOf(assemble(t, in).Changes(a))
	assert.Contains(t, got, "Cleo")
	assert.NotContains(t, got, "Ann")
	in.Sections = in.Sections[:1]
	assert.Contains(t, textOf(assemble(t, in).Changes(a)), "Reminder\n\nNo longer there.")
}

// A name with invalid UTF-8 is the same after a restart.
func TestChangesBehindARestart(t *testing.T) {
	in := prompt.Input{Sections: []prompt.Section{{Name: "Caf\xe9", Text: "a", Volatile: true}, {Name: "\xff", Text: "b"}}}
	a := assemble(t, in)
	data, err := json.Marshal(a)
	require.NoError(t, err)
	var b prompt.Assembly
	require.NoError(t, json.Unmarshal(data, &b))
	assert.Nil(t, a.Changes(&b))
}
