package winnow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What the model does itself for its memory: notes, and the end of a phase. A note is the model's call of NotesTool
// in the history, which is in force: so it stands where it was written, is in every log, and is quoted by every
// summary.

// NotesTool returns the tool with which a model writes notes under names; the newest note of a name counts. Offer it
// with [ToolOptions].Notes set, and answer its calls with [Manager.TakeNote]. It takes at most 150 tokens.
func NotesTool() Tool {
	return Tool{
		Name: toolcall.NoteTool,
		Description: "Writes a short note that stays when older messages are shortened: the goal, decisions, open " +
			"items, facts. A note replaces the one with the same name; an empty text removes it.",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"text":{"type":"string"}},` +
			`"required":["name","text"]}`),
	}
}

// CompactTool returns the tool with which a model says that a phase of its work is done. The steps before it then
// become records, at no call of a summarizer; notes, pins, plans and what else is in force stay. Offer it with
// [ToolOptions].Notes set, and answer its calls with [Manager.EndPhase]. It takes at most 150 tokens.
func CompactTool() Tool {
	return Tool{
		Name: toolcall.PhaseTool,
		Description: "Says that a phase of the work is done, so that its steps can be shortened. keep is what the " +
			"next phase has to know of it.",
		Schema: json.RawMessage(`{"type":"object","properties":{"keep":{"type":"string"}},"required":["keep"]}`),
	}
}

// Note is a note of the model's.
type Note struct{ Name, Text string }

// Notes returns the notes that are in force at the end of a history, the last written at the end. A note is a call of
// the model's that was not answered with an error, or quoted by a summary of this library.
func Notes(history []Message) (notes []Note) {
	set := func(name, text string) {
		notes = slices.DeleteFunc(notes, func(n Note) bool { return n.Name == name })
		if text != "" {
			notes = append(notes, Note{name, text})
		}
	}
	for i := range history {
		m := &history[i]
		if m.Summary {
			for _, n := range sections.Notes(joinedText(m)) {
				set(n[0], n[1])
			}
		}
		if m.Role != RoleAssistant || !hasCalls(m) {
			continue
		}
		results := resultsBehind(history, i)
		for p := range callsOf(m) {
			name, text, ok := toolcall.NoteIn(p.Name, p.Arguments)
			if r := results[p.ID]; ok && r != nil && !r.IsError && !isMissingResult(r) {
				set(name, text)
			}
		}
	}
	return notes
}

// Bounds of notes. All of them are quoted whole in each summary, so they must not fill it.
const (
	mostNotes     = 32
	mostNoteName  = 64   // bytes
	notesShare    = 0.05 // of the budget, for all notes together
	leastForNotes = 400  // tokens, in a small window too
)

// TakeNote answers a call of [NotesTool]: it returns the result to append to the history, which says how much room is
// left. IsError is set, and the note does not count, if its name is empty or too long, or if there would be more than
// 32 notes, or more than 5 % of the budget in all notes together.
func (m *Manager) TakeNote(history []Message, arguments json.RawMessage) Message {
	name, text, ok := toolcall.NoteIn(toolcall.NoteTool, arguments)
	answer := answerTo(toolcall.NoteTool, history, arguments)
	say := func(failed bool, format string, args ...any) Message {
		answer.IsError, answer.Parts = failed, []Part{{Text: fmt.Sprintf(format, args...)}}
		return answer
	}
	if !ok || len(name) > mostNoteName {
		return say(true, "A note needs a name of at most %d bytes and a text.", mostNoteName)
	}
	room := max(leastForNotes, count.Share(m.window-m.opts.Reserve, notesShare))
	number, used := 0, 0
	for _, n := range append(Notes(history), Note{name, text}) {
		if n.Text != "" && (n.Name != name || n.Text == text) {
			number++
			used = count.Add(used, textTokens(m.opts.Estimator, n.Name+n.Text))
		}
	}
	switch {
	case number > mostNotes:
		return say(true, "There are %d notes already, and no more are kept. Remove one, or change one.", mostNotes)
	case used > room:
		return say(true, "All notes would have %d tokens, and %d is the most. Make them shorter.", used, room)
	case text == "":
		return say(false, "Removed.")
	}
	return say(false, "Noted. %d of %d notes, %d of %d tokens.", number, mostNotes, used, room)
}

// answerTo returns the result of the newest open call of tool with these arguments, without its text.
func answerTo(tool string, history []Message, arguments json.RawMessage) Message {
	id := openCall(history, tool, func(p *Part) bool { return bytes.Equal(p.Arguments, arguments) })
	return Message{Role: RoleTool, ToolName: tool, ToolCallID: id}
}

// leastPhase is the share of the room that the end of a phase has to free: a rewrite for less costs more than it
// saves.
const leastPhase = 0.1

// EndPhase answers a call of [CompactTool]: it returns the result to append to the history. The next request has
// records in place of the steps before the call. IsError is set, and nothing changes, if that would free less than a
// tenth of the room, or if the request is smaller than [Options].FoldAbove. For a summary, call [Manager.Compact]
// afterwards.
func (m *Manager) EndPhase(history []Message, arguments json.RawMessage) Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.begin(history, (*basis).settle).newDraft()
	freed := 0
	for _, p := range newEpoch(d).staleParts(1, holdFile) {
		freed = count.Add(freed, p.saving)
	}
	answer := answerTo(toolcall.PhaseTool, history, arguments)
	text := "Done: records take the place of older steps, and free about %d tokens."
	if answer.IsError = freed < count.Share(d.room(), leastPhase); answer.IsError {
		text = "Not yet: it would free %d tokens, and there is room enough. Go on."
	}
	answer.Parts = []Part{{Text: fmt.Sprintf(text, freed)}}
	return answer
}

// windowLine begins the message of WindowLine.
const windowLine = "[The context window is "

// leastToTell is the share of the budget from which WindowLine says how full the window is: before the next epoch,
// and with room for what the model wants to write down.
const leastToTell = 0.6

// WindowLine returns a line for the model that says how full the window of r, the last request, is and which tools
// help. Append it to the history. It is nil below 60 % of the budget, and where such a line stands in r.
func (m *Manager) WindowLine(r *Request) *Message {
	least := count.Share(r.Budget, leastToTell)
	if r.Tokens < least {
		return nil
	}
	upTo := r.Tokens // of the request, up to message i
	for i := len(r.Messages) - 1; i >= 0 && upTo >= least; i-- {
		if x := &r.Messages[i]; x.Injected && strings.HasPrefix(joinedText(x), windowLine) {
			return nil
		}
		upTo -= r.Counts[i]
	}
	var tools []string
	if t := m.opts.Tools; t != nil && t.Notes {
		tools = append(tools, toolcall.NoteTool+" keeps what must not be lost", toolcall.PhaseTool+" ends a phase")
	}
	if m.opts.Recall {
		tools = append(tools, RecallTool().Name+" shows again what was left out")
	}
	text := fmt.Sprintf("%s%d %% full, and older work will be shortened.", windowLine, r.Tokens*100/max(1, r.Budget))
	if len(tools) > 0 {
		text += " " + strings.Join(tools, "; ") + "."
	}
	return &Message{Role: RoleUser, Injected: true, Transient: true, Parts: []Part{{Text: text + "]"}}}
}
