package upkeep

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/dir"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// isGone is why a session is left alone that was deleted after it was listed. A plan does not mention it.
const isGone = "it is gone"

// protection returns why a session is left alone, "" if it is not.
func (p *planner) protection(ctx context.Context, l *storedSession) (why string, err error) {
	if !l.looked {
		if l.why, err = protection(ctx, p.Backend, l.key, l.parts); err != nil {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			l.why = p.whyUnread(ctx, l, err)
		}
		l.looked = true
	}
	if l.why != "" {
		return l.why, nil
	}
	held, err := p.IsHeld(ctx, l.key)
	if err != nil || !held {
		return "", err
	}
	return KeptOpen, nil
}

// whyUnread returns what became of a session whose newest log could not be read. One that is not where it was listed
// was deleted, or has another name or ID.
func (p *planner) whyUnread(ctx context.Context, l *storedSession, err error) string {
	if !errors.Is(err, session.ErrNotFound) {
		return KeptDamaged
	}
	parts, err := p.Parts(ctx, l.key)
	was, now := l.open(), (&storedSession{parts: parts}).open()
	switch {
	case err != nil:
		return KeptDamaged
	case now == nil:
		return isGone
	case now.Log != was.Log || now.Name != was.Name:
		return KeptChanged
	}
	return KeptDamaged
}

// protection returns why the content of a session protects it, "" if it does not.
func protection(ctx context.Context, m backend.Backend, key string, parts []backend.Part) (why string, err error) {
	i := slices.IndexFunc(parts, func(p backend.Part) bool { return p.Open })
	if i < 0 {
		return "", nil
	}
	info, _, err := look(ctx, atKey(ctx, m, key), parts[i])
	return protects(&info), err
}

// protects returns why the info protects a session from maintenance, "" if it does not.
func protects(i *entry.Info) string {
	switch {
	case i.Pinned != nil && *i.Pinned:
		return KeptPinned
	case i.Archived != nil && *i.Archived:
		return KeptByHand
	}
	return ""
}

// look reads the info of a session and the time of its newest entry.
func look(ctx context.Context, s *dir.Surveyed, part backend.Part) (info entry.Info, updated time.Time, err error) {
	log, err := s.Open(part, dir.MaxArchived)
	if err != nil {
		return entry.Info{}, time.Time{}, err
	}
	defer log.Close()
	return jsonl.ReadInfo(ctx, log)
}
