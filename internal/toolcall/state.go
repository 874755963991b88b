package toolcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
)

// Calls that set a state anew, such as a plan, and calls that load instructions: the newest one holds, whatever has
// been done since.

// What a state begins with.
const (
	Plan         = "plan "
	Instructions = "instructions "
	Note         = "note "
)

// The tools with which a model writes notes.
const (
	NoteTool  = "write_note"
	PhaseTool = "end_phase"
	PhaseNote = "end of the last phase" // the name of the note that a call of PhaseTool writes
)

// NoteIn returns the note that a call of one of these tools writes; ok is false for another call. A note without a text
// takes back the one of its name.
func NoteIn(tool string, arguments json.RawMessage) (name, text string, ok bool) {
	var note struct{ Name, Text, Keep string }
	switch {
	case tool != NoteTool && tool != PhaseTool, json.Unmarshal(arguments, &note) != nil:
		return "", "", false
	case tool == PhaseTool:
		return PhaseNote, noteText(note.Keep), true
	}
	name = noteText(runes.OneLine(note.Name))
	return name, noteText(note.Text), name != ""
}

// noteText returns a text as a summary can quote it word for word: with one kind of line end, and no other controls.
func noteText(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.C, r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s))
}

// IsOwn reports whether a state is what the model itself wrote down: a plan or a note.
func IsOwn(state string) bool {
	return strings.HasPrefix(state, Plan) || strings.HasPrefix(state, Note)
}

// State returns what a call sets anew, or "": [Plan] and the name of the tool, [Instructions] and their name, or [Note]
// and its name. A call with the same state replaces what an earlier one said.
func (t *Files) State(tool string, arguments json.RawMessage) string {
	name := baseName(tool)
	if t.notes {
		if name, _, ok := NoteIn(tool, arguments); ok {
			return Note + name
		}
	}
	switch {
	case slices.Contains(t.plans, name):
		return Plan + name
	case slices.Contains(t.skills, name):
		return Instructions + skillName(arguments)
	}
	if !bytes.Contains(arguments, []byte("SKILL.md")) && !bytes.Contains(arguments, []byte(skillFile)) {
		return ""
	}
	for _, path := range t.OfShell(tool, arguments).Read {
		if folder, ok := strings.CutSuffix(strings.ToLower(strings.ReplaceAll(path, `\`, "/")), "/"+skillFile); ok {
			return Instructions + folder[strings.LastIndexByte(folder, '/')+1:]
		}
	}
	return ""
}

// skillFile is the file that holds a skill, in lower case: the open format of Agent Skills.
const skillFile = "skill.md"

// skillName returns the name of the skill that a call loads: what the agents call it, or else all arguments.
func skillName(arguments json.RawMessage) string {
	name := firstText(membersOf(arguments), []string{"skill", "name", "skill_name", "skillName", "id", "command"})
	return runes.Clip(cmp.Or(strings.ToLower(name), mem.String(arguments)), 200)
}

// planItem is one item of a plan, in the words of the common agents.
type planItem struct{ text, status string }

var (
	itemTexts    = []string{"content", "step", "text", "title", "description", "task", "subject", "todo", "name"}
	itemStates   = []string{"status", "state", "done", "completed"}
	finishedWith = []string{"completed", "complete", "done", "finished", "cancelled", "canceled", "skipped", "true",
		"closed"}
)

// Unfinished returns how many items of the plan that a call sets are finished, and the others, a line each. It reads
// lists of objects, and lists in Markdown. Of another plan it returns the arguments as they are, and isList is false.
func Unfinished(arguments json.RawMessage) (text string, isList bool) {
	var value any
	_ = json.Unmarshal(arguments, &value) // what is no JSON is no list
	items := planItems(value, 0)
	if items == nil {
		return mem.String(arguments), false
	}
	var b strings.Builder
	finished := 0
	for _, item := range items {
		if slices.Contains(finishedWith, strings.ToLower(item.status)) {
			finished++
			continue
		}
		b.WriteString("\n- ")
		if item.status != "" && item.status != "false" {
			b.WriteString("[" + item.status + "] ")
		}
		b.WriteString(runes.OneLine(item.text))
	}
	return fmt.Sprintf("(%d finished)", finished) + b.String(), true
}

// mostPlanDepth is how deep a plan lies in its arguments at most.
const mostPlanDepth = 4

// planItems returns the items of the first list of them in value, by the order of the keys, or nil.
func planItems(value any, depth int) (items []planItem) {
	if depth > mostPlanDepth {
		return nil
	}
	switch value := value.(type) {
	case string:
		return markdownItems(value)
	case []any:
		for _, element := range value {
			object, ok := element.(map[string]any)
			if !ok {
				return nil
			}
			item := planItem{memberOf(object, itemTexts), memberOf(object, itemStates)}
			if item.text == "" {
				return nil
			}
			items = append(items, item)
		}
		return items
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if items = planItems(value[key], depth+1); items != nil {
				return items
			}
		}
	}
	return nil
}

// memberOf returns the first member of object that one of the keys names, as text.
func memberOf(object map[string]any, keys []string) string {
	for _, key := range keys {
		switch value := object[key].(type) {
		case string:
			return value
		case bool:
			return fmt.Sprint(value)
		}
	}
	return ""
}

// markdownItems reads a list such as "- [x] done".
func markdownItems(text string) (items []planItem) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+0123456789. ")
		if len(line) < 4 || line[0] != '[' || line[2] != ']' {
			continue
		}
		item := planItem{text: strings.TrimSpace(line[3:])}
		switch line[1] {
		case 'x', 'X':
			item.status = "done"
		case '-', '~', '/':
			item.status = "in progress"
		}
		items = append(items, item)
	}
	return items
}

// mostUnchanged is the longest notice, in bytes, that a file is as it was shown before. Claude Code's has 140.
const mostUnchanged = 320

// SaysUnchanged reports whether text, the result of a call that shows a file, only says that the file is as it was
// shown before: in words, in JSON or as a tag. Sources: Claude Code, Hermes, nanobot and Codewhale.
func SaysUnchanged(text string) bool {
	lower := strings.ToLower(text[:min(len(text), mostUnchanged)]) // its length may differ
	says := func(words string) bool { return strings.Contains(lower, words) }
	return len(text) < mostUnchanged && slices.ContainsFunc(unchanged, says)
}

var unchanged = []string{"unchanged", "not changed", "not been changed", "not modified", "not been modified",
	"no change", "same content", "already shown", "already read", "identical"}
