package winnow

import (
	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/overflow"
)

// What a refusal teaches: what the provider allows, what it counted, and which requests it refuses.

// weigh compares what was said with the last request. A rate limit that this request alone exceeds is a limit of its
// size: waiting never helps, so weigh returns an overflow in its place. The provider need not say how large the request
// was, because the manager knows. The lock is held.
func (m *Manager) weigh(said overflow.Diagnosis) overflow.Diagnosis {
	if said.Class == overflow.ClassRateLimit && said.Rate > 0 && m.ledger.tokens > said.Rate {
		return overflow.Diagnosis{Class: overflow.ClassOverflow, Limit: said.Rate}
	}
	return said
}

// isRecoverable reports whether the provider may accept a smaller request. A final error comes from a manager that has
// already given up.
func isRecoverable(d overflow.Diagnosis) bool {
	return (d.Class == overflow.ClassOverflow || d.Class == overflow.ClassBytes) && !d.Final
}

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
