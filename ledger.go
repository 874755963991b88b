package winnow

import (
	"maps"
	"time"
)

// ledger is the manager's memory of one conversation: what was sent stays as it was sent.
type ledger struct {
	index       index
	projections map[key]*projection // how messages are sent instead of as they are, by what they are
	checkpoint  *checkpoint         // the summary that stands for the oldest part of the history; nil: none
	cache       *summaryCache       // parts of a compaction that failed later, for the next try
	breaker     breaker
	turnStart   place     // the user message that begins the oldest turn that is kept; zero: no turn was dropped
	sent        []key     // the last request, message by message
	sentAt      time.Time // zero: nothing was sent
	tokens      int       // of the last request
	estimate    int       // of its messages
	accounting  accounting
	tail        tail
	body        int      // bytes that a request's body may have, by the provider's refusals; 0: none known
	refusals    int      // by the provider, of the whole conversation
	run         recovery // what was tried since the last Prepare
}

// place is a message of the history: which one, and its index in the history when that was found out.
type place struct {
	key   key
	index int
}

// find returns the position of p in v, or -1. Of several messages that are the same it takes the one that
// is nearest to where p was.
func (p place) find(v *view) int {
	found := -1
	if p.key == (key{}) {
		return found
	}
	for i, f := range v.facts {
		if f.key == p.key && (found < 0 || distance(v.index[i], p.index) < distance(v.index[found], p.index)) {
			found = i
		}
	}
	return found
}

func distance(a, b int) int { return max(a-b, b-a) }

// record remembers that d was sent.
func (l *ledger) record(d *draft) {
	if len(d.made) > 0 && l.projections == nil {
		l.projections = make(map[key]*projection, len(d.made))
	}
	maps.Copy(l.projections, d.made)
	from := d.firstChanged()
	l.sent = l.sent[:from]
	for i := from; i < len(d.view.messages); i++ {
		l.sent = append(l.sent, d.view.sentKey(i))
	}
	l.turnStart, l.checkpoint = d.turnStart, d.checkpoint
	l.sentAt, l.tokens, l.estimate = d.now, d.tokens(), d.view.total
	l.accounting = d.accounting
	if d.intact < l.accounting.anchor.messages {
		l.accounting.anchor.messages = lost
	}
}
