package winnow

import (
	"math"

	"github.com/winnowgo/winnow/internal/meter"
	"github.com/winnowgo/winnow/internal/saved"
)

// A ledger turned into a snapshot, and the small parts of both back again. On the way back numbers are brought into the
// range that they have in a ledger: whatever stands in a file, no sum runs over and no count is negative.

func (u undoable) saved() saved.State {
	s := saved.State{
		StandIn: u.standIn.saved(), TurnStart: u.turnStart.saved(), Flushed: u.flushed,
		Checkpoint: u.checkpoint.saved(), Guess: u.guess, BodyGuess: u.body,
	}
	s.Look.At, s.Look.Next = u.epochSearch.at, u.epochSearch.next
	s.Refused, s.Edits, s.Records = savedKeys(u.refused), savedEdits(u.projections), savedRecords(u.records)
	return s
}

// savedEdits returns nil for none, so that the field is absent.
func savedEdits(projections map[key]*projection) map[saved.Key]saved.Edit {
	if len(projections) == 0 {
		return nil
	}
	edits := make(map[saved.Key]saved.Edit, len(projections))
	for k, p := range projections {
		edits[saved.Key(k)] = p.saved()
	}
	return edits
}

func savedRecords(records []*runRecord) (list []saved.Record) {
	for _, r := range records {
		list = append(list, saved.Record{
			First: r.first.saved(), Count: r.count, Last: saved.Key(r.last), Run: saved.Key(r.run), Lean: r.lean,
			Text: []byte(r.message.Parts[0].Text),
		})
	}
	return list
}

// saved keeps the parts that are sent, because the text of an edit never changes: not even with the code that made it.
func (p *projection) saved() saved.Edit {
	e := saved.Edit{Key: saved.Key(p.key), Tokens: p.tokens, Op: string(p.op), Reason: p.reason}
	// What code can make again of the message in the history is not stored as a text.
	if e.Forms = p.forms; e.Forms == 0 {
		e.Parts = saveParts(p.sent())
	}
	return e
}

// savedKeys converts, so that the form of a file does not depend on the manager's own types.
func savedKeys(keys []key) (list []saved.Key) {
	for _, k := range keys {
		list = append(list, saved.Key(k))
	}
	return list
}

// saved is nil where no run of Recover is open.
func (a *attempt) saved() *saved.Attempt {
	if a == nil {
		return nil
	}
	return &saved.Attempt{Before: a.before.saved(), Tokens: a.tokens, Bytes: a.bytes, End: a.end.saved()}
}

func (r *recovery) saved() saved.Run {
	return saved.Run{Refusals: r.refusals, Compactions: r.compactions, Calls: r.calls, Truncated: r.truncated}
}

func recoveryOf(s saved.Run) recovery {
	return recovery{
		refusals: max(0, s.Refusals), compactions: max(0, s.Compactions), calls: max(0, s.Calls),
		truncated: s.Truncated,
	}
}

// saved keeps the text as it was sent and, apart from it, the body that the next summary updates: the sections between
// them are made anew from what is carried.
func (c *checkpoint) saved() *saved.Checkpoint {
	if c == nil {
		return nil
	}
	return &saved.Checkpoint{
		Text: []byte(joinedText(&c.message)), FirstKept: c.firstKept.saved(), Limited: c.limited.saved(),
		Request: c.request.saved(),
		Body:    []byte(c.body), Carried: c.carried, Degraded: c.degraded, Healthy: c.healthy.saved(),
	}
}

// saved leaves out what is guessed: that is in the state which a run of Recover can undo.
func (a *accounting) saved() saved.Accounting {
	s := saved.Accounting{
		Messages: a.Anchor.Messages, Estimate: a.Anchor.Estimate, Prompt: a.Anchor.Prompt,
		Billed: a.Billed, Estimated: a.Estimated, Limit: a.limit, Window: a.window,
	}
	// The number stands in snapshots, the constant may change.
	if s.Messages == meter.Lost {
		s.Messages = -1
	}
	return s
}

func accountingOf(s saved.Accounting) accounting {
	a := accounting{Meter: meter.Meter{Anchor: meter.Anchor{Messages: s.Messages, Estimate: max(0, s.Estimate),
		Prompt: max(0, s.Prompt)}}, limit: max(0, s.Limit), window: max(0, s.Window)}
	if s.Messages < 0 {
		a.Anchor.Messages = meter.Lost
	}
	if s.Billed >= 0 && s.Estimated >= 0 { // JSON has no NaN and no infinity
		a.Billed, a.Estimated = s.Billed, s.Estimated
	}
	return a
}

func (b breaker) saved() saved.Breaker {
	if b.failures == 0 { // what the history had then says nothing
		return saved.Breaker{}
	}
	return saved.Breaker{Failures: b.failures, Total: b.total, Window: b.window}
}

func breakerOf(s saved.Breaker) breaker {
	// so that no sum runs over
	return breaker{failures: max(0, s.Failures), total: max(math.MinInt32, s.Total), window: s.Window}
}

func (p position) saved() saved.Position {
	if p.key == (key{}) {
		return saved.Position{}
	}
	return saved.Position{Key: saved.Key(p.key), Index: p.index}
}

func (m *bookmark) saved() saved.Bookmark {
	s := saved.Bookmark{Position: m.position.saved(), Count: m.count}
	s.After = saved.Key(m.after)
	if m.count > 0 {
		s.Before = saved.Key(m.before)
	}
	return s
}

// saveParts leaves out Source, which is the host's own value and found again in its history.
func saveParts(parts []Part) []saved.Part {
	list := make([]saved.Part, len(parts))
	for i := range parts {
		p := &parts[i]
		list[i] = saved.Part{
			Kind: string(p.Kind), Text: []byte(p.Text), Arguments: p.Arguments, Signature: p.Signature, ID: p.ID,
			Name: p.Name, MediaType: p.MediaType, Bytes: p.Bytes, Width: p.Width, Height: p.Height, Tokens: p.Tokens,
		}
		// JSON would put U+FFFD in the place of bytes that are not UTF-8, and an id would be another one.
		list[i].Keep()
	}
	return list
}

// partsOf gives back what saveParts was given, but for Source.
func partsOf(list []saved.Part) []Part {
	parts := make([]Part, len(list))
	for i, p := range list {
		p.Back()
		parts[i] = Part{
			Kind: Kind(p.Kind), Text: string(p.Text), Arguments: p.Arguments, Signature: p.Signature, ID: p.ID,
			Name: p.Name, MediaType: p.MediaType, Bytes: p.Bytes, Width: p.Width, Height: p.Height, Tokens: p.Tokens,
		}
	}
	return parts
}

// head is the snapshot without the keys of what was sent, without edits and records: what does not grow with the
// history.
func (l *ledger) head() saved.Snapshot {
	u := l.state()
	u.projections, u.records = nil, nil // those grow: a delta has only what is new of them
	return saved.Snapshot{
		Winnow: saved.Version, SentAt: l.sentAt, Tokens: l.tokens, Estimate: l.estimate,
		Accounting: l.accounting.saved(),
		Bytes:      l.bytes, Body: l.body, Refusals: l.refusals, DigestAt: l.digestAt, Breaker: l.breaker.saved(),
		Attempt: l.attempt.saved(), Run: l.run.saved(),
		Deltas: l.journal.deltas, Model: l.model, OtherModel: l.otherModel, State: u.saved(),
	}
}
