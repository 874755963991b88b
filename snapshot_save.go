package winnow

import (
	"encoding/hex"
	"math"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/meter"
)

// A ledger turned into a snapshot, and the small parts of both back again.

func (u undo) saved() savedState {
	s := savedState{
		StandIn: u.standIn.saved(), TurnStart: u.turnStart.saved(),
		Look: savedEpochSearch{u.epochSearch.at, u.epochSearch.next}, Flushed: u.flushed,
		Checkpoint: u.checkpoint.saved(),
		Guess:      u.guess, BodyGuess: u.body,
	}
	s.Refused, s.Edits, s.Records = hexKeys(u.refused), savedEdits(u.projections), savedRecords(u.records)
	return s
}

func savedEdits(projections map[key]*projection) map[string]savedEdit {
	if len(projections) == 0 {
		return nil
	}
	edits := make(map[string]savedEdit, len(projections))
	for k, p := range projections {
		edits[hex.EncodeToString(k[:])] = p.saved()
	}
	return edits
}

func savedRecords(records []*runRecord) []savedRecord {
	var saved []savedRecord
	for _, r := range records {
		saved = append(saved, savedRecord{
			First: r.first.saved(), Count: r.count, Last: hex.EncodeToString(r.last[:]),
			Run: hex.EncodeToString(r.run[:]), Lean: r.lean,
			Text: []byte(r.message.Parts[0].Text),
		})
	}
	return saved
}

func (p *projection) saved() savedEdit {
	e := savedEdit{Key: hex.EncodeToString(p.key[:]), Tokens: p.tokens, Op: p.op, Reason: p.reason}
	if e.Forms = p.forms; e.Forms == 0 {
		e.Parts = saveParts(p.sent())
	}
	return e
}

func hexKeys(keys []key) []string {
	var texts []string
	for _, k := range keys {
		texts = append(texts, hex.EncodeToString(k[:]))
	}
	return texts
}

func (a *attempt) saved() *savedAttempt {
	if a == nil {
		return nil
	}
	return &savedAttempt{a.before.saved(), a.tokens, a.bytes, a.end.saved()}
}

func (r *recovery) saved() savedRun {
	return savedRun{r.refusals, r.compactions, r.calls, r.truncated}
}

func (s savedRun) recovery() recovery {
	return recovery{
		refusals: max(0, s.Refusals), compactions: max(0, s.Compactions), calls: max(0, s.Calls),
		truncated: s.Truncated,
	}
}

func (c *checkpoint) saved() *savedCheckpoint {
	if c == nil {
		return nil
	}
	return &savedCheckpoint{
		Text: []byte(joinedText(&c.message)), FirstKept: c.firstKept.saved(), Limited: c.limited.saved(),
		Request: c.request.saved(),
		Body:    []byte(c.body), Carried: c.carried, Degraded: c.degraded, Healthy: c.healthy.saved(),
	}
}

func (a *accounting) saved() savedAccounting {
	s := savedAccounting{a.Anchor.Messages, a.Anchor.Estimate, a.Anchor.Prompt, a.Billed, a.Estimated, a.limit,
		a.window}
	if s.Messages == meter.Lost {
		s.Messages = -1
	}
	return s
}

func (s savedAccounting) accounting() accounting {
	a := accounting{Meter: meter.Meter{Anchor: meter.Anchor{Messages: s.Messages, Estimate: max(0, s.Estimate),
		Prompt: max(0, s.Prompt)}}, limit: max(0, s.Limit), window: max(0, s.Window)}
	if s.Messages < 0 {
		a.Anchor.Messages = meter.Lost
	}
	if s.Billed >= 0 && s.Estimated >= 0 { // JSON has no other numbers that are none
		a.Billed, a.Estimated = s.Billed, s.Estimated
	}
	return a
}

func (b breaker) saved() savedBreaker {
	if b.failures == 0 { // what the history had then says nothing
		return savedBreaker{}
	}
	return savedBreaker{b.failures, b.total, b.window}
}

func (s savedBreaker) breaker() breaker {
	// so that no sum runs over
	return breaker{failures: max(0, s.Failures), total: max(math.MinInt32, s.Total), window: s.Window}
}

func (p position) saved() savedPosition {
	if p.key == (key{}) {
		return savedPosition{}
	}
	return savedPosition{hex.EncodeToString(p.key[:]), p.index}
}

func (m *bookmark) saved() savedBookmark {
	s := savedBookmark{savedPosition: m.position.saved(), Count: m.count}
	if m.count > 0 {
		s.Before = hex.EncodeToString(m.before[:])
	}
	if m.after != (key{}) {
		s.After = hex.EncodeToString(m.after[:])
	}
	return s
}

func saveParts(parts []Part) []savedPart {
	saved := make([]savedPart, len(parts))
	for i, p := range parts {
		saved[i] = savedPart{Part: p, Text: []byte(p.Text), Arguments: p.Arguments}
		if !utf8.ValidString(string(p.Kind) + p.Signature + p.ID + p.Name + p.MediaType) {
			saved[i].Raw = &rawPart{[]byte(p.Kind), []byte(p.Signature), []byte(p.ID), []byte(p.Name),
				[]byte(p.MediaType)}
		}
	}
	return saved
}

func partsOf(saved []savedPart) []Part {
	parts := make([]Part, len(saved))
	for i, p := range saved {
		p.Part.Text, p.Part.Arguments = string(p.Text), p.Arguments
		if raw := p.Raw; raw != nil {
			p.Kind, p.Signature, p.ID, p.Name, p.MediaType = Kind(raw.Kind), string(raw.Signature), string(raw.ID),
				string(raw.Name), string(raw.MediaType)
		}
		parts[i] = p.Part
	}
	return parts
}

// head is the snapshot without the keys of what was sent, without edits and records: what does not grow with the
// history.
func (l *ledger) head() snapshot {
	u := l.state()
	u.projections, u.records = nil, nil
	return snapshot{
		Winnow: snapshotVersion, SentAt: l.sentAt, Tokens: l.tokens, Estimate: l.estimate,
		Accounting: l.accounting.saved(),
		Bytes:      l.bytes, Body: l.body, Refusals: l.refusals, DigestAt: l.digestAt, Breaker: l.breaker.saved(),
		Attempt: l.attempt.saved(), Run: l.run.saved(),
		Deltas: l.journal.deltas, Model: l.model, OtherModel: l.otherModel, savedState: u.saved(),
	}
}
