package winnow

// ladder is one call of Recover. The manager's lock is held, except while a summarizer is called.
type ladder struct {
	manager  *Manager
	history  []Message
	refused  int         // tokens of the request that was refused, as far as is known
	estimate int         // of its messages
	bytes    int         // of its body; 0: its size in bytes was not the matter
	guessed  bool        // the limit is a guess
	allowed  int         // tokens that the provider allows, with none kept free for the answer; 0: it did not say
	answer   int         // tokens of it that are reserved for the answer, where the provider said so
	report   *Compaction // of the compaction that was tried last
	smallest proposal    // of what was tried
}

// proposal is a draft with the compaction that it comes from.
type proposal struct {
	draft  *draft
	report *Compaction
}

const (
	// What a request is shrunk to, as a share of the one that was refused, when the provider did not say what it
	// allows. Two refusals reach half: a model behind a proxy often has half of the window it is sold with. The
	// last retry is the last chance.
	guessShare, lastGuessShare = 0.7, 0.5
	// Requests that are made in the place of one. Limits that are there were always found in three.
	maxRetries  = 3
	maxRefusals = 200 // of one conversation without an answer: a host that asks for ever is told so
)
