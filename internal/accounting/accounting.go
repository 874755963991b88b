// Package accounting learns from a provider's counts and refusals how it counts tokens, and how many tokens and bytes
// it allows.
package accounting

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/overflow"
)

// Account is what was learned. The zero value has learned nothing.
type Account struct {
	Meter
	Limit  int   `json:"limit,omitempty"`  // tokens that a request may have, as the provider named them; 0: it did not
	Window int   `json:"window,omitempty"` // the same, with the room for the answer; 0: it did not
	Guess  Limit `json:"-"`                // like Limit, but inferred from refusals that named no number
	Body   Limit `json:"-"`                // like Guess, in bytes of a request's body
}

// Budget returns how many tokens a request may have if the window has n for it. It is at most the limit that the
// provider told, and at most the guessed one.
func (a *Account) Budget(n int) int { return count.Least(a.Told(n), a.Guess.Most) }

// Told is Budget without the limit that is only guessed.
func (a *Account) Told(n int) int {
	if a.Limit > 0 {
		n = min(n, a.Limit)
	}
	return n
}

// EstimatedWindow returns the model's window in estimated tokens, without what no message shows, such as tools. It is
// smaller than the host's if the provider told a smaller one, or refused what should fit.
func (a *Account) EstimatedWindow(h Host) int {
	window := count.Least(h.Window, a.Window)
	if a.Guess.Most > 0 {
		window = min(window, count.Add(a.Guess.Most, h.Reserve))
	}
	return max(1, a.EstimatedAs(window-a.Hidden(h.Overhead)))
}

// IsGuessed reports whether a limit was only inferred from a refusal without numbers.
func (a *Account) IsGuessed() bool { return a.Guess.Most > 0 || a.Body.Most > 0 }

// ForgetGuesses drops the guessed limits, and keeps those that the provider named.
func (a *Account) ForgetGuesses() { a.Guess, a.Body = Limit{}, Limit{} }

// TakeOver takes over what was learned from the same history since before, unless a has learned more meanwhile. The
// anchor is lost, because another request for that history need not begin with it.
func (a *Account) TakeOver(learned, before *Account) {
	if a.Guess == before.Guess {
		a.Guess = learned.Guess
	}
	if a.Body == before.Body {
		a.Body = learned.Body
	}
	if a.Limit == before.Limit && a.Window == before.Window {
		a.Limit, a.Window = learned.Limit, learned.Window
	}
	if a.Meter == before.Meter {
		a.Meter = learned.Meter
	}
	a.Anchor.Messages = Lost
}

// Accept learns that the provider answered a request whose prompt has this many tokens by its own count. If the
// provider had named a smaller window, that was not the model's: a number was misread, or another deployment refused.
// Such a window is forgotten. Raising it to the size of the prompt would rule out every larger prompt. A prompt within
// the window but above the limit teaches nothing: it only left less room for the answer.
func (a *Account) Accept(prompt int) {
	if prompt <= a.Window {
		return
	}
	if a.Window = 0; prompt > a.Limit {
		a.Limit = 0
	}
}

// Host is what the host says of the model: its window, the tokens that are kept free for the answer, and those that no
// message shows.
type Host struct{ Window, Reserve, Overhead int }

// Refusal is a request that the provider refused, as the manager counts it.
type Refusal struct {
	Said     overflow.Diagnosis
	Tokens   int
	Messages int  // that it had
	Estimate int  // of these messages
	Bytes    int  // of its body
	IsSent   bool // the manager made it, and knows its messages
	IsLast   bool // only one more try follows
}

const (
	// If the provider did not say what it allows, the next request takes this share of the refused one. Two refusals
	// reach half, because a model behind a proxy often has half of its advertised window. The last retry goes to half
	// at once: it is the last chance.
	guessShare, lastGuessShare = 0.7, 0.5

	// A count in a refusal is believed only if what no message shows, such as tools, would take at most this share of
	// the window, or as much as the host or earlier counts say.
	mostHiddenShare = 0.25
	// A limit below this share of the window is taken for a misread number.
	leastLimitShare = 0.02
	// The host's reserve for the answer takes at most this share of a limit that includes the answer. The reserve is
	// meant for the host's window, and may be larger than the whole limit. The default of the option is bounded by the
	// same share: three quarters are left for the prompt.
	mostAnswerShare = 0.25
)

