package winnow

// newMessages are those behind the last request.
type newMessages struct {
	sent  []Message     // as they are sent: the history's own, where no edit is made
	edits []*projection // of each; nil: none is edited
	facts []*fact       // as they are
}

func (n *newMessages) edit(i int) *projection {
	if n.edits == nil {
		return nil
	}
	return n.edits[i]
}

func (n *newMessages) tokens(i int) int {
	if p := n.edit(i); p != nil {
		return p.tokens
	}
	return n.facts[i].tokens
}
