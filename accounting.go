package winnow

import (
	"math"

	"github.com/winnowgo/winnow/internal/count"
)

// What a request costs, as the provider will count it. The sum of the estimates is wrong by what no
// message shows (system prompt, tool schemas) and by how well the estimator knows the model. The provider
// tells the truth with every answer: Usage. So the newest request whose size it told is the anchor, what
// came after it is estimated, and the estimates are corrected by how right they were so far.

// accounting is what the provider's counts have taught.
type accounting struct {
	anchor            anchor
	billed, estimated float64 // tokens of what was added between anchors; older ones weigh less
	limit             int     // tokens that a request may have, as the provider said; 0: it did not
	window            int     // … with the room for the answer; 0: it did not say
	guess             guess   // the same where it only said that one was too long
	body              guess   // of the bytes of a body, likewise
}

// anchor is a request whose size the provider told.
type anchor struct {
	messages int // how many the request had; see lost
	estimate int // of these messages
	prompt   int // what the provider counted, system prompt and tools included; 0: no anchor
}

// lost as anchor.messages: the request is no beginning of what is sent now.
const lost = math.MaxInt

const (
	// A wrong tokenizer family is off by no more than this, either way: measured over seven tokenizers and 36
	// kinds of text.
	minRatio, maxRatio = 0.5, 2.5
	// The ratio starts at 1 with this weight, in tokens, so that a few short messages do not move it.
	ratioPrior = 2_000
	// What was learned loses this share of its weight at each anchor: the kind of text changes.
	ratioDecay = 0.1

	// Margins on estimates: what covers 95 of 100 prompts that were never counted, what does once the ratio is
	// known, and what covers nearly all of the messages that came after an anchor.
	marginUnknown, marginKnown, marginNew = 0.15, 0.05, 0.20

	// A count is absurd above this multiple of the window: it is the sum of several calls.
	maxUsageWindows = 1.5
	// And below this share of the estimate: it leaves out what was cached, or is of another request.
	minUsageShare = 0.5
)

// ratio is what one estimated token is billed as.
func (a *accounting) ratio() float64 {
	return min(max((a.billed+ratioPrior)/(a.estimated+ratioPrior), minRatio), maxRatio)
}

// billedAs is what n estimated tokens will be billed as.
func (a *accounting) billedAs(n int) int { return count.Share(n, a.ratio()) }

// estimatedAs is the estimate of what will be billed as n tokens.
func (a *accounting) estimatedAs(n int) int { return count.Share(max(0, n), 1/a.ratio()) }

// hidden is what a request costs besides its messages; overhead is what the host says it is.
func (a *accounting) hidden(overhead int) int {
	if a.anchor.prompt == 0 {
		return overhead
	}
	return max(0, a.anchor.prompt-a.billedAs(a.anchor.estimate))
}

// observe learns that a request of so many messages, estimated as estimate, was counted as prompt.
func (a *accounting) observe(messages, estimate, prompt, overhead int) {
	old := a.anchor
	var billed, estimated int
	switch {
	case old.prompt > 0 && old.messages < messages:
		billed, estimated = prompt-old.prompt, estimate-old.estimate
	case old.prompt == 0 && overhead > 0: // the host told what no message shows
		billed, estimated = prompt-overhead, estimate
	}
	if billed > 0 && estimated > 0 {
		// What is further off is no tokenizer: a host added tools, a provider dropped old thinking.
		told := min(max(float64(billed), minRatio*float64(estimated)), maxRatio*float64(estimated))
		a.billed = a.billed*(1-ratioDecay) + told
		a.estimated = a.estimated*(1-ratioDecay) + float64(estimated)
	}
	a.anchor = anchor{messages, estimate, prompt}
}

// learnFrom takes what a draft of the same history has learned, unless more was learned meanwhile. Its anchor is
// no beginning of a request with another checkpoint.
func (a *accounting) learnFrom(d *draft) {
	limit, window, guess, body := a.limit, a.window, a.guess, a.body
	if d.known.guess == guess {
		guess = d.accounting.guess
	}
	if d.known.body == body {
		body = d.accounting.body
	}
	if known := d.known; a.anchor == known.anchor && a.billed == known.billed && a.estimated == known.estimated {
		*a = d.accounting
	}
	a.limit, a.window, a.guess, a.body, a.anchor.messages = limit, window, guess, body, lost
}

// budget is what a request may have, of n tokens that the window has for it.
func (a *accounting) budget(n int) int {
	return least(a.told(n), a.guess.limit)
}

// told is budget without what is only guessed.
func (a *accounting) told(n int) int {
	if a.limit > 0 {
		n = min(n, a.limit)
	}
	return n
}

// observeUsage looks for counts in what was not there at the last request. The view is as it was replayed:
// without new edits.
func (d *draft) observeUsage() {
	v, sent := d.view, len(d.ledger.sent)
	if d.intact = d.firstChanged(); d.learned { // what there is to learn is learned
		return
	}
	if d.ledger.otherModel { // another model's tokenizer counted, with other tools and limits
		d.rejectFrom(sent)
		d.intact = len(v.messages)
		return
	}
	if d.intact < sent {
		d.rejectFrom(d.intact)
		return
	}
	if sent > 0 && sent < len(v.messages) {
		d.accounting.take(d.manager, &v.messages[sent])
		d.budget = d.manager.budgetBy(&d.accounting)
	}
	sum, shown := 0, 0
	for i := range v.messages {
		m := &v.messages[i]
		if i >= sent {
			if d.intact = i; m.Summary || sent == 0 && v.index[i] != i { // what was sent before this manager took over is not known
				d.rejectFrom(i)
				return
			}
			if saysUsage(v.messages, i) {
				d.observeAnswer(m, i, sum, shown)
			}
			if v.edited[i] != nil {
				d.rejectFrom(i + 1)
				return
			}
		}
		sum = count.Add(sum, v.tokens[i])
		if !hasHiddenParts(m) {
			shown = count.Add(shown, v.tokens[i])
		}
	}
	d.intact = len(v.messages)
}

