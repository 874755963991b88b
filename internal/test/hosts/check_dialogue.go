package hosts

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// The promise to a host: what people and the agent said to each other, and what the host inserted, stays word for word
// until a summary stands for it. Nothing is folded before the share of the window that the host sets.

// checkDialogue: a message of the dialogue is there as it was, or a summary or the turn limit is the reason.
func (w *world) checkDialogue(in []winnow.Message, r *winnow.Request) {
	at := places(r.Messages)
	for _, e := range r.Edits {
		if e.Before == 0 || e.Index >= len(in) {
			continue
		}
		m := &in[e.Index]
		switch {
		case !isDialogue(m) || w.mayGo(in, e.Index):
		case e.After == 0:
			switch e.Op {
			case winnow.OpCompact, winnow.OpLimit, winnow.OpRepair:
			default:
				w.fail("the dialogue stays", "%s (%s) drops message %d: %s", e.Op, e.Reason, e.Index, show(m))
			}
		case w.damaged: // the library did not write the text
		case len(at[m.ID]) == 1 && m.ID != "" && histories.IsSound(in, e.Index):
			if was, is := words(m), words(&r.Messages[at[m.ID][0]]); !strings.Contains(is, was) {
				w.fail("the dialogue is word for word", "%s (%s) changes message %d: %q was %q", e.Op,
					e.Reason, e.Index, clip(is), clip(was))
			}
		}
	}
}

// checkQuoted: a summary quotes each message of a person that it stands for, word for word, or its edit says that some
// of the words have no room. That is not said of the newest three as long as there would be room.
func (w *world) checkQuoted(in []winnow.Message, r *winnow.Request) {
	if w.damaged {
		return
	}
	quoted := ""
	for i := range r.Messages {
		if r.Messages[i].Summary {
			quoted += letters(saidSection(textOf(&r.Messages[i])))
		}
	}
	gone := map[int]string{} // why
	for _, e := range r.Edits {
		if e.Op == winnow.OpCompact && e.After == 0 && e.Before > 0 && e.Index < len(in) {
			gone[e.Index] = e.Reason
		}
	}
	newest, missing := 0, false // tokens of what people said last and a summary stands for
	for i, n := len(in)-1, 0; i >= 0; i-- {
		m := &in[i]
		isText := letters(textOf(m)) != ""
		if m.Role != winnow.RoleUser || m.Injected || !isDialogue(m) || !isText && !hasAttachment(m) {
			continue
		}
		n++
		reason := gone[i]
		if reason == "" {
			continue
		}
		w.seen["quoted"]++
		isSaid := isText && strings.Contains(reason, "the words have no room")
		if !isSaid && !strings.Contains(quoted, letters(textOf(m))) {
			w.fail("a summary has what people said", "message %d of %d is missing: %s\nin %s\nof %s", i, len(in),
				show(m), clip(quoted), sketch(r.Messages))
		}
		if n <= 3 {
			newest, missing = newest+w.estimate(in[i:i+1]), missing || isSaid
		}
	}
	// After a refusal for bytes there is less room than tokens say, and a later request has the summary as it was made.
	const frame = 100 // tokens around the words
	if missing && r.Compaction != nil && !w.usage && w.options.MaxBytes == 0 && newest+frame < (r.Budget-r.Tokens)/2 {
		w.fail("what people said last stays whole", "%d tokens of it, with %d of %d: %s", newest, r.Tokens, r.Budget,
			sketch(r.Messages))
	}
}

// hasAttachment reports whether m has an image or a file.
func hasAttachment(m *winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool {
		return p.Kind == winnow.KindImage || p.Kind == winnow.KindOpaque
	})
}

// isDialogue reports whether m is of a person or of the host, or an answer that calls nothing. A message of a user with
// the id of a call is a later result of it.
func isDialogue(m *winnow.Message) bool {
	switch m.Role {
	case winnow.RoleUser:
		return !m.Summary && m.ToolCallID == ""
	case winnow.RoleAssistant:
		calls := func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall }
		return !m.Summary && !slices.ContainsFunc(m.Parts, calls)
	}
	return false
}

// mayGo reports whether the host lets message i go: a later text is the same, all that it states was stated later, or
// it is transient and of an older turn.
func (w *world) mayGo(in []winnow.Message, i int) bool {
	m := &in[i]
	if m.Role != winnow.RoleUser || !m.Injected || m.Pinned {
		return false
	}
	stated, isAgain := map[string]bool{}, false
	for k := i + 1; k < len(in); k++ {
		isAgain = isAgain || in[k].Injected && wireForm(&in[k]) == wireForm(m)
		for _, name := range in[k].InForce {
			stated[name] = stated[name] || in[k].Role == winnow.RoleUser
		}
	}
	isOver := len(m.InForce) > 0 && !slices.ContainsFunc(m.InForce, func(name string) bool { return !stated[name] })
	return isAgain || isOver || m.Transient && i < newestRequest(in)
}

// words returns the letters and digits of the texts of m.
func words(m *winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText {
			b.WriteString(letters(p.Text))
		}
	}
	return b.String()
}

// checkSeen: what no answer ever followed is there, whole or cut. If it is not, the edit says so.
func (w *world) checkSeen(in []winnow.Message, r *winnow.Request) {
	newest := len(in) - 1
	for newest >= 0 && (in[newest].Role != winnow.RoleAssistant || histories.Failed(&in[newest])) {
		newest--
	}
	for i := range newest {
		w.answered[in[i].ID] = true // also when the host takes the answer back
	}
	for _, e := range r.Edits {
		isGone := e.After == 0 || e.Op == winnow.OpClear
		if e.Index <= newest || e.Index >= len(in) || e.Before == 0 || e.Op == winnow.OpRepair || !isGone {
			continue
		}
		m := &in[e.Index]
		isSaid := strings.Contains(e.Reason, "the model has not seen it")
		if m.Role != winnow.RoleAssistant && !w.answered[m.ID] && !isSaid {
			w.fail("nothing goes before the model has seen it", "%s (%s) of message %d of %d: %s", e.Op, e.Reason,
				e.Index, len(in), show(m))
		}
	}
}

// checkFloor: below FoldAbove, as long as it was never near that and nothing was refused, only new results are edited.
func (w *world) checkFloor(r *winnow.Request) {
	window := w.window() - w.overhead()
	above := int(max(0, w.options.FoldAbove) * float64(window))
	if w.options.FoldAbove == 0 {
		above = min(40_000, window/5)
	}
	size := w.estimate(r.History) // with the results that a repair adds
	// A request that nearly fills the window may be made to fit.
	w.wasAbove = w.wasAbove || w.usage || w.damaged || w.seen["compaction"] > 0 || size >= above ||
		size+w.overhead() > r.Budget-r.Budget/8 || w.options.MaxBytes > 0
	if w.wasAbove {
		return
	}
	w.seen["below"]++
	for _, e := range r.Edits {
		switch e.Op {
		case winnow.OpFold, winnow.OpClear:
			w.fail("below FoldAbove nothing is folded", "%s (%s) of message %d, at %d of %d tokens", e.Op,
				e.Reason, e.Index, size, above)
		case winnow.OpTrim:
			if w.options.Thinking == "" {
				w.fail("below FoldAbove nothing is trimmed", "%s of message %d, at %d of %d tokens", e.Reason,
					e.Index, size, above)
			}
		}
	}
}
