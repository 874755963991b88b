// Package follow tells an index what changed in a store, in batches instead of message by message.
package follow

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
)

// Options say when an index should process a change. nil and the zero value mean the numbers of the reference
// system. With negative numbers every change is processed.
type Options struct {
	Bytes    int64         // new bytes of a session (100 000)
	Messages int           // new messages of a session (50); either limit suffices
	Debounce time.Duration // how long changes are collected before they are looked at (5 s)

	// Have returns which log of a session the index has read last, and how many bytes of it: the Log and To of the
	// newest change that it processed. log is "" if it has nothing. With Have, Resync does not tell again what the
	// index has. A session without anything new is listed with From equal to To, so that it is not forgotten. nil: the
	// index begins anew.
	Have func(key string) (log string, bytes int64)
}

const (
	enoughBytes    = 100_000
	enoughMessages = 50
	usualDebounce  = 5 * time.Second
)

// Follower tells an index what changed, in batches instead of message by message. It is for one goroutine.
type Follower struct {
	store   *session.Store
	opts    Options
	cursor  string
	pending map[string]pendingChange // by key
	seen    time.Time                // when changes were looked for last
}

// pendingChange is a change that is not large enough yet.
type pendingChange struct {
	session.Change
	Messages int              `json:"messages,omitempty"`
	Older    []session.Change `json:"older,omitempty"` // of the logs before a reset
}

// followed is the content of a Follower's cursor.
type followed struct {
	Cursor  string          `json:"cursor"`
	Pending []pendingChange `json:"pending,omitempty"`
	Seen    time.Time       `json:"seen,omitzero"`
}

// clocksDiffer is by how much the clocks of two processes may differ, and how long changes may be on their way.
const clocksDiffer = time.Hour

// New returns a follower that continues after a cursor: that of the last [session.Changes] that the index processed, or
// "" for an empty index. The cursor must come from a follower.
func New(store *session.Store, cursor string, opts *Options) *Follower {
	f := &Follower{store: store, pending: map[string]pendingChange{}}
	if opts != nil {
		f.opts = *opts
	}
	f.opts.Bytes = cmp.Or(f.opts.Bytes, enoughBytes)
	f.opts.Messages = cmp.Or(f.opts.Messages, enoughMessages)
	f.opts.Debounce = cmp.Or(f.opts.Debounce, usualDebounce)
	var was followed
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && json.Unmarshal(text, &was) == nil { // any other cursor begins anew
		f.cursor, f.seen = was.Cursor, was.Seen
		for _, p := range was.Pending {
			f.pending[p.Key] = p
		}
	}
	return f
}

// Next waits until there is enough to process, and returns it: sessions with enough new bytes or messages, sessions
// that were deleted or begun anew, and, with Resync, all sessions. Smaller changes stay pending; the cursor remembers
// them. What was written to older logs before a session was begun anew comes as changes of these logs, in front of that
// of the new one.
func (f *Follower) Next(ctx context.Context) (*session.Changes, error) {
	for {
		c, err := f.store.NextChanges(ctx, f.cursor)
		if c, err = f.look(ctx, c, err); c == nil && err == nil {
			c, err = f.collect(ctx)
		}
		if c != nil || err != nil {
			return c, err
		}
		if due := f.due(f.isDue); len(due.Changes) > 0 {
			return due, nil
		}
	}
}

// Flush returns everything that is new, however small, without waiting. Call it before a search that has to find
// everything.
func (f *Follower) Flush(ctx context.Context) (*session.Changes, error) {
	c, err := f.store.Changes(ctx, f.cursor)
	if c, err = f.look(ctx, c, err); c != nil || err != nil {
		return c, err
	}
	return f.due(func(pendingChange) bool { return true }), nil
}

// look takes what the feed answered. It returns changes only for a resync.
func (f *Follower) look(ctx context.Context, c *session.Changes, err error) (*session.Changes, error) {
	switch {
	case err != nil:
		return nil, err
	case c.Resync:
		return f.resync(ctx, c)
	}
	return nil, f.take(ctx, c)
}

// collect takes changes until the debounce is over. It returns changes only for a resync.
func (f *Follower) collect(ctx context.Context) (*session.Changes, error) {
	debounce, cancel := context.WithTimeout(ctx, f.opts.Debounce)
	defer cancel()
	for {
		c, err := f.store.NextChanges(debounce, f.cursor)
		if err != nil && debounce.Err() != nil {
			return nil, context.Cause(ctx) // nil unless ctx has ended too
		}
		if c, err = f.look(ctx, c, err); c != nil || err != nil {
			return c, err
		}
	}
}

func (f *Follower) resync(ctx context.Context, c *session.Changes) (*session.Changes, error) {
	all := &session.Changes{Resync: true}
	for _, change := range c.Changes {
		changes, err := f.behind(ctx, change)
		if err != nil {
			return nil, err
		}
		all.Changes = append(all.Changes, changes...)
	}
	f.cursor, f.seen = c.Cursor, time.Now()
	clear(f.pending)
	all.Cursor = f.savedCursor()
	return all, nil
}

