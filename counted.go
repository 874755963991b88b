package winnow

import (
	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/meter"
)

// Counted passes on the provider's count for the request that this manager returned last, including its system prompt
// and tools. The count comes from the provider's endpoint (count_tokens; see the adapters for Anthropic and Gemini).
// The next requests are estimated from there, as they are from the Usage of an answer. Call it when a manager takes
// over a long history without any Usage. A count that cannot belong to the request is ignored, as is one before the
// first request.
func (m *Manager) Counted(tokens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &m.ledger
	known := count.Add(l.estimate, m.opts.Overhead)
	if tokens < count.Share(known, accounting.LeastCount) || tokens > count.Share(m.window, accounting.MostCount) {
		return // the count is of another request
	}
	if len(l.sent) == 0 || tokens <= 0 {
		return // nothing was sent, or nothing was counted
	}
	anchor := meter.Anchor{Messages: len(l.sent), Estimate: l.estimate, Prompt: tokens}
	m.calls++
	l.accounting.Observe(anchor, 0, m.opts.Overhead)
}
