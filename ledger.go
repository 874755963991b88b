package winnow

import (
	"maps"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/pairing"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/sections"
)

// settings are what [New] made of its arguments. Nothing writes to them afterwards but to meter, which has a lock of
// its own; so they are read without the manager's.
type settings struct {
	window   int
	opts     Options // with every default
	minifier minifier

	prices prices
	meter  *meter // of the calls of the summarizer since the last request

	// the host gave the stage an estimator of its own, whose counts are not those of a request
	truncateHasEstimator bool
}

// limits returns what the host says of the window: its size, the reserve for the answer, and the overhead.
func (s *settings) limits() accounting.Host {
	return accounting.Host{Window: s.window, Reserve: s.opts.Reserve, Overhead: s.opts.Overhead}
}

// ledger is the manager's memory of one conversation. Because of it, what was sent stays as it was sent.
type ledger struct {
	saved.Memory
	saved.Cache
	rewrites
	isRestored bool      // nothing was sent since Restore
	tries      tries     // since the last Prepare
	recovery   *recovery // whose outcome is not known yet; nil: none
	journal    journal
}

// rewrites are the decisions about how the history is sent. If a recovery fails, the manager restores those from before
// it.
type rewrites struct {
	edits      map[key]*edit // how messages are sent if not as they are, by their keys
	records    []*runRecord  // that stand for runs of messages; nobody writes to the list
	checkpoint *checkpoint   // the summary that stands for the oldest part of the history; nil: none
	saved.Decisions
}

// newestNames returns the names behind the newest summary that has some, or nil.
func (l *ledger) newestNames() *saved.Names {
	if len(l.Names) == 0 {
		return nil
	}
	return &l.Names[len(l.Names)-1]
}

// hasRequest reports whether there was a last request and it was for the current model. It may have had no messages.
func (l *ledger) hasRequest() bool { return !l.OtherModel && (len(l.Sent) > 0 || !l.SentAt.IsZero()) }

// mostGoneEdits bounds the edits of messages that are gone from the history, in bytes of a snapshot's text. The records
// of such messages have a bound of the same size. A host that goes back to a branch of the conversation finds both
// again. This is room for some fifty placeholders or for five trimmed results.
const mostGoneEdits = 16 << 10

// withoutGone returns edits. If those of messages that d does not have take more than mostGoneEdits, it leaves these
// out.
func withoutGone(d *draft, edits map[key]*edit) map[key]*edit {
	all := 0
	for _, p := range edits {
		all += p.size()
	}
	if all <= mostGoneEdits {
		return edits
	}
	used, size := make(map[key]*edit, len(edits)), 0
	use := func(k key) {
		if p := edits[k]; p != nil && used[k] == nil {
			used[k] = p
			size += p.size()
		}
	}
	for _, f := range d.facts {
		use(f.key)
	}
	for _, x := range d.items { // with what the library made
		use(x.fact.key)
	}
	if all-size <= mostGoneEdits {
		return edits
	}
	return used
}

// checkpoint stands for the history in front of its boundary.
type checkpoint struct {
	saved.Checkpoint
	saved.SummaryKeys
	message Message // with its Text
}

// isByDigest reports whether c has a summary, and a digest wrote some of it.
func (c *checkpoint) isByDigest() bool { return c != nil && c.Degraded != "" }

// setText sets the text of c, and what follows from it.
func (c *checkpoint) setText(h *hasher, text string) {
	c.Text = saved.Text(text)
	c.message = Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: text}}}
	c.SummaryKeys = h.summaryKeys(&c.message)
}

// tries is what was tried since the last Prepare, and which requests the provider has refused.
type tries struct {
	saved.Tries
	refused []key // the newest refused requests of the whole conversation
	oneCall bool  // the next summary may take only one call of the summarizer
	asked   int   // calls of the summarizer, and those that failed before
	usage   Usage // what these were billed
}

// recovery is what Recover did for one request that was refused, in one call or in several. It is open as long as
// nobody has said whether the provider accepted the smaller request. Until then, all that it did can be undone.
type recovery struct {
	before undoable
	tokens accounting.Refused
	bytes  accounting.Refused
}

