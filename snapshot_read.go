package winnow

import (
	"errors"
	"slices"

	"github.com/winnowgo/winnow/internal/saved"
)

// A snapshot turned into a ledger. A snapshot comes from a disk, so nothing in it is trusted. What no ledger can hold
// is an error. Numbers are brought into the range that they have in a ledger, so that no sum overflows and no count is
// negative.

// reader reads the parts of a snapshot and collects what is wrong with them.
type reader struct {
	errs   []error
	hasher hasher
}

// keys returns list, and notes an error if one of its keys is zero.
func (r *reader) keys(list []key) []key {
	if slices.Contains(list, key{}) {
		r.errs = append(r.errs, errors.New("a message has no key"))
	}
	return list
}

// checkpoint returns nil where c is nil or refused.
func (r *reader) checkpoint(c *saved.Checkpoint) *checkpoint {
	if c == nil {
		return nil
	}
	if err := c.Check(); err != nil {
		r.errs = append(r.errs, err)
		return nil
	}
	cp := &checkpoint{
		message:  Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: string(c.Text)}}},
		boundary: boundary{c.FirstKept.Within(), c.Request.Within(), c.Limited.Within(), c.Front, c.Leads},
		body:     string(c.Body), carried: c.Carried.Within(), degraded: c.Degraded,
		healthy: r.checkpoint(c.Healthy),
	}
	// The keys are not stored: they follow from the text, and stored ones could only contradict that.
	cp.summaryKeys = r.hasher.summaryKeys(&cp.message)
	return cp
}

// checkEdit returns an error if e, in the place of message k, would make a request that providers refuse, or would
// report wrongly what was done.
func checkEdit(k key, e *saved.Edit) error {
	if k == (key{}) || e.Key == (key{}) {
		return errors.New("an edit does not say of which message it is")
	}
	if len(e.Parts) == 0 && e.Forms == 0 {
		return errors.New("an edit is empty")
	}
	if !saysWhat(e) || e.Reason == "" {
		return errors.New("an edit does not say what it did")
	}
	// Whatever wrote the file, it must not lead to a request that a provider refuses.
	for _, p := range partsOf(e.Parts) {
		if isEmptyPart(&p, true) || p.Kind == KindToolCall && (p.ID == "" || !validArguments(p.Arguments)) {
			return errors.New("an edit is damaged")
		}
	}
	return nil
}

// record returns nil for a record that is refused. The fact and the keys of a record are found out when the history is
// seen.
func (r *reader) record(s *saved.Record) *runRecord {
	if err := s.Check(); err != nil {
		r.errs = append(r.errs, err)
		return nil
	}
	n := newRecord(&r.hasher, s.First.Within(), s.Count, s.Last, s.Run, string(s.Text))
	n.isBare = s.Bare
	return n
}

func namesOf(list []saved.Names) (names []*givenNames) {
	for _, s := range list[max(0, len(list)-saved.MostNames):] {
		names = append(names, &givenNames{
			summaryKeys: summaryKeys{s.Summary, s.Plain}, firstKept: s.FirstKept.Within(), before: s.Before,
			behind: s.Behind,
		})
	}
	return names
}

// saysWhat reports whether e names a known operation and holds what that operation makes.
func saysWhat(e *saved.Edit) bool {
	switch Op(e.Op) {
	case OpTrim, OpClear, OpTruncate, OpShow:
		return e.Forms == 0
	case OpMinify:
		return (e.Forms != 0) == (len(e.Parts) == 0)
	}
	return false
}

// state reads what a recovery can undo. A snapshot holds the ledger's state and, while a recovery is open, also the
// state from before it.
func (r *reader) state(s *saved.State) undoable {
	u := undoable{guess: s.Guess.Within(), body: s.BodyGuess.Within(), rewrites: rewrites{
		projections: map[key]*projection{}, checkpoint: r.checkpoint(s.Checkpoint), reopened: s.Reopened.Within(),
		turnStart: s.TurnStart.Within(),
		flushed:   s.Flushed,
	}}
	u.apart = r.keys(s.Apart)
	u.refused = r.keys(s.Refused[max(0, len(s.Refused)-maxRemembered):])
	for i := range s.Records {
		if n := r.record(&s.Records[i]); n != nil {
			u.records = append(u.records, n)
		}
	}
	slices.SortFunc(u.records, compareRecords) // those of a delta may belong in front of others
	for k, e := range s.Edits {
		if err := checkEdit(k, &e); err != nil {
			r.errs = append(r.errs, err)
			continue
		}
		p := &projection{parts: partsOf(e.Parts)} // as parts: partsFor finds the Source of even a single text again
		p.key, p.op, p.reason, p.unread = e.Key, Op(e.Op), e.Reason, true
		p.forms = e.Forms
		if earlier := e.Repeats; earlier != (key{}) {
			p.repeats = &earlier // not &e.Repeats, which would keep all of e
		}
		u.projections[k] = p
	}
	return u
}

// ledgerOf returns the ledger that a snapshot describes.
func ledgerOf(s *saved.Snapshot) (ledger, error) {
	var r reader
	l := ledger{
		partner: partner{model: s.Model, otherModel: s.OtherModel, window: s.Window}, breaker: s.Breaker.Within(),
		refusals: max(0, s.Refusals), digestAt: max(0, s.DigestAt),
	}
	l.accounting.Meter, l.accounting.Limit, l.accounting.Window = s.Accounting.Within()
	l.body = max(0, s.Body)
	l.sentAt, l.tokens, l.estimate, l.bytes = s.SentAt, max(0, s.Tokens), max(0, s.Estimate), max(0, s.Bytes)
	l.sent, l.names = r.keys(s.Sent), namesOf(s.Names)
	l.tries = tries{Tries: s.Tries.Within()} // before revert, which adds the requests that were refused
	// undoable is the same struct for the ledger and for what it was before a recovery.
	l.revert(r.state(&s.State))
	if a := s.Recovery; a != nil {
		l.recovery = &recovery{before: r.state(&a.Before), tokens: a.Tokens.Within(), bytes: a.Bytes.Within(),
			end: a.End.Within(), ahead: a.Ahead.Within()}
	}
	return l, errors.Join(r.errs...)
}
