package winnow

import "github.com/winnowgo/winnow/internal/count"

// Step 8: to shrink what is left to shrink, or to say what fills the window.

// shrinkToFit is step 8: it shrinks what is left to shrink, and reports whether the request fits. The margin of the
// estimates alone is no reason to cut the newest results, or to fail.
func (d *draft) shrinkToFit() bool {
	if d.tokens() > d.budget {
		d.shrink()
	}
	if d.ledger.mostTokens > 0 { // planned only to make the body smaller: it may fit with more tokens than planned
		d.budget = d.accounting.Budget(d.window - d.opts.Reserve)
	}
	d.leaveOutImages()
	d.leaveOutThinking()
	if !d.fitsBody() {
		d.shrinkBody()
		d.leaveOutThinking() // behind the body's changes too: Recover may send what is still too large
	}
	return d.fitsBody() && d.tokens() <= d.budget
}

// shrink clears all results but the newest step's. Where that is not enough, it cuts all results.
func (d *draft) shrink() {
	o := *d.opts.Prune
	// The newest step is what the model works with: it is cut below, if it has to be, and not cleared.
	o.KeepLastAssistants = min(o.KeepLastAssistants, 1)
	o.SoftTrimRatio, o.HardClearRatio, o.MinPrunableToolChars = 0, 0, 0
	// Records first: they are the oldest, and each time half of them become bare.
	for !d.fits() && d.bareRecords(0) {
	}
	d.prune(o, d.room())
	if !d.fits() {
		d.squeezeResults()
	}
}

// leaveOutImages leaves out images, the oldest first, until the request fits.
func (d *draft) leaveOutImages() {
	if d.tokens() <= d.budget {
		return
	}
	request := newestRequest(d.view.messages)
	for i := 0; i < len(d.view.messages) && d.tokens() > d.budget; i++ {
		if i == request {
			continue
		}
		if m, tokens, ok := d.withoutImages(i); ok {
			d.project(i, m, tokens, OpClear, "its images are left out: the request does not fit otherwise")
		}
	}
}

// squeezeResults cuts all results to the room that the other messages leave, and keeps both ends of each.
func (d *draft) squeezeResults() {
	v := d.view
	var sizes []int
	for i := range v.messages {
		if m := &v.messages[i]; returnsContent(m) && !m.Pinned {
			sizes = append(sizes, v.tokens[i])
		}
	}
	fair := count.Fair(sizes, max(0, d.room()-(v.total-count.Sum(sizes))))
	// Results cannot be cut below a minimum. Where that keeps some above their fair share, the others are cut further.
	for _, limit := range []int{fair, 0} {
		squeeze := d.squeeze(limit)
		for i := range v.messages {
			d.cut(i, squeeze, "the request does not fit otherwise")
		}
		if d.tokens() <= d.budget {
			return
		}
	}
}

// overflow returns the error that says what fills the window.
func (d *draft) overflow() *OverflowError {
	v := d.view
	e := &OverflowError{Tokens: d.tokens(), Budget: d.budget, Overhead: d.accounting.Hidden(d.opts.Overhead)}
	if limit := d.bodyLimit(); limit > 0 {
		e.Bytes, e.MaxBytes = d.bytes(), limit
	}
	request := newestRequest(v.messages)
	if request < 0 {
		request = len(v.messages)
	}
	for i := range v.messages {
		m := &v.messages[i]
		switch {
		case m.Summary:
			e.Summary = count.Add(e.Summary, v.tokens[i])
		case m.Pinned || m.Role == RoleSystem:
			e.Pinned = count.Add(e.Pinned, v.tokens[i])
		case i >= request:
			e.Protected = count.Add(e.Protected, v.tokens[i])
		}
	}
	// Tokens may rest on the provider's count of the last request, which may be lower than the estimates of its parts.
	e.Overhead = min(e.Overhead, e.Tokens)
	rest := e.Tokens - e.Overhead
	for _, n := range []*int{&e.Pinned, &e.Summary, &e.Protected} {
		*n = min(d.accounting.BilledAs(*n), rest)
		rest -= *n
	}
	return e
}