// saysUsage says that message i has the usage of the request that it answers. Hosts that write an answer as several
// messages give each the same one: it is the first that answers.
func saysUsage(messages []Message, i int) bool {
	m := &messages[i]
	if m.Role != RoleAssistant || m.Usage == nil {
		return false
	}
	if i == 0 {
		return true
	}
	before := &messages[i-1]
	return before.Role != RoleAssistant || before.Usage == nil || *before.Usage != *m.Usage
}

// observeAnswer learns from the usage of m, which is message i: what stands before it is so many tokens, and
// so many without the messages that have hidden parts.
func (d *draft) observeAnswer(m *Message, i, estimate, shown int) {
	prompt := m.Usage.Prompt()
	reason := ""
	switch {
	case isFailed(m):
		reason = "of a failed turn"
	case prompt == 0:
		reason = "zero"
	case float64(prompt) > maxUsageWindows*float64(d.manager.window):
		reason = "above the window"
	case float64(prompt) < minUsageShare*float64(d.accounting.billedAs(shown)):
		reason = "below half of the estimate"
	}
	if reason != "" {
		d.rejected = append(d.rejected, rejection{reason, prompt, estimate})
		return
	}
	d.accounting.observe(i, estimate, prompt, d.manager.opts.Overhead)
}

// A rejection is a count of the provider that is not used.
type rejection struct {
	reason           string
	prompt, estimate int // tokens; estimate of the messages before the answer, 0: not known
}

// rejectFrom is for what message i and those behind it say: they answered other requests. The newest is named.
func (d *draft) rejectFrom(i int) {
	for k := len(d.view.messages) - 1; k >= i; k-- {
		if m := &d.view.messages[k]; m.Usage != nil && m.Role == RoleAssistant {
			d.rejected = append(d.rejected, rejection{"from before a compaction or another change: the request does not go on from that", m.Usage.Prompt(), 0})
			return
		}
	}
}

func (d *draft) logRejected() {
	for _, r := range d.rejected {
		d.manager.opts.Logger.Debug("winnow: usage not used", "reason", r.reason, "prompt", r.prompt, "estimate", r.estimate)
	}
}

// hasHiddenParts says that providers may count less of m than it shows: old thinking is dropped, images
// are counted by their size, opaque parts in ways of their own.
func hasHiddenParts(m *Message) bool {
	for i := range m.Parts {
		switch m.Parts[i].Kind {
		case KindThinking, KindImage, KindOpaque:
			return true
		}
	}
	return false
}

// isAnchored says that the request goes on from the anchor.
func (d *draft) isAnchored() bool {
	a := &d.accounting.anchor
	return a.prompt > 0 && a.messages <= d.intact
}

// tokens is what the request will be counted as.
func (d *draft) tokens() int {
	a := &d.accounting
	if d.isAnchored() {
		return count.Add(a.anchor.prompt, a.billedAs(max(0, d.view.total-a.anchor.estimate)))
	}
	return count.Add(a.hidden(d.manager.opts.Overhead), a.billedAs(d.view.total))
}

// fits says that the request fits its budget. Where the estimates may be too low, half of what is kept free
// for the answer is their margin: a request that is refused costs more than one that is a little smaller.
func (d *draft) fits() bool {
	n := d.tokens()
	return n <= d.budget && count.Add(n, d.margin()) <= d.ceiling()
}

func (d *draft) ceiling() int { return count.Add(d.budget, d.manager.opts.Reserve/2) }

func (d *draft) margin() int {
	a := &d.accounting
	if d.isAnchored() {
		return count.Share(a.billedAs(max(0, d.view.total-a.anchor.estimate)), marginNew)
	}
	return count.Share(a.billedAs(d.view.total), d.marginShare())
}

func (d *draft) marginShare() float64 {
	if d.accounting.anchor.prompt > 0 {
		return marginKnown
	}
	return marginUnknown
}

// room is what the messages may take, in estimated tokens, once something that was sent is changed.
func (d *draft) room() int {
	a := &d.accounting
	hidden := a.hidden(d.manager.opts.Overhead)
	return a.estimatedAs(min(d.budget-hidden, count.Share(max(0, d.ceiling()-hidden), 1/(1+d.marginShare()))))
}

// wholeRoom is room without the margin of the estimates.
func (d *draft) wholeRoom() int {
	a := &d.accounting
	return a.estimatedAs(d.budget - a.hidden(d.manager.opts.Overhead))
}

// windowEstimate is the model's window in estimated tokens, without what no message shows. It is what is known of the
// window: the provider may have told of a smaller one, or refused what should fit.
func (d *draft) windowEstimate() int {
	a := &d.accounting
	window := least(d.manager.window, a.window)
	if a.guess.limit > 0 {
		window = min(window, count.Add(a.guess.limit, d.manager.opts.Reserve))
	}
	return max(1, a.estimatedAs(window-a.hidden(d.manager.opts.Overhead)))
}