// behind returns what the index does not have of a session. all is its newest log, from offset 0.
func (f *Follower) behind(ctx context.Context, all session.Change) ([]session.Change, error) {
	if f.opts.Have == nil {
		return []session.Change{all}, nil
	}
	log, bytes := f.opts.Have(all.Key)
	if log == "" {
		return []session.Change{all}, nil
	}
	if log == all.Log && bytes <= all.To {
		all.From = bytes
		return []session.Change{all}, nil
	}
	logs, err := backend.LogsUpTo(ctx, f.store.Backend(), all)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(logs, func(p backend.Part) bool { return p.Log == log })
	if at < 0 || at == len(logs)-1 { // it was rewritten, deleted, or lost its end with the power
		return []session.Change{{Key: all.Key, Deleted: true, Cause: backend.CauseDeleted}, all}, nil
	}
	var changes []session.Change
	for i, older := range logs[at : len(logs)-1] {
		from := int64(0)
		if i == 0 {
			from = bytes
		}
		if changes, err = f.addRest(ctx, changes, all.Key, older, from); err != nil {
			return nil, err
		}
	}
	all.Cause = backend.CauseReset
	return append(changes, all), nil
}

// take adds changes to those that are pending.
func (f *Follower) take(ctx context.Context, c *session.Changes) error {
	for _, change := range c.Changes {
		p, ok := f.pending[change.Key]
		if !ok || change.Deleted || p.Deleted || p.Log != change.Log {
			older, err := f.older(ctx, p, change)
			if err != nil {
				return err
			}
			p = pendingChange{Change: change, Older: older}
			p.To = change.From
		}
		added := change
		if added.From = max(added.From, p.To); added.To > added.From {
			n, err := f.count(ctx, p, added)
			if err != nil {
				return err
			}
			p.Messages += n
			p.To = added.To
		}
		f.pending[change.Key] = p
	}
	f.cursor, f.seen = c.Cursor, time.Now()
	return nil
}

// older returns changes of the logs that were written to before a reset, and were not looked into since: those whose
// next log was begun after the last look. p is what is pending.
func (f *Follower) older(ctx context.Context, p pendingChange, reset session.Change) ([]session.Change, error) {
	if reset.Cause != backend.CauseReset {
		return nil, nil
	}
	logs, err := backend.LogsUpTo(ctx, f.store.Backend(), reset)
	older := p.Older
	for i := 0; i+1 < len(logs) && err == nil; i++ {
		isTold := slices.ContainsFunc(older, func(o session.Change) bool { return o.Log == logs[i].Log })
		next := logs[i+1].Time
		if isTold || !next.IsZero() && next.Before(f.seen.Add(-clocksDiffer)) {
			continue
		}
		from := int64(0)
		if p.Log == logs[i].Log {
			from = p.From
		}
		older, err = f.addRest(ctx, older, reset.Key, logs[i], from)
	}
	return older, err
}

// addRest adds the change of a log that grows no more, from an offset on. There is none if the log was removed in the
// meantime.
func (f *Follower) addRest(
	ctx context.Context, to []session.Change, key string, part backend.Part, from int64,
) ([]session.Change, error) {
	log, err := f.store.Backend().OpenPart(ctx, key, part)
	if errors.Is(err, session.ErrNotFound) {
		return to, nil
	}
	if err != nil {
		return nil, err
	}
	defer log.Close()
	size, err := log.Size()
	if err == nil && size > from {
		to = append(to, session.Change{Key: key, Log: part.Log, From: from, To: size})
	}
	return to, err
}

// count returns how many messages a change brings. It does not count if the bytes suffice.
func (f *Follower) count(ctx context.Context, p pendingChange, c session.Change) (n int, err error) {
	if c.To-p.From >= f.opts.Bytes {
		return 0, nil
	}
	for e, err := range f.store.ReadChange(ctx, c) {
		// Of a log that is gone, the next change tells why. Of one that cannot be read, only the bytes count.
		if errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrSealed) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if e.Type == entry.TypeMessage {
			n++
		}
	}
	return n, nil
}

func (f *Follower) isDue(p pendingChange) bool {
	isAnother := p.From == 0 // begun, begun anew, or told again
	return p.Deleted || isAnother || p.To-p.From >= f.opts.Bytes || p.Messages >= f.opts.Messages
}

// due removes the pending changes that isDue selects and returns them.
func (f *Follower) due(isDue func(pendingChange) bool) *session.Changes {
	c := &session.Changes{}
	for _, key := range slices.Sorted(maps.Keys(f.pending)) {
		if p := f.pending[key]; isDue(p) {
			c.Changes = append(append(c.Changes, p.Older...), p.Change)
			delete(f.pending, key)
		}
	}
	c.Cursor = f.savedCursor()
	return c
}

func (f *Follower) savedCursor() string {
	at := followed{Cursor: f.cursor, Seen: f.seen}
	for _, key := range slices.Sorted(maps.Keys(f.pending)) {
		at.Pending = append(at.Pending, f.pending[key])
	}
	text, _ := json.Marshal(at) // strings and numbers always encode
	return base64.RawURLEncoding.EncodeToString(text)
}
