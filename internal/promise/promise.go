// Package promise is about what a request should read from the provider's cache, and whose it is where it read less.
package promise

import (
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/place"
)

// Base is the newest request whose answer was counted. Those behind it may never have reached the provider.
type Base struct {
	Prompt   int       `json:"prompt,omitempty"`   // its tokens, as billed; 0: there is none
	Held     int       `json:"held,omitempty"`     // of these, what the cache has
	Writes   bool      `json:"writes,omitempty"`   // the provider says what it writes to its cache
	Output   int       `json:"output,omitempty"`   // tokens of the answer
	Estimate int       `json:"estimate,omitempty"` // of its messages
	Messages int       `json:"messages,omitempty"`
	Key      place.Key `json:"key,omitzero"` // of these
	SentAt   time.Time `json:"sentAt,omitzero"`
}

// Promise is what the last request should read of its base.
type Promise struct {
	Base     Base      `json:"base,omitzero"`
	SentAt   time.Time `json:"sentAt,omitzero"`    // of the last request; zero: it is the base
	Estimate int       `json:"estimate,omitempty"` // of its messages
	// leading messages of the base that all since have; or Elsewhere
	Kept   int    `json:"kept,omitempty" least:"-1"`
	Whose  Whose  `json:"whose,omitempty"` // who changed what stood behind these; "": nobody
	Reason string `json:"reason,omitempty"`
	Size
}

// Elsewhere, in [Promise.Kept], says that the base was another model's: its cache is of no use.
const Elsewhere = -1

// Size is what is known of the last request's tokens.
type Size struct {
	Cached int `json:"cached,omitempty"` // what it has of the base
	Error  int `json:"error,omitempty"`  // by which Cached may be wrong
	Hidden int `json:"hidden,omitempty"` // what no message shows
	Least  int `json:"least,omitempty"`  // of the whole request, if what no message shows is that of the base,
	Most   int `json:"most,omitempty"`   // and whatever the tokenizer
}

// Use counts what became of a conversation's tokens in the provider's cache.
type Use struct {
	Requests  int `json:"requests,omitempty"`
	Expected  int `json:"expected,omitempty"`
	Read      int `json:"read,omitempty"`
	Missed    int `json:"missed,omitempty"`
	Rewritten int `json:"rewritten,omitempty"`
	Changed   int `json:"changed,omitempty"`
	Expired   int `json:"expired,omitempty"`
	Lost      int `json:"lost,omitempty"`
}

// Whose says who caused that something was not read.
type Whose string

const (
	Winnow   Whose = "winnow"
	Host     Whose = "host"
	Time     Whose = "time"
	Provider Whose = "provider"
)

// Missed is a promise that was not kept.
type Missed struct {
	Tokens, Expected int
	Whose            Whose
	Reason           string
}

// Answer is what the provider counted for a request with these messages.
type Answer struct {
	Sent                          []place.Key
	Prompt, Read, Written, Output int
	Said                          string // the provider's own reason why it read less
}

// Cache is how a provider's cache works.
type Cache struct {
	None  bool
	TTL   time.Duration // how long it is believed to keep what nobody reads
	Least int           // shorter prefixes are not cached
}

const (
	// mostMissed is the share of what was expected that may be missing: providers cache whole blocks.
	mostMissed = 0.1
	// shortestTTL is how long any provider keeps what was cached.
	shortestTTL = 5 * time.Minute
)

// Settle sets the answer to the last request against p, and adds it to use. It returns what was missed; nil: nothing
// was. Where the provider has not counted its cache yet, nothing is known. p is then about the request that follows.
func (p *Promise) Settle(a Answer, c Cache, use *Use) (missed *Missed) {
	if p.SentAt.IsZero() || a.Prompt <= 0 {
		return nil
	}
	next := Promise{Kept: len(a.Sent), Base: Base{
		Prompt: a.Prompt, Held: a.Prompt, Writes: p.Base.Writes || a.Written > 0, Output: a.Output,
		Estimate: p.Estimate, SentAt: p.SentAt, Messages: len(a.Sent), Key: place.Of(a.Sent),
	}}
	if next.Base.Writes { // what stands behind the last marker is not in the cache
		next.Base.Held = min(a.Prompt, count.Add(a.Read, a.Written))
	}
	if next.Base.Held < c.Least {
		next.Base.Held = 0
	}
	if use.Read > 0 || a.Read+a.Written > 0 {
		missed = p.compare(a, c, use)
	}
	*p = next
	return missed
}

