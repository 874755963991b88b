package winnow

import "github.com/winnowgo/winnow/internal/saved"

// A ledger turned into a snapshot.

func (u undoable) saved() saved.State {
	return saved.State{
		Reopened: u.reopened, Apart: u.apart, TurnStart: u.turnStart, Flushed: u.flushed,
		Refused: u.refused, Checkpoint: u.checkpoint.saved(), Guess: u.guess, BodyGuess: u.body,
		Edits: savedEdits(u.projections), Records: savedRecords(u.records),
	}
}

// savedEdits returns nil where there are no edits, so that the field is absent.
func savedEdits(projections map[key]*projection) map[key]saved.Edit {
	if len(projections) == 0 {
		return nil
	}
	edits := make(map[key]saved.Edit, len(projections))
	for k, p := range projections {
		edits[k] = p.saved()
	}
	return edits
}

func savedRecords(records []*runRecord) (list []saved.Record) {
	for _, r := range records {
		list = append(list, saved.Record{
			First: r.first, Count: r.count, Last: r.last, Run: r.run, Bare: r.isBare,
			Text: []byte(r.message.Parts[0].Text),
		})
	}
	return list
}

// saved keeps the parts that are sent: the text of an edit must not change, even if the code that made it does.
func (p *projection) saved() saved.Edit {
	e := saved.Edit{Key: p.key, Op: string(p.op), Reason: p.reason}
	if p.isRepeat() {
		e.Repeats = *p.repeats
	}
	// The text of a projection with forms is not stored: it is made again from the message in the history.
	if e.Forms = p.forms; e.Forms == 0 {
		e.Parts = saveParts(p.sent())
	}
	return e
}

func savedNames(list []*givenNames) (names []saved.Names) {
	for _, n := range list {
		names = append(names, saved.Names{
			Summary: n.key, Plain: n.plain, FirstKept: n.firstKept,
			Before: n.before, Behind: n.behind,
		})
	}
	return names
}

// saved returns nil where no recovery is open.
func (a *recovery) saved() *saved.Recovery {
	if a == nil {
		return nil
	}
	return &saved.Recovery{Before: a.before.saved(), Tokens: a.tokens, Bytes: a.bytes, End: a.end, Ahead: a.ahead}
}

// saved keeps the text as it was sent and, apart from it, the body that the next summary updates. The sections between
// the two are made anew from what is carried.
func (c *checkpoint) saved() *saved.Checkpoint {
	if c == nil {
		return nil
	}
	return &saved.Checkpoint{
		Text: []byte(joinedText(&c.message)), FirstKept: c.firstKept, Limited: c.limited, Request: c.request,
		Front: c.keepsFront, Leads: c.requestLeads,
		Body: []byte(c.body), Carried: c.carried, Degraded: c.degraded, Healthy: c.healthy.saved(),
	}
}

// saveParts leaves out Source: it is the host's own value, and is found again in the host's history.
func saveParts(parts []Part) []saved.Part {
	list := make([]saved.Part, len(parts))
	for i := range parts {
		p := &parts[i]
		list[i] = saved.Part{
			Kind: string(p.Kind), Text: []byte(p.Text), Arguments: p.Arguments, Signature: p.Signature, ID: p.ID,
			Name: p.Name, MediaType: p.MediaType, Bytes: p.Bytes, Width: p.Width, Height: p.Height, Pages: p.Pages,
			Seconds: p.Seconds, Tokens: p.Tokens,
		}
		// JSON would replace bytes that are not UTF-8 with U+FFFD, and so change an id.
		list[i].Keep()
	}
	return list
}

// partsOf returns what saveParts was given, without Source.
func partsOf(list []saved.Part) []Part {
	parts := make([]Part, len(list))
	for i, p := range list {
		p.Back()
		parts[i] = Part{
			Kind: Kind(p.Kind), Text: string(p.Text), Arguments: p.Arguments, Signature: p.Signature, ID: p.ID,
			Name: p.Name, MediaType: p.MediaType, Bytes: p.Bytes, Width: p.Width, Height: p.Height, Pages: p.Pages,
			Seconds: p.Seconds, Tokens: p.Tokens,
		}
	}
	return parts
}

// head returns the part of the snapshot that does not grow with the history: no keys of what was sent, no names of
// calls, no edits and no records.
func (l *ledger) head() saved.Snapshot {
	u := l.state()
	u.projections, u.records = nil, nil // a delta has only those that are new
	return saved.Snapshot{
		Winnow:     saved.Version,
		Request:    saved.Request{SentAt: l.sentAt, Tokens: l.tokens, Estimate: l.estimate, Bytes: l.bytes},
		Accounting: saved.AccountingOf(l.accounting.Meter, l.accounting.Limit, l.accounting.Window),
		Body:       l.body, Refusals: l.refusals, DigestAt: l.digestAt, Breaker: l.breaker.Saved(),
		Recovery: l.recovery.saved(), Tries: l.tries.Tries,
		Deltas: l.journal.deltas, Model: l.model, OtherModel: l.otherModel,
		Window: l.window, State: u.saved(),
	}
}
