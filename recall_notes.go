package winnow

import (
	"github.com/winnowgo/winnow/internal/recall"
)

// The notes in placeholders say how to recall what was left out. This file also recognizes the answers of recall.

// handlesOf returns the handles of the messages of a history.
func handlesOf(facts []*fact) *recall.Handles {
	return recall.NewHandles(len(facts), func(i int) [16]byte { return facts[i].key })
}

// recallNote returns the note that says how to recall message i. It is "" if the message cannot be recalled.
func (d *draft) recallNote(i int) string { return d.recallNoteIn(d.items, i) }

// recallNoteIn is recallNote for message i of items, such as those that a record stands for.
func (d *draft) recallNoteIn(items []*item, i int) string {
	if !d.opts.Recall {
		return ""
	}
	k := d.recallable(items[i])
	if k < 0 {
		return ""
	}
	if handle, ok := recalledHandle(&d.history[k]); ok && isRecallAnswer(asOwn(items), i) {
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

// recallable returns the index in the history of x, or -1 if x cannot be recalled.
func (d *draft) recallable(x *item) int {
	if x.index < 0 || d.history[x.index].Role != x.own.Role {
		return -1 // made by the library: a result that stands in has the index of its call
	}
	return x.index
}

// spanNote returns the note behind a summary, which stands for all messages before `first`: that it leaves out details,
// how to recall them, and what else it stands for.
func (d *draft) spanNote(first *item, attachments string) string {
	handle := ""
	if d.opts.Recall {
		handle = recall.SpanHandle(first.fact.key)
	}
	return recall.SpanNote(handle, attachments)
}

// isRecalled reports whether message i is an answer of [Manager.Recall]: a copy of what the history has.
func (d *draft) isRecalled(i int) bool {
	return d.opts.Recall && d.items[i].sent.Role == RoleTool && isRecallAnswer(d.own(), i)
}

// isRecallAnswer reports whether message i is an answer of [Manager.Recall]. A result without a tool name is of the
// tool of its call.
func isRecallAnswer(messages sequence, i int) bool {
	m := messages.at(i)
	if m.Role != RoleTool || len(m.Parts) == 0 {
		return false
	}
	for k := range m.Parts[1:] { // images of what it shows
		if m.Parts[1+k].Kind != KindImage {
			return false
		}
	}
	_, ok := recall.ShownHandle(m.Parts[0].Text)
	return ok && (&answered{messages: messages}).tool(i) == recall.Name
}

// recalledHandle returns the handle that an answer of [Manager.Recall] shows, "" if it shows several messages. ok is
// false if m is no such answer.
func recalledHandle(m *Message) (handle string, ok bool) {
	if m.Role != RoleTool || len(m.Parts) == 0 {
		return "", false
	}
	return recall.ShownHandle(m.Parts[0].Text)
}
