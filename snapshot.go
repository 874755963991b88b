package winnow

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/breaker"
	"github.com/winnowgo/winnow/internal/guess"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/saved"
)

// Snapshot returns the manager's state, for [Manager.Restore] in this process or another: the summary, the edits and
// records that were sent, and hashes of what was sent last. Its only texts are those of edits, of records, of the
// summary, and of what code carries from one summary to the next: rules of the user, failures, files and names.
func (m *Manager) Snapshot() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.ledger.head()
	s.Sent, s.Edits, s.Records = m.ledger.sent, savedEdits(m.ledger.projections), savedRecords(m.ledger.records)
	s.Names = savedNames(m.ledger.names)
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("winnow: Snapshot: %w", err)
	}
	return b, nil
}

// Restore takes the state of a manager with the same options: what Snapshot returned, and the deltas that
// Options.Journal has been given since, in their order. Deltas that the state already holds are skipped; in front of
// deltas, an empty state means a new manager. The next request then has the same bytes as that manager's next request
// would have had. The error says that the data is not a snapshot, that its version is unknown, or that a delta does not
// follow the previous one. The manager is then as it was before.
//
// The new process may have fewer tools. So a request that fits only without the provider's counts from before Restore
// is made all the same, and the next count corrects the estimates. A summarizer whose answers were refused is asked
// once more after some growth, because a restart may bring one that works. In another window, limits of tokens that the
// provider named, or that were guessed, are forgotten if the model has no name: the window may be another model's.
//
// If both managers name their Options.Model, the state of another model is accepted too: the conversation continues
// with another model. What the manager learned from the old provider is then forgotten (its limits, its counts, its
// cache); the summary and the edits stay. Requests leave out signed thinking of the old model. An adapter's Export
// converts or leaves out other content that the new provider does not accept.
func (m *Manager) Restore(state []byte, deltas ...[]byte) error {
	l, err := restored(state, deltas)
	if err != nil {
		return fmt.Errorf("winnow: Restore: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endBackground()
	wasOpen := l.recovery != nil
	if l.goOnWith(m); wasOpen && l.recovery == nil {
		l.journal = journal{deltas: l.journal.deltas, isUnknown: true}
	}
	l.index = m.ledger.index
	m.ledger = l
	m.calls++
	return nil
}

// restored returns the ledger that state and deltas describe.
func restored(state []byte, deltas [][]byte) (ledger, error) {
	s := saved.Snapshot{Winnow: saved.Version}
	if len(state) > 0 || len(deltas) == 0 {
		s.Winnow = 0
		if err := json.Unmarshal(state, &s); err != nil {
			return ledger{}, err
		}
	}
	if s.Winnow != saved.Version {
		return ledger{}, fmt.Errorf("no snapshot of version %d", saved.Version)
	}
	for i, text := range deltas {
		if err := s.Add(text); err != nil {
			return ledger{}, fmt.Errorf("delta %d of %d: %w", i+1, len(deltas), err)
		}
	}
	l, err := ledgerOf(&s)
	if err == nil {
		l.journal = l.journalFrom(s.Deltas)
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
	if l.window > 0 && l.window != m.window {
		l.breaker = breaker.Breaker{} // a compaction may succeed in another window
		if l.model == "" {            // it may be another model's window
			l.undoRecovery()
			l.accounting.Limit, l.accounting.Window, l.accounting.Guess = 0, 0, guess.Limit{}
		}
	}
	l.window = m.window
	if model == "" { // not known
		return
	}
	was := l.model
	if l.model = model; was == "" || models.IsSame(was, model) {
		return
	}
	l.undoRecovery()
	l.accounting, l.body, l.refusals, l.tries, l.breaker = accounting.Account{}, 0, 0, tries{}, breaker.Breaker{}
	l.sentAt, l.tokens, l.estimate = time.Time{}, 0, 0
	l.otherModel = true
	m.opts.Logger.Info("winnow: the conversation goes on with another model", "before", was, "model", model,
		"edits_kept", len(l.projections))
}
