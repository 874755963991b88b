package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// A host that compacts at the limit sends everything until only limitReserve of the window is left, and then lets a
// model summarize all but the newest limitKeep. Both are at most a quarter of the window.
const (
	limitReserve = 20_000
	limitKeep    = 20_000
	limitSummary = 8_000 // room for the summary, at most an eighth of the window
)

// limitHost is that host. It halves a result that alone is too large for a request until it fits.
type limitHost struct {
	basis     *Basis
	estimator winnow.Estimator
	scribe    scribe
	out       outcome

	sizes   []int // size of each message as it is sent
	whole   int   // size of the whole history
	cut     map[int]winnow.Message
	from    int // the first message after the summary
	head    int // system messages at the beginning, which stay
	summary *winnow.Message

	sent   int // tokens of the last request
	prefix int // of these, the prefix that the next request shares
	sentAt time.Time

	forgets bool        // the provider does not read the reasoning of earlier turns
	open    map[int]int // size of the reasoning in the messages of this turn
}

// isCompacted reports whether the provider has compacted the conversation at m.
func isCompacted(m *winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool {
		return p.Kind == winnow.KindOpaque && p.MediaType == winnow.MediaCompaction && p.Text+p.Signature != ""
	})
}

func newLimitHost(b *Basis, e winnow.Estimator) *limitHost {
	family, _ := tokencount.Of(winnow.FamilyForModel(b.Model))
	h := &limitHost{basis: b, estimator: e, cut: map[int]winnow.Message{}, forgets: family.ForgetsReasoning,
		open: map[int]int{}}
	h.scribe = scribe{e, b, &h.out}
	return h
}

// next sends one request and returns its messages. So many tokens of its beginning are in the cache in any case.
func (h *limitHost) next(history []winnow.Message, at time.Time, warm int) []winnow.Message {
	for i := len(h.sizes); i < len(history); i++ {
		if h.head == i && history[i].Role == winnow.RoleSystem {
			h.head++
			h.from = h.head
		}
		if h.add(&history[i]); isCompacted(&history[i]) {
			// its provider reads nothing of what stands before
			h.from, h.summary, h.prefix = max(i, h.head), nil, *h.basis.Overhead
		}
	}
	budget := h.basis.Window - min(limitReserve, h.basis.Window/4)
	if h.tokens() > budget {
		h.compact(history, min(limitKeep, h.basis.Window/4))
	}
	if h.tokens() > budget {
		h.compact(history, h.basis.Window/10)
	}
	h.shrink(history, budget)
	tokens := h.tokens()
	if tokens > budget {
		h.out.Refused++
		return nil
	}
	h.bill(tokens, at, warm)
	return h.messages(history)
}

// add takes the next message of the history. Behind a message of a user, the reasoning of the turn before may count no
// more.
func (h *limitHost) add(m *winnow.Message) {
	size := h.estimator.Estimate(*m)
	h.sizes, h.whole = append(h.sizes, size), h.whole+size
	switch {
	case !h.forgets:
	case m.Role == winnow.RoleAssistant:
		h.open[len(h.sizes)-1] = thinkingIn(m, h.estimator)
	case m.Role == winnow.RoleUser:
		for i, n := range h.open {
			if h.sizes[i], h.whole = h.sizes[i]-n, h.whole-n; i >= h.from && h.sent > 0 {
				h.sent, h.prefix = h.sent-n, max(0, h.prefix-n)
			}
		}
		clear(h.open)
	}
}

// thinkingIn returns how much of a message is thinking.
func thinkingIn(m *winnow.Message, e winnow.Estimator) int {
	spoken := *m
	spoken.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p winnow.Part) bool {
		return p.Kind == winnow.KindThinking
	})
	return max(0, e.Estimate(*m)-e.Estimate(spoken))
}

// bill adds the cost of a request.
func (h *limitHost) bill(tokens int, at time.Time, warm int) {
	cached := h.prefix
	if cached < h.basis.cacheTokens || at.Sub(h.sentAt) > h.basis.cache.TTL {
		cached = 0
	}
	cached = max(cached, min(warm, tokens))
	if h.prefix < h.sent {
		h.out.Rewrites++
	}
	h.out.Requests += h.basis.promptCost(tokens, cached)
	h.out.Peak = max(h.out.Peak, tokens)
	h.sent, h.prefix, h.sentAt = tokens, tokens, at
}

// tokens returns the size of the current request, with the system prompt and the tools.
func (h *limitHost) tokens() int { return h.before(len(h.sizes)) }

// before returns the size of the request before message n of the history.
func (h *limitHost) before(n int) (sum int) {
	sum = *h.basis.Overhead
	for _, t := range h.sizes[:h.head] {
		sum += t
	}
	if h.summary != nil {
		sum += h.estimator.Estimate(*h.summary)
	}
	for i := h.from; i < n; i++ {
		sum += h.sizes[i]
	}
	return sum
}

// compact summarizes all but the newest keep tokens. Results stay with their calls.
func (h *limitHost) compact(history []winnow.Message, keep int) {
	cut, kept := len(history)-1, h.sizes[len(history)-1]
	for cut > h.from && kept+h.sizes[cut-1] <= keep {
		cut--
		kept += h.sizes[cut]
	}
	for cut > h.from && history[cut].Role == winnow.RoleTool {
		cut--
	}
	if cut <= h.from {
		return
	}
	req := winnow.SummaryRequest{
		Messages: h.slice(history, h.from, cut), MaxTokens: min(limitSummary, h.basis.Window/8),
	}
	if h.summary != nil {
		req.Previous = h.summary.Parts[0].Text
	}
	text, err := h.scribe.Summarize(context.Background(), req)
	if err != nil {
		return
	}
	h.prefix = min(h.prefix, h.before(h.head)-h.summaryTokens())
	h.summary = &winnow.Message{Role: winnow.RoleUser, Summary: true, Parts: []winnow.Part{{Text: text}}}
	h.from = cut
}

func (h *limitHost) summaryTokens() int {
	if h.summary == nil {
		return 0
	}
	return h.estimator.Estimate(*h.summary)
}

// shrink halves the largest result until the request fits, or no large result is left.
func (h *limitHost) shrink(history []winnow.Message, budget int) {
	const leastResult = 256 // tokens
	for h.tokens() > budget {
		largest := -1
		for i := h.from; i < len(history); i++ {
			if history[i].Role == winnow.RoleTool && h.sizes[i] > leastResult &&
				(largest < 0 || h.sizes[i] > h.sizes[largest]) {
				largest = i
			}
		}
		if largest < 0 {
			return
		}
		m := h.slice(history, largest, largest+1)[0]
		text := allText(&m)
		m.Parts = []winnow.Part{{Text: text[:len(text)/2]}}
		h.prefix = min(h.prefix, h.before(largest))
		h.cut[largest] = m
		size := h.estimator.Estimate(m)
		if size >= h.sizes[largest] {
			return
		}
		h.sizes[largest] = size
	}
}

// messages returns the current request.
func (h *limitHost) messages(history []winnow.Message) []winnow.Message {
	out := append([]winnow.Message(nil), history[:h.head]...)
	if h.summary != nil {
		out = append(out, *h.summary)
	}
	return append(out, h.slice(history, h.from, len(history))...)
}

// slice returns a part of the history as it is sent.
func (h *limitHost) slice(history []winnow.Message, from, to int) []winnow.Message {
	out := append([]winnow.Message(nil), history[from:to]...)
	for i := range out {
		if m, ok := h.cut[from+i]; ok {
			out[i] = m
		}
	}
	return out
}
