package winnow

import "github.com/winnowgo/winnow/internal/minify"

// minifyUnsent is the first half of step 5. It only touches results that were never sent, so that the prompt cache
// stays valid.
func (d *draft) minifyUnsent(wasSent func(int) bool) {
	v := d.view
	for i := range v.messages {
		if v.messages[i].Role != RoleTool || v.edited[i] != nil || wasSent(i) {
			continue
		}
		if p := d.minified(v.messages, i, v.facts[i]); p != nil {
			d.put(i, p)
		}
	}
}

// minified returns a projection of result i of messages, whose fact is f, that has fewer tokens, or nil.
func (d *draft) minified(messages []Message, i int, f *fact) *projection {
	forms := d.redundantForms(messages, i, f)
	if forms == 0 {
		return nil
	}
	return d.newMinified(messages[i], f.tokens, forms)
}

// redundantForms returns the forms that may be left out of result i of messages, whose fact is f. The answer to a
// recall stays as it is.
func (d *draft) redundantForms(messages []Message, i int, f *fact) minify.Forms {
	if d.opts.Recall && isRecallAnswer(messages, i) {
		return 0
	}
	return d.minifier.formsFor(messages, i, f.redundant)
}

// minifiedReason begins the [Edit.Reason] of a minified result, and what was left out ends it.
const minifiedReason = "redundant in a new result: "

// newMinified returns a projection of m, a result of the given tokens, without the given forms. It returns nil if that
// does not save any tokens.
func (d *draft) newMinified(m Message, tokens int, forms minify.Forms) *projection {
	parts, forms, ok := minifiedParts(m.Parts, forms)
	if !ok {
		return nil
	}
	m.Parts, m.Source = parts, nil
	p := newProjection(parts)
	if p.tokens = estimateWith(d.opts.Estimator, m); p.tokens >= tokens {
		return nil
	}
	p.op, p.reason, p.forms, p.key = OpMinify, minifiedReason+forms.String(), forms, d.ledger.index.hasher.key(&m)
	return p
}

// cut truncates message i with t.
func (d *draft) cut(i int, t *truncation, reason string) {
	v := d.view
	if m := &v.messages[i]; !returnsContent(m) || m.Pinned || t.isWithin(m, v.tokens[i]) {
		return
	}
	m, tokens := d.toCut(i, t)
	t.note = d.recallNote(i)
	out, after, ok := t.cut(m, tokens, -1)
	if ok && d.truncateHasEstimator {
		after = estimateWith(d.opts.Estimator, out)
	}
	if ok && (after < v.tokens[i] || !t.cutsAgain) {
		d.project(i, out, after, OpTruncate, reason)
	}
}

// beforeCut returns message i as it is before any cut, and its tokens.
func (d *draft) beforeCut(i int) (*Message, int) {
	m, f := d.view.unedited[i], d.view.facts[i]
	tokens := f.tokens
	if p := d.minified(d.view.unedited, i, f); p != nil {
		m.Parts, m.Source, tokens = p.sent(), nil, p.tokens
	}
	return &m, tokens
}

// toCut returns the message that t cuts in the place of message i, and its tokens. A result that was cut before is cut
// anew from the whole text, because the end of what is left says only that it was cut. A result that leaves out lines
// of an earlier one is cut from the whole text too: it is not made whole again when the earlier one is dropped.
func (d *draft) toCut(i int, t *truncation) (*Message, int) {
	if p := d.view.edited[i]; p.isRepeat() || t.cutsAgain && p.isCut() {
		return d.beforeCut(i)
	}
	return &d.view.messages[i], d.view.tokens[i]
}
