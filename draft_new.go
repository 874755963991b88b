package winnow

import "slices"

// draft takes history through the steps that need no LLM:
//
//  1. index what is new
//  2. repair the pairing of calls and results
//  3. limit turns
//  4. replay what was sent before: checkpoint, records and edits, byte for byte
//  5. minify results that were not sent yet, leave out what earlier ones show, and cut those that are too large
//  6. rewrite what was sent, if that costs nothing, if it pays, or if the request does not fit
//
// It changes nothing in the manager but what is known of the messages. c is the checkpoint to replay.
func (m *Manager) draft(history []Message, c *checkpoint) *draft {
	return newDraft(&m.settings, &m.ledger, history, c, m.ledger.records, map[key]*projection{}).steps()
}

// redraft makes another draft in the same call, for the history of from: with checkpoint c, and with records and
// newEdits that were made already. It takes over what from has learned from the provider's counts.
func (m *Manager) redraft(from *draft, c *checkpoint, records []*runRecord, newEdits map[key]*projection) *draft {
	d := newDraft(&m.settings, &m.ledger, from.history, c, records, newEdits)
	d.isLearned, d.rejected, d.isIndexed = true, from.rejected, true
	d.accounting.TakeOver(&from.accounting, &from.known)
	d.budget = m.ledger.budgetBy(&m.settings, &d.accounting)
	return d.steps()
}

// steps runs the numbered steps in their order: each relies on what the one before it left.
func (d *draft) steps() *draft {
	d.indexAndRepair()
	d.limitAndReplay()
	d.cutUnsent()
	d.rewrite()
	return d
}

// request returns the request as it stands.
func (d *draft) request() *Request {
	v := d.view
	edits := slices.Grow(slices.Clip(d.edits), d.countFolds()+v.countEdited()) // the list is kept, see sharedLists
	edits = d.appendFolds(edits)
	for i, p := range v.edited {
		if p != nil {
			edits = append(edits, p.edit(max(0, v.index[i]), &v.messages[i], v.facts[i]))
		}
	}
	r := &Request{
		Messages: clip(v.messages), History: d.kept, Tokens: d.tokens(), Counts: slices.Clip(v.tokens),
		Budget: d.budget, Bytes: d.bytes(),
		Edits: edits, FirstChanged: d.firstChanged(), Degraded: d.checkpoint != nil && d.checkpoint.degraded,
	}
	d.price(r, d.estimateHistory(len(d.history)), d.prefix(r.FirstChanged))
	return r
}
