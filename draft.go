package winnow

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/recall"
	"github.com/winnowgo/winnow/internal/saved"
)

// basis is what a draft is made of. A draft only reads it, but for the index, which learns new messages.
type basis struct {
	*settings
	index   *index
	ledger  *ledger
	history []Message
	assumption
}

// assumption is what a further try leaves out of account, because the first one overflowed.
type assumption struct {
	mostTokens    int  // that the request may have, so that its body fits; 0: any number
	withoutGuess  bool // limits that are only guessed do not count
	withoutCounts bool // those of another process in the history do not count, which may have had other tools
}

// draft is a request in the making. Its passes take it from the history to what is sent, in one direction: each is a
// type of its own (ARCHITECTURE.md names its file), and relies on what those before it left. What all of them share is
// here: the items, what is decided of them, and how large they may be.
type draft struct {
	repaired // the history
	sized    // the request
	now      time.Time
	handles  *recall.Handles // of the history; nil: not asked for yet

	keepRecent int // tokens that stay behind a summary

	reported []Edit        // what passes 1 to 4 have dropped, inserted or repaired
	newEdits map[key]*edit // that were not sent before
	repeated map[key]bool  // messages, by their keys as they are sent, whose lines later results leave out
	inForce  *inForce      // what is in force; nil: not asked yet
	folds
	takenOver
	learned
	changes
}

// takenOver is what passes 3 to 5 made of earlier requests: the summary, what it stands for, and what was decided about
// turns, edits and names.
type takenOver struct {
	begunWith  *checkpoint // the checkpoint that the draft was begun with; nil: none
	checkpoint *checkpoint // the same, if the history has a place for it, or else nil
	behind     *item       // the first message that checkpoint does not stand for; nil: its summary is in the history
	digested   []Message   // what only a digest stands for, if the history still has it
	returned   []Message   // Request.History
	// messages whose edit is forgotten and not replayed, such as pins, the newest request, images that are new again,
	// and results whose repeated lines are gone
	wholeAgain []key
	reopened   position     // see ledger
	limitedAt  position     // the beginning of the oldest turn that is kept; zero: the turn limit dropped none
	turnStart  position     // the same message, but its Index is its place in this request: see ledger
	names      *saved.Names // of the calls behind a new checkpoint; nil: their own
}

// changes is what the log says of the passes, and two decisions of pass 7.
type changes struct {
	why          string // what runs now changes messages: see because
	firstWhy     string // the same of the first change; "": nothing has changed but by new edits of single results
	givesUpSteps bool   // the request does not fit with the newest steps that the host wants whole
	isCramped    bool   // a rewrite has left so little room that a summary is due: see crampedShare
}

// beginDraft returns the draft of a request without its items. The passes replay c and records. newEdits are edits that
// were made already but not sent.
func beginDraft(b *basis, c *checkpoint, records []*runRecord, newEdits map[key]*edit) *draft {
	a := b.ledger.Accounting
	if b.withoutGuess {
		a.ForgetGuesses()
	}
	if b.withoutCounts {
		a.Anchor = accounting.Anchor{}
	}
	d := &draft{
		sized: sized{basis: *b, accounting: a, known: a},
		now:   b.opts.Now(), keepRecent: b.opts.Compact.KeepRecent,
		newEdits: newEdits, repeated: map[key]bool{}, folds: folds{toReplay: records},
		takenOver: takenOver{begunWith: c, checkpoint: c},
	}
	d.setBudget()
	return d
}

// replay makes a draft with checkpoint c and the records that were sent, through passes 1 to 7.
func (b *basis) replay(c *checkpoint) *draft {
	return beginDraft(b, c, b.ledger.records, map[key]*edit{}).passes()
}

// newDraft makes a draft of what can be sent of the history now without a call of a summarizer.
func (b *basis) newDraft() *draft { return b.replay(b.ledger.checkpoint) }

// draftByHand is newDraft for Compact. If nothing is older than KeepRecent, only the newest step is kept.
func (b *basis) draftByHand() *draft {
	d := b.newDraft()
	if !d.span().verdict().isNews {
		d.keepRecent = 0 // the newest step stays whatever its size
	}
	return d
}

