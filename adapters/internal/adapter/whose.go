package adapter

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
)

// What agents write in the place of a person, as elements and as beginnings of a text. No structure tells these from
// what people send between tags of their own, so this is a list; docs/proxy.md has it.
var (
	reminderElements = []string{
		"system-reminder", "environment_context", "user_instructions", "permissions instructions", "turn_aborted",
		"subagent_notification", "task-notification", "local-command-stdout", "local-command-stderr",
		"local-command-caveat", "bash-stdout", "bash-stderr", "total_tokens", "info-msg",
	}
	reminderBeginnings = []string{"# AGENTS.md instructions for", interruption}
)

// interruption stands beside results, and before what the person who interrupted wants instead.
const interruption = "[Request interrupted by user"

// IsReminder reports whether an agent wrote a text, and no person: it has nothing beside elements of known names.
func IsReminder(text string) bool {
	found := false
	for {
		text = strings.TrimSpace(text)
		if text == "" {
			return found
		}
		begins := func(name string) bool { return strings.HasPrefix(text, "<"+name+">") }
		at := slices.IndexFunc(reminderElements, begins)
		if at < 0 {
			return slices.ContainsFunc(reminderBeginnings, func(b string) bool { return strings.HasPrefix(text, b) })
		}
		end := "</" + reminderElements[at] + ">"
		i := strings.Index(text, end)
		if i < 0 {
			return false
		}
		text, found = text[i+len(end):], true
	}
}

// NoteWhose marks m, a message in the role of a person, as the agent's if it is: nothing but reminders, or a text that
// stands in one message with results. What follows an interruption there is the person's.
func NoteWhose(m *winnow.Message, besideResults bool) {
	isReminder, isInterrupted := len(m.Parts) > 0, false
	for k := range m.Parts {
		p := &m.Parts[k]
		isReminder = isReminder && p.Kind == winnow.KindText && IsReminder(p.Text)
		isInterrupted = isInterrupted || strings.HasPrefix(p.Text, interruption)
	}
	switch {
	case isReminder:
		m.Injected, m.Transient = true, besideResults
	case besideResults && !isInterrupted:
		m.Injected = true
	}
}

// EnsureImported is [EnsureRequest] for what a host imports. Messages that begin with the model or with a result go on
// from a history that has the request.
func EnsureImported(messages []winnow.Message) {
	for i := range messages {
		switch messages[i].Role {
		case winnow.RoleSystem:
		case winnow.RoleUser:
			EnsureRequest(messages)
			return
		default:
			return
		}
	}
}

// EnsureRequest gives a conversation without a message of a person the newest one that could be: a text beside results
// which is no reminder.
func EnsureRequest(messages []winnow.Message) {
	newest := -1
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role != winnow.RoleUser:
		case !m.Injected:
			return
		case !m.Transient && slices.ContainsFunc(m.Parts, func(p winnow.Part) bool {
			return p.Kind == winnow.KindText && !IsReminder(p.Text)
		}):
			newest = i
		}
	}
	if newest >= 0 {
		messages[newest].Injected = false
	}
}
