package winnow

// ladder is what one call of Recover climbs, rung by rung, to find a smaller request. The manager's lock is held,
// except during the call of a summarizer.
type ladder struct {
	manager  *Manager
	ledger   *ledger // of manager
	history  []Message
	refused  int         // tokens of the refused request, as far as they are known
	estimate int         // tokens of its messages, by the estimator
	bytes    int         // of its body; 0: it was not refused for its size in bytes
	guessed  bool        // the limit is a guess
	allowed  int         // tokens that the provider allows, with none kept free for the answer; 0: it did not say
	answer   int         // tokens of the refused request that were kept for the answer, if the provider said so
	report   *Compaction // of the last compaction that was tried
	smallest proposal    // the smallest request of those that were tried
}

// proposal is a draft with the report of the compaction that made it.
type proposal struct {
	draft  *draft
	report *Compaction
}

const (
	// Requests that are tried in the place of one. Where there was a limit, three tries always found it.
	maxRetries  = 3
	maxRefusals = 200 // of one conversation without an answer: then the host gets an error instead of a request
)
