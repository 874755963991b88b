package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/session/transcript"
)

// Basis is what a replay takes from the file, or assumes. Of the zero value everything is to be found out.
type Basis struct {
	Model    string  // of most answers
	Window   int     // context window of the model, in tokens
	Price    float64 // dollars for a million uncached tokens of input; 1 where nobody knows it
	Overhead *int    // tokens of the system prompt and the tools that are not among the messages

	windowFrom, priceFrom, overheadFrom string // priceFrom: "" if the price is not known
	isForAnHour, lastsAnHour            bool   // most was cached for longer: as the file counts; as its pauses tell
	alias                               string // what the file calls the model, if only that is not known
	isAssumed                           bool   // the prices of what is cached and of answers are those of most models
	cache                               winnow.CacheOptions
	cacheTokens                         int          // shorter prefixes are not cached
	prices                              models.Model // of prompts of any size, relative to Price
}

// DefaultWindow is taken where neither the file nor the model's name tells.
const DefaultWindow = 200_000

// claudeCodeWindow is what Claude Code gives a model that has more, unless its user chooses the larger window.
const claudeCodeWindow = 200_000

// assumedOverhead is taken for an agent's file that counts nothing: the least that was found in files of Claude Code
// that do, whose system prompts and tools take 16 000 to 43 000 tokens.
const assumedOverhead = 16_000

// Complete finds out what is not set, and returns the estimator for the model.
func (b Basis) Complete(s *recording.Session) (Basis, winnow.Estimator, error) {
	e, err := winnow.NewEstimator(winnow.FamilyForModel(cmp.Or(b.Model, s.Model)))
	if err != nil {
		return b, nil, err
	}
	return b.complete(s, e), e, nil
}

// WindowFrom says where the window is from.
func (b *Basis) WindowFrom() string { return b.windowFrom }

// complete finds out what is not set.
func (b Basis) complete(s *recording.Session, e winnow.Estimator) Basis {
	b.Model = cmp.Or(b.Model, s.Model)
	known, _ := models.Find(b.Model)
	if _, ok := models.Find(s.Model); !ok {
		b.alias = s.Model
	}
	if b.isAssumed = known.Uncached == 0; b.isAssumed { // Anthropic's, for the five-minute cache
		known.Price = models.Price{Uncached: 1, CacheRead: 0.1, CacheWrite: 1.25, LongWrite: 2, Output: 5}
	}
	b.prices, b.cacheTokens = known, cmp.Or(known.CacheTokens, 1_024)
	p := known.PriceOf(0)
	b.cache = winnow.CacheOptions{TTL: cmp.Or(known.CacheTTL, 5*time.Minute), ReadPrice: p.CacheRead,
		WritePrice: p.CacheWrite}
	if isLong, isCounted := b.cachedForLong(s); isLong && b.cache.TTL < time.Hour {
		b.cache.TTL = max(time.Hour, known.LongTTL)
		if b.isForAnHour, b.lastsAnHour = isCounted, !isCounted; isCounted {
			b.cache.WritePrice = p.LongWrite
		}
	}
	b.completeWindow(s, known.Window)
	b.completePrice(known.Input)
	if b.Overhead != nil {
		b.overheadFrom = "as set"
	} else {
		b.findOverhead(s, e)
	}
	return b
}

// cachedForLong reports whether most of what a file counts as written to the model's cache was for the longer lifetime.
// Where it does not count by lifetime, most answers behind a pause of 6 to 55 minutes must have read most of their
// prompt from the cache: with the cache of five minutes none would have.
func (b *Basis) cachedForLong(s *recording.Session) (isLong, isCounted bool) {
	written, long := 0, 0
	for _, c := range s.Calls {
		if b.isOf(c.Model) {
			written += c.Usage.CacheWrite
			long += c.Usage.LongWrite
		}
	}
	if long > 0 {
		return 2*long > written, true
	}
	hits, misses := 0, 0
	var before time.Time // time of the last answer
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Usage == nil || m.Time.IsZero() {
			continue
		}
		pause := m.Time.Sub(before)
		if !before.IsZero() && pause > 6*time.Minute && pause < 55*time.Minute {
			if m.Usage.CacheRead > m.Usage.Input+m.Usage.CacheWrite {
				hits++
			} else {
				misses++
			}
		}
		before = m.Time
	}
	return hits > misses, false
}

