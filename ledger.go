package winnow

import (
	"maps"
	"time"

	"github.com/winnowgo/winnow/internal/meter"
)

// ledger is the manager's memory of one conversation: what was sent stays as it was sent.
type ledger struct {
	model       string // that the conversation is held with, as the host names it; "": not known
	otherModel  bool   // … and nothing was sent to it yet, only to another one
	index       index
	projections map[key]*projection // how messages are sent instead of as they are, by what they are
	checkpoint  *checkpoint         // the summary that stands for the oldest part of the history; nil: none
	cache       *summaryCache       // parts of a compaction that failed later, for the next try
	breaker     breaker
	digestAt    int       // tokens of the history when a digest began to stand in, or a summary in its place was last tried
	flushed     bool      // BeforeCompact ran since the last compaction
	standIn     place     // the user request before the checkpoint's cut that is sent besides the one it knows; zero: none
	turnStart   place     // the user message that begins the oldest turn that is kept; zero: no turn was dropped
	sent        []key     // the last request, message by message
	counts      []int     // of the same, estimated tokens; requests share it, so that it is only appended to
	look        look      // for an epoch that pays
	sentAt      time.Time // zero: nothing was sent
	tokens      int       // of the last request
	estimate    int       // of its messages
	accounting  accounting
	tail        tail
	bytes       int      // of its body
	body        int      // bytes that a request's body may have, as the provider said; 0: it did not
	bodyTokens  int      // tokens that the request at hand may have so that its body fits; 0: any
	refusals    int      // by the provider, of the whole conversation
	run         recovery // what was tried since the last Prepare
	attempt     *attempt // a run of Recover whose end is not known; nil: none
	journal     journal
}

// place is a message of the history: which one, and its index in the history when that was found out.
type place struct {
	key   key
	index int
}

// find returns the position of p in v, or -1. Of several messages that are the same it takes the one that
// is nearest to where p was.
func (p place) find(v *view) int {
	return p.nearest(v, func(i int) int { return v.index[i] }, func(int) bool { return true })
}

// findPosition is find for a place whose index is a position in a view.
func (p place) findPosition(v *view) int {
	return p.nearest(v, func(i int) int { return i }, func(int) bool { return true })
}

func (p place) nearest(v *view, index func(i int) int, fits func(i int) bool) int {
	found := -1
	if p.key == (key{}) {
		return found
	}
	for i, f := range v.facts {
		if f.key == p.key && (found < 0 || distance(index(i), p.index) < distance(index(found), p.index)) && fits(i) {
			found = i
		}
	}
	return found
}

// landmark is a place with what stood around it: a message that reads like the one that is looked for may
// stand in another conversation.
type landmark struct {
	place
	before key // of the messages before it, together
	count  int // of these
	after  key // of the next message; zero: there was none
}

// landmarkContext is how many messages before a landmark belong to it.
const landmarkContext = 3

// landmarkAt returns the landmark of message i.
func landmarkAt(v *view, i int) landmark {
	m := landmark{place: place{v.facts[i].key, v.index[i]}}
	from := i // what stands before it in the repaired history as well
	for from > 0 && i-from < landmarkContext && v.at[from]-v.at[from-1] == 1 {
		from--
	}
	m.before, m.count = keyOf(v.facts[from:i]), i-from
	if i+1 < len(v.facts) {
		m.after = v.facts[i+1].key
	}
	return m
}

// find returns the position of the landmark in v, or -1.
func (m landmark) find(v *view) int {
	return m.nearest(v, func(i int) int { return v.index[i] }, func(i int) bool {
		if i >= m.count && m.count > 0 {
			return keyOf(v.facts[i-m.count:i]) == m.before
		}
		if m.count == 0 && m.after == (key{}) {
			return true // nothing is known of its surroundings
		}
		// A host may have dropped what a summary stands for.
		return m.after != key{} && i+1 < len(v.facts) && v.facts[i+1].key == m.after
	})
}

// keyOf is the identity of messages together.
func keyOf(facts []*fact) key {
	keys := make([]key, len(facts))
	for i, f := range facts {
		keys[i] = f.key
	}
	return payloadOf(keys)
}

func distance(a, b int) int { return max(a-b, b-a) }

// forgetEdits drops edits of messages that are gone from the history, when there are more than can be in use. A host
// that keeps the shorter history of a request leaves some behind at each compaction.
func (l *ledger) forgetEdits(v *view) {
	if len(l.projections) <= len(l.index.facts)+len(v.facts) {
		return
	}
	used := make(map[key]*projection, len(v.facts))
	for _, facts := range [][]*fact{l.index.facts, v.facts} {
		for _, f := range facts {
			if p := l.projections[f.key]; p != nil {
				used[f.key] = p
			}
		}
	}
	l.projections = used
}

// record remembers that d was sent.
func (l *ledger) record(d *draft) {
	if len(d.made) > 0 && l.projections == nil {
		l.projections = make(map[key]*projection, len(d.made))
	}
	maps.Copy(l.projections, d.made)
	l.forgetEdits(d.view)
	from := d.firstChanged()
	l.sent, l.journal.sent = l.sent[:from], min(l.journal.sent, from)
	for i := from; i < len(d.view.messages); i++ {
		l.sent = append(l.sent, d.view.sentKey(i))
	}
	l.counts = d.view.tokens
	if l.look = d.look; l.checkpoint != d.checkpoint {
		l.look = look{}
	}
	l.turnStart, l.checkpoint, l.standIn = d.turnStart, d.checkpoint, d.standIn
	l.sentAt, l.tokens, l.estimate, l.otherModel = d.now, d.tokens(), d.view.total, false
	l.accounting = d.accounting
	if d.intact < l.accounting.Anchor.Messages {
		l.accounting.Anchor.Messages = meter.Lost
	}
}
