package winnow

// Request is what a manager returns. It is the caller's: later calls do not change it.
type Request struct {
	Messages        []Message   // send these
	History         []Message   // keep these, if the host wants a repaired and compacted history: never pruned
	Tokens          int         // estimate of Messages plus Options.Overhead
	Budget          int         // what Tokens fits into: the window minus the reserve
	Edits           []Edit      // all that makes Messages differ from the history passed in, by index in it
	FirstChanged    int         // index of the first message that is not byte-identical to the previous request's; len(previous) for a pure append
	NeedsCompaction bool        // of Plan: Prepare would compact
	Compaction      *Compaction // this call compacted; nil if it did not
	Degraded        bool        // fits only because a digest stands in for a summary
	Rung            string      // of Recover: the step that made it: "clear", "compact", "truncate", "digest", "smallest"
}

// Compaction is what a call did that replaced old history by a summary.
type Compaction struct {
	Summary      string   // the text, as it stands in the request
	FirstKept    int      // index in the history passed in of the first message that was not summarized
	TokensBefore int      // of the request without the compaction, tokens
	TokensAfter  int      // of the request, tokens
	Degraded     bool     // some of it was made without the LLM
	Repaired     []string // what was missing in the summary and appended by the library
	Calls        int      // calls to the Summarizer
}
