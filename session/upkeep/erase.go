package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
)

// Receipt says what was erased, without the content. The store does not keep receipts: a host that needs proof stores
// them.
type Receipt struct {
	Key  string    `json:"key"`
	Log  string    `json:"log,omitempty"` // the log's new ID; "": the whole session was erased
	Time time.Time `json:"time"`

	Parts   []backend.Part `json:"parts,omitempty"`   // that were removed
	Entries []string       `json:"entries,omitempty"` // the requested entries; their content is gone

	// erased along with them: edits, summaries, manager states
	With  []string `json:"with,omitempty"`
	Bytes int64    `json:"bytes"` // bytes that were removed or overwritten

	// Copies says what was erased in forks of this session and in the sessions that it was forked from.
	Copies []*Receipt `json:"copies,omitempty"`
	// Forks are the forks of a session that was erased whole. They were not changed.
	Forks []string `json:"forks,omitempty"`
	// Unread are sessions that could not be read completely: they may hold copies.
	Unread []string `json:"unread,omitempty"`
}

// Erase removes a session: logs, archives, and the files beside them. Whoever has it open gets [session.ErrDeleted].
// Erasing a session that does not exist is not an error. Unlike [session.Store.Delete], Erase returns a receipt.
func Erase(ctx context.Context, s *session.Store, key string) (*Receipt, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	r := &Receipt{Key: key, Time: s.Options().Now()}
	relatives, err := readRelatives(ctx, s.Backend())
	if err == nil {
		r.Forks, r.Unread = slices.Compact(slices.Sorted(slices.Values(relatives.forks[key]))), relatives.lost
		r.Parts, err = s.Backend().Parts(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	for _, part := range r.Parts {
		r.Bytes += part.Bytes
	}
	return r, errors.Join(s.Delete(ctx, key), s.Backend().Sweep(ctx))
}

// EraseEntries overwrites the content of entries of a session: in its newest log if log is "", else in that log of
// [session.Store.Parts], archived or not. The entries keep their places in the tree, so that the conversation can
// continue; instead of an erased message the model sees "[erased]". Everything derived from the entries is erased too:
// edits, summaries of compactions and branches, states of the manager, labels, and copies in forks. The next request
// may have to compact again. An entry that was not derived from them but says the same, such as an answer that quotes
// them, stays: erase it as well. Side files of the session, such as torn tails, are removed. The log gets another ID,
// which the receipt names: followers of the feed then discard what they derived from the old log.
//
// An id names an entry within one log only: after a reset, the new log gives the same ids to other entries. So pass ""
// only with ids that were read since the last reset, whether by [session.Session.Reset] or by
// [session.Options].ResetRule. A host that keeps ids for longer also keeps [session.Status].Log, passes that as log,
// and replaces it by the ID in the receipt.
//
// EraseEntries waits for the turn as [session.Store.Open] does, so close the session first. It is not an error if an
// entry was erased before or if, during the call, somebody else erases it or deletes the session. The error is
// [session.ErrNotFound] if there is no such log, or if the log lacks one of the entries; nothing has changed then.
// After any other error, or if the process ends during the call, the entries may still be there: call it again. A log
// that is listed but cannot be opened is such an error. EraseEntries does not reach what the host or a provider keeps
// elsewhere, nor a fork that is made while it runs.
func EraseEntries(ctx context.Context, s *session.Store, key, log string, ids ...string) (*Receipt, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	relatives, err := readRelatives(ctx, s.Backend())
	if err != nil {
		return nil, err
	}
	opts := s.Options()
	r := &Receipt{Key: key, Log: log, Time: opts.Now(), Entries: ids, Unread: relatives.lost}
	e := &eraser{Backend: s.Backend(), r: r, seal: opts.Seal}
	if err := e.find(ctx); err != nil {
		return nil, err
	}
	all := append(relatives.of(key), key) // itself last: copies are recognized by the content of the entries
	for _, related := range all {
		if err := e.erase(ctx, related); err != nil {
			return nil, err
		}
	}
	slices.Sort(r.Unread)
	r.Unread = slices.Compact(r.Unread)
	return r, e.Sweep(ctx, all...)
}

// eraser erases entries of a session in one log after another.
type eraser struct {
	backend.Backend
	r     *Receipt
	log   string // the requested one
	seal  session.Sealer
	found map[string]string // by id, the fingerprints by which the entries and their copies are recognized
}

var (
	errNoLog = errors.New("there is no such log")
	// errUnopened is the error for a log that is listed. It is not ErrNotFound: a host would take that for a log that
	// is gone, with all its content.
	errUnopened = errors.New("it is listed but cannot be opened")
)

// find looks for the log to erase in and for its entries. It takes no turn, because the session may be begun anew until
// it has it.
func (e *eraser) find(ctx context.Context) error {
	isIt := func(p backend.Part) bool { return p.Log == e.r.Log || e.r.Log == "" && p.Open }
	log, err := e.visit(ctx, e.r.Key, isIt, func(_ []backend.Part, _ backend.Part, v *erasure) (err error) {
		e.found, err = v.fingerprints(e.r.Entries)
		return err
	})
	if errors.Is(err, errNoLog) {
		return fmt.Errorf("%w: log %q of %q", session.ErrNotFound, e.r.Log, e.r.Key)
	}
	e.log, e.r.Log = log.Log, log.Log
	return err
}

// visit calls f with a log that isIt selects, its content, and all parts of the session. Meanwhile another eraser may
// give the log another ID or rewrite it, and somebody may write beside the branch: then it is looked for again.
func (e *eraser) visit(
	ctx context.Context, key string, isIt func(backend.Part) bool,
	f func(parts []backend.Part, log backend.Part, v *erasure) error,
) (log backend.Part, err error) {
	for {
		parts, err := e.Parts(ctx, key)
		if err != nil {
			return log, err
		}
		isItsLog := func(p backend.Part) bool { return p.Kind != backend.PartSide && isIt(p) }
		i := slices.IndexFunc(parts, isItsLog)
		if i < 0 {
			return log, errNoLog
		}
		isTried := parts[i] == log
		log = parts[i]
		err = e.read(ctx, key, log, func(v *erasure) error { return f(parts, log, v) })
		hasMoved := errors.Is(err, session.ErrDeleted) || errors.Is(err, errUnopened)
		if ctx.Err() != nil || !errors.Is(err, session.ErrChanged) && (isTried || !hasMoved) {
			return log, err
		}
	}
}

// read calls f with the content of a log.
func (e *eraser) read(ctx context.Context, key string, log backend.Part, f func(*erasure) error) error {
	text, err := e.OpenPart(ctx, key, log)
	if errors.Is(err, session.ErrNotFound) {
		err = errUnopened
	}
	if err == nil {
		defer text.Close()
		var v *erasure
		if v, err = newErasure(ctx, text, e.seal); err == nil {
			err = f(v)
		}
	}
	if err != nil {
		return fmt.Errorf("session: log %q of %q: %w", log.Log, key, err)
	}
	return nil
}

// erase erases the entries that were found, in the logs of a session. In the session itself that is the requested log;
// its other logs have other entries. erase has the turn meanwhile, so that nobody changes the logs but who deletes the
// session or writes beside its branch.
func (e *eraser) erase(ctx context.Context, key string) (err error) {
	if parts, err := e.Parts(ctx, key); err != nil || len(parts) == 0 { // taking its turn would create it
		return err
	}
	turn, err := e.Turn(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, turn.Release()) }()
	done, isAny := map[string]bool{}, key != e.r.Key
	var lost error
	for {
		isLeft := func(p backend.Part) bool { return !done[p.Log] && (isAny || p.Log == e.log) }
		log, err := e.visit(ctx, key, isLeft, func(parts []backend.Part, log backend.Part, v *erasure) error {
			id, err := e.overwrite(ctx, turn, key, parts, log, v)
			done[id] = err == nil
			return err
		})
		switch {
		case errors.Is(err, errNoLog) && !isAny && len(done) == 0:
			isAny = true // another eraser gave it another ID
		case errors.Is(err, errNoLog), errors.Is(err, session.ErrDeleted):
			return lost
		case errors.Is(err, errUnopened) && key != e.r.Key:
			e.r.Unread = append(e.r.Unread, key)
		case errors.Is(err, errUnopened):
			lost = err
		case err != nil:
			return err
		}
		done[log.Log] = true
	}
}

// overwrite erases entries in a log, one of parts, and what lies beside the logs of its session. It returns the ID that
// the log has then.
func (e *eraser) overwrite(
	ctx context.Context, turn backend.Turn, key string, parts []backend.Part, log backend.Part, v *erasure,
) (id string, err error) {
	if err := v.choose(e.found); err != nil || len(v.chosen) == 0 && (key != e.r.Key || log.Log != e.log) {
		return log.Log, err
	}
	if err := v.make(e.r.Time); err != nil {
		return log.Log, err
	}
	r := e.r
	if key != e.r.Key {
		r = &Receipt{Key: key, Time: e.r.Time, Entries: v.ids(v.chosen)}
	}
	for _, side := range parts {
		if side.Kind != backend.PartSide {
			continue
		}
		if err := e.Remove(ctx, turn, side); err != nil {
			return log.Log, err
		}
		r.Parts, r.Bytes = append(r.Parts, side), r.Bytes+side.Bytes
	}
	if len(v.patches) > 0 {
		if err := e.Rewrite(ctx, turn, log, v.patches, v.lines); err != nil {
			return log.Log, err
		}
	}
	r.Log, r.With = log.Log, append(r.With, v.ids(v.with)...)
	if key != e.r.Key {
		e.r.Copies = append(e.r.Copies, r)
	}
	for _, p := range v.patches {
		r.Bytes += int64(len(p.Text))
	}
	now, err := e.Parts(ctx, key)
	for _, p := range now {
		hadID := func(old backend.Part) bool { return old.Log == p.Log }
		if p.Kind != backend.PartSide && !slices.ContainsFunc(parts, hadID) {
			r.Log = p.Log
		}
	}
	return r.Log, err
}
