package winnow

import "github.com/winnowgo/winnow/internal/count"

// Counted says what the provider counts for the request that this manager returned last, its system prompt and tools
// included, as an endpoint for that tells (count_tokens; see the adapters for Anthropic and Gemini). The next requests
// are estimated from there, as they are from the Usage of an answer: that is worth a call where a manager takes over a
// long history without any. A count that cannot be of that request is not taken; neither is one before the first
// request.
func (m *Manager) Counted(tokens int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &m.ledger
	known := count.Add(l.estimate, m.opts.Overhead)
	if len(l.sent) == 0 || tokens <= 0 || tokens > count.Share(m.window, maxUsageWindows) || tokens < count.Share(known, minUsageShare) {
		return
	}
	l.accounting.observe(len(l.sent), l.estimate, tokens, m.opts.Overhead)
	l.tail = tail{} // what is known of the next request was estimated without it
}
