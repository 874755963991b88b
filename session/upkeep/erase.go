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
		r.Forks, r.Unread = relatives.forksOf(key), relatives.lost
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
	e := &eraser{Backend: s.Backend(), key: key, log: log, seal: opts.Seal, now: opts.Now()}
	r, err := e.find(ctx, ids)
	if err != nil {
		return nil, err
	}
	r.Unread = relatives.lost
	// The log itself comes last: copies are recognized by the content of the entries.
	all := relatives.of(key)
	for _, related := range all {
		copies, err := e.erase(ctx, related, func(l string) bool { return related != key || l != e.log })
		if errors.Is(err, errUnopened) {
			r.Unread, err = append(r.Unread, related), nil
		}
		if err != nil {
			return nil, err
		}
		r.Copies = append(r.Copies, copies...)
	}
	r.Copies = slices.DeleteFunc(r.Copies, func(c *Receipt) bool { return len(c.Entries) == 0 })
	own, err := e.erase(ctx, key, func(l string) bool { return l == e.log })
	if err == nil && len(own) == 0 { // it is gone, or has another ID, which another eraser gave it
		own, err = e.erase(ctx, key, func(string) bool { return true })
	}
	if err != nil {
		return nil, err
	}
	for _, o := range own {
		if len(o.Entries) > 0 {
			r.Log = o.Log
		}
		r.Parts, r.With, r.Bytes = append(r.Parts, o.Parts...), append(r.With, o.With...), r.Bytes+o.Bytes
	}
	slices.Sort(r.Unread)
	r.Unread = slices.Compact(r.Unread)
	return r, s.Backend().Sweep(ctx, append(all, key)...)
}

// eraser erases entries of a session in one log after another.
type eraser struct {
	backend.Backend
	key   string
	log   string // the requested one
	seal  session.Sealer
	now   time.Time
	found map[string]string // by id, the fingerprints by which the entries and their copies are recognized
}

// errUnopened is the error for a log that is listed. It is not ErrNotFound: a host would take that for a log that is
// gone, with all its content.
var errUnopened = errors.New("it is listed but cannot be opened")

// find looks for the log to erase in and for its entries. It takes no turn, because the session may be begun anew until
// it has it. Another eraser may give the log another ID before it is opened, or rewrite it while it is read: then it is
// looked for again.
func (e *eraser) find(ctx context.Context, ids []string) (*Receipt, error) {
	var tried backend.Part
	for {
		parts, err := e.Parts(ctx, e.key)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(parts, func(p backend.Part) bool {
			return p.Kind != backend.PartSide && (p.Log == e.log || e.log == "" && p.Open)
		})
		if i < 0 {
			return nil, fmt.Errorf("%w: log %q of %q", session.ErrNotFound, e.log, e.key)
		}
		r := &Receipt{Key: e.key, Log: parts[i].Log, Time: e.now, Entries: ids}
		err = e.read(ctx, e.key, parts[i], func(v *erasure) (err error) {
			e.found, err = v.fingerprints(ids)
			return err
		})
		hasMoved := errors.Is(err, session.ErrDeleted) || errors.Is(err, errUnopened)
		if !hasMoved || parts[i] == tried {
			e.log = r.Log
			return r, err
		}
		tried = parts[i]
	}
}

// read calls f with the content of a log.
func (e *eraser) read(ctx context.Context, key string, part backend.Part, f func(*erasure) error) error {
	text, err := e.OpenPart(ctx, key, part)
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
		return fmt.Errorf("session: log %q of %q: %w", part.Log, key, err)
	}
	return nil
}

// erase erases the entries that were found, in those logs of a session that isIt selects. It has the turn meanwhile, so
// that nobody changes the logs but who deletes the session or writes beside its branch. It returns a receipt for each
// log that is there.
func (e *eraser) erase(ctx context.Context, key string, isIt func(log string) bool) (all []*Receipt, err error) {
	if parts, err := e.Parts(ctx, key); err != nil || len(parts) == 0 { // taking its turn would create it
		return nil, err
	}
	turn, err := e.Turn(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, turn.Release()) }()
	done, tried := map[string]bool{}, backend.Part{}
	var lost error
	for {
		parts, err := e.Parts(ctx, key)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(parts, func(p backend.Part) bool {
			return p.Kind != backend.PartSide && !done[p.Log] && isIt(p.Log)
		})
		if i < 0 {
			return all, lost
		}
		part := parts[i]
		r := &Receipt{Key: key, Log: part.Log, Time: e.now}
		err = e.read(ctx, key, part, func(v *erasure) error { return e.overwrite(ctx, turn, parts, part, v, r) })
		isUnopened := errors.Is(err, errUnopened)
		switch {
		case err == nil:
			all = append(all, r)
			done[part.Log], done[r.Log] = true, true
		case errors.Is(err, session.ErrDeleted):
			return all, lost
		case (errors.Is(err, session.ErrChanged) || isUnopened && part != tried) && ctx.Err() == nil:
			tried = part // somebody wrote beside the branch
		case isUnopened:
			lost, done[part.Log] = err, true
		default:
			return nil, err
		}
	}
}

// overwrite erases entries in a log, one of parts, and what lies beside the logs of its session. r says what.
func (e *eraser) overwrite(
	ctx context.Context, turn backend.Turn, parts []backend.Part, part backend.Part, v *erasure, r *Receipt,
) error {
	isRequested := r.Key == e.key && r.Log == e.log
	if err := v.choose(e.found); err != nil || len(v.chosen) == 0 && !isRequested {
		return err
	}
	if err := v.make(e.now); err != nil {
		return err
	}
	for _, side := range parts {
		if side.Kind != backend.PartSide {
			continue
		}
		if err := e.Remove(ctx, turn, side); err != nil {
			return err
		}
		r.Parts, r.Bytes = append(r.Parts, side), r.Bytes+side.Bytes
	}
	r.Entries, r.With = v.ids(v.chosen), v.ids(v.with)
	if len(v.patches) == 0 {
		return nil
	}
	if err := e.Rewrite(ctx, turn, part, v.patches, v.lines); err != nil {
		return err
	}
	for _, p := range v.patches {
		r.Bytes += int64(len(p.Text))
	}
	now, err := e.Parts(ctx, r.Key)
	for _, p := range now {
		hadID := func(old backend.Part) bool { return old.Log == p.Log }
		if p.Kind != backend.PartSide && !slices.ContainsFunc(parts, hadID) {
			r.Log = p.Log
		}
	}
	return err
}