func (b *Basis) completeWindow(s *recording.Session, ofModel int) {
	switch {
	case b.Window > 0:
		b.windowFrom = "as set"
		return
	case s.Window > 0:
		b.Window, b.windowFrom = s.Window, "from the file"
	case ofModel > claudeCodeWindow && s.From != nil && s.From.Format == transcript.ClaudeCode:
		b.Window, b.windowFrom = claudeCodeWindow, "Claude Code's, unless a larger one is chosen"
	case ofModel > 0:
		b.Window, b.windowFrom = ofModel, "of the model"
	default:
		b.Window, b.windowFrom = DefaultWindow, "assumed"
	}
	largest := 0
	for i := range s.Messages {
		if u := s.Messages[i].Usage; u != nil {
			largest = max(largest, u.Input+u.CacheRead+u.CacheWrite)
		}
	}
	if largest > b.Window { // there are variants of models with a window of a million tokens
		b.Window = max(1_000_000, largest)
		b.windowFrom = fmt.Sprintf("because one prompt had %s", recording.Comma(largest))
	}
}

func (b *Basis) completePrice(ofModel float64) {
	switch {
	case b.Price > 0:
		b.priceFrom = "as set"
	case ofModel > 0:
		b.Price, b.priceFrom = ofModel, "a list price"
	default:
		b.Price = 1
	}
}

// findOverhead takes what was billed for the first prompts, without the messages. Later ones tell less: the error of
// the estimate grows with the history, and a compaction replaces it.
func (b *Basis) findOverhead(s *recording.Session, e winnow.Estimator) {
	const first = 3 // their median, because one prompt may be another model's or an early one
	var found []int
	messages := 0
	for i := range s.Messages {
		m := &s.Messages[i]
		if len(s.Compactions) > 0 && i >= s.Compactions[0].Before || len(found) == first {
			break
		}
		if u := m.Usage; i > 0 && u != nil && u.Input+u.CacheRead+u.CacheWrite > 0 {
			found = append(found, max(0, u.Input+u.CacheRead+u.CacheWrite-messages))
		}
		messages += e.Estimate(*m)
	}
	n := 0
	switch {
	case len(found) > 0:
		slices.Sort(found)
		n, b.overheadFrom = found[(len(found)-1)/2], "billed less the messages"
	case s.From != nil:
		n, b.overheadFrom = min(assumedOverhead, b.Window/8), "assumed, because the file counts nothing"
	default:
		n, b.overheadFrom = recallTool(e), "winnow's recall tool, for either: the file has the messages alone"
	}
	b.Overhead = &n
}

// Said says what the replay takes for granted, and where each figure comes from.
func (b *Basis) Said() string {
	model := "An unknown model"
	if b.Model != "" {
		model = "Model " + Plain(b.Model)
	}
	price := "no price known for it, so that costs are in uncached tokens"
	if b.HasPrice() {
		price = fmt.Sprintf("$%g for a million uncached ones (%s)", b.Price, b.priceFrom)
	}
	if p := b.prices.PriceOf(0); b.isAssumed {
		price += fmt.Sprintf("; one that is read from the cache counts %g, a written one %g, one of an answer %g "+
			"(assumed)", p.CacheRead, p.CacheWrite, p.Output)
	}
	return fmt.Sprintf("%s, a window of %s tokens (%s), %s. System prompt and tools: %s tokens in each request (%s).",
		model, recording.Comma(b.Window), b.windowFrom, price, recording.Comma(*b.Overhead), b.overheadFrom)
}

// promptCost returns the cost of a partly cached prompt, in uncached tokens of a small one.
func (b *Basis) promptCost(tokens, cached int) float64 {
	if tokens < b.cacheTokens {
		return b.cost(winnow.Usage{Input: tokens})
	}
	u := winnow.Usage{CacheRead: cached, CacheWrite: tokens - cached}
	if b.isForAnHour {
		u.LongWrite = u.CacheWrite
	}
	return b.cost(u)
}

// answerCost returns the cost of an answer to a prompt of so many tokens.
func (b *Basis) answerCost(prompt, answer int) float64 {
	return b.prices.PriceOf(prompt).Output * float64(answer)
}

// cost returns the cost of what was billed for one request.
func (b *Basis) cost(u winnow.Usage) float64 { return b.prices.PriceOf(u.Prompt()).Of(TokensOf(u)) }

// TokensOf returns a usage as the table of prices has it.
func TokensOf(u winnow.Usage) models.Tokens {
	long := min(u.LongWrite, u.CacheWrite)
	return models.Tokens{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite - long, LongWrite: long,
		Output: u.Output}
}

// Dollars returns what the provider's counts of a request cost.
func (b *Basis) Dollars(u winnow.Usage) float64 { return dollars(b.cost(u), b.Price) }

// HasPrice reports whether the price is known: it is the model's, or was set.
func (b *Basis) HasPrice() bool { return b.priceFrom != "" }

// amount writes a cost: in dollars, if the price is known.
func (b *Basis) amount(cost float64) string {
	if !b.HasPrice() {
		return whole(cost) + " uncached tokens"
	}
	return money(dollars(cost, b.Price))
}

// CacheTTL returns how long the provider keeps what nobody reads.
func (b *Basis) CacheTTL() time.Duration { return b.cache.TTL }

// Money formats dollars.
func Money(amount float64) string { return money(amount) }
