package winnow

import (
	"iter"
	"math"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/recall"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// basis is what a draft is made of. A draft only reads it, but for the index, which learns new messages.
type basis struct {
	*settings
	index   *index
	ledger  *ledger
	history []Message
	assumption
}

// assumption is what one try of a call assumes, because the request cannot be made otherwise.
type assumption struct {
	mostTokens    int  // that the request may have, so that its body fits; 0: any number
	withoutGuess  bool // limits that are only guessed do not count
	withoutCounts bool // those of another process in the history do not count, which may have had other tools
}

// draft is a request in the making: draft.passes takes it through the numbered passes.
type draft struct {
	basis
	now     time.Time
	budget  int             // tokens that the request may have, Overhead included
	cliff   int             // tokens above which the whole request costs more, if it pays to stay below; 0: none
	handles *recall.Handles // of the history; nil: not asked for yet
	unseen  int             // the index in the history behind the newest answer

	keepRecent int // tokens that stay behind a summary

	items    []*item       // the request
	total    int           // sum of their tokens
	edits    []Edit        // what was dropped, inserted or repaired
	newEdits map[key]*edit // that were not sent before
	repeated map[key]bool  // messages, by their keys as they are sent, whose lines later results leave out
	folds
	repaired
	takenOver
	learned
	progress
}

// repaired is what the repair made of the history.
type repaired struct {
	section section              // the part that was repaired
	source  []Message            // of which the items were made: that part, as it was repaired
	facts   []*fact              // of the history's messages as they are sent whole: with the names of their calls
	repair  *repair              // nil: nothing had to be repaired
	fault   *InvalidMessageError // of the first message that no request can hold; nil: there is none
}

// takenOver is what a draft takes over from earlier requests, and from the provider.
type takenOver struct {
	beginning
	base       *checkpoint // the checkpoint that the draft was begun with; nil: none
	checkpoint *checkpoint // the same, if the history has a place for it, or else nil
	digested   []Message   // what only a digest stands for, if the history still has it
	returned   []Message   // Request.History
	wholeAgain []key       // messages with an edit that is not replayed: a pin, the newest request
	reopened   position    // see ledger
	apart      []key       // see ledger
	turnStart  position    // the beginning of the oldest turn that is kept, by its position in the request
	limitedAt  position    // the same message by its index in the history
	names      *givenNames // of the calls behind a new checkpoint; nil: their own
}

// beginning is where the request begins, if the provider has compacted the conversation.
type beginning struct {
	start           int // position in the request of the message with that compaction; -1: none
	compactedAt     int // its index in the history; -1: none
	compactedTokens int // of the history, that it stands for
}

// learned is what a draft learns from the provider's counts in its history.
type learned struct {
	accounting accounting.Account // the ledger's by the assumption, and what this history adds to it
	known      accounting.Account // the same when the draft was begun
	isLearned  bool               // the counts of this history are in accounting already
	rejected   []rejection
	lastUsage  *Usage // of the answer to the last request; nil: not known
}

// progress is how far the passes of a draft have come, and why they changed messages.
type progress struct {
	isPressed       bool     // the request does not fit as it is
	givesUpSteps    bool     // it does not fit with the newest steps that the host wants whole, either
	isCramped       bool     // a rewrite has left so little room that a summary is due: see crampedShare
	inForce         *inForce // what is in force; nil: not asked yet
	passReason      string   // why the current pass changes messages, for the log
	firstReason     string   // the reason of the first change
	unchangedPrefix int      // how many leading messages are as they were sent, or will be sent as they are
}

// newDraft begins the draft of a request. c and records are replayed. newEdits are edits that were made already but not
// sent.
func newDraft(b basis, c *checkpoint, records []*runRecord, newEdits map[key]*edit) *draft {
	a := b.ledger.accounting
	if b.withoutGuess {
		a.ForgetGuesses()
	}
	if b.withoutCounts {
		a.Anchor = accounting.Anchor{}
	}
	d := &draft{
		basis: b, now: b.opts.Now(), keepRecent: b.opts.Compact.KeepRecent,
		newEdits: newEdits, repeated: map[key]bool{}, folds: folds{toReplay: records},
		takenOver: takenOver{base: c, checkpoint: c},
		learned:   learned{accounting: a, known: a},
	}
	d.setBudget()
	return d
}

// replay is newDraft with checkpoint c and the records that were sent, through all passes.
func (b basis) replay(c *checkpoint) *draft {
	return newDraft(b, c, b.ledger.records, map[key]*edit{}).passes()
}

// again makes another draft in the same call: with checkpoint c, and with records and newEdits that were made already.
// It takes over what d has learned from the provider's counts.
func (d *draft) again(c *checkpoint, records []*runRecord, newEdits map[key]*edit) *draft {
	next := newDraft(d.basis, c, records, newEdits)
	next.isLearned, next.rejected, next.lastUsage = true, d.rejected, d.lastUsage
	next.accounting.TakeOver(&d.accounting, &d.known)
	next.setBudget()
	return next.passes()
}

// passes runs the numbered passes, which need no LLM, in their order: each relies on what the one before it left.
//
//  1. index what is new
//  2. repair the pairing of calls and results
//  3. replay the checkpoint: the summary that was sent stands for the oldest messages
//  4. limit turns
//  5. replay the records and edits that were sent, byte for byte
//  6. minify results that were not sent yet, leave out what earlier ones show, and cut those that are too large
//  7. rewrite what was sent, if that costs nothing, if it pays, or if the request does not fit
func (d *draft) passes() *draft {
	d.indexAndRepair()
	d.limitAndReplay()
	d.shortenNew()
	d.rewrite()
	return d
}

// setBudget sets the budget by what is known of limits.
func (d *draft) setBudget() {
	d.budget = count.Least(d.accounting.Budget(d.window-d.opts.Reserve), d.mostTokens)
}

// key returns the identity of the request.
func (d *draft) key() key {
	keys := make([]key, len(d.items))
	for i, x := range d.items {
		keys[i] = x.key()
	}
	return place.Of(keys)
}

// The model has seen a message if an answer stands behind it. Until then nothing may stand for that message: it is sent
// whole, or cut as a new result. The exception is a request that cannot be made otherwise, and its [Edit] says so.

// findUnseen finds what the model has not seen. An answer that failed proves nothing.
func (d *draft) findUnseen() {
	d.unseen = len(d.history)
	for d.unseen > 0 && (d.history[d.unseen-1].Role != RoleAssistant || isFailed(&d.history[d.unseen-1])) {
		d.unseen--
	}
}

// isUnseen reports whether the model has not seen message i.
func (d *draft) isUnseen(i int) bool { return d.items[i].index >= d.unseen }

// firstUnseen returns the position of the first message that the model has not seen. A result that came
// late may stand far in front of the newest answer.
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
		return reason + " (the model has not seen it, but the request does not fit otherwise)"
	}
	return reason
}

