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
// EraseEntries waits for the turn as [session.Store.Open] does, so close the session first. If an entry was erased
// before, that is not an error. The error is [session.ErrNotFound] if there is no such log, or if the log lacks one of
// the entries; nothing has changed then. It is also ErrNotFound if somebody deletes the log during the call; copies may
// be erased already. After any other error, or if the process ends during the call, the entries may still be there:
// call it again. A log that is listed but cannot be opened is such an error. EraseEntries does not reach what the host
// or a provider keeps elsewhere, nor a fork that is made while it runs.
func EraseEntries(ctx context.Context, s *session.Store, key, log string, ids ...string) (*Receipt, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	relatives, err := readRelatives(ctx, s.Backend())
	if err != nil {
		return nil, err
	}
	opts := s.Options()
	e := &eraser{Backend: s.Backend(), seal: opts.Seal, now: opts.Now()}
	log, found, err := e.find(ctx, key, log, ids)
	if err != nil {
		return nil, err
	}
	// Copies are erased first: they are recognized by the entries' content, which is still there now.
	var copies []*Receipt
	unread := relatives.lost
	all := relatives.of(key)
	for _, related := range all {
		but := ""
		if related == key {
			but = log
		}
		copied, isUnread, err := e.copies(ctx, related, but, found)
		if err != nil {
			return nil, err
		}
		if isUnread && !slices.Contains(unread, related) {
			unread = append(unread, related)
		}
		copies = append(copies, copied...)
	}
	r, err := e.eraseFound(ctx, key, log, ids, found)
	if err != nil {
		return nil, err
	}
	if err := s.Backend().Sweep(ctx, append(all, key)...); err != nil {
		return nil, err
	}
	slices.Sort(unread)
	r.Copies, r.Unread = copies, unread
	return r, nil
}

// eraseFound erases the entries with these ids, whose fingerprints are in found, in log or in whatever log has them by
// now.
func (e *eraser) eraseFound(
	ctx context.Context, key, log string, ids []string, found map[string]string,
) (*Receipt, error) {
	for {
		r, err := e.erase(ctx, key, log, func(v *erasure) error {
			err := v.byID(ids)
			if err == nil && !isWithin(v.fingerprints(), found) { // deleted and begun anew: the log's ID came again
				err = fmt.Errorf("%w: log %q has other entries now", session.ErrNotFound, log)
			}
			return err
		})
		if !errors.Is(err, session.ErrNotFound) {
			return r, err
		}
		now, lost := e.holder(ctx, key, ids, found) // another eraser may have given the log another ID
		if lost != nil {
			return nil, lost
		}
		if now == log {
			return nil, fmt.Errorf("session: log %q of %q: %w", log, key, errUnopened)
		}
		log = now
	}
}

// copies erases copies in all logs of a session but one. Somebody else may erase there at the same time, which changes
// the IDs of the logs: a log that is not found is looked for again. unread says that one was listed again and still not
// found.
func (e *eraser) copies(
	ctx context.Context, key, but string, found map[string]string,
) (all []*Receipt, unread bool, err error) {
	done := map[string]bool{but: true}
	missing := "" // the last log that was not found
	for {
		parts, err := e.Parts(ctx, key)
		if err != nil {
			return nil, false, err
		}
		i := slices.IndexFunc(parts, func(p backend.Part) bool { return p.Kind != backend.PartSide && !done[p.Log] })
		if i < 0 {
			return all, unread, nil
		}
		log := parts[i].Log
		r, err := e.erase(ctx, key, log, func(v *erasure) error { return v.byContent(found) })
		if errors.Is(err, session.ErrNotFound) && ctx.Err() == nil {
			done[log] = log == missing
			unread = unread || done[log]
			missing = log
			continue
		}
		if err != nil {
			return nil, false, err
		}
		if done[log] = true; len(r.Entries) > 0 {
			all = append(all, r)
			done[r.Log] = true
		}
	}
}

// eraser erases entries in one log after another.
type eraser struct {
	backend.Backend
	seal session.Sealer
	now  time.Time
}

// erase erases the entries of one log that choose selects. The error is ErrNotFound if the log is gone.
func (e *eraser) erase(ctx context.Context, key, log string, choose func(*erasure) error) (*Receipt, error) {
	if _, _, err := e.part(ctx, key, log); err != nil { // taking the turn of a missing session would create it
		return nil, err
	}
	turn, err := e.Turn(ctx, key)
	if err != nil {
		return nil, err
	}
	var r *Receipt
	for {
		r, err = e.once(ctx, turn, key, log, choose)
		if !errors.Is(err, session.ErrChanged) || ctx.Err() != nil { // somebody wrote beside the branch
			break
		}
	}
	if errors.Is(err, session.ErrDeleted) { // since it was listed
		err = fmt.Errorf("%w: log %q of %q: %w", session.ErrNotFound, log, key, err)
	}
	return r, errors.Join(err, turn.Release())
}

// newID returns the ID of a log after it was rewritten: the one that no log of the session had before.
func (e *eraser) newID(ctx context.Context, key string, before []backend.Part) (string, error) {
	now, err := e.Parts(ctx, key)
	if err != nil {
		return "", err
	}
	for _, p := range now {
		hadID := func(old backend.Part) bool { return old.Log == p.Log }
		if p.Kind != backend.PartSide && !slices.ContainsFunc(before, hadID) {
			return p.Log, nil
		}
	}
	return "", nil // somebody deleted it in the meantime
}

