package winnow

import (
	"github.com/winnowgo/winnow/internal/recall"
)

// The notes in placeholders say how to recall what was left out. This file also recognizes the answers of recall.

// handlesOf returns the handles of the messages of a history.
func handlesOf(facts []*fact) *recall.Handles {
	return recall.NewHandles(len(facts), func(i int) [16]byte { return facts[i].key })
}

// recallNote returns the note that says how to recall message i of the view. It is "" if the message cannot be
// recalled.
func (d *draft) recallNote(i int) string { return d.recallNoteIn(d.view, i) }

// recallNoteIn is recallNote for a message of another view of the history.
func (d *draft) recallNoteIn(v *view, i int) string {
	if !d.opts.Recall {
		return ""
	}
	k := d.recallable(v, i)
	if k < 0 {
		return ""
	}
	if handle, ok := recalledHandle(&d.history[k]); ok && isRecallAnswer(v.unedited, i) {
		return recall.Note(handle) // the original, and not this copy of it
	}
	return d.noteOf(k)
}

// noteOf returns the note that says how to recall message k of the history. It is "" if no message can be recalled.
func (d *draft) noteOf(k int) string {
	if !d.opts.Recall {
		return ""
	}
	if d.handles == nil {
		d.handles = handlesOf(d.facts)
	}
	return recall.Note(d.handles.Of(k))
}

// recallable returns the index in the history of message i of v, or -1 if the message cannot be recalled.
func (d *draft) recallable(v *view, i int) int {
	k := v.index[i]
	if k < 0 || d.history[k].Role != v.messages[i].Role {
		return -1 // made by the library: a result that stands in has the index of its call
	}
	return k
}

// spanNote returns the note behind a summary, which stands for all messages before message i of v: that it leaves out
// details, how to recall them, and what else it stands for.
func (d *draft) spanNote(v *view, i int, attachments string) string {
	handle := ""
	if d.opts.Recall {
		handle = recall.SpanHandle(v.facts[i].key)
	}
	return recall.SpanNote(handle, attachments)
}

// isRecalled reports whether message i of the view is an answer of [Manager.Recall]: a copy of what the history has.
func (d *draft) isRecalled(i int) bool {
	v := d.view
	return d.opts.Recall && v.messages[i].Role == RoleTool && isRecallAnswer(v.unedited, i)
}

// isRecallAnswer reports whether messages[i] is an answer of [Manager.Recall]. A result without a tool name is of the
// tool of its call.
func isRecallAnswer(messages []Message, i int) bool {
	m := &messages[i]
	if m.Role != RoleTool || len(m.Parts) == 0 {
		return false
	}
	for k := range m.Parts[1:] { // images of what it shows
		if m.Parts[1+k].Kind != KindImage {
			return false
		}
	}
	_, ok := recall.ShownHandle(m.Parts[0].Text)
	return ok && (&answered{messages: messages[:i+1]}).tool(i) == recall.Name
}

// recalledHandle returns the handle that an answer of [Manager.Recall] shows, "" if it shows several messages. ok is
// false if m is no such answer.
func recalledHandle(m *Message) (handle string, ok bool) {
	if m.Role != RoleTool || len(m.Parts) == 0 {
		return "", false
	}
	return recall.ShownHandle(m.Parts[0].Text)
}
