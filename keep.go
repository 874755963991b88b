package winnow

// KeepPolicy says how much old content is still sent if a smaller request is cheaper. Under every policy, messages of
// people, system messages, pins and summaries stay unchanged, and requests are made to fit. "" is the default,
// [KeepWork].
//
// Texts that the host inserts ([Message.Injected]) are old once a person has asked for something else. Hosts pin those
// that hold for longer, such as instructions or a list of abilities.
type KeepPolicy string

// The policies, the most expensive first.
const (
	// KeepAll sends all that fits.
	KeepAll KeepPolicy = "all"
	// KeepCalls leaves every answer of the model and every call where it is. Old results are replaced by a line or two:
	// how they began and ended, and the names in them that occur nowhere else. Long arguments are shortened.
	KeepCalls KeepPolicy = "calls"
	// KeepWork replaces runs of old answers with their calls and results by a record: what the model said, each call in
	// a line with how it ended, and the names that stand nowhere else. Of a text that the host inserted in an older
	// turn, its beginning and its size stay; one that takes hardly more than that stays whole, and so does what the
	// host inserted before the first request of a person. The newest steps stay whole, and so do the files that the
	// model has read in this turn and not changed since.
	KeepWork KeepPolicy = "work"
	// KeepLittle is KeepWork for hosts to which cost matters more than reading a file again now and then: even of files
	// being worked on, only the newest steps stay whole. Long answers to a person are shortened in older turns, also
	// where nothing was called.
	//
	// It goes well with Options.Recall, with which a mistake costs only a call. In a replay of 457 recorded sessions in
	// which everything missing was recalled, it cost 10 % less than KeepCalls in a window of 64 000 tokens and 17 %
	// less in one of 200 000.
	KeepLittle KeepPolicy = "little"
)

// folds reports whether runs become records.
func (p KeepPolicy) folds() bool { return p != KeepCalls }

// keepsFiles reports whether files in work stay whole.
func (p KeepPolicy) keepsFiles() bool { return p != KeepLittle }

// trims reports whether results of a request that fits are trimmed by PruneOptions when nothing is in the prompt
// cache. asked says that the host set a SoftTrimRatio. Else KeepWork and KeepLittle alone say what goes: a trim would
// take what they hold.
func (p KeepPolicy) trims(asked bool) bool { return p == KeepCalls || asked && p != KeepAll }
