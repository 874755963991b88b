package accounting

import (
	"math"

	"github.com/winnowgo/winnow/internal/count"
)

// A meter works out how many tokens a provider will count for a request, from its counts of earlier ones.
//
// The sum of the estimates is wrong by what no message shows, such as the system prompt and the schemas of tools, and
// by how badly the estimator knows the model. The provider reports the true count with every answer. So the newest
// request whose count is known is the anchor, what came behind it is estimated, and the estimates are corrected by how
// far off they were so far.

// A Meter is what the provider's counts have taught. The zero value has seen none.
type Meter struct {
	Anchor
	Billed     float64 `json:"billed,omitempty"`    // tokens of what was added between anchors; older ones weigh less
	Estimated  float64 `json:"estimated,omitempty"` // of the same
	MostHidden int     `json:"hidden,omitempty"`    // that what no message shows can take; 0: not known
}

// An Anchor is a request whose tokens the provider counted.
type Anchor struct {
	// how many messages the request had, or Lost
	Messages int `json:"messages,omitempty" least:"-1"`
	Estimate int `json:"estimate,omitempty"` // of these messages
	Prompt   int `json:"prompt,omitempty"`   // what the provider counted, with system prompt and tools; 0: no anchor
}

// Lost, in [Anchor.Messages], says that what is sent now does not begin with the anchor's request.
const Lost = -1

const (
	// A wrong family of tokenizers is off by no more than this, either way: measured over seven tokenizers and 36 kinds
	// of text.
	MinRatio, MaxRatio = 0.5, 2.5
	// The ratio starts at 1, or at what MostHidden says, with this weight, in tokens, so that a few short messages do
	// not move it.
	ratioPrior = 2_000
	// What was learned loses this share of its weight at each anchor, because the kind of text changes.
	ratioDecay = 0.1

	// The margins on estimates: the first covers 95 of 100 prompts that were never counted, the second does once the
	// ratio is known, and the third covers nearly all messages that came behind an anchor.
	marginUnknown, marginKnown, marginNew = 0.15, 0.05, 0.20
)

// ratio is what one estimated token is billed as. Until enough was added between anchors to say so, what the anchor has
// above MostHidden was billed for its messages.
func (m *Meter) ratio() float64 {
	expected := 1.0
	if m.MostHidden > 0 && m.Anchor.Estimate > 0 {
		least := float64(m.Anchor.Prompt-m.MostHidden) / float64(m.Anchor.Estimate)
		expected = min(max(expected, least), MaxRatio)
	}
	return min(max((m.Billed+expected*ratioPrior)/(m.Estimated+ratioPrior), MinRatio), MaxRatio)
}

// BilledAs returns what n estimated tokens will be billed as.
func (m *Meter) BilledAs(n int) int { return count.Share(n, m.ratio()) }

// EstimatedAs returns the estimate of what will be billed as n tokens.
func (m *Meter) EstimatedAs(n int) int { return count.Share(max(0, n), 1/m.ratio()) }

// Bounds returns what n estimated tokens are billed as at least and at most.
func (m *Meter) Bounds(n int) (least, most int) {
	if m.Estimated < ratioPrior {
		return count.Share(n, MinRatio), int(min(MaxRatio*float64(n), math.MaxInt/2))
	}
	billed := m.BilledAs(n)
	margin := count.Share(billed, marginNew)
	return billed - margin, count.Add(billed, margin)
}

// Hidden returns what a request costs besides its messages. overhead is what the host says it is.
func (m *Meter) Hidden(overhead int) int {
	if m.Anchor.Prompt == 0 {
		return overhead
	}
	return max(0, m.Anchor.Prompt-m.BilledAs(m.Anchor.Estimate))
}

