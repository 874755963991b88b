package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/meter"
)

// Request is what a manager returns. The caller owns it: later calls do not change it.
//
// Bytes, Cached and the costs are expectations for this request only, without its answer and without the call that
// wrote a summary. The unit of costs is the price of an uncached input token; the prices are those of [CacheOptions].
// CostUnedited is the cost of sending the unedited history, whether it fits or not, as if it had always been sent
// unedited: the messages for which the last request was made are read from the cache, if it is warm, and everything
// after them is written to it.
type Request struct {
	Messages []Message // send these
	History  []Message // repaired and compacted, but never pruned: a host may keep these instead of its own list
	Tokens   int       // estimate of Messages plus Options.Overhead

	// estimate of each of Messages, not corrected by the provider's counts: for a report of what fills the window
	Counts []int
	Budget int    // what Tokens fits into: the window minus the reserve
	Edits  []Edit // all that makes Messages differ from the history passed in, by index in it

	// index of the first message that differs from the previous request in what a provider is sent: role, parts, call
	// id, tool, error flag. If messages were only appended, it is the length of the previous request. A Source, and
	// whatever else a host sets on a message, makes no difference.
	FirstChanged    int
	NeedsCompaction bool        // only of Plan: Prepare would compact
	Compaction      *Compaction // what this call compacted; nil if it did not
	Degraded        bool        // some of the summary in it was made without an LLM

	// the rung of Recover that made it, from the mildest to the last: "clear", "compact", "truncate", "digest",
	// "smallest"; "" if Prepare did
	Rung  string
	Bytes int // about the size of the body: Messages as JSON, without what is not in the history

	// how many of Tokens the provider is expected to read from its cache: those before FirstChanged; 0 if nothing was
	// sent within CacheOptions.TTL, or less than MinTokens
	Cached int

	// Cached at ReadPrice and the rest at WritePrice; Tokens if nothing is cached, with CacheOptions.None or below
	// MinTokens
	Cost         float64
	CostUnedited float64 // the same for the history as it was passed in
}

// Compaction describes how a call replaced old history with a summary.
type Compaction struct {
	Summary      string   // its text, as it stands in the request
	FirstKept    int      // index, in the history passed in, of the first message that was not summarized
	TokensBefore int      // tokens of the request without the compaction
	TokensAfter  int      // tokens of the request
	Degraded     bool     // some of the summary was made without an LLM
	Repaired     []string // what the summary lacked and the library appended
	Calls        int      // calls to the Summarizer

	// what they were billed for, as far as the Summarizer says so with ReportUsage; not part of any request's Cost
	Usage Usage
}

// record remembers that d was sent.
func (l *ledger) record(d *draft) {
	if len(d.newEdits) > 0 && l.projections == nil {
		l.projections = make(map[key]*projection, len(d.newEdits))
	}
	maps.Copy(l.projections, d.newEdits)
	l.forgetReplaced(d)
	l.forgetRepeats(d)
	l.forgetGone(d)
	from := d.firstChanged()
	l.sent, l.journal.sent = l.sent[:from], min(l.journal.sent, from)
	for i := from; i < len(d.view.messages); i++ {
		l.sent = append(l.sent, d.view.sentKey(i))
	}
	l.counts = d.view.tokens
	l.turnStart, l.checkpoint, l.records, l.reopened = d.turnStart, d.checkpoint, l.recordsBehind(d), d.reopened
	l.apart = d.stillApart()
	l.sentAt, l.tokens, l.estimate, l.otherModel = d.now, d.tokens(), d.view.total, false
	if l.accounting = d.accounting; l.isRestored {
		l.isRestored = false
		l.breaker.Restarted(d.uneditedTokens())
	}
	if d.unchangedPrefix < l.accounting.Anchor.Messages {
		l.accounting.Anchor.Messages = meter.Lost
	}
}

// stillApart returns what was decided now, and before that what was decided of messages that this history has no more:
// a host may go on with Request.History, and go back to its log. The newest decisions stay.
func (d *draft) stillApart() []key {
	if len(d.ledger.apart) == 0 {
		return d.apart
	}
	isNew := setOf(d.apart)
	older := slices.DeleteFunc(slices.Clone(d.ledger.apart), func(k key) bool { return isNew[k] })
	all := append(older, d.apart...)
	return all[max(0, len(all)-maxRemembered):]
}

// forgetGone drops the edits of messages that are gone from the history if together they are larger than mostGoneEdits.
// A host that keeps the shorter history of a request leaves some behind at each compaction. The edits and the records
// from before an open recovery are kept until it ends, within the same bounds.
func (l *ledger) forgetGone(d *draft) {
	l.projections = withoutGone(l.projections, d.facts, d.view.facts)
	if l.recovery == nil {
		return
	}
	open := *l.recovery // a copy: savepoint may hold the recovery as it was
	open.before.projections = withoutGone(open.before.projections, d.facts, d.view.facts)
	open.before.records = withoutGoneRecords(open.before.records, d.facts, d.whole().facts)
	l.recovery = &open
}

// forgetRepeats drops the edits of results that leave out lines of an earlier one, if d does not send these results any
// more because a record or a summary stands for them. A minified text can be made again from its message, but the text
// of such an edit cannot. The ledger and its snapshots would keep it for as long as the conversation lives.
func (l *ledger) forgetRepeats(d *draft) {
	unsent := map[key]bool{}
	for k, p := range l.projections {
		if p.isRepeat() {
			unsent[k] = true
		}
	}
	for i, p := range d.view.edited {
		if p.isRepeat() {
			delete(unsent, d.view.facts[i].key)
		}
	}
	if len(unsent) == 0 {
		return
	}
	for _, f := range d.facts {
		if unsent[f.key] {
			delete(l.projections, f.key)
		}
	}
}

// forgetReplaced drops the edits of messages that d sends whole again: a pin, or the newest request of a history that
// was rewound to it. The cache holds what was sent last, so such a message stays whole when it is unpinned, or when
// another request follows.
func (l *ledger) forgetReplaced(d *draft) {
	if len(d.wholeAgain) == 0 {
		return
	}
	isWhole := make(map[key]bool, len(d.wholeAgain))
	for _, k := range d.wholeAgain {
		isWhole[k] = false // until it is found in the request
	}
	for i, f := range d.view.facts {
		if _, isAgain := isWhole[f.key]; isAgain && d.view.edited[i] == nil {
			isWhole[f.key] = true
		}
	}
	for i, f := range d.view.facts {
		if d.view.edited[i] != nil { // another message with the same key
			delete(isWhole, f.key)
		}
	}
	for k, is := range isWhole {
		if is {
			delete(l.projections, k)
		}
	}
}
