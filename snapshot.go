package winnow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/summary"
)

// Snapshot returns the manager's state, for [Manager.Restore] in this process or another. Its texts are the summary,
// the edits and records that were sent, and what code carries from one summary to the next.
func (m *Manager) Snapshot() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.state
	s := l.head()
	s.Sent, s.Edits, s.Records, s.Names = l.Sent, savedEdits(l.edits), savedRecords(l.records), l.Names
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("winnow: Snapshot: %w", err)
	}
	return b, nil
}

// Restore takes the state of a manager with the same options: what [Manager.Snapshot] returned, and the deltas that
// [Options].Journal has been given since, in their order. Deltas that the state already holds are skipped; an empty
// state in front of deltas means a new manager. The next request has the same bytes as that manager's next request
// would have had.
//
// Another window or another Options.Model is allowed: what was learned of the old one is then forgotten, and signed
// thinking of the old model is not sent. Summary and edits stay.
func (m *Manager) Restore(state []byte, deltas ...[]byte) error {
	l, err := restored(state, deltas)
	if err != nil {
		return fmt.Errorf("winnow: Restore: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	wasOpen := l.recovery != nil
	if l.goOnWith(m); wasOpen && l.recovery == nil {
		l.journal = journal{deltas: l.journal.deltas, isUnknown: true}
	}
	m.endBackground()
	m.state = l
	return nil
}

func restored(state []byte, deltas [][]byte) (*ledger, error) {
	s := saved.Snapshot{Winnow: saved.Version}
	if len(state) > 0 || len(deltas) == 0 {
		s.Winnow = 0
		if err := json.Unmarshal(state, &s); err != nil {
			return nil, err
		}
	}
	if s.Winnow != saved.Version {
		return nil, fmt.Errorf("no snapshot of version %d", saved.Version)
	}
	for i, text := range deltas {
		if err := s.Add(text); err != nil {
			return nil, fmt.Errorf("delta %d of %d: %w", i+1, len(deltas), err)
		}
	}
	l, err := ledgerOf(&s)
	if err == nil {
		l.wasWritten(s.Deltas)
	}
	return l, err
}

// goOnWith makes l the ledger of a conversation with m's model. If another model was used before, l forgets all that
// its provider taught: its limits, how it counts, and that it has the conversation in its cache. If the model had no
// name and the window was another one, l forgets the limits of tokens that were told or guessed. A recovery that is
// still open is undone then, because it was for the old limits. What was sent before stays as it was sent, except for
// signed thinking, which no other model accepts.
func (l *ledger) goOnWith(m *Manager) {
	model := m.opts.Model
	l.isRestored = true
	if l.Window > 0 && l.Window != m.window {
		l.Breaker = summary.Breaker{} // a compaction may succeed in another window
		if l.Model == "" {            // it may be another model's window
			l.undoRecovery()
			l.Accounting.Limit, l.Accounting.Window, l.Accounting.Guess = 0, 0, accounting.Limit{}
		}
	}
	l.Window = m.window
	if model == "" { // not known
		return
	}
	was := l.Model
	if l.Model = model; was == "" || models.IsSame(was, model) {
		return
	}
	l.undoRecovery()
	l.Accounting, l.Body, l.Images = accounting.Account{}, 0, 0
	l.Refusals, l.tries, l.Breaker = 0, tries{}, summary.Breaker{}
	l.SentAt, l.Tokens, l.Estimate = time.Time{}, 0, 0
	l.OtherModel, l.BindsThinking = true, false
	m.opts.Logger.Info("winnow: the conversation goes on with another model", "before", was, "model", model,
		"edits_kept", len(l.edits))
}

// A ledger turned into a snapshot.

func (u undoable) saved() saved.State {
	return saved.State{
		Guess: u.guess, BodyGuess: u.body, Refused: u.refused, Decisions: u.Decisions,
		Edits: savedEdits(u.edits), Records: savedRecords(u.records), Checkpoint: u.checkpoint.saved(),
	}
}

// savedEdits returns nil where there are no edits, so that the field is absent.
func savedEdits(list map[key]*edit) map[key]saved.Edit {
	if len(list) == 0 {
		return nil
	}
	edits := make(map[key]saved.Edit, len(list))
	for k, p := range list {
		edits[k] = p.saved()
	}
	return edits
}

func savedRecords(records []*runRecord) (list []saved.Record) {
	for _, r := range records {
		list = append(list, r.Record)
	}
	return list
}

// saved keeps the parts that are sent: the text of an edit must not change, even if the code that made it does.
func (p *edit) saved() saved.Edit {
	e := saved.Edit{Key: p.key, Op: string(p.op), Reason: p.reason, Forms: p.forms, Repeats: p.repeats}
	if e.Forms == 0 { // else the text is made again from the message in the history
		e.Parts = saveParts(p.sent())
	}
	return e
}

// saved returns nil where no recovery is open.
func (a *recovery) saved() *saved.Recovery {
	if a == nil {
		return nil
	}
	return &saved.Recovery{Before: a.before.saved(), Tokens: a.tokens, Bytes: a.bytes}
}

// saved returns nil where there is no checkpoint.
func (c *checkpoint) saved() *saved.Checkpoint {
	if c == nil {
		return nil
	}
	return &c.Checkpoint
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
	u := l.undoable()
	u.edits, u.records = nil, nil // a delta has only those that are new
	s := saved.Snapshot{
		Winnow: saved.Version, Memory: l.Memory, Recovery: l.recovery.saved(), Tries: l.tries.Tries, Cache: l.Cache,
		Deltas: l.journal.deltas, State: u.saved(),
	}
	s.Names, s.Sent, s.Breaker = nil, nil, s.Breaker.Saved()
	s.Accounting.ForgetGuesses()
	return s
}

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
	cp := &checkpoint{Checkpoint: *c}
	for own := &cp.Checkpoint; own != nil; own = own.ByModel {
		own.Carried = own.Carried.Within()
	}
	// The keys are not stored: they follow from the text, and stored ones could only contradict that.
	cp.setText(&r.hasher, string(c.Text))
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
	return newRecord(&r.hasher, *s)
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
	u := undoable{guess: s.Guess, body: s.BodyGuess, rewrites: rewrites{
		edits: map[key]*edit{}, checkpoint: r.checkpoint(s.Checkpoint), Decisions: s.Decisions,
	}}
	r.keys(s.Apart)
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
		p := &edit{parts: partsOf(e.Parts)} // as parts: partsFor finds the Source of even a single text again
		p.key, p.op, p.reason, p.undecoded = e.Key, Op(e.Op), e.Reason, true
		p.forms, p.repeats = e.Forms, e.Repeats
		u.edits[k] = p
	}
	return u
}