func (p *Promise) compare(a Answer, c Cache, use *Use) (missed *Missed) {
	expected := p.expects(c)
	use.Requests++
	use.Expected, use.Read = count.Add(use.Expected, expected), count.Add(use.Read, a.Read)
	if p.Base.Prompt == 0 || c.None {
		return nil
	}
	left := p.Base.Held - a.Read // what nobody is blamed for yet
	if n := expected - a.Read; float64(n) > mostMissed*float64(expected)+float64(p.Error) {
		missed = &Missed{Tokens: n, Expected: expected}
		missed.Whose, missed.Reason = p.blame(a)
		use.Missed = count.Add(use.Missed, n)
		use.add(missed.Whose, n)
		left -= n
	}
	use.add(p.knew(a, c, left), left)
	return missed
}

// Pause is how long the base had not been read when the last request was sent.
func (p *Promise) pause() time.Duration { return p.SentAt.Sub(p.Base.SentAt) }

// Keep records that the last request, of these messages, has as many of those of the one before it; or Elsewhere. If a
// part of the base is gone with that, whose and reason say who changed what stood behind.
func (p *Promise) Keep(sent []place.Key, messages int, whose Whose, reason string) {
	n, isSame := p.Base.Messages, messages != Elsewhere && p.Kept != Elsewhere
	switch {
	case isSame && n <= len(sent) && place.Of(sent[:n]) == p.Base.Key: // though a request in between had less of it
		p.Kept, p.Whose, p.Reason = n, "", ""
	case messages < p.Kept:
		p.Kept, p.Whose, p.Reason = messages, whose, reason
	}
}

// expects returns what the last request should read.
func (p *Promise) expects(c Cache) int {
	if c.None || p.Cached-p.Error < c.Least || p.pause() >= c.TTL {
		return 0
	}
	return p.Cached
}

// knew says whose it is that `left` tokens were not read of which that was known when the request was sent: nobody's if
// that is only part of a block.
func (p *Promise) knew(a Answer, c Cache, left int) Whose {
	switch isCold := p.pause() >= c.TTL; {
	case p.Kept == Elsewhere || isCold && saysPrefix(a.Said):
		return Host
	case isCold && p.Whose != "" && a.Read > (p.Hidden+p.Cached)/2:
		return p.Whose // the cache was not as old as was believed
	case isCold && float64(left) > mostMissed*float64(p.Base.Held):
		return Time
	case isCold:
		return ""
	}
	return p.Whose
}

// blame says who caused that less was read than promised, and why: the provider's word, or else what alone explains it.
func (p *Promise) blame(a Answer) (Whose, string) {
	switch said := a.Said; {
	case saysMessages(said) && p.Whose != "":
		return p.Whose, p.Reason
	case saysMessages(said) || saysPrefix(said):
		return Host, said
	case said != "":
		return Provider, said
	case p.hasOtherPrefix(a.Prompt):
		return Host, "the prompt has another size: another system prompt or other tools"
	// A change of messages leaves what stands in front of them all.
	case p.Whose != "" && a.Read > 0 && a.Read >= p.Hidden-p.Error:
		return p.Whose, p.Reason
	case p.pause() >= shortestTTL:
		return Time, "kept for less than Cache.TTL says"
	}
	return Provider, "not said"
}

// hasOtherPrefix reports whether what stands in front of the messages must have changed: messages alone do not make the
// prompt as large, or as small. A few tokens may be of what providers add to some requests.
func (p *Promise) hasOtherPrefix(prompt int) bool {
	slack := prompt/100 + 100
	return prompt < p.Least-slack || prompt-slack > p.Most
}

// saysMessages reports whether a reason of a provider is about the messages.
func saysMessages(reason string) bool {
	return reason == "messages_changed" || reason == "input_changed" || reason == "context_compacted"
}

// saysPrefix reports whether it is about what stands beside them: the model, the system prompt, tools, the tier.
func saysPrefix(reason string) bool {
	return strings.HasSuffix(reason, "_changed") && !saysMessages(reason)
}

func (u *Use) add(whose Whose, tokens int) {
	for _, of := range []struct {
		whose Whose
		count *int
	}{{Winnow, &u.Rewritten}, {Host, &u.Changed}, {Time, &u.Expired}, {Provider, &u.Lost}} {
		if of.whose == whose {
			*of.count = count.Add(*of.count, max(0, tokens))
		}
	}
}
