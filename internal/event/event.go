// Package event names the log messages of a manager that counters are made of. The texts of all others are written
// where they are logged.
package event

// Each is the message of one kind of record.
const (
	Rewritten  = "winnow: what was sent is rewritten"
	Failed     = "winnow: compaction failed"
	Refused    = "winnow: the provider refused a request"
	Recovering = "winnow: recovering from an overflow"
)
