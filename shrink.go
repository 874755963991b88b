package winnow

import (
	"errors"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
)

// Pass 8: the request is made to fit, and thinking that must not be sent is left out.

// shrinking is pass 8: it makes a request fit, or reports that it cannot.
type shrinking struct{ folding }

func newShrinking(d *draft) shrinking { return shrinking{folding{shortening{d}}} }

// makeFit is pass 8. If the request does not fit, it shrinks what is left to shrink; in any case it leaves out the
// thinking that must not be sent. It reports whether the request fits. Neither the margin of the estimates nor a cliff
// is a reason to cut the newest results, or to fail.
func (s shrinking) makeFit() bool {
	s.cliff = 0
	if !s.fitsBudget() {
		s.because(noFit, s.shrink)
	}
	if s.mostTokens > 0 { // planned only to make the body smaller: it may fit with more tokens than planned
		s.budget = s.accounting.Budget(s.window - s.opts.Reserve)
	}
	s.because(noFit, s.leaveOutImages)
	s.leaveOutThinking()
	if !s.fitsBody() {
		s.because("the request body is too large", s.shrinkBody)
		s.leaveOutThinking() // behind the body's changes too: Recover may send what is still too large
	}
	return s.fitsBody() && s.fitsBudget()
}

// shrink clears all results that the model has seen. Where that is not enough, it cuts the others.
func (s shrinking) shrink() {
	// Records first: they are the oldest, and each time half of them become bare.
	for !s.fits() && s.bareRecords(0) {
	}
	s.clearOld()
	for i, x := range s.items {
		if x.showsMore() && !s.fits() { // what was added goes before anything is cut
			s.show(i, nil)
		}
	}
	if !s.fits() {
		s.squeezeResults()
	}
}

// clearOld clears all results but those that the model has not seen: these are cut, if they have to be. The newest
// steps that the host wants whole go last.
func (s shrinking) clearOld() {
	s.showRepeats(true)
	if from := s.wholeFrom(); from < len(s.items) {
		s.clearResults(func(i int) bool { return i >= from || s.isUnseen(i) })
		if s.fits() {
			return
		}
	}
	s.clearResults(s.isUnseen)
}

// clearResults clears all results, those in front of the first message of a user too, but those that stay, those that a
// person wrote, and those that there never were.
func (s shrinking) clearResults(stays func(i int) bool) {
	o := *s.opts.Prune
	o.KeepLastAssistants = 0
	o.SoftTrimRatio, o.HardClearRatio, o.MinPrunableToolChars = 0, 0, 0
	p := newPruning(s.sent(), max(1, s.room()), o)
	calls := answered{messages: s.own()}
	p.tokens = s.counts()
	p.stays = func(i int) bool { return stays(i) || s.neverCleared(i, &calls) }
	if s.opts.Recall {
		p.note = s.recallNote
	}
	p.apply()
	for k := range p.results {
		if r := &p.results[k]; r.Change != excerpt.None {
			s.edit(r.Index, p.left(r).Parts, max(1, r.Tokens), opOf(r), r.Reason())
		}
	}
}

// neverCleared reports whether result i is a person's, or was never there: to clear it would say that it was.
func (s shrinking) neverCleared(i int, calls *answered) bool {
	m := s.items[i].own
	return isMissingResult(m) || s.minifier.isSaid(m, calls.tool(i))
}

// leaveOutImages leaves out images, the oldest first, until the request fits.
func (s shrinking) leaveOutImages() {
	if s.fitsBudget() {
		return
	}
	request := newestRequest(s.sent())
	for i := 0; i < len(s.items) && !s.fitsBudget(); i++ {
		if i == request {
			continue
		}
		if parts, tokens := s.withoutImages(i); parts != nil {
			reason := s.orUnseen(i, "its images are left out: the request does not fit otherwise")
			s.edit(i, parts, tokens, OpClear, reason)
		}
	}
}

// squeezeResults cuts all results to the room that the other messages leave, and keeps both ends of each.
func (s shrinking) squeezeResults() {
	var sizes []int
	for i := range s.items {
		if m := s.items[i].sent; returnsContent(m) && !m.Pinned {
			sizes = append(sizes, s.items[i].tokens())
		}
	}
	fair := count.Fair(sizes, max(0, s.room()-(s.total-count.Sum(sizes))))
	// Results cannot be cut below a minimum. Where that keeps some above their fair share, the others are cut further.
	for _, limit := range []int{fair, 0} {
		squeeze := s.squeeze(limit)
		for i := range s.items {
			s.cut(i, squeeze, "the request does not fit otherwise")
		}
		if s.fitsBudget() {
			return
		}
	}
}

// The size of a request's body in bytes. Some providers refuse a body that is too large, however few tokens it has:
// images are cheap in tokens and large in bytes.

