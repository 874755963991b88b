package upkeep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/dir"
)

// MakePlan says what a policy would do to the store now. It changes nothing and waits for nobody: [Apply] carries it
// out. The error is [errors.ErrUnsupported] if the backend keeps all it has.
func MakePlan(ctx context.Context, s *session.Store, policy Maintenance) (*Plan, error) {
	p := &planner{Backend: s.Backend(), policy: policy, now: s.Options().Now()}
	p.plan.Made = p.now
	if policy == (Maintenance{}) {
		return &p.plan, nil
	}
	if err := p.list(ctx); err != nil {
		return nil, err
	}
	// In the order of the reference: age, number, logs that ended in a reset, old archives, bytes.
	for _, step := range []func(context.Context) error{p.age, p.count, p.resets, p.retention, p.bytes} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return &p.plan, nil
}

// planner makes a plan.
type planner struct {
	backend.Backend
	policy   Maintenance
	now      time.Time
	sessions []*storedSession // the least recently written first
	plan     Plan
}

// storedSession is a session and what is known about it.
type storedSession struct {
	key     string
	parts   []backend.Part
	named   map[string]bool // names of the parts that have an action
	updated time.Time       // when an unarchived session was last written to; zero: unknown
	asked   bool            // why is known
	why     string          // why the session is left alone; "": it is not
	lost    error           // why its parts cannot be read; it has none then
}

// open returns the part that the next opening uses.
func (l *storedSession) open() *backend.Part {
	if i := slices.IndexFunc(l.parts, func(p backend.Part) bool { return p.Open }); i >= 0 {
		return &l.parts[i]
	}
	return nil
}

// bytes returns the size of all parts.
func (l *storedSession) bytes() (n int64) {
	for _, part := range l.parts {
		n += part.Bytes
	}
	return n
}

func (l *storedSession) isArchived() bool {
	open := l.open()
	return open == nil || open.Kind == backend.PartArchive
}

// stays reports whether the session is not archived, and not going to be.
func (l *storedSession) stays() bool { return !l.isArchived() && !l.named[l.open().Name] }

// list reads which sessions exist.
func (p *planner) list(ctx context.Context) error {
	var mu sync.Mutex
	err := survey(ctx, p.Backend, func(s *dir.Surveyed) error {
		if s.Lost == nil && len(s.Parts) == 0 { // deleted after its key was listed
			return nil
		}
		l, err := look(ctx, s)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		p.sessions = append(p.sessions, l)
		return nil
	})
	if err != nil {
		return err
	}
	p.plan.Sessions = len(p.sessions)
	slices.SortFunc(p.sessions, func(a, b *storedSession) int {
		return cmp.Or(a.updated.Compare(b.updated), cmp.Compare(a.key, b.key))
	})
	for _, l := range p.sessions {
		if l.lost != nil {
			p.plan.Kept = append(p.plan.Kept, Kept{Key: l.key, Why: whyLost(l.lost), Err: l.lost})
		}
		p.plan.Bytes += l.bytes()
	}
	return nil
}

// look returns a session as it is stored.
func look(ctx context.Context, s *dir.Surveyed) (*storedSession, error) {
	l := &storedSession{key: s.Key, parts: s.Parts, named: map[string]bool{}, lost: s.Lost}
	if l.lost != nil || l.isArchived() {
		return l, nil
	}
	open := *l.open()
	_, updated, err := readInfo(ctx, s, open)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, session.ErrNotFound) {
		return &storedSession{key: s.Key, lost: err}, nil
	}
	if l.updated = updated; updated.IsZero() {
		l.updated = open.Time
	}
	return l, nil
}

// age plans to archive the sessions that nobody wrote to for long. A session whose last write is unknown is not old.
func (p *planner) age(ctx context.Context) error {
	for _, l := range p.sessions {
		after, reason := p.policy.archiveAfter(l.key)
		if l.isArchived() || after <= 0 || l.updated.IsZero() || p.now.Sub(l.updated) <= after {
			continue
		}
		if err := p.name(ctx, l, reason, l.logs()...); err != nil {
			return err
		}
	}
	return nil
}

// count plans to archive the sessions beyond MaxSessions.
func (p *planner) count(ctx context.Context) error {
	if p.policy.MaxSessions <= 0 {
		return nil
	}
	left := 0
	for _, l := range p.sessions {
		if l.stays() {
			left++
		}
	}
	for _, l := range p.sessions {
		if left <= p.policy.MaxSessions {
			return nil
		}
		if !l.stays() {
			continue
		}
		if err := p.name(ctx, l, ReasonCount, l.logs()...); err != nil {
			return err
		}
		if !l.stays() {
			left--
		}
	}
	return nil
}

// resets plans to archive the logs that ended in a reset: all but the newest.
func (p *planner) resets(ctx context.Context) error {
	if !p.policy.ResetLogs {
		return nil
	}
	for _, l := range p.sessions {
		older := slices.DeleteFunc(l.logs(), func(part backend.Part) bool { return part.Open })
		if err := p.name(ctx, l, ReasonReset, older...); err != nil {
			return err
		}
	}
	return nil
}