// Observe learns that the provider counted the request of anchor as it says. shown is the estimate of those of its
// messages that the provider certainly counts as they are; 0: not known.
func (m *Meter) Observe(anchor Anchor, shown, overhead int) {
	messages, estimate, prompt := anchor.Messages, anchor.Estimate, anchor.Prompt
	old := m.Anchor
	var billed, estimated int
	switch {
	case old.Prompt > 0 && old.Messages != Lost && old.Messages < messages:
		billed, estimated = prompt-old.Prompt, estimate-old.Estimate
	case old.Prompt == 0 && overhead > 0: // the host told what no message shows
		billed, estimated = prompt-overhead, estimate
	}
	if billed > 0 && estimated > 0 {
		// A tokenizer is not further off than this: a host added tools, or a provider dropped old thinking.
		told := min(max(float64(billed), MinRatio*float64(estimated)), MaxRatio*float64(estimated))
		m.Billed = m.Billed*(1-ratioDecay) + told
		m.Estimated = m.Estimated*(1-ratioDecay) + float64(estimated)
	}
	m.boundHidden(anchor, shown)
	m.Anchor = anchor
	if m.Estimated >= ratioPrior { // enough to say more: tools may have been added beside a large message
		implied := float64(prompt) - float64(estimate)*min(max(m.Billed/m.Estimated, MinRatio), MaxRatio)
		m.MostHidden = max(m.MostHidden, int(implied))
	}
}

// boundHidden learns how much the request of next can have besides its messages, if these are billed as low as any
// tokenizer could. A small request says most. m still has the anchor before it.
func (m *Meter) boundHidden(next Anchor, shown int) {
	most := max(1, next.Prompt-count.Share(shown, MinRatio))
	if old := m.Anchor; old.Prompt > 0 && m.MostHidden > 0 {
		// More than the new messages can have been billed: a host added tools.
		grown := next.Prompt - old.Prompt - count.Share(max(0, next.Estimate-old.Estimate), MaxRatio)
		known := count.Add(m.MostHidden, max(0, grown))
		// Otherwise tools were added that nobody saw, beside large messages: all must be learned anew.
		if known >= next.Prompt-count.Share(next.Estimate, MaxRatio) {
			most = min(most, known)
		}
	}
	m.MostHidden = most
}

// IsAnchored reports whether a request continues the anchor, if its first `unchanged` messages are those of the last
// request.
func (m *Meter) IsAnchored(unchanged int) bool {
	return m.Prompt > 0 && m.Messages != Lost && m.Messages <= unchanged
}

// Tokens returns how many tokens the provider will count for a request whose messages are estimated as total.
func (m *Meter) Tokens(total, unchanged, overhead int) int {
	switch {
	case !m.IsAnchored(unchanged):
		return count.Add(m.Hidden(overhead), m.BilledAs(total))
	case total < m.Anchor.Estimate: // the provider does not read all of it any more
		return max(0, m.Anchor.Prompt-m.BilledAs(m.Anchor.Estimate-total))
	}
	return count.Add(m.Anchor.Prompt, m.BilledAs(total-m.Anchor.Estimate))
}

// Margin returns by how much Tokens may be too low.
func (m *Meter) Margin(total, unchanged int) int {
	if m.IsAnchored(unchanged) {
		return count.Share(m.BilledAs(max(0, total-m.Anchor.Estimate)), marginNew)
	}
	return count.Share(m.BilledAs(total), m.marginShare())
}

func (m *Meter) marginShare() float64 {
	if m.Anchor.Prompt > 0 {
		return marginKnown
	}
	return marginUnknown
}

// Room returns how many estimated tokens the messages of a request may take if it does not continue the anchor. They
// stay within budget, and with their margin within ceiling.
func (m *Meter) Room(budget, ceiling, overhead int) int {
	hidden := m.Hidden(overhead)
	return m.EstimatedAs(min(budget-hidden, count.Share(max(0, ceiling-hidden), 1/(1+m.marginShare()))))
}

// RoomWithoutMargin is [Meter.Room] for estimates that are assumed to be right.
func (m *Meter) RoomWithoutMargin(budget, overhead int) int {
	return m.EstimatedAs(budget - m.Hidden(overhead))
}