// leaveOutSurplus leaves out images, the oldest first, until the provider takes how many there are: of old steps down
// to a low-water mark, of the newest step no more than necessary.
func (s shrinking) leaveOutSurplus() {
	n, most := s.images(), s.ledger.Images
	request := newestRequest(s.sent())
	for _, step := range []struct{ end, goal int }{
		{newestAnswers(s.sent(), 1), count.Share(most, imagesLowWater)}, {len(s.items), most},
	} {
		if n <= most {
			return
		}
		for i := 0; i < step.end && n > step.goal; i++ {
			if i != request {
				n -= s.leaveOutFirst(i, n-step.goal)
			}
		}
	}
}

// leaveOutFirst replaces the first images of message i, at most n, by a line each, and returns how many these were.
func (s shrinking) leaveOutFirst(i, n int) (gone int) {
	line := s.imageLine(i)
	parts := partsWithoutImages(s.items[i].sent, func(p *Part) string {
		gone++
		return line(p)
	}, n)
	if gone > 0 {
		reason := s.orUnseen(i, "its images are left out: the provider takes fewer")
		s.edit(i, parts, s.tokensWith(i, parts), OpClear, reason)
	}
	return gone
}

// plannedBody is the share of a body's limit that a request is planned for if its text alone is too large. The other
// tenth is for bytes that are not proportional to tokens: a summary may have more line ends than the text that it
// stands for.
const plannedBody = 0.9

// tokensForBody returns how many tokens the next try may plan for, if err says that the body of a request was too
// large. The tokens are in proportion to the bytes that the body may have. For any other error tokensForBody returns 0.
// A plan with fewer tokens calls for a summary, which helps where no image or result is left to shrink.
func tokensForBody(err error) int {
	var e *OverflowError
	if !errors.As(err, &e) || e.MaxBytes == 0 || e.Bytes <= e.MaxBytes {
		return 0
	}
	return max(1, int(plannedBody*float64(e.Tokens)*float64(e.MaxBytes)/float64(e.Bytes)))
}

// A body that is too large is shrunk to these shares of its limit in one go. Otherwise a conversation of screenshots
// would lose one image, and with it the prompt cache, in every request. Old screenshots are worth little. An agent that
// takes one of 400 KB in each turn, within 10 MB, rewrites its prefix in 8 of 120 requests at 0.5, and in 12 at 0.7.
// Results are worth more.
const (
	imagesLowWater  = 0.5
	resultsLowWater = 0.7
)

// Where few images fit, half of them soon come again. So at least 15 are removed at a time, as long as 3 stay. With 15
// at a time, 8 of 120 requests rewrite the prefix. Anthropic's example of a computer-use agent sends the newest 3.
const leastImagesGone, leastImagesLeft = 15, 3

// shrinkBody shrinks a body that is too large. The oldest images become markers, then the oldest results are cleared,
// both down to a low-water mark. What the model has not seen follows only if the limit cannot be met otherwise: images,
// then results, which are cut before they are cleared.
func (s shrinking) shrinkBody() {
	if !s.fitsImages() {
		s.leaveOutSurplus()
	}
	limit, size := s.bodyLimit(), s.bytes()
	if limit == 0 || size <= limit {
		return
	}
	s.showRepeats(true)
	size = s.bytes()
	request := newestRequest(s.sent())
	dropImages := func(i int) int {
		if i == request {
			return 0
		}
		return s.dropImages(i)
	}
	images := s.imageSizes()
	images = images[:min(leastImagesGone, max(0, len(images)-leastImagesLeft))]
	fewImages := min(count.Share(limit, imagesLowWater), max(0, size-count.Sum(images)))
	cutResult := func(i int) int { return s.cutForBody(i, size-limit) }
	calls := answered{messages: s.own()}
	clearResult := func(i int) int { return s.clearResult(i, &calls) }
	for _, step := range []struct {
		drop   func(i int) int
		unseen bool // it may take from what the model has not seen
		goal   int  // bytes
	}{
		{dropImages, false, fewImages},
		{clearResult, false, count.Share(limit, resultsLowWater)},
		// These stop at the limit itself: no more is dropped than necessary.
		{dropImages, true, limit},
		{cutResult, true, limit},
		{clearResult, true, limit},
	} {
		if size <= limit {
			return
		}
		for i := 0; i < len(s.items) && size > step.goal; i++ { // the oldest first
			if step.unseen || !s.isUnseen(i) {
				size -= step.drop(i)
			}
		}
	}
}

// dropImages replaces each image of message i that may be left out by a line, and returns the bytes that this saved.
func (s shrinking) dropImages(i int) int {
	parts := partsWithoutImages(s.items[i].sent, s.imageLine(i), -1)
	if parts == nil {
		return 0
	}
	return s.replaceForBody(i, parts, "its images are left out: the request body is too large")
}

// cutForBody cuts message i, if it is a result, so that it has `over` bytes less. It returns the bytes that this
// saved.
func (s shrinking) cutForBody(i, over int) int {
	before := s.items[i].size()
	left := float64(max(0, before-over)) / float64(max(1, before))
	s.cut(i, s.squeeze(count.Share(s.items[i].tokens(), left)), "the request body is too large")
	return before - s.items[i].size()
}