// undoable is what a recovery changes in a ledger, except for what the provider said.
type undoable struct {
	rewrites
	guess, body accounting.Limit
	refused     []key
}

// journal is what Options.Journal has received so far. It stays empty if that is not set.
type journal struct {
	deltas  int     // how many, in the life of the conversation
	written *ledger // the state that the next delta follows, without a journal; nil: an empty one

	// The next delta follows the state that Restore was given and the one that it made of that: it has all in it.
	isUnknown bool
}

// wasWritten notes that l, as it is now, is what the deltas up to this number say.
func (l *ledger) wasWritten(number int) {
	now := *l
	now.journal = journal{} // else each state would hold all before it
	l.journal = journal{deltas: number, written: &now}
}

// toldBody returns the limit of a body, in bytes, that the host or the provider named. 0: neither named one. A guessed
// limit does not count.
func (l *ledger) toldBody(s *settings) int { return count.Least(s.opts.MaxBytes, l.Body) }

// maxRemembered is how many refused requests are remembered, and how many results that stand apart.
const maxRemembered = 32

// begin begins the tries for a new request of Prepare. What was refused stays known.
func (t *tries) begin() { *t = tries{refused: t.refused} }

// remember adds a request that the provider refused.
func (t *tries) remember(request key) {
	newest := t.refused[max(0, len(t.refused)+1-maxRemembered):]
	t.refused = append(slices.Clip(newest), request) // a list of its own
}

func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}

// Names of calls: the ids that they are sent with, where the history has ids that are used again, or empty. They follow
// from the order of the calls. A host that goes on with a summary has lost that order, and so has one that drops what
// the summary stands for. So the names of the calls behind it are remembered.

// namesFor returns the names that the calls of history were sent with, as far as its messages, which have these facts,
// do not show them. A summary may stand in the history, or the history may have what the newest one stands for, or the
// end of that.
func (l *ledger) namesFor(history []Message, facts []*fact) (g pairing.Given) {
	if len(l.Names) == 0 {
		return g
	}
	for i, m := range slices.Backward(history) {
		if !m.Summary {
			continue
		}
		for _, n := range slices.Backward(l.Names) {
			if k := facts[i].key; k == n.Key || k == n.Plain {
				return pairing.Given{Names: joinNames(n.Before, n.Behind)}
			}
		}
	}
	for _, n := range l.Names {
		if l.checkpoint == nil || n.Key != l.checkpoint.Key {
			continue
		}
		if from := n.FirstKept.Find(placesOf(facts)); from >= 0 {
			return pairing.Given{From: int32(from), Names: n.Behind, Count: true}
		}
	}
	return g
}

// summaryKeys returns the keys of m, a summary in its frame.
func (h *hasher) summaryKeys(m *Message) saved.SummaryKeys {
	plain := strings.TrimPrefix(joinedText(m), sections.Begin)
	plain = plain[:max(0, strings.LastIndex(plain, sections.End))]
	return saved.SummaryKeys{Key: h.key(m), Plain: h.key(&Message{Role: RoleUser, Parts: []Part{{Text: plain}}})}
}

// placesOf returns the messages with these facts.
func placesOf(facts []*fact) place.List {
	return place.List{Len: len(facts), Key: func(i int) key { return facts[i].key }}
}

// joinNames returns the names of a with those of b behind them.
func joinNames(a, b map[string][]string) map[string][]string {
	if len(a) == 0 {
		return b
	}
	all := maps.Clone(a)
	for id, names := range b {
		all[id] = slices.Concat(all[id], names)
	}
	return all
}

// withNames returns list with n as the names behind the summary with these keys. It does not change list.
func withNames(list []saved.Names, n *saved.Names, keys saved.SummaryKeys) []saved.Names {
	if n == nil {
		if !slices.ContainsFunc(list, func(old saved.Names) bool { return old.Key == keys.Key }) {
			return list
		}
		n = &saved.Names{} // behind an earlier summary with the same text, calls had names; here each has its id
	}
	n.SummaryKeys = keys
	return saved.AddNames(list, *n)
}