// nextIfRefused returns the draft of the next try, if it fits and the provider has refused it already; else nil.
func (b *basis) nextIfRefused() *draft {
	d := b.newDraft()
	if !d.makeFit() || !slices.Contains(b.ledger.tries.refused, d.key()) {
		return nil
	}
	return d
}

// redraft makes another draft in the same call: with checkpoint c, and with records and newEdits that were made
// already. It takes over what d has learned from the provider's counts.
func (d *draft) redraft(c *checkpoint, records []*runRecord, newEdits map[key]*edit) *draft {
	next := beginDraft(&d.basis, c, records, newEdits)
	next.learned, next.isLearned = d.learned, true
	next.accounting.TakeOver(&d.accounting, &d.known)
	next.setBudget()
	return next.passes()
}

// passes runs the numbered passes, which need no LLM, in their order.
//
//  1. index what is new
//  2. repair the pairing of calls and results
//  3. replay the checkpoint: the summary that was sent stands for the oldest messages
//  4. limit turns
//  5. replay the records and edits that were sent, byte for byte; then read the provider's counts
//  6. minify results that were not sent yet, show again what they point to, cut those that are too large, and leave
//     out lines that earlier ones show
//  7. rewrite what was sent, for one of the six reasons that epoch.rewrite names
//
// Pass 8 is makeFit. Pass 9 is ladder.compact: verdict says whether that is worth a call.
func (d *draft) passes() *draft {
	newReading(d).read()
	d.replayHistory()
	d.because("a new result is larger than one may be", newFresh(d).shortenNew)
	newEpoch(d).rewrite()
	return d
}

// replayHistory is passes 3 to 5.
func (d *draft) replayHistory() { replaying{shortening{d}}.limitAndReplay() }

// makeFit is pass 8: it makes the request fit, if need be, and reports whether it does.
func (d *draft) makeFit() bool { return newShrinking(d).makeFit() }

// The model has seen a message if an answer stands behind it. Until then nothing may stand for that message: it is sent
// whole, or cut as a new result. The exception is a request that cannot be made otherwise, and its [Edit] says so.

// isUnseen reports whether the model has not seen message i.
func (d *draft) isUnseen(i int) bool { return d.items[i].index >= d.unseen }

// firstUnseen returns the position of the first message that the model has not seen. A result that came late may stand
// far in front of the newest answer.
func (d *draft) firstUnseen() int {
	i := 0
	for i < len(d.items) && !d.isUnseen(i) {
		i++
	}
	return i
}

// orUnseen returns reason, the reason of an edit that leaves out message i, or says that the model has not seen it.
func (d *draft) orUnseen(i int, reason string) string {
	if d.isUnseen(i) {
		return reason + unseenReason
	}
	return reason
}

// isCold reports whether rewriting what was sent costs nothing: the provider's cache holds nothing of it, or there is
// none, or nothing was sent.
func (d *draft) isCold() bool { return d.ledger.isCold(&d.opts, d.now) }

func (l *ledger) isCold(o *Options, now time.Time) bool {
	return o.Cache.None || l.SentAt.IsZero() || now.Sub(l.SentAt) >= o.Cache.TTL
}

// edit sends parts, of `tokens` tokens, in the place of those of message i: in this request and, once it is sent, in
// all later ones. op and reason are for the Edit.
func (d *draft) edit(i int, parts []Part, tokens int, op Op, reason string) {
	d.firstWhy = cmp.Or(d.firstWhy, d.why)
	d.put(i, d.editOf(i, parts, tokens, op, reason))
}

// because runs change, which changes messages for the reason that the log is to say.
func (d *draft) because(why string, change func()) {
	d.why = why
	change()
	d.why = ""
}

// editOf returns an edit that sends parts, a list of its own, in the place of those of message i.
func (d *draft) editOf(i int, parts []Part, tokens int, op Op, reason string) *edit {
	for k := range parts { // a host that decodes its log again into the same memory overwrites its bytes
		parts[k].Arguments = bytes.Clone(parts[k].Arguments)
	}
	m := *d.items[i].own
	m.Parts = parts
	p := &edit{tokens: tokens, op: op, reason: reason, key: d.index.hasher.key(&m)}
	p.setParts(parts)
	return p
}

// tokensWith returns the tokens that message i has with parts.
func (d *draft) tokensWith(i int, parts []Part) int {
	m := *d.items[i].own
	m.Parts, m.Source = parts, nil
	return estimateWith(d.opts.Estimator, m)
}

