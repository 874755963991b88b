// Package upkeep has what the keeper of a store needs: archiving and deleting by rule, erasing, verifying, copying to
// another store, importing. A program that only talks does not need it.
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
	"github.com/winnowgo/winnow/session/keys"
)

// Maintenance says when to archive and delete idle sessions. The zero value never does. It takes effect only when a
// host applies a [Plan].
//
// Only archives and the files beside logs are deleted, so that a conversation is archived before any of it is deleted.
// A session that is open, pinned, or archived by a person (see [session.Info]) is left alone.
type Maintenance struct {
	// ArchiveAfter archives sessions that nobody wrote to for longer than this. 0: none.
	ArchiveAfter time.Duration `json:"archiveAfter,omitempty"`
	// MaxSessions is how many sessions may stay unarchived. The least recently written ones beyond it are archived. 0:
	// any number.
	MaxSessions int `json:"maxSessions,omitempty"`
	// CronRuns is ArchiveAfter for sessions of single runs of cron jobs. 0: ArchiveAfter.
	CronRuns time.Duration `json:"cronRuns,omitempty"`
	// ResetLogs archives the logs that ended in a reset.
	ResetLogs bool `json:"resetLogs,omitempty"`
	// KeepArchives deletes archives that are older than this, and the files beside their logs. 0: none.
	KeepArchives time.Duration `json:"keepArchives,omitempty"`
	// MaxBytes is how much all sessions together may take. Above it, archives are deleted, the oldest first, and then
	// sessions are archived, the least recently written first, until they take LowWater of it. 0: any size.
	MaxBytes int64 `json:"maxBytes,omitempty"`
	// LowWater is a share of MaxBytes. 0: 0.8.
	LowWater float64 `json:"lowWater,omitempty"`
}

const (
	defaultLowWater = 0.8

	// archivedShare: an archive is estimated at a third of its log. gzip shrinks 458 recorded sessions to 28 %.
	archivedShare = 3

	day = 24 * time.Hour
)

// ReferenceMaintenance returns the numbers of OpenClaw 2026.3: 30 days, 500 sessions, a day for runs of cron jobs,
// archives for 30 days, and no limit of bytes. OpenClaw's modes "warn" and "enforce" are [MakePlan] and
// [Apply]. It also rotates an index, which does not exist here.
func ReferenceMaintenance() *Maintenance {
	return &Maintenance{
		ArchiveAfter: 30 * day, MaxSessions: 500, CronRuns: day, ResetLogs: true, KeepArchives: 30 * day,
		LowWater: defaultLowWater,
	}
}

// lowWater returns the size to shrink to once MaxBytes is exceeded.
func (m *Maintenance) lowWater() int64 {
	share := m.LowWater
	if share <= 0 || share > 1 {
		share = defaultLowWater
	}
	return int64(share * float64(m.MaxBytes))
}

// archiveAfter returns the pause after which a session is archived, 0 for never, and the rule that sets it.
func (m *Maintenance) archiveAfter(key string) (time.Duration, Reason) {
	if m.CronRuns > 0 {
		if k, ok := keys.Parse(key); ok && k.Kind == keys.KindCron && k.Run != "" {
			return m.CronRuns, ReasonCron
		}
	}
	return m.ArchiveAfter, ReasonAge
}

// Reason names the rule of [Maintenance] behind an [Action].
type Reason string

const (
	ReasonAge       Reason = "age"       // ArchiveAfter
	ReasonCron      Reason = "cron"      // CronRuns
	ReasonCount     Reason = "count"     // MaxSessions
	ReasonReset     Reason = "reset"     // ResetLogs
	ReasonRetention Reason = "retention" // KeepArchives
	ReasonBytes     Reason = "bytes"     // MaxBytes
)

// Op is what an [Action] does.
type Op string

const (
	OpArchive Op = "archive" // replaces a log by its archive
	OpDelete  Op = "delete"  // deletes an archive or a file beside a log
)

// Action is one step of a [Plan].
type Action struct {
	Op     Op           `json:"op"`
	Key    string       `json:"key"`
	Part   backend.Part `json:"part"` // as it was when the plan was made
	Reason Reason       `json:"reason"`
	// At is when the session was last written to or, for an archive, when it was made.
	At time.Time `json:"at,omitzero"`
}

