package winnow

// KeepPolicy says how much old content is still sent if a smaller request is cheaper. Under every policy, requests are
// made to fit, and messages of people, system messages, pins and summaries stay unchanged; only a compaction replaces
// older messages of people and summaries. "" is the default, [KeepWork].
//
// A text that the host inserted ([Message.Injected]) is old once a person has asked for something else. Hosts pin texts
// that hold for longer, such as instructions or a list of abilities.
type KeepPolicy string

// The policies, the most expensive first.
const (
	// KeepAll sends everything that fits.
	KeepAll KeepPolicy = "all"
	// KeepCalls leaves every answer of the model and every call where it is. Old results are replaced by a line or two:
	// how they began and ended, unless they show a file, and the names in them that occur nowhere else. Long arguments
	// are shortened.
	KeepCalls KeepPolicy = "calls"
	// KeepWork replaces each run of old answers, with their calls and results, by a record. It holds the ends of what
	// the model said (about 120 characters beside calls, and 450 of an answer to a person), a line for each call with
	// how it ended, and names that occur nowhere else and are likely to be needed. Of a text that the host inserted in
	// an older turn, the record holds the beginning and the size. Such a text stays whole if it is hardly longer than
	// that, or if the host inserted it before the first request of a person.
	//
	// As long as the request fits, the newest four steps stay whole, and so do the files that the model is working on:
	// those that it read in the last 30 requests of this turn and has not changed since, or changed in the last 3. If
	// this turn has changed no file yet, it is 20 requests; without a prompt cache it is 15. If the turn before has
	// changed files, those that it read in its last 10 requests stay whole too, as long as the cache is warm. When the
	// cache has expired, only the newest two steps and the files of this turn stay whole, because a record costs
	// nothing then.
	KeepWork KeepPolicy = "work"
	// KeepLittle is KeepWork for hosts that would rather read a file again now and then than pay for keeping it. Only
	// the newest two steps stay whole, or the newest one when the cache has expired; files that are being worked on do
	// not. Its records have short lines. It also shortens long answers to a person in older turns, even if the model
	// called no tool.
	//
	// It goes well with Options.Recall, because what is missing then costs only a call. In a replay of 457 recorded
	// sessions in which everything missing was fetched again, it cost 13 % less than KeepCalls in a window of 64 000
	// tokens and 19 % less in one of 200 000.
	KeepLittle KeepPolicy = "little"
)

// folds reports whether runs of old steps become records.
func (p KeepPolicy) folds() bool { return p != KeepCalls }

// keepsFiles reports whether files that are being worked on stay whole.
func (p KeepPolicy) keepsFiles() bool { return p != KeepLittle }

// isBrief reports whether old steps become records early, and their records have short lines.
func (p KeepPolicy) isBrief() bool { return p == KeepLittle }

// trims reports whether PruneOptions trim results of a request that fits when nothing is in the prompt cache. asked
// says that the host set a SoftTrimRatio. Without one, KeepWork and KeepLittle alone decide what is removed: a trim
// would shorten what they keep.
func (p KeepPolicy) trims(asked bool) bool { return p == KeepCalls || asked && p != KeepAll }
