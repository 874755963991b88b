package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/recall"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summary"
)

// What a compaction replaces, and what stays.

// span is the part of a draft that a compaction replaces. Sizes are in tokens.
type span struct {
	shortening
	stays       []bool // messages that no compaction replaces
	front       int    // up to where the texts of the host in front of all else stay, see keepFront
	cut         int    // the first message that is kept
	request     int    // the newest user request; -1: none
	replaced    summary.Replaced
	restAtLeast int // tokens of the kept messages, if all their results were cut as far as possible, without images
}

// mostFront is the share of the room that the texts of the host in front of all else may have, to stay there. The
// summary and the newest messages need most of the rest.
const mostFront = 0.25

// span chooses what a compaction summarizes. What the host inserted in front of all else, such as instructions and
// lists of abilities, stays if there is room for it and for a short summary.
func (d *draft) span() *span {
	stays := outlives(d.own(), len(d.items))
	all := slices.Clone(stays)
	n := keepFront(d.own(), all)
	isLimited := d.limitedAt != (position{}) || d.checkpoint != nil && d.checkpoint.Limited != (position{})
	unseen := d.firstUnseen()
	// If the newest steps that the host wants whole do not fit beside a summary, they cannot be had.
	whole := d.wholeFrom()
	if count.Add(d.tokensOf(whole, len(d.items)), summary.In(d.limit())) <= d.room() {
		unseen = min(unseen, whole)
	}
	if n > 0 && !isLimited && d.tokensOf(0, n) <= count.Share(d.room(), mostFront) {
		if s := newSpan(d, all, unseen); s.restFits(summary.LeastGain) {
			s.front = n
			return s
		}
	}
	if s := newSpan(d, stays, unseen); s.restFits(summary.LeastWords) {
		return s
	}
	return newSpan(d, stays, len(d.items))
}

// newSpan chooses the cut: what stands from message `last` on stays, and so do the newest messages, as long as the
// request lands well below the budget.
func newSpan(d *draft, stays []bool, last int) *span {
	s := &span{shortening: shortening{d}, stays: stays, request: newestRequest(d.own())}
	fixed := 0
	for i, x := range d.items {
		if !s.replaces(i) {
			fixed = count.Add(fixed, x.tokens())
		}
	}
	landing := max(0, count.Share(d.room(), summary.LandShare)-fixed-s.newestWords()-summary.In(d.limit()))
	s.cut = s.cutPoint(min(d.keepRecent, landing), last)
	calls := answered{messages: d.own()}
	for i, x := range slices.Backward(d.items) {
		switch {
		case i < s.cut && s.replaces(i):
			s.replaced.Sent = count.Add(s.replaced.Sent, x.tokens())
			s.replaced.History = count.Add(s.replaced.History, historyTokens(d.items[i:i+1]))
			if x.own.Summary {
				s.replaced.Earlier = count.Add(s.replaced.Earlier, x.tokens())
			}
		default:
			mayClear := !d.isUnseen(i) && !isMissingResult(x.own) && d.minifier.mayShorten(x.own, calls.tool(i))
			s.restAtLeast = count.Add(s.restAtLeast, s.leastOf(i, mayClear))
		}
	}
	return s
}

// newestWords returns the tokens of the newest messages of people that a summary would quote whole.
func (s *span) newestWords() (sum int) {
	n := 0
	for i := len(s.items) - 1; i >= 0 && n < sections.NewestSaid; i-- {
		if beginsTurn(s.items[i].own) {
			n++
			if s.replaces(i) {
				sum = count.Add(sum, s.items[i].tokens())
			}
		}
	}
	return sum
}

// replaces reports whether message i is summarized if it lies before the cut.
func (s *span) replaces(i int) bool { return !s.stays[i] && i != s.request }

