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
		note := func() string { return d.recallNote(i) }
		if p := d.minifiedOnce(v.messages, i, v.facts[i], note); p != nil {
			d.put(i, p)
		}
	}
}

// longResult is the size of a result, in bytes, from which on it is minified once in a call of the manager, however
// many drafts the call makes. A shorter one is read in some microseconds.
const longResult = 64 << 10

// minifiedOnce is minified for a long result that the drafts of a call minify one after the other.
func (d *draft) minifiedOnce(messages []Message, i int, f *fact, note func() string) *projection {
	if textBytes(&messages[i]) < longResult {
		return d.minified(messages, i, f, note)
	}
	forms := d.redundantForms(messages, i, f)
	if forms == 0 {
		return nil
	}
	l, id := d.ledger, minifiedID{f, forms, note()}
	p, isKnown := l.minified[id]
	if !isKnown {
		p = d.newMinified(messages[i], f.tokens, forms, func() string { return id.note })
		if l.minified == nil {
			l.minified = map[minifiedID]*projection{}
		}
		l.minified[id] = p
	}
	return p
}

// minified returns a projection of result i of messages, whose fact is f, that has fewer tokens, or nil. If something
// is missing that somebody may want, note returns how to recall it.
func (d *draft) minified(messages []Message, i int, f *fact, note func() string) *projection {
	forms := d.redundantForms(messages, i, f)
	if forms == 0 {
		return nil
	}
	return d.newMinified(messages[i], f.tokens, forms, note)
}

// redundantForms returns the forms that may be left out of result i of messages, whose fact is f. The answer to a
// recall stays as it is.
func (d *draft) redundantForms(messages []Message, i int, f *fact) minify.Forms {
	if d.opts.Recall && isRecallAnswer(messages, i) {
		return 0
	}
	return d.minifier.formsFor(messages, i, f.redundant)
}

// newMinified returns a projection of m, a result of the given tokens, without the given forms. It returns nil if that
// does not save any tokens. note is as in minified.
func (d *draft) newMinified(m Message, tokens int, forms minify.Forms, note func() string) *projection {
	parts, forms, ok := minifiedParts(m.Parts, forms)
	if !ok {
		return nil
	}
	reason := "redundant in a new result: " + forms.String()
	if forms.IsLossy() {
		if behind := note(); behind != "" {
			parts, forms = withNoteBehind(parts, behind), 0 // the text can no longer be made from the result alone
		}
	}
	m.Parts, m.Source = parts, nil
	p := newProjection(parts)
	if p.tokens = estimateWith(d.opts.Estimator, m); p.tokens >= tokens {
		return nil
	}
	p.op, p.reason, p.forms, p.key = OpMinify, reason, forms, d.ledger.index.hasher.key(&m)
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
	none := func() string { return "" } // the cut adds its own
	if p := d.minifiedOnce(d.view.unedited, i, f, none); p != nil {
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
