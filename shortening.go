package winnow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/minify"
)

// What may be left out of single messages, and what is sent in their place.

// shortening edits single messages of a draft: every pass from 3 on, and a span, is built on it.
type shortening struct{ *draft }

// minified returns an edit of result i, as it is in the history, that has fewer tokens, or nil. The answer to a recall
// stays as it is.
func (c shortening) minified(i int) *edit {
	m, f := c.items[i].own, c.items[i].fact
	forms := c.minifier.formsFor(c.own(), i, f.redundant)
	if forms == 0 || c.isRecalled(i) {
		return nil
	}
	parts, forms, ok := minifiedParts(m.Parts, forms, c.recallNote(i))
	if !ok {
		return nil
	}
	tokens := c.tokensWith(i, parts)
	if tokens >= f.tokens {
		return nil
	}
	p := c.editOf(i, parts, tokens, OpMinify, "redundant in a new result: "+forms.String())
	if forms&minify.Data == 0 { // else a snapshot has its text: a handle of the recall tool stands in it
		p.forms = forms
	}
	return p
}

// placeholder returns what stands for result i once it is cleared.
func (c shortening) placeholder(i int) string {
	return excerpt.WithNote(c.opts.Prune.Placeholder, c.recallNote(i))
}

// squeezedChars is how many characters of a result may remain when nothing else makes the request fit.
const squeezedChars = 400

// squeeze returns the truncation for results that are cut to limit tokens because nothing else makes the request fit.
func (c shortening) squeeze(limit int) *truncation {
	o := *c.opts.Truncate
	o.MinKeepChars = min(o.MinKeepChars, squeezedChars) // the host's own could keep the request from fitting
	return &truncation{TruncateOptions: o, cutsAgain: true, bothEnds: true, limit: limit}
}

// cut truncates message i with t.
func (c shortening) cut(i int, t *truncation, reason string) {
	if m := c.items[i].sent; !returnsContent(m) || m.Pinned || t.isWithin(m, c.items[i].tokens()) {
		return
	}
	m, tokens := c.toCut(i, t)
	t.note = c.recallNote(i)
	out, after, ok := t.cut(m, tokens)
	if ok && c.truncateHasEstimator {
		after = estimateWith(c.opts.Estimator, out)
	}
	if ok && (after < c.items[i].tokens() || !t.cutsAgain) {
		c.edit(i, out.Parts, after, OpTruncate, reason)
	}
}

// beforeCut returns message i as it is before any cut, and its tokens.
func (c shortening) beforeCut(i int) (*Message, int) {
	m, tokens := *c.items[i].own, c.items[i].fact.tokens
	if p := c.minified(i); p != nil {
		m.Parts, m.Source, tokens = p.sent(), nil, p.tokens
	}
	return &m, tokens
}

// toCut returns the message that t cuts in the place of message i, and its tokens. A result that was cut before is cut
// anew from the whole text, because the end of what is left says only that it was cut. A result that leaves out lines
// of an earlier one is cut from the whole text too: it is not made whole again when the earlier one is dropped.
func (c shortening) toCut(i int, t *truncation) (*Message, int) {
	if p := c.items[i].edit; p.isRepeat() || t.cutsAgain && p.isCut() {
		return c.beforeCut(i)
	}
	return c.items[i].sent, c.items[i].tokens()
}

// showRepeats sends results whole again from which lines of earlier messages are left out: those whose lines no earlier
// message shows any more, or all. All are for a request that does not fit: otherwise, dropping a result could make a
// later one longer, and what the drops save could not be added up.
func (c shortening) showRepeats(all bool) {
	if len(c.repeated) == 0 {
		return
	}
	if all {
		clear(c.repeated)
	}
	isShown := map[key]bool{}
	for i, x := range c.items {
		if p := x.edit; p.isRepeat() && !isShown[p.repeats] {
			c.showWhole(i)
		}
		if k := x.key(); c.repeated[k] {
			isShown[k] = true
		}
	}
}

// showWhole sends result i as it would be if no lines of an earlier message were left out of it. It may be above the
// limit of one result, which may be lower by now than when the result was new.
func (c shortening) showWhole(i int) {
	k := c.items[i].fact.key
	delete(c.newEdits, k)
	c.unchangedPrefix = min(c.unchangedPrefix, i)
	if p := c.minified(i); p != nil {
		c.put(i, p)
	} else {
		c.show(i, nil)
		c.wholeAgain = append(c.wholeAgain, k)
	}
	c.cut(i, newTruncation(*c.opts.Truncate, c.windowEstimate()), oversizedReason)
}

// withoutImages returns the parts of message i with a line for each of its images, and the tokens that it then has; nil
// if that saves none.
func (c shortening) withoutImages(i int) (parts []Part, tokens int) {
	if x := c.items[i]; hasImage(x.sent) {
		parts = partsWithoutImages(x.sent, c.imageLine(i), -1)
	}
	return c.ifShorter(i, parts)
}

// ifShorter returns parts and the tokens that message i has with them; nil if it has not fewer than now.
func (c shortening) ifShorter(i int, parts []Part) ([]Part, int) {
	if parts != nil {
		if tokens := c.tokensWith(i, parts); tokens < c.items[i].tokens() {
			return parts, tokens
		}
	}
	return nil, 0
}

// imageLine returns a function that writes what stands for an image of message i: its kind, its size and its handle.
func (c shortening) imageLine(i int) func(*Part) string {
	note := c.recallNote(i)
	return func(p *Part) string { return describeImage(p) + note + "]" }
}

// describeImage begins a line about an image that is left out.
func describeImage(p *Part) string {
	text := "[Image left out: " + markup.Attribute(cmp.Or(p.MediaType, "unknown kind"))
	if p.Width > 0 && p.Height > 0 {
		text += fmt.Sprintf(", %d×%d", p.Width, p.Height)
	}
	return text
}

// partsWithoutImages returns the parts of m with a line in the place of each of the first n images that may be left
// out. It returns nil if there is none.
func partsWithoutImages(m *Message, line func(*Part) string, n int) (parts []Part) {
	if m.Pinned || m.Role == RoleSystem {
		return nil
	}
	for k := range m.Parts {
		if n == 0 || !isOptionalImage(&m.Parts[k]) {
			continue
		}
		n--
		if parts == nil {
			parts = append(parts, m.Parts...)
		}
		parts[k] = Part{Text: line(&m.Parts[k])}
	}
	return parts
}

// isOptionalImage reports whether p is an image that may be left out. A signed image was made by a model and is sent
// back as it came.
func isOptionalImage(p *Part) bool { return p.Kind == KindImage && p.Signature == "" }

// withoutData returns the parts of message i, an answer, without what no model can read in the arguments of its calls,
// and the tokens that it then has. It is nil if there is nothing to leave out, if the host wants it as it came, or if
// the provider wants to see it as it signed it.
func (c shortening) withoutData(i int) (parts []Part, tokens int) {
	x := c.items[i]
	isSigned := i >= newestRequest(c.own()) && hasSignature(x.sent)
	isKept := func(p Part) bool { return p.Kind == KindToolCall && !c.minifier.match.Matches(p.Name) }
	if c.minifier.off || x.fact.redundant == 0 || isSigned || slices.ContainsFunc(x.own.Parts, isKept) {
		return nil, 0
	}
	return c.ifShorter(i, withoutData(x.sent.Parts, c.recallNote(i)))
}