// The values of [Kept].Why: why an action was not done, or a session was left out of a plan.
const (
	KeptOpen    = "it is open"
	KeptPinned  = "it is pinned"
	KeptByHand  = "a person archived it"
	KeptChanged = "it has changed since the plan was made"
	KeptDamaged = "it cannot be read"
	KeptRefused = "the plan does not name a log to archive, or an archive to delete"
)

// Kept is a session or part that was left alone although a rule or a plan names it.
type Kept struct {
	Key    string `json:"key"`
	Part   string `json:"part,omitempty"` // "": the whole session
	Reason Reason `json:"reason,omitempty"`
	Why    string `json:"why"`
	Err    error  `json:"-"` // why it could not be read or done
}

// Plan is what [Apply] would do: each part to archive or delete, and why. It can be stored as JSON and applied
// later: sessions that have changed by then are left alone.
type Plan struct {
	Made     time.Time `json:"made"`
	Actions  []Action  `json:"actions"`
	Kept     []Kept    `json:"kept,omitempty"` // what a rule names but something protects
	Sessions int       `json:"sessions"`       // number of sessions
	Bytes    int64     `json:"bytes"`          // size of all of them
	Frees    int64     `json:"frees"`          // an estimate: an archive counts as a third of its log
	// Over is by how many bytes the store would still exceed LowWater of MaxBytes, by the same estimate. The next plan
	// continues.
	Over int64 `json:"over,omitempty"`
}

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
	a := applier{Backend: s.Backend(), now: s.Options().Now}
	for _, action := range plan.Actions {
		if err := a.apply(ctx, action); err != nil {
			return &a.done, err
		}
	}
	return &a.done, nil
}

// applier does one action after another.
type applier struct {
	backend.Backend
	now  func() time.Time
	done Applied
}

// apply does one action, unless something protects the session.
func (a *applier) apply(ctx context.Context, action Action) error {
	parts, err := a.Parts(ctx, action.Key)
	if err == nil && len(parts) == 0 { // taking its turn would create it again
		return a.keep(action, KeptChanged, nil)
	}
	why := ""
	if err == nil {
		why, err = protection(ctx, a.Backend, action.Key, parts)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errors.ErrUnsupported):
		return err
	case err != nil: // a damaged session does not stop the others
		return a.keep(action, KeptDamaged, err)
	case why != "":
		return a.keep(action, why, nil)
	}
	short, cancel := context.WithTimeout(ctx, turnWait)
	turn, err := a.Turn(short, action.Key)
	cancel()
	if errors.Is(err, session.ErrBusy) && ctx.Err() == nil {
		return a.keep(action, KeptOpen, err)
	}
	if err != nil {
		return err
	}
	return errors.Join(a.act(ctx, turn, action, parts), turn.Release())
}

// keep records that an action was not done, and why. It returns nil, since the others can go on.
func (a *applier) keep(action Action, why string, err error) error {
	k := Kept{Key: action.Key, Part: action.Part.Name, Reason: action.Reason, Why: why, Err: err}
	a.done.Kept = append(a.done.Kept, k)
	return nil
}

// act does an action of a session whose turn is taken, and whose parts were listed before that.
func (a *applier) act(ctx context.Context, turn backend.Turn, action Action, parts []backend.Part) (err error) {
	// Whoever has written to the session since then, or pinned it, has changed its newest log, or restored that.
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
		return a.keep(action, KeptRefused, nil)
	}
	if errors.Is(err, session.ErrChanged) || errors.Is(err, session.ErrDeleted) {
		return a.keep(action, KeptChanged, err)
	}
	if err != nil {
		return err
	}
	a.done.Done = append(a.done.Done, action)
	a.done.Freed += freed
	return nil
}

// whyLost returns why a session is left alone that could not be read. What is not where it was listed was deleted
// meanwhile, or has another name or ID: the next plan sees it as it is then.
func whyLost(err error) string {
	if errors.Is(err, session.ErrNotFound) {
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
	info, _, err := readInfo(ctx, atKey(ctx, m, key), parts[i])
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

// readInfo reads the info of a session and the time of its newest entry.
func readInfo(ctx context.Context, s *dir.Surveyed, part backend.Part) (info entry.Info, updated time.Time, err error) {
	log, err := s.Open(part, dir.MaxArchived)
	if err != nil {
		return entry.Info{}, time.Time{}, err
	}
	defer log.Close()
	l, err := jsonl.ReadInfo(ctx, log, nil)
	if err != nil {
		return entry.Info{}, time.Time{}, err
	}
	return l.Info, l.Newest.Time, nil
}
