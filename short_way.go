package winnow

// shortWay is a request that only goes on from the last one. A manager has one and uses its memory for all such calls,
// so that they allocate nothing.
type shortWay struct {
	draft
	sums  view         // the draft's view: it has no messages, because no old one is read
	tail  *requestTail // of the manager
	added newMessages
}

// newMessages are the messages behind those of the last request.
type newMessages struct {
	sent  []Message     // as they are sent: the history's own, where no edit is made
	edits []*projection // of each; nil: none is edited
	facts []*fact       // of each, as it is in the history
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
