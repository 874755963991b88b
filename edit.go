package winnow

// Edit describes one change that a stage or the manager made. Index is the position in the stage's input or, for an
// edit of the manager, in the history passed in. Before and After are estimated tokens of that message. After is 0 only
// if the message was removed, and Before is 0 only if it was inserted.
type Edit struct {
	Op     Op     `json:"op"`
	Index  int    `json:"index"`
	ID     string `json:"id,omitempty"` // Message.ID
	Before int    `json:"before"`
	After  int    `json:"after"`
	Reason string `json:"reason"` // for people: why it was done
}

// Op is what an [Edit] did.
type Op string

const (
	OpRepair   Op = "repair"   // pairing repaired: dropped, moved or inserted, or its ids made unique
	OpLimit    Op = "limit"    // turn limit dropped it
	OpTrim     Op = "trim"     // soft trim: head and tail kept
	OpClear    Op = "clear"    // hard clear: placeholder
	OpTruncate Op = "truncate" // oversized result cut
	OpMinify   Op = "minify"   // new result written shorter: see Options.NoMinify
	OpShow     Op = "show"     // a text that a new result points to was left out, and is shown behind it again
	OpFold     Op = "fold"     // removed together with its neighbours, or inserted: the record in their place
	OpCompact  Op = "compact"  // replaced by a summary
)

// clip returns s without room behind its end, so that appending to it never writes into the input's memory.
func clip(s []Message) []Message { return s[:len(s):len(s)] }

// dropEdit is the edit of a message that a stage removed. The stages count four characters as a token.
func dropEdit(op Op, history []Message, i int, reason string) Edit {
	return newDropEdit(op, history, i, charsPerToken(4).Estimate(history[i]), reason)
}

// newDropEdit is dropEdit for a message of known tokens.
func newDropEdit(op Op, history []Message, i, tokens int, reason string) Edit {
	return Edit{Op: op, Index: i, ID: history[i].ID, Before: max(1, tokens), Reason: reason}
}