// isCold reports whether rewriting what was sent costs nothing: the provider's cache holds nothing of it, or there is
// none, or nothing was sent.
func (d *draft) isCold() bool {
	c := d.opts.Cache
	return c.None || d.ledger.sentAt.IsZero() || d.now.Sub(d.ledger.sentAt) >= c.TTL
}

// edit puts m, of `tokens` tokens, in the place of message i: in this request and, once it is sent, in all later
// ones. op and reason are for the Edit.
func (d *draft) edit(i int, m Message, tokens int, op Op, reason string) {
	p := newEdit(withOwnArguments(m.Parts))
	p.tokens, p.op, p.reason, p.key = tokens, op, reason, d.index.hasher.key(&m)
	if d.put(i, p); d.firstReason == "" {
		d.firstReason = d.passReason
	}
}

// put is edit for an edit that exists already.
func (d *draft) put(i int, p *edit) {
	d.newEdits[d.items[i].fact.key] = p
	d.show(i, p)
	d.unchangedPrefix = min(d.unchangedPrefix, i)
}

// show sends message i as p has it. nil: as it is in the history.
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

// setItems makes items the request.
func (d *draft) setItems(items []*item) {
	d.items, d.total = items, 0
	for _, x := range items {
		d.total = count.Add(d.total, x.tokens())
	}
}

// sent returns the messages as they are sent, and own as the history has them.
func (d *draft) sent() sequence { return sequence{items: d.items, asSent: true} }
func (d *draft) own() sequence  { return asOwn(d.items) }

// eachFact yields the facts of the history and of what the library made of it.
func (d *draft) eachFact() iter.Seq[*fact] {
	return func(yield func(*fact) bool) {
		for _, f := range d.facts {
			if !yield(f) {
				return
			}
		}
		for _, x := range d.items {
			if !yield(x.fact) {
				return
			}
		}
	}
}

// counts returns the tokens of each message, in a new list.
func (d *draft) counts() []int {
	counts := make([]int, len(d.items))
	for i, x := range d.items {
		counts[i] = x.tokens()
	}
	return counts
}

// tokensOf returns the tokens of the messages from one to another.
func (d *draft) tokensOf(from, to int) (n int) {
	for _, x := range d.items[from:to] {
		n = count.Add(n, x.tokens())
	}
	return n
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
	n := min(len(d.ledger.sent), len(d.items))
	for i := range n {
		if d.ledger.sent[i] != d.items[i].key() {
			return i
		}
	}
	return n
}

// hold says why a message is in force. What has the lowest is given up first.
type hold uint8

const (
	holdNothing hold = iota
	holdFile         // it shows a file that the model works on
	holdShown        // it shows a file of which a newer result only says that it is unchanged
	holdLoaded       // instructions that a tool returned, the newest of their name
	holdPlan         // the newest call of a tool that replaces its own state
	holdTold         // a text of the host ([Message.InForce]), which only a summary replaces
)

// inForce is what is in force. A message that a record stands for has a place in it too.
type inForce struct {
	held  map[*item]hold  // results are held with their calls
	calls map[callAt]hold // those of held that are calls
	again map[*item]bool  // a later message is the same text of the host
	over  map[*item]bool  // texts of the host that it lets go: see findInForce
	said  map[string]bool // the names under which something holds, as in [Message.InForce] or subject.state
	work  toolcall.Work
}

// callAt is a call by its message and its place among the calls there.
type callAt struct {
	message *item
	nth     int
}

// A rejection is a count of the provider that is not used.
type rejection struct {
	reason           string
	prompt, estimate int // tokens; estimate of the messages before the answer, 0: not known
}
