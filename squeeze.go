package winnow

// How short a result can get when nothing else makes the request fit.

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
// of an earlier one is cut from the whole text too: a cut result is not made whole again when the earlier one goes.
func (d *draft) toCut(i int, t *truncation) (*Message, int) {
	if p := d.view.edited[i]; p.isRepeat() || t.cutsAgain && p.isCut() {
		return d.beforeCut(i)
	}
	return &d.view.messages[i], d.view.tokens[i]
}

// squeezedChars is how many characters of a result may remain when nothing else helps.
const squeezedChars = 400

// squeeze returns the truncation of squeezeResults, to limit tokens.
func (d *draft) squeeze(limit int) *truncation {
	o := *d.opts.Truncate
	// The host's own MinKeepChars could keep the request from fitting, so it is lowered here.
	o.MinKeepChars = min(o.MinKeepChars, squeezedChars)
	return &truncation{TruncateOptions: o, cutsAgain: true, bothEnds: true, limit: limit}
}

// leastOf returns about how many tokens shrink leaves of message i: it clears results of older steps, squeezes those of
// the newest step, and leaves out images. request is the position of the newest user request.
func (d *draft) leastOf(i, request int, isOfNewestStep bool) int {
	const cleared = 100 // tokens: a placeholder has less
	least := d.view.tokens[i]
	isResult := d.view.unedited[i].Role == RoleTool && !d.view.unedited[i].Pinned
	if isResult && (least <= cleared || !isOfNewestStep) {
		return min(least, cleared)
	}
	images := 0 // tokens that leaving them out saves
	if _, tokens, ok := d.withoutImages(i, request); ok {
		images = least - tokens
	}
	if isResult {
		squeeze := d.squeeze(0)
		squeeze.note = d.recallNote(i)
		m, tokens := d.toCut(i, squeeze)
		if _, after, ok := squeeze.cut(m, tokens, -1); ok {
			least = min(least, after)
		}
	}
	return max(0, least-images)
}