// cutPoint returns the position of the first message that is kept. At most the newest `keep` tokens are kept, besides
// the messages that no compaction replaces. The newest atom stays whatever its size, like message `last` and what
// follows it, and the cut never divides a call from its results. The cut does not go back behind the last one: the
// messages there are in a summary already, or stay for a reason of their own, such as a pin. Nor is the cut at a
// message that stays for such a reason, unless only such messages follow it.
func (s *span) cutPoint(keep, last int) int {
	all := unfolded(s.items)
	first := max(s.firstUnsummarized(), s.shownAt(all, s.limitedAt.Find(placesIn(all))))
	cut, sum := len(s.items), 0
	inside := insidePairs(s.own())
	canStand := false // at a message that no compaction replaces: only such messages follow
	for i := len(s.items) - 1; i >= first; i-- {
		if s.replaces(i) {
			sum = count.Add(sum, s.items[i].tokens())
		}
		if s.items[i].own.Role == RoleTool || inside != nil && inside[i] {
			continue // a cut in front of it would divide it from its call
		}
		switch newest := cut == len(s.items); {
		case newest:
			cut, canStand = i, s.stays[i]
		case sum > keep && cut <= last:
			return cut
		case !s.stays[i] || canStand:
			cut, canStand = i, s.stays[i]
		}
	}
	return cut
}

// firstUnsummarized returns the position of the first message behind the last cut and behind all summaries, also those
// of the host: a request has one. A summary of the host that nothing follows yet is a message like others, or nothing
// in front of it could go.
func (s *span) firstUnsummarized() int {
	behind := len(s.items)
	for behind > 0 && s.isOfHost(s.items[behind-1]) {
		behind--
	}
	for behind > 0 && !s.items[behind-1].sent.Summary {
		behind--
	}
	if s.checkpoint == nil {
		return behind
	}
	all := unfolded(s.items)
	first := slices.Index(all, s.behind)
	if first < 0 { // the turn limit has dropped that message, and maybe later ones
		first = s.limitedAt.Find(placesIn(all))
	}
	return max(s.shownAt(all, first), behind)
}

// isOfHost reports whether x is a summary that the host has, or another manager made, and not the one of this request.
func (d *draft) isOfHost(x *item) bool {
	return x.own.Summary && (d.checkpoint == nil || x.fact.key != d.checkpoint.Key)
}

// shownAt returns the position in the request of message i of all, or of the record that stands for it. For -1 it
// returns -1.
func (s *span) shownAt(all []*item, i int) int {
	if i < 0 {
		return -1
	}
	x := all[i]
	if x.in != nil {
		x = x.in
	}
	return slices.Index(s.items, x)
}

// summaryFrame returns the tokens of the text around a summary.
func (s *span) summaryFrame() int {
	frame := sections.Begin + sections.End
	if s.opts.Recall { // else the note goes where it has no room
		frame += recall.SpanNote(recall.SpanHandle(key{}), "")
	}
	return textTokens(s.opts.Estimator, frame)
}

// restFits reports whether what stays can fit beside a summary of s with `least` tokens, in tokens and in bytes.
func (s *span) restFits(least int) bool {
	if limit := s.bodyLimit(); limit > 0 && s.bodyAtLeast() > limit {
		return false
	}
	return s.mostTokens > 0 || count.Add(s.restAtLeast, s.summaryFrame()+least) <= s.roomWithoutMargin()
}

// leastSummaryBody is about how many bytes of a body a message with a short summary takes.
const leastSummaryBody = 1_000

// bodyAtLeast returns about how many bytes the body has once a summary stands for what s replaces, and shrinkBody has
// dropped all images and results that it may drop.
func (s *span) bodyAtLeast() int {
	n := leastSummaryBody
	for i, x := range s.items {
		m := x.sent
		if i < s.cut && s.replaces(i) || m.Role == RoleTool && !m.Pinned {
			continue
		}
		n = count.Add(n, x.size())
		if m.Pinned || m.Role == RoleSystem || i == s.request {
			continue
		}
		for k := range m.Parts {
			if p := &m.Parts[k]; isOptionalImage(p) {
				n -= min(n, max(0, p.Bytes))
			}
		}
	}
	return n
}

