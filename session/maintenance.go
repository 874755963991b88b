package session

import (
	"time"

	"github.com/winnowgo/winnow/session/keys"
)

// Maintenance says what is to become of sessions that lie. The zero value: nothing. Nothing is done by it until a host
// applies a [Plan].
//
// Conversations are archived before anything of them is deleted, and only archives, and what lies beside logs, are
// deleted. A session that is open, pinned, or archived by a person (see [Info]) is left alone.
type Maintenance struct {
	// ArchiveAfter archives sessions that nobody wrote to for longer. 0: none.
	ArchiveAfter time.Duration `json:"archiveAfter,omitempty"`
	// MaxSessions is how many sessions stay that are not archived: beyond, those are archived that were written to
	// longest ago. 0: any number.
	MaxSessions int `json:"maxSessions,omitempty"`
	// CronRuns archives sessions of single runs of cron jobs that nobody wrote to for longer. 0: as any other.
	CronRuns time.Duration `json:"cronRuns,omitempty"`
	// ResetLogs archives the logs that ended in a reset.
	ResetLogs bool `json:"resetLogs,omitempty"`
	// KeepArchives deletes archives that were made longer ago, and what lies beside the logs that they are of. 0: none.
	KeepArchives time.Duration `json:"keepArchives,omitempty"`
	// MaxBytes is what all sessions may take. Beyond, archives are deleted, the oldest first, and then sessions
	// archived, those first that were written to longest ago, until LowWater of it is reached. 0: any size.
	MaxBytes int64 `json:"maxBytes,omitempty"`
	// LowWater is a share of MaxBytes. 0: 0.8.
	LowWater float64 `json:"lowWater,omitempty"`
}

const (
	defaultLowWater = 0.8

	// archivedShare says which part of the bytes of a log its archive is taken for, in estimates: a third. Of 458
	// recorded sessions gzip leaves 28 %.
	archivedShare = 3

	day = 24 * time.Hour
)

// ReferenceMaintenance returns the numbers of OpenClaw 2026.3: 30 days, 500 sessions, a day for runs of cron jobs,
// archives for 30 days, and no limit of bytes. Its modes "warn" and "enforce" are [Store.Plan] and [Store.Apply]; the
// index that it rotates does not exist here.
func ReferenceMaintenance() *Maintenance {
	return &Maintenance{
		ArchiveAfter: 30 * day, MaxSessions: 500, CronRuns: day, ResetLogs: true, KeepArchives: 30 * day,
		LowWater: defaultLowWater,
	}
}

// lowWater returns how many bytes are left where there were more than MaxBytes.
func (m *Maintenance) lowWater() int64 {
	share := m.LowWater
	if share <= 0 || share > 1 {
		share = defaultLowWater
	}
	return int64(share * float64(m.MaxBytes))
}

// archiveAfter returns after which pause a session is archived, 0 for never, and why.
func (m *Maintenance) archiveAfter(key string) (time.Duration, Reason) {
	if m.CronRuns > 0 {
		if k, ok := keys.Parse(key); ok && k.Kind == keys.KindCron && k.Run != "" {
			return m.CronRuns, ReasonCron
		}
	}
	return m.ArchiveAfter, ReasonAge
}

// Reason says which rule of [Maintenance] an [Action] comes from.
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
	OpArchive Op = "archive" // puts an archive in the place of a log
	OpDelete  Op = "delete"  // deletes an archive, or what lies beside a log
)

// Action is one step of a [Plan].
type Action struct {
	Op     Op     `json:"op"`
	Key    string `json:"key"`
	Part   Part   `json:"part"` // as it was when the plan was made; Part.Bytes is what it takes
	Reason Reason `json:"reason"`
	// At is when the session was last written to, and of an archive when it was made.
	At time.Time `json:"at,omitzero"`
}

// frees estimates how many bytes the action gives back.
func (a *Action) frees() int64 {
	if a.Op == OpArchive {
		return a.Part.Bytes - a.Part.Bytes/archivedShare
	}
	return a.Part.Bytes
}

// Why an action of a plan was not done, or a session was not planned for.
const (
	KeptOpen    = "it is open"
	KeptPinned  = "it is pinned"
	KeptByHand  = "a person archived it"
	KeptChanged = "it has changed since the plan was made"
	KeptDamaged = "it cannot be read"
	KeptRefused = "the plan does not name a log to archive, or an archive to delete"
)

// Kept is something that was left alone although a rule or a plan names it.
type Kept struct {
	Key    string `json:"key"`
	Part   string `json:"part,omitempty"` // "": the whole session
	Reason Reason `json:"reason,omitempty"`
	Why    string `json:"why"`
	Err    error  `json:"-"` // why it cannot be read or done
}

// Plan is what [Store.Apply] would do: each part that would be archived or deleted, and why. It can be stored as JSON
// and applied later: what has changed by then is left alone.
type Plan struct {
	Made     time.Time `json:"made"`
	Actions  []Action  `json:"actions"`
	Kept     []Kept    `json:"kept,omitempty"` // what rules name, and what protects it
	Sessions int       `json:"sessions"`       // there are
	Bytes    int64     `json:"bytes"`          // that all of them take
	Frees    int64     `json:"frees"`          // an estimate: archives are taken for a third of their logs
	// Over is how many bytes more than LowWater of MaxBytes there would still be, by the same estimate. The next plan
	// goes on.
	Over int64 `json:"over,omitempty"`
}
