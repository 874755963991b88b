package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/recall"
)

// Which messages of a history are not whole in the request. The request itself shows it, whatever left them out.

// leftOut lists the messages of a history that the model does not see whole.
type leftOut struct {
	history []Message
	facts   []*fact
	tools   toolNames
	list    []int // indexes of the messages that are not whole and may be shown, oldest first
	handles *recall.Handles

	firstKept int // index of the first message behind the newest summary; -1: none is found
}

// leftOut compares history with its request: what was sent, with what is new behind it. The caller holds the lock.
// Nothing changes but what the manager knows of messages. If the manager has sent nothing, an earlier process may have
// sent requests, and its state is gone. Then nobody knows what the model was sent, so every message counts as left out.
func (m *Manager) leftOut(history []Message) *leftOut {
	defer m.savepoint()()
	m.settle(history)
	hasSent := len(m.ledger.sent) > 0
	// These are only the steps that repeat what was sent. What the next epoch would do is not done here.
	d := newDraft(&m.settings, &m.ledger, history, m.ledger.checkpoint, m.ledger.records, map[key]*projection{})
	d.indexAndRepair()
	firstKept := -1
	if c := d.checkpoint; c != nil {
		if i := d.firstKept(c, d.view); i >= 0 {
			firstKept = d.view.index[i]
		}
	}
	d.limitAndReplay()

	facts, v := d.facts, d.view
	isWhole := make([]bool, len(history))
	whole := make(map[key]bool, len(v.messages))
	for p, i := range v.index {
		if !hasSent || i < 0 {
			continue
		}
		sent := v.messages[p]
		if isLaterResult(&sent) && history[i].Role == RoleTool {
			sent.Role, sent.Parts = RoleTool, sent.Parts[1:] // without the line that names its call
		}
		if sent.Role != history[i].Role { // made by the library
			continue
		}
		isUntouched := v.edited[p] == nil && v.facts[p] == m.ledger.index.facts[i]
		if isUntouched || showsAll(&sent, &history[i]) {
			isWhole[i], whole[facts[i].key] = true, true
		}
	}
	l := &leftOut{history: history, facts: slices.Clone(facts), tools: toolNamesOf(history), firstKept: firstKept}
	l.handles = handlesOf(l.facts)
	for i := range history {
		if !isWhole[i] && !whole[facts[i].key] && m.mayRecall(history, i) {
			l.list = append(l.list, i)
		}
	}
	return l
}

// mayRecall reports whether message i of history may be shown: it is not an answer of recall, and it has something to show.
func (m *Manager) mayRecall(history []Message, i int) bool {
	isBlank := func(p Part) bool { return isThinking(p) && p.Text == "" || isEmptyPart(&p, true) }
	return !isRecallAnswer(history, i) &&
		slices.ContainsFunc(history[i].Parts, func(p Part) bool { return !isBlank(p) })
}

// isWholeNow reports whether message i of history, which has these facts, is whole in the last request. It is
// the quick way for a recall by handle, and says what leftOut would say. known is false if only leftOut can tell.
func (m *Manager) isWholeNow(history []Message, facts []*fact, i int) (whole, known bool) {
	l := &m.ledger
	k := facts[i].key
	p := l.projections[k]
	switch isSent := slices.Contains(l.sent, k); {
	case l.recovery != nil || m.opts.HistoryTurns > 0 || history[i].Pinned:
		// the next request may differ from what was sent
		return false, false
	case p == nil && isSent: // the repair may have left out something
		return true, facts[i] == l.index.facts[i]
	case p != nil && slices.Contains(l.sent, p.key): // else it was pinned, or a record or a summary stands for it
		sent := history[i]
		sent.Parts = p.sent()
		return showsAll(&sent, &history[i]), true
	case isSent || i > l.lastOf(facts):
		return false, false
	}
	// If nothing has to be repaired, messages are sent under their own keys, and the key of this one was not sent.
	return false, len(facts) > 0 && &facts[0] == &l.index.facts[0]
}

// lastOf returns the index of the last request's last message in the history that has these facts, or -1.
func (l *ledger) lastOf(facts []*fact) int {
	if len(l.sent) == 0 {
		return -1
	}
	last := l.sent[len(l.sent)-1]
	for i := len(facts) - 1; i >= 0; i-- {
		k := facts[i].key
		if p := l.projections[k]; k == last || p != nil && p.key == last {
			return i
		}
	}
	return -1
}

// Text, Origin and Handle make it a [recall.Source].
func (l *leftOut) Text(i int) string   { return shownText(&l.history[i]) }
func (l *leftOut) Origin(i int) string { return originOf(&l.history[i], l.tools.of(i, &l.history[i])) }
func (l *leftOut) Handle(i int) string { return l.handles.Of(i) }

// has reports whether message i is left out.
func (l *leftOut) has(i int) bool {
	_, ok := slices.BinarySearch(l.list, i)
	return ok
}

// before returns how many messages before message i are left out.
func (l *leftOut) before(i int) int {
	n, _ := slices.BinarySearch(l.list, i)
	return n
}