// leastOf returns about how many tokens makeFit leaves of message i behind a summary: it sends again the lines that
// earlier messages show and nothing that the message only points to, clears the results that it may clear, those of
// older steps, squeezes the others, and leaves out images and thinking.
func (s *span) leastOf(i int, mayClear bool) int {
	least := s.items[i].tokens()
	switch x := s.items[i]; {
	case x.edit.isRepeat():
		_, least = s.beforeCut(i)
	case x.showsMore():
		least = x.fact.tokens
	}
	m := s.items[i].own
	isResult := returnsContent(m) && !m.Pinned
	if isResult && m.Role == RoleTool && mayClear && holdsOnlyText(m) {
		placeholder := s.placeholder(i)
		if textChars(m) <= runes.Count(placeholder) { // as in pruning
			return least
		}
		return min(least, s.tokensWith(i, []Part{{Text: placeholder}}))
	}
	images := 0 // tokens that leaving them out saves
	if parts, tokens := s.withoutImages(i); parts != nil && i != s.request {
		images = least - tokens
	}
	if isResult { // exact: no summary is paid for if the request cannot fit beside it
		squeeze := s.squeeze(0)
		squeeze.note = s.recallNote(i)
		m, tokens := s.toCut(i, squeeze)
		if _, after, ok := squeeze.cut(m, tokens); ok {
			least = min(least, after)
		}
	}
	if s.losesThinking(i) {
		bare := slices.DeleteFunc(slices.Clone(s.items[i].sent.Parts), isThinking)
		least = min(least, s.tokensWith(i, bare))
	}
	return max(0, least-images)
}

// losesThinking reports whether message i is sent without its thinking once a summary stands in front of it.
func (s *span) losesThinking(i int) bool {
	m := s.items[i].sent
	if i < s.cut || m.Role != RoleAssistant || !slices.ContainsFunc(m.Parts, isThinking) {
		return false
	}
	switch s.thinking() {
	case ThinkingBound:
		return true
	case ThinkingDropped: // where something was sent, which the summary changes
		return len(s.ledger.Sent) > 0 && i < s.request && !m.Pinned
	}
	return false
}

// needsCompaction reports whether the request does not fit, or soon will not, and a summary can help.
func (d *draft) needsCompaction() bool {
	if d.opts.Compact.Off || d.fits() && !d.isCramped {
		return false
	}
	v := d.span().verdict()
	helps := v.canHelp && (gainsBy(d, d.opts.Summarizer) || !d.fits() && gainsBy(d, Digest()))
	return helps || v.isLastWay && d.isLastResort()
}

// gainsBy reports whether a summary by x can be smaller than what it stands for, with the sections that code owns, such
// as what people said. The host's rules are not asked for, so they do not count.
func gainsBy(d *draft, x Summarizer) bool {
	c, err := newCompaction(d, compactCall{by: x})
	return err == nil && c.setLimits()
}

// isLastResort reports whether only a summary can make the request fit, although it would stand for little: for little
// more than the last one, for no more but in fewer words, or for a short history before a request that nearly fills the
// window.
func (d *draft) isLastResort() bool {
	if d.fits() || d.checkpoint == nil && d.known.IsGuessed() { // it is made without the guess instead
		return false
	}
	// A draft of its own, because makeFit changes it.
	least := d.replay(d.begunWith)
	return !least.makeFit() && !least.fitsBudget()
}

// isNearCompaction reports whether a compaction is at most softThreshold tokens away. Old work does not count: it
// becomes records first, and a compaction is far away then.
func (d *draft) isNearCompaction() bool {
	if d.opts.Compact.Off || !d.isWithinReach() || d.ledger.Breaker.IsOpen(d.historyTokens(), d.budget) {
		return false
	}
	if v := d.span().verdict(); !v.canHelp || v.unread() < count.Share(d.limit(), leastWorth) {
		return false
	}
	// least is the request with records of all old work: that is tried before a summary is asked for.
	least := d.replay(d.begunWith)
	newEpoch(least).dropStale()
	return least.isWithinReach()
}

// mayReplaceDigest reports whether a summary may take the place of a digest now, though the request fits.
func (d *draft) mayReplaceDigest() bool { return len(d.digested) > 0 && d.fits() && d.hasOldDigest() }

// hasOldDigest reports whether a digest wrote the summary so long ago that a summarizer is asked again: the provider's
// cache went cold since, or the history has grown by a share of the budget. After answers that were refused only growth
// counts.
func (d *draft) hasOldDigest() bool {
	if !d.checkpoint.isByDigest() || !d.opts.asksSummarizer() {
		return false
	}
	b := &d.ledger.Breaker
	wasIdle := !d.opts.Cache.None && !d.ledger.SentAt.IsZero() && d.isCold()
	return wasIdle && !b.RefusesAnswers() || b.HasGrown(d.historyTokens(), d.ledger.DigestAt, d.budget)
}

// checkRest returns an error if the request cannot fit, not even with a short summary in it. Nobody should pay for
// such a summary.
func (d *draft) checkRest() error {
	if s := d.span(); d.fitsBudget() && d.fitsBody() || s.restFits(summary.Least) {
		return nil
	}
	if least := d.draftByHand(); !least.makeFit() { // another one, because that changes it
		return least.overflow()
	}
	return nil
}