// put is edit for an edit that exists already.
func (d *draft) put(i int, p *edit) {
	d.newEdits[d.items[i].fact.key] = p
	d.show(i, p)
	d.unchangedPrefix = min(d.unchangedPrefix, i)
}

// show sends message i as p has it; if p is nil, as it is in the history.
func (d *draft) show(i int, p *edit) {
	x := d.items[i]
	before := x.tokens()
	x.sent, x.edit = x.own, p
	if p != nil {
		m := *x.own // an edit changes the parts; what else a host set stays
		m.Parts, m.Source = p.partsFor(x.own), nil
		x.sent = &m
	}
	after := x.tokens()
	if d.total == math.MaxInt || after == math.MaxInt { // a host's own counts may be absurd
		d.setItems(d.items)
		return
	}
	d.total += after - before
}

// knownEdit returns the edit that was sent in place of the message of f, or nil.
func (d *draft) knownEdit(f *fact) *edit {
	if p := d.newEdits[f.key]; p != nil {
		return p
	}
	return d.ledger.edits[f.key]
}

// firstChanged returns the index of the first message that differs from the last request's.
func (d *draft) firstChanged() int {
	n := min(len(d.ledger.Sent), len(d.items))
	for i := range n {
		if d.ledger.Sent[i] != d.items[i].key() {
			return i
		}
	}
	return n
}

// firstKept returns the position in items of the first message behind c, or -1.
func (d *draft) firstKept(c *checkpoint, items []*item) int {
	// Names were given because this summary was found in the history: its place is known. Its bookmark may not find it,
	// because the ids in front may have changed.
	if r := d.repair; r != nil && r.given.Count && c == d.ledger.checkpoint {
		at := d.section.inHistory(int(r.given.From))
		if i := slices.IndexFunc(items, func(x *item) bool { return x.index == at }); i >= 0 {
			return i
		}
	}
	return c.FirstKept.Find(placesIn(items))
}

// overflow returns the error that says what fills the window.
func (d *draft) overflow() *OverflowError {
	e := &OverflowError{Tokens: d.tokens(), Budget: d.budget, Overhead: d.accounting.Hidden(d.opts.Overhead)}
	if limit := d.bodyLimit(); limit > 0 {
		e.Bytes, e.MaxBytes = d.bytes(), limit
	}
	request := newestRequest(d.sent())
	if request < 0 {
		request = len(d.items)
	}
	for i := range d.items {
		m := d.items[i].sent
		switch {
		case m.Summary:
			e.Summary = count.Add(e.Summary, d.items[i].tokens())
		case m.Pinned || m.Role == RoleSystem:
			e.Pinned = count.Add(e.Pinned, d.items[i].tokens())
		case i >= request:
			e.Protected = count.Add(e.Protected, d.items[i].tokens())
		}
	}
	// Tokens may rest on the provider's count of the last request, which may be lower than the estimates of its parts.
	e.Overhead = min(e.Overhead, e.Tokens)
	if d.opts.Tools != nil {
		e.Tools = min(max(0, d.opts.Tools.Tokens), e.Overhead)
	}
	rest := e.Tokens - e.Overhead
	for _, n := range []*int{&e.Pinned, &e.Summary, &e.Protected} {
		*n = min(d.accounting.BilledAs(*n), rest)
		rest -= *n
	}
	return e
}

// reason says for the log why d is not the history as it came, or not what was sent.
func (d *draft) reason() string {
	switch {
	case d.firstWhy != "":
		return d.firstWhy
	case d.checkpoint != d.ledger.checkpoint:
		return "a summary stands for older history"
	}
	return otherHistory
}

const otherHistory = "the history is not the last one and what follows it"

// inForceNow returns what is in force: it is found once before records are replayed, and once behind that.
func (d *draft) inForceNow() *inForce {
	if d.inForce == nil {
		all := unfolded(d.items)
		d.inForce = findInForce(d, all, len(all))
	}
	return d.inForce
}

func (d *draft) request() *Request {
	r := &Request{
		Messages: d.messages(), History: d.returned, Tokens: d.tokens(), Counts: d.counts(),
		Budget: d.budget, Bytes: d.bytes(),
		Edits: d.allEdits(), FirstChanged: d.firstChanged(),
	}
	if d.checkpoint != nil {
		r.Degraded = d.checkpoint.Degraded
	}
	pricing{d}.price(r)
	return r
}

