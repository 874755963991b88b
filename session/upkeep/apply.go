package upkeep

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
)

// Applied is what [Apply] did.
type Applied struct {
	Done  []Action `json:"done"`
	Kept  []Kept   `json:"kept,omitempty"` // what the plan names but Apply left alone
	Freed int64    `json:"freed"`          // bytes
}

// turnWait is how long Apply waits for a free turn. Some backends need a round trip to take one.
const turnWait = 100 * time.Millisecond

// Apply carries out a plan and does nothing else. It checks each part again: a session that was written to, opened,
// pinned or archived by a person after the plan was made is left alone. If the error is not nil, what Applied lists was
// done nevertheless; plan again for the rest.
func Apply(ctx context.Context, s *session.Store, plan *Plan) (*Applied, error) {
	done := &Applied{}
	for rest := plan.Actions; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Key == rest[0].Key {
			n++
		}
		a := applier{Backend: s.Backend(), now: s.Options().Now, done: done}
		if err := a.session(ctx, rest[0].Key, rest[:n]); err != nil {
			return done, err
		}
		rest = rest[n:]
	}
	return done, nil
}

// applier does the actions of one session.
type applier struct {
	backend.Backend
	now  func() time.Time
	done *Applied
}

func (a *applier) session(ctx context.Context, key string, actions []Action) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	parts, err := a.Parts(ctx, key)
	if errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err != nil && ctx.Err() == nil { // a damaged session does not stop the others
		a.keep(actions, KeptDamaged, err)
		return nil
	}
	if err != nil {
		return context.Cause(ctx)
	}
	if len(parts) == 0 { // taking its turn would create it again
		a.keep(actions, KeptChanged, nil)
		return nil
	}
	if held, err := a.IsHeld(ctx, key); held || err != nil {
		if err == nil {
			a.keep(actions, KeptOpen, nil)
		}
		return err
	}
	short, cancel := context.WithTimeout(ctx, turnWait)
	turn, err := a.Turn(short, key)
	cancel()
	if errors.Is(err, session.ErrBusy) && ctx.Err() == nil {
		a.keep(actions, KeptOpen, err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, action := range actions {
		if err = a.action(ctx, turn, action); err != nil {
			break
		}
	}
	return errors.Join(err, turn.Release())
}

// keep records that actions were not done.
func (a *applier) keep(actions []Action, why string, err error) {
	for _, action := range actions {
		k := Kept{Key: action.Key, Part: action.Part.Name, Reason: action.Reason, Why: why, Err: err}
		a.done.Kept = append(a.done.Kept, k)
	}
}

// action does one action of a session whose turn is taken.
func (a *applier) action(ctx context.Context, turn backend.Turn, action Action) error {
	this := []Action{action}
	parts, err := a.Parts(ctx, action.Key)
	if err != nil {
		return err
	}
	why, err := protection(ctx, a.Backend, action.Key, parts)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		a.keep(this, KeptDamaged, err)
		return nil
	case why != "":
		a.keep(this, why, nil)
		return nil
	}
	// From here on, pinning the session changes its newest log or restores that log from its archive.
	while := slices.DeleteFunc(parts, func(p backend.Part) bool { return !p.Open })
	freed := action.Part.Bytes
	switch {
	case action.Op == OpArchive && action.Part.Kind == backend.PartLog:
		var archive backend.Part
		archive, err = a.Archive(ctx, turn, action.Part, a.now(), while...)
		freed -= archive.Bytes
	case action.Op == OpDelete && action.Part.Kind != backend.PartLog:
		err = a.Remove(ctx, turn, action.Part, while...)
	default:
		a.keep(this, KeptRefused, nil)
		return nil
	}
	if errors.Is(err, session.ErrChanged) || errors.Is(err, session.ErrDeleted) {
		a.keep(this, KeptChanged, err)
		return nil
	}
	if err != nil {
		return err
	}
	a.done.Done = append(a.done.Done, action)
	a.done.Freed += freed
	return nil
}