// clearResult replaces message i by the placeholder if it is a result that may be cleared. It returns the bytes that
// this saved.
func (s shrinking) clearResult(i int, calls *answered) int {
	if m := s.items[i].sent; m.Role != RoleTool || m.Pinned || s.neverCleared(i, calls) {
		return 0
	}
	return s.replaceForBody(i, []Part{{Text: s.placeholder(i)}}, "cleared: the request body is too large")
}

// replaceForBody replaces the parts of message i by parts, and returns the bytes that this saved. It changes nothing
// where that would save no bytes, or would cost more tokens. Only a message with an image may cost more tokens, because
// a marker may be estimated higher than its image.
func (s shrinking) replaceForBody(i int, parts []Part, reason string) int {
	x := s.items[i]
	m := *x.sent
	m.Parts = parts
	saved, tokens := messageBytes(x.sent)-messageBytes(&m), s.tokensWith(i, parts)
	if saved <= 0 || tokens > x.tokens() && !hasImage(x.sent) {
		return 0
	}
	s.edit(i, parts, tokens, OpClear, s.orUnseen(i, reason))
	return saved
}

// thinking returns the policy: that of the options, unless the provider has said that it binds thinking to what stands
// before it.
func (b *basis) thinking() ThinkingPolicy {
	if b.ledger.BindsThinking || b.saysBound() {
		return ThinkingBound
	}
	return b.opts.Thinking
}

// saysBound reports whether the newest answer says that the provider has left out thinking because what stands before
// it had changed. Nothing is learned from an answer of another model.
func (b *basis) saysBound() bool {
	if b.ledger.OtherModel {
		return false
	}
	i := len(b.history) - 1
	for i >= 0 && b.history[i].Role != RoleAssistant {
		i--
	}
	for ; i >= 0 && b.history[i].Role == RoleAssistant; i-- {
		if u := b.history[i].Usage; u != nil && u.ThinkingDropped > 0 {
			return true
		}
	}
	return false
}

// leaveOutThinking leaves out what Options.Thinking asks for. It runs on every request, but reaches only what stands
// behind the first change, of which the cache holds nothing. From another model, all signed thinking goes.
func (s shrinking) leaveOutThinking() {
	if s.ledger.OtherModel { // whatever the policy: another model cannot use a signature, and may refuse it
		for i := range s.items {
			s.dropThinking(i, isSigned, signedByAnother)
		}
	}
	from, end := s.firstChanged(), len(s.items)
	switch s.thinking() {
	case ThinkingBound:
		from = s.brokenFrom(from)
	case ThinkingDropped:
		if from >= len(s.ledger.Sent) {
			return
		}
		end = max(0, newestRequest(s.sent()))
	default:
		return
	}
	for i := from; i < end; i++ {
		if !s.items[i].sent.Pinned || s.thinking() == ThinkingBound {
			s.dropThinking(i, isThinking, "thinking from before what is rewritten")
		}
	}
}

// dropThinking leaves out the parts of message i for which `which` returns true. Other parts stay: the repair has
// dropped each message of thinking alone, because providers refuse it.
func (s shrinking) dropThinking(i int, which func(Part) bool, reason string) {
	m := s.items[i].sent
	if m.Role != RoleAssistant || !slices.ContainsFunc(m.Parts, which) {
		return
	}
	if s.items[i].edit.isForeignThinking() {
		reason = signedByAnother // it never comes back
	}
	parts := slices.DeleteFunc(slices.Clone(m.Parts), which)
	s.because(reason, func() { s.edit(i, parts, s.tokensWith(i, parts), OpTrim, reason) })
}

// brokenFrom returns the index of the first message in which thinking cannot stay. That is `changed`, the first message
// that differs from what was sent. If nothing that was sent differs, it is the first new message that is edited, or
// that does not follow the one before it as in the history: answers among the new messages, to another manager perhaps,
// were made with the history as it is. But the answer to the last request stands directly behind that request, so a
// message that the host put in between is such a change: the model has not seen it.
func (s shrinking) brokenFrom(changed int) int {
	switch start := s.start; {
	case start >= changed && !slices.Contains(s.ledger.Sent, s.items[start].fact.key):
		changed = start // the provider has compacted since: what it thought from there on is bound to that
	case changed < len(s.ledger.Sent):
		return changed
	}
	if changed > 0 && changed != s.start && changed < len(s.items) && !mayAnswer(s.items[changed].sent) {
		return changed
	}
	for i := changed; i < len(s.items); i++ {
		isBehindSent := i == changed && i > 0 || i == s.start
		if !isBehindSent && !s.follows(i) || s.items[i].edit != nil {
			return i
		}
	}
	return len(s.items)
}

// follows reports whether message i also stands directly behind the one before it in the history passed in.
func (s shrinking) follows(i int) bool {
	before := -1
	if i > 0 {
		before = s.items[i-1].index
	}
	return s.items[i].index == before+1
}

// leavesOutThinking reports whether m has thinking and p sends it without.
func (p *edit) leavesOutThinking(m *Message) bool {
	return m.Role == RoleAssistant && hasThinking(m) && !slices.ContainsFunc(p.sent(), isThinking)
}
