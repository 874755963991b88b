package winnow

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/breaker"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/pairing"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/promise"
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
	partner
	rewrites
	names   []*givenNames // of calls behind the newest summaries, the newest last
	breaker breaker.Breaker

	// tokens of the history when a digest stood in for a summary, or when a summary was last tried in vain
	digestAt int
	lastRequest
	accounting accounting.Account
	bodyLimits
	refusals int       // by the provider, since a request of Recover was last accepted
	tries    tries     // since the last Prepare
	recovery *recovery // whose outcome is not known yet; nil: none
	journal  journal

	promised promise.Promise // of the last request
	cacheUse promise.Use     // of the whole conversation
}

// rewrites are the decisions about how the history is sent. If a recovery fails, the manager restores those from before
// it.
type rewrites struct {
	edits      map[key]*edit // how messages are sent if not as they are, by their keys
	records    []*runRecord  // that stand for runs of messages; nobody writes to the list
	checkpoint *checkpoint   // the summary that stands for the oldest part of the history; nil: none

	// a user request from before the checkpoint's cut that is sent besides checkpoint.request; zero: none
	reopened  position
	apart     []key    // results of calls that have one, shown apart since the first one was sent unanswered
	turnStart position // the user message that begins the oldest turn that is kept; zero: no turn was dropped
	flushed   bool     // BeforeCompact ran since the last compaction
}

// newestNames returns the names behind the newest summary that has some, or nil.
func (l *ledger) newestNames() *givenNames {
	if len(l.names) == 0 {
		return nil
	}
	return l.names[len(l.names)-1]
}

// partner is the model that the conversation is held with, and who held it.
type partner struct {
	model         string // as the host names it; "": not known
	otherModel    bool   // nothing was sent to model yet, only to another one
	window        int    // of the manager, in tokens; 0: not known
	isRestored    bool   // nothing was sent since Restore
	bindsThinking bool   // the provider has said so
}

// bodyLimits are the limits of a request's body.
type bodyLimits struct {
	body   int // bytes that the provider allows; 0: it did not say
	images int // that a request may have, by what the provider refused; 0: not known
}

// lastRequest is what was sent last.
type lastRequest struct {
	sent     []key     // message by message
	sentAt   time.Time // zero: nothing was sent
	tokens   int       // of the request
	estimate int       // of its messages
	bytes    int       // of its body
	// the newest message of its history, as that had it, and the one ahead of it
	end, ahead position
}

// hasRequest reports whether there was a last request and it was for the current model. It may have had no messages.
func (l *ledger) hasRequest() bool { return !l.otherModel && (len(l.sent) > 0 || !l.sentAt.IsZero()) }

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
	for f := range d.eachFact() {
		if p := edits[f.key]; p != nil && used[f.key] == nil {
			used[f.key] = p
			size += p.size()
		}
	}
	if all-size <= mostGoneEdits {
		return edits
	}
	return used
}

// boundary says where, in the repaired history, a summary ends.
type boundary struct {
	firstKept bookmark // the first message that the summary does not stand for
	request   position // the user request before firstKept that is kept verbatim; zero: none

	// where the turn limit cut when the summary was made: no summary covers what lies before; zero: it did not cut
	limited position

	front        int  // number of leading messages among which the host's inserted texts stay in front
	requestLeads bool // request stands in front of all that the summary stands for
}

// checkpoint stands for the history in front of its boundary.
type checkpoint struct {
	message Message // the summary, as it is sent
	summaryKeys
	boundary
	body     string // what the next summary updates: the summarizer's text, or more than a digest had room for
	carried  sections.Carried
	degraded string
	// If degraded, the newest checkpoint before it that a model wrote. What that one stands for is not read again; nil:
	// none.
	byModel *checkpoint
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
	deltas     int           // how many, in the life of the conversation
	sent       int           // how many leading keys of ledger.sent were written
	edits      map[key]*edit // edits that were written; the map is never changed
	records    []*runRecord  // records that were written; likewise
	checkpoint *checkpoint   // the checkpoint that was written
	names      *givenNames   // the newest names that were written

	// The next delta follows the state that Restore was given and the one that it made of that: it has all in it.
	isUnknown bool
}

// toldBody returns the limit of a body, in bytes, that the host or the provider named. 0: neither named one. A guessed
// limit does not count.
func (l *ledger) toldBody(s *settings) int { return count.Least(s.opts.MaxBytes, l.body) }

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

// givenNames are the ids with which calls were sent, of those calls that stayed when a summary was made.
type givenNames struct {
	summaryKeys
	firstKept bookmark // the first message that the summary does not stand for, among the host's own messages

	// by the ids in the history, in their order: of calls that are kept before that message, and of all from there on
	before, behind map[string][]string
}

// summaryKeys identify a summary in a history.
type summaryKeys struct {
	key   key // as it is sent
	plain key // with its text alone: Compaction.Summary
}

// namesFor returns the names that the calls of history were sent with, as far as its messages, which have these facts,
// do not show them. A summary may stand in the history, or the history may have what the newest one stands for, or the
// end of that.
func (l *ledger) namesFor(history []Message, facts []*fact) (g pairing.Given) {
	if len(l.names) == 0 {
		return g
	}
	for i, m := range slices.Backward(history) {
		if !m.Summary {
			continue
		}
		for _, n := range slices.Backward(l.names) {
			if n.isOf(facts[i].key) {
				return pairing.Given{Names: joinNames(n.before, n.behind)}
			}
		}
	}
	for _, n := range l.names {
		if l.checkpoint == nil || n.key != l.checkpoint.key {
			continue
		}
		if from := n.firstKept.Find(placesOf(facts)); from >= 0 {
			return pairing.Given{From: int32(from), Names: n.behind, Count: true}
		}
	}
	return g
}

// summaryKeys returns the keys of m, a summary in its frame.
func (h *hasher) summaryKeys(m *Message) summaryKeys {
	plain := strings.TrimPrefix(joinedText(m), sections.Begin)
	plain = plain[:max(0, strings.LastIndex(plain, sections.End))]
	return summaryKeys{h.key(m), h.key(&Message{Role: RoleUser, Parts: []Part{{Text: plain}}})}
}

// placesOf returns the messages with these facts.
func placesOf(facts []*fact) place.List {
	return place.List{Len: len(facts), Key: func(i int) key { return facts[i].key }}
}

// isOf reports whether k is the key of the summary, or of its text alone.
func (s *summaryKeys) isOf(k key) bool { return k == s.key || k == s.plain }

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
func withNames(list []*givenNames, n *givenNames, keys summaryKeys) []*givenNames {
	isSame := func(old *givenNames) bool { return old.key == keys.key }
	switch {
	case n == nil && !slices.ContainsFunc(list, isSame):
		return list
	case n == nil:
		n = &givenNames{} // behind an earlier summary with the same text, calls had names; here each has its id
	}
	n.summaryKeys = keys
	list = slices.DeleteFunc(slices.Clone(list), isSame)
	return append(list[max(0, len(list)-saved.MostNames+1):], n)
}