func (e *eraser) once(
	ctx context.Context, turn backend.Turn, key, log string, choose func(*erasure) error,
) (*Receipt, error) {
	parts, part, err := e.part(ctx, key, log)
	if err != nil {
		return nil, err
	}
	text, err := e.OpenPart(ctx, key, part)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	v, err := newErasure(ctx, text, e.seal)
	if err != nil {
		return nil, err
	}
	if err := choose(v); err != nil {
		return nil, fmt.Errorf("session: %q: %w", key, err)
	}
	r := &Receipt{Key: key, Log: part.Log, Time: e.now}
	if len(v.chosen)+len(v.done) == 0 {
		return r, nil
	}
	if err := v.make(ctx, e.now); err != nil {
		return nil, err
	}
	for _, side := range parts {
		if side.Kind != backend.PartSide {
			continue
		}
		if err := e.Remove(ctx, turn, side); err != nil {
			return nil, err
		}
		r.Parts, r.Bytes = append(r.Parts, side), r.Bytes+side.Bytes
	}
	if len(v.patches) > 0 {
		if err := e.Rewrite(ctx, turn, part, v.patches, v.lines); err != nil {
			return nil, err
		}
		if r.Log, err = e.newID(ctx, key, parts); err != nil {
			return nil, err
		}
	}
	r.Entries, r.With = append(v.done, v.ids(v.chosen)...), v.ids(v.with)
	for _, p := range v.patches {
		r.Bytes += int64(len(p.Text))
	}
	return r, nil
}

// An eraser looks for a log while others may rewrite it, which gives it another ID, or delete it.

// find returns the log to erase in and, by id, the fingerprints by which copies of the entries are recognized. Another
// eraser may give the log another ID before it is opened, or rewrite it while it is read: then it is looked for again.
func (e *eraser) find(ctx context.Context, key, log string, ids []string) (string, map[string]string, error) {
	var tried backend.Part
	for {
		_, part, err := e.part(ctx, key, log)
		if err != nil {
			return "", nil, err
		}
		found, err := e.read(ctx, key, part, ids)
		hasMoved := errors.Is(err, session.ErrDeleted) || errors.Is(err, errUnopened)
		if !hasMoved || part.Log == tried.Log && part.Name == tried.Name {
			return part.Log, found, err
		}
		tried = part
	}
}

// read is find for a part as it was listed.
func (e *eraser) read(ctx context.Context, key string, part backend.Part, ids []string) (map[string]string, error) {
	text, err := e.OpenPart(ctx, key, part)
	if errors.Is(err, session.ErrNotFound) {
		err = errUnopened
	}
	if err != nil {
		return nil, fmt.Errorf("session: log %q of %q: %w", part.Log, key, err)
	}
	defer text.Close()
	v, err := newErasure(ctx, text, e.seal)
	if err == nil {
		err = v.byID(ids)
	}
	if err != nil {
		return nil, fmt.Errorf("session: %q: %w", key, err)
	}
	return v.fingerprints(), nil
}

// holder returns the log of a session that has the entries now whose fingerprints are in found. An entry that somebody
// else has erased counts too, because its content is gone. Another log can have other entries with the same ids: the
// newest one does after a reset. If another eraser gives a log another ID while they are read, all are listed again.
func (e *eraser) holder(ctx context.Context, key string, ids []string, found map[string]string) (string, error) {
	parts, err := e.Parts(ctx, key)
	for err == nil {
		log, hasThem, lost := e.holderAmong(ctx, key, parts, ids, found)
		if hasThem {
			return log, nil
		}
		before := parts
		if parts, err = e.Parts(ctx, key); err == nil && sameLogs(before, parts) {
			return log, lost
		}
	}
	return "", err
}

// holderAmong is holder for the logs among parts. hasThem is false if all of the entries were erased, or if the error
// says why there is no log. A log that cannot be read stands in the way only if no other one has the entries.
func (e *eraser) holderAmong(
	ctx context.Context, key string, parts []backend.Part, ids []string, found map[string]string,
) (log string, hasThem bool, lost error) {
	for _, part := range parts {
		if part.Kind == backend.PartSide {
			continue
		}
		at, now, err := e.find(ctx, key, part.Log, ids)
		switch {
		case errors.Is(err, session.ErrNotFound):
		case err != nil:
			lost = errors.Join(lost, err)
		case len(now) == 0:
			log = at
		case isWithin(now, found):
			return at, true, nil
		}
	}
	if lost == nil && log == "" {
		lost = fmt.Errorf("%w: the entries of %q are gone", session.ErrNotFound, key)
	}
	return log, false, lost
}

// isWithin reports whether of has all that part has.
func isWithin(part, of map[string]string) bool {
	for id, sum := range part {
		if of[id] != sum {
			return false
		}
	}
	return true
}

// part returns the parts of a session and, among them, the given log, or the newest log if log is "".
func (e *eraser) part(ctx context.Context, key, log string) ([]backend.Part, backend.Part, error) {
	parts, err := e.Parts(ctx, key)
	if err != nil {
		return nil, backend.Part{}, err
	}
	at := slices.IndexFunc(parts, func(p backend.Part) bool {
		return p.Kind != backend.PartSide && (p.Log == log || log == "" && p.Open)
	})
	if at < 0 {
		return nil, backend.Part{}, fmt.Errorf("%w: log %q of %q", session.ErrNotFound, log, key)
	}
	return parts, parts[at], nil
}

// errUnopened is the error for a log that is listed. It is not ErrNotFound: a host would take that for a log that is
// gone, with all its content.
var errUnopened = errors.New("it is listed but cannot be opened")
