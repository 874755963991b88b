package winnow

// How short a result can get when nothing else makes the request fit.

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
	m := &d.view.unedited[i]
	isResult := returnsContent(m) && !m.Pinned
	if isResult && m.Role == RoleTool && (least <= cleared || !isOfNewestStep) {
		return min(least, cleared)
	}
	images := 0 // tokens that leaving them out saves
	if _, tokens, ok := d.withoutImages(i); ok && i != request {
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
