package session

import (
	"context"
	"errors"
	"slices"
	"time"
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
	if !errors.Is(err, ErrNotFound) {
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
func protection(ctx context.Context, m Backend, key string, parts []Part) (why string, err error) {
	i := slices.IndexFunc(parts, func(p Part) bool { return p.Open })
	if i < 0 {
		return "", nil
	}
	info, _, err := look(ctx, parts[i], func(part Part) (Log, error) { return m.OpenPart(ctx, key, part) })
	return info.protects(), err
}

// protects returns why the info protects a session from maintenance, "" if it does not.
func (i *Info) protects() string {
	switch {
	case i.Pinned != nil && *i.Pinned:
		return KeptPinned
	case i.Archived != nil && *i.Archived:
		return KeptByHand
	}
	return ""
}

// look reads the info of a session and the time of its newest entry.
func look(ctx context.Context, part Part, open func(Part) (Log, error)) (info Info, updated time.Time, err error) {
	log, err := open(part)
	if err != nil {
		return Info{}, time.Time{}, err
	}
	defer log.Close()
	return readInfo(ctx, log)
}

// readInfo is look for an open log. It reads from the end if that is in order.
func readInfo(ctx context.Context, log Log) (info Info, updated time.Time, err error) {
	size, err := log.Size()
	if err != nil || size == 0 {
		return Info{}, time.Time{}, err
	}
	var s sides
	t := newTail(log, size)
	t.w.step, t.ahead.step = statusStep, headStep
	t.counted = t.seal == nil // without a key only what is not sealed can be read
	err = t.sides(&s)
	if errors.Is(err, errSlow) || errors.Is(err, ErrTooLarge) {
		s = sides{}
		_, err = newTree(ctx, log, size, &s)
	}
	return s.info, t.newestAt, err
}