// allEdits returns Request.Edits: what was dropped, inserted or repaired, which messages are gone and which records
// stand for them, and what is edited.
func (d *draft) allEdits() []Edit {
	n := 0
	for _, x := range d.items {
		switch {
		case x.record != nil:
			n += len(x.record.standsFor) + 1
		case x.edit != nil:
			n++
		}
	}
	edits := slices.Grow(slices.Clip(d.reported), n)
	for _, x := range d.items {
		if x.record == nil {
			continue
		}
		for _, m := range x.record.standsFor {
			edits = append(edits, Edit{
				Op: OpFold, Index: max(0, m.index), ID: m.own.ID, Before: max(1, m.fact.tokens), Reason: foldReason,
			})
		}
		edits = append(edits, Edit{
			Op: OpFold, Index: max(0, x.record.standsFor[0].index), After: max(1, x.tokens()), Reason: recordReason,
		})
	}
	for _, x := range d.items {
		if x.edit != nil {
			edits = append(edits, x.edit.report(max(0, x.index), x.own, x.fact))
		}
	}
	return edits
}

// putRecords puts the record of each run in the place of that run. The runs are in order and do not overlap. A record
// stands for the messages of the history, and not for the records in its run.
func (d *draft) putRecords(runs []recordedRun) {
	if len(runs) == 0 {
		return
	}
	gone := 0
	for _, run := range runs {
		gone += run.to - run.from - 1
	}
	items, next := make([]*item, 0, len(d.items)-gone), 0
	for _, run := range runs {
		r := run.record
		if r.fact == nil {
			r.fact = d.index.fact(&r.message, d.opts.Estimator)
		}
		x := madeItem(&r.message, r.fact)
		x.record = &folded{r, unfolded(d.items[run.from:run.to])}
		for _, m := range x.record.standsFor {
			m.in = x
		}
		items = append(append(items, d.items[next:run.from]...), x)
		next = run.to
	}
	d.setItems(append(items, d.items[next:]...))
}

// estimateHistory estimates the first n messages of the history, as they are, without what the provider's own
// compaction stands for: no provider reads or bills that.
func (d *draft) estimateHistory(n int) int {
	facts := d.index.facts
	sum := 0
	for _, f := range facts[:min(n, len(facts))] {
		sum = count.Add(sum, f.tokens)
	}
	return max(0, sum-d.compactedTokens)
}

// lastSent returns the position of the last request's last message, or -1 if d does not have it.
func (d *draft) lastSent() int {
	n := len(d.ledger.Sent)
	if n == 0 {
		return -1
	}
	was := func(i int) bool { // by the edits of the ledger, because those of d were not sent yet
		k := d.items[i].fact.key
		if p := d.ledger.edits[k]; p != nil && !d.items[i].sent.Pinned {
			k = p.key
		}
		return k == d.ledger.Sent[n-1]
	}
	if n <= len(d.items) && was(n-1) {
		return n - 1
	}
	for i := len(d.items) - 1; i >= 0; i-- { // messages before it were dropped
		if was(i) {
			return i
		}
	}
	return -1
}

// wholeFrom returns where the newest steps begin that the host wants whole: behind all if it asks for none, or if they
// cannot be had.
func (d *draft) wholeFrom() int {
	if d.opts.WholeSteps == 0 || d.givesUpSteps {
		return len(d.items)
	}
	return newestAnswers(d.own(), d.opts.WholeSteps)
}

// wasSentWhole reports whether the last request had message i as it is. It looks at that place only: another message
// with the same key may have been edited.
func (d *draft) wasSentWhole(i int) bool {
	sent := d.ledger.Sent
	return i < len(sent) && sent[i] == d.items[i].fact.key
}

// messages returns what is sent as a list: [Request.History], but for what is edited, if nothing is left out of it.
func (d *draft) messages() []Message {
	if d.start >= 0 || len(d.items) != len(d.returned) {
		return messagesOf(d.sent(), d.source)
	}
	list, isOwn := clip(d.returned), false
	for i, x := range d.items {
		if x.edit == nil && x.record == nil {
			continue
		}
		if !isOwn {
			list, isOwn = slices.Clone(list), true
		}
		list[i] = *x.sent
	}
	return clip(list)
}