func ledgerOf(s *saved.Snapshot) (*ledger, error) {
	var r reader
	s.InRange()
	l := &ledger{Memory: s.Memory, Cache: s.Cache}
	l.tries.Tries = s.Tries // before revert, which adds the requests that were refused
	l.Sent = r.keys(l.Sent)
	// undoable is the same struct for the ledger and for what it was before a recovery.
	l.revert(r.state(&s.State))
	if a := s.Recovery; a != nil {
		l.recovery = &recovery{before: r.state(&a.Before), tokens: a.Tokens, bytes: a.Bytes}
	}
	return l, errors.Join(r.errs...)
}

// delta returns what changed in l since the last delta, as the delta of this number.
func (l *ledger) delta(number int) ([]byte, error) {
	was := l.journal.written
	if was == nil {
		was = new(ledger)
	}
	d := saved.Delta{Snapshot: l.head(), SameCheckpoint: was.checkpoint == l.checkpoint, Whole: l.journal.isUnknown}
	for d.From < min(len(was.Sent), len(l.Sent)) && was.Sent[d.From] == l.Sent[d.From] {
		d.From++
	}
	d.Deltas, d.Sent = number, l.Sent[d.From:]
	if d.SameCheckpoint { // the largest text of a snapshot, which most deltas do not change
		d.Checkpoint = nil
	}
	switch n := l.newestNames(); {
	case d.Whole:
		d.Names = l.Names
	case n != was.newestNames():
		d.Names = []saved.Names{*n}
	}
	compareEdits(&d, was.edits, l.edits)
	compareRecordLists(&d, was.records, l.records)
	return json.Marshal(d)
}

// compareEdits adds to d the edits of now that are not in written, and the keys of those that are gone. Edits never
// change, so it compares their addresses.
func compareEdits(d *saved.Delta, written, now map[key]*edit) {
	changed := maps.Clone(now)
	maps.DeleteFunc(changed, func(k key, p *edit) bool { return written[k] == p })
	d.Edits = savedEdits(changed)
	for k := range written {
		if now[k] == nil {
			d.Gone = append(d.Gone, k)
		}
	}
	// A map has no order, and the delta of the same change must have the same bytes.
	slices.SortFunc(d.Gone, place.Compare)
}

// compareRecordLists adds to d the records of now that are not in written, and the runs of those that are gone.
func compareRecordLists(d *saved.Delta, written, now []*runRecord) {
	before, after := setOf(written), setOf(now)

	// A record is removed by the key of its run. That removes every record of an equal run; those that remain are added
	// again.
	gone := map[key]bool{}
	for _, r := range written {
		if !after[r] && !gone[r.Run] {
			gone[r.Run] = true
			d.GoneRecords = append(d.GoneRecords, r.Run)
		}
	}
	var added []*runRecord
	for _, r := range now {
		if !before[r] || gone[r.Run] {
			added = append(added, r)
		}
	}
	d.Records = savedRecords(added)
}