// leastWorth is the share of what a request may have, the budget or the cliff below it, that a summary must stand for.
// A summary that stands for less costs more than it gains. A model is asked when there is more, and the digest stands
// in until then.
const leastWorth = 0.05

// verdict says what a compaction of a draft is worth. The margin of the estimates does not count in it.
type verdict struct {
	*span
	isNews    bool // there is anything to summarize
	canHelp   bool // a summary would be smaller than what it replaces, and the rest can fit beside it
	isWorth   bool // worth a call of a model; a summary that updates an earlier one need not stand for much more
	isLastWay bool // the rest can fit beside a few words for what is replaced, or for a summary that is too long
}

// verdict judges a compaction of s. A request that cannot fit in any way is not worth a call. Where fewer tokens are
// planned only to make the body smaller, the rest must fit the limit of the body, and not the planned tokens.
func (s *span) verdict() verdict {
	v := verdict{span: s, isNews: s.hasNews(0)}
	if s.restFits(summary.Least) {
		v.canHelp = s.hasNews(summary.LeastGain + s.summaryFrame())
		v.isWorth = v.canHelp || v.isNews && s.checkpoint != nil
	}
	v.isLastWay = (v.isNews || s.canShorten()) && s.restFits(summary.LeastWords)
	return v
}

// unread estimates the tokens in a compaction of v that no model has summarized yet.
func (v *verdict) unread() int {
	n := v.replaced.News()
	for i := range v.digested {
		n = count.Add(n, estimateWith(v.opts.Estimator, v.digested[i]))
	}
	return n
}

// asksSummarizer reports whether a compaction calls a model.
func (o *Options) asksSummarizer() bool { return !isDigest(o.Summarizer) && !o.Compact.Off }

// summaryCap returns how many tokens a summary may have with its sections, beside the messages that stay. A text of
// fewer than `least` tokens is no summary.
func (s *span) summaryCap(least int) int {
	return summary.Beside(s.restAtLeast+s.summaryFrame(), s.limit(), s.room(), s.roomWithoutMargin(), least)
}

// hasNews reports whether a compaction of s has more than `least` tokens to summarize that no summary holds. It also
// has news if a digest stands in for a model's summary, or if the summary is longer than a new one may be, as after a
// change to a smaller window. It has no news if no message stays behind the summary, as after an undo.
func (s *span) hasNews(least int) bool {
	if s.cut == len(s.items) {
		return false // nothing is kept behind the summary, so nothing could mark its end
	}
	switch {
	case s.replaced.News() > least:
		return true
	case s.replaced.Earlier == 0:
		return false
	}
	// A digest would write the same again, so it does not replace a digest.
	return len(s.digested) > 0 && !isDigest(s.opts.Summarizer) || s.summaryIsTooLong()
}

// summaryIsTooLong reports whether the summary in the request is longer than a new one may be. The window may have
// become smaller since it was written.
func (s *span) summaryIsTooLong() bool {
	limit := s.summaryCap(summary.Least)
	if s.checkpoint == nil { // of the host, or of another manager
		return s.replaced.Earlier > limit+s.summaryFrame()+summary.LeastGain
	}
	text := string(s.checkpoint.Body)
	if s.checkpoint.isByDigest() { // the request may say less
		text, _ = sections.Read(joinedText(&s.checkpoint.message))
	}
	return textTokens(s.opts.Estimator, text) > limit
}

// canShorten reports whether a digest can make the summary in a request that does not fit shorter: down to a few words.
// Under a limit that is only guessed it says no: the request is made without the guess instead.
func (s *span) canShorten() bool {
	if s.cut == len(s.items) || s.fits() || s.known.IsGuessed() {
		return false
	}
	return s.replaced.Earlier > summary.LeastWords+s.summaryFrame()
}

// before returns the messages of the history before the cut of s, the first one behind it, and which of the former
// stay. The messages that a record stands for are summarized, and not the record.
func (s *span) before() (older []*item, first *item, stays map[*item]bool) {
	all := unfolded(s.items)
	older = unfolded(s.items[:s.cut])
	stays = map[*item]bool{}
	for i, x := range s.items[:s.cut] {
		if !s.replaces(i) {
			stays[x] = true
		}
	}
	return older, all[len(older)], stays
}