// retention plans to delete the archives that are old enough.
func (p *planner) retention(ctx context.Context) error {
	if p.policy.KeepArchives <= 0 {
		return nil
	}
	stays := func(part backend.Part) bool {
		return part.Time.IsZero() || p.now.Sub(part.Time) <= p.policy.KeepArchives
	}
	for _, l := range p.sessions {
		if err := p.name(ctx, l, ReasonRetention, slices.DeleteFunc(l.deletable(), stays)...); err != nil {
			return err
		}
	}
	return nil
}

// logs returns the logs of a session that are not archived.
func (l *storedSession) logs() []backend.Part {
	isOther := func(part backend.Part) bool { return part.Kind != backend.PartLog }
	return slices.DeleteFunc(slices.Clone(l.parts), isOther)
}

// deletable returns the archives of a session and the files beside them, in the order of deletion: the newest archive
// is last, because the session ends with it. A file beside an unarchived log stays as long as the log does.
func (l *storedSession) deletable() []backend.Part {
	var parts []backend.Part
	logs := l.logs()
	for _, part := range l.parts {
		if !slices.ContainsFunc(logs, func(log backend.Part) bool { return log.Log == part.Log }) {
			parts = append(parts, part)
		}
	}
	slices.SortStableFunc(parts, func(a, b backend.Part) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Time.Compare(b.Time))
	})
	return parts
}

func rank(p backend.Part) int {
	switch {
	case p.Kind == backend.PartSide:
		return 0
	case !p.Open:
		return 1
	}
	return 2
}

// bytes plans what has to go if the store exceeds MaxBytes.
//
// Sessions that turn out to be gone may have been what exceeded it: until something is planned, MaxBytes decides.
func (p *planner) bytes(ctx context.Context) error {
	if p.policy.MaxBytes <= 0 {
		return nil
	}
	before := len(p.plan.Actions)
	isEnough := func() bool {
		most := p.policy.lowWater()
		if len(p.plan.Actions) == before {
			most = p.policy.MaxBytes
		}
		return p.plan.Bytes-p.plan.Frees <= most
	}
	for _, c := range p.oldestFirst() {
		if isEnough() {
			return nil
		}
		if err := p.name(ctx, c.storedSession, ReasonBytes, c.part); err != nil {
			return err
		}
	}
	for _, l := range p.sessions {
		if isEnough() {
			return nil
		}
		if l.isArchived() {
			continue
		}
		if err := p.name(ctx, l, ReasonBytes, l.logs()...); err != nil {
			return err
		}
	}
	if !isEnough() {
		p.plan.Over = max(0, p.plan.Bytes-p.plan.Frees-p.policy.lowWater())
	}
	return nil
}

// candidate is a part of a session that may be deleted.
type candidate struct {
	*storedSession
	part backend.Part
}

// oldestFirst returns the deletable parts of all sessions.
func (p *planner) oldestFirst() []candidate {
	var all []candidate
	for _, l := range p.sessions {
		for _, part := range l.deletable() {
			all = append(all, candidate{l, part})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.part.Time.Compare(b.part.Time) })
	return all
}

// name adds an action for each part that has none yet, unless the session is protected: logs are archived, anything
// else is deleted.
func (p *planner) name(ctx context.Context, l *storedSession, reason Reason, parts ...backend.Part) error {
	for _, part := range parts {
		if l.named[part.Name] {
			continue
		}
		if err := p.protect(ctx, l, reason); err != nil || l.why != "" {
			return err
		}
		a := Action{Op: OpDelete, Key: l.key, Part: part, Reason: reason, At: part.Time}
		frees := part.Bytes
		if part.Kind == backend.PartLog {
			a.Op, a.At = OpArchive, l.updated
			frees -= part.Bytes / archivedShare
		}
		l.named[part.Name] = true
		p.plan.Actions = append(p.plan.Actions, a)
		p.plan.Frees += frees
	}
	return nil
}

// protect finds out, once, why a session is left alone that a rule names.
func (p *planner) protect(ctx context.Context, l *storedSession, reason Reason) (err error) {
	if l.asked {
		return nil
	}
	l.asked = true
	if l.why, err = protection(ctx, p.Backend, l.key, l.parts); err != nil {
		l.why = whyLost(err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.why == "" {
		held, err := p.IsHeld(ctx, l.key)
		if err != nil {
			return err
		}
		if held {
			l.why = KeptOpen
		}
	}
	if l.why != "" {
		p.plan.Kept = append(p.plan.Kept, Kept{Key: l.key, Reason: reason, Why: l.why})
	}
	if l.why == KeptChanged { // what is left of it is unknown
		p.plan.Bytes -= l.bytes()
	}
	return nil
}