// shrunk returns the size to try after a request of n tokens or bytes was refused without numbers.
func (r *Refusal) shrunk(n int) int {
	if r.IsLast {
		return count.Share(n, lastGuessShare)
	}
	return count.Share(n, guessShare)
}

// Lesson is what follows from one refusal, besides what the account remembers.
type Lesson struct {
	Tokens    int  // of the refused request: what the provider counted, if that can be believed
	Allowed   int  // what the provider allows, with nothing kept free for the answer; 0: it did not say
	IsGuessed bool // the limit is a guess
}

// LearnBody lowers the limit of bodies to the one that the provider named, or to a guess. told is the limit that the
// provider named before, and is lowered to the new one.
func (a *Account) LearnBody(r *Refusal, told *int) (isGuessed bool) {
	limit := r.Said.Limit
	if r.Said.Unit != overflow.UnitBytes {
		limit = 0
	}
	if limit > 0 && r.Said.Size > limit {
		// The provider counts in its own way, so take the same share of our count, but never more than its own number:
		// our count may be the higher one for this request, and the lower one for the messages of a smaller one.
		limit = min(limit, count.Share(r.Bytes, float64(limit)/float64(r.Said.Size)))
	}
	// A limit above the refused size is a misread number, or one of something else: the limit is guessed then.
	if limit > 0 && limit < r.Bytes {
		*told = count.Least(*told, limit)
		return false
	}
	a.Body.Most = max(1, count.Least(a.Body.Most, r.shrunk(r.Bytes)))
	return true
}

// Learn corrects the estimates by the count that the provider named. It lowers the limit to the one that the provider
// named, or to a guess.
func (a *Account) Learn(r *Refusal, h Host) Lesson {
	l, said := Lesson{Tokens: r.Tokens}, r.Said
	counted, allowed := said.Size-said.Output, said.Limit-said.Output
	if said.Unit != overflow.UnitTokens {
		counted, allowed = 0, 0                       // no count of tokens can be learned from it
		if said.Limit > 0 && said.Size > said.Limit { // characters: the same share of the tokens
			allowed = count.Share(r.Tokens, float64(said.Limit)/float64(said.Size))
		}
	}
	hidden := max(count.Share(h.Window, mostHiddenShare), a.Hidden(h.Overhead))
	least, most := count.Share(r.Estimate, MinRatio), count.Add(count.Share(r.Estimate, MaxRatio), hidden)
	// A count below least or above most counts something else: another request, the answer, or one message.
	if counted >= least && counted <= most && r.IsSent {
		a.Observe(Anchor{Messages: r.Messages, Estimate: r.Estimate, Prompt: counted}, 0, h.Overhead)
		l.Tokens = counted
	}
	limit := allowed
	if said.Unit == overflow.UnitTokens && said.Output == 0 { // the limit includes the answer
		limit = allowed - min(h.Reserve, count.Share(max(0, allowed), mostAnswerShare))
	}
	isTold := allowed >= count.Share(h.Window, leastLimitShare)
	if isTold {
		a.Limit, a.Window = max(1, count.Least(a.Limit, limit)), count.Least(a.Window, allowed)
	}
	// If the refused request is within the limit, the limit does not explain the refusal: it is guessed too.
	if isTold && limit < l.Tokens {
		l.Allowed = allowed
	} else {
		l.IsGuessed = true
		a.Guess.Most = max(1, count.Least(a.Guess.Most, r.shrunk(l.Tokens)))
	}
	if l.Tokens == counted {
		a.doubtHidden(r.Estimate, counted, h)
	}
	return l
}

// doubtHidden limits what no message shows to half of the budget, or to the host's own count if that is more. It blames
// the rest on the estimator and corrects the estimates: messages can be made smaller, but what no message shows cannot.
func (a *Account) doubtHidden(estimate, counted int, h Host) {
	most := max(h.Overhead, a.Budget(h.Window-h.Reserve)/2)
	if estimate > 0 && counted > most && a.Hidden(h.Overhead) > most {
		a.Billed, a.Estimated = float64(counted-most), float64(estimate)
	}
}
