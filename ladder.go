package winnow

import (
	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/overflow"
)

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
	// How many smaller requests are tried in the place of one that was refused. Three always reached the provider's
	// limit, where there was one.
	maxRetries  = 3
	maxRefusals = 200 // of one conversation without an answer: then the host gets an error instead of a request
)

// What a refusal teaches: what the provider allows, what it counted, and which requests it refuses.

// learn lowers the limits to those in said, or to guesses, and corrects the estimates by the count in said. bytes is
// the size of the refused request's body.
func (l *ladder) learn(said overflow.Diagnosis, bytes int) {
	refusal := accounting.Refusal{
		Said: said, Tokens: l.refused, Messages: len(l.ledger.sent), Estimate: l.ledger.estimate, Bytes: max(1, bytes),
		IsSent: l.ledger.hasRequest(), IsLast: l.ledger.tries.Refusals >= maxRetries,
	}
	if said.Class == overflow.ClassBytes || said.Unit == overflow.UnitBytes {
		l.bytes = refusal.Bytes
		if l.guessed = l.ledger.accounting.LearnBody(&refusal, &l.ledger.body); l.guessed {
			l.ledger.recovery.bytes.Add(l.bytes)
		}
		return
	}
	lesson := l.ledger.accounting.Learn(&refusal, l.manager.limits())
	l.refused, l.allowed, l.guessed = lesson.Tokens, lesson.Allowed, lesson.IsGuessed
	if l.guessed {
		l.ledger.recovery.tokens.Add(l.refused)
	}
}
