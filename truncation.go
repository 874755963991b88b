package winnow

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
)

// TruncateToolResults cuts tool results that are larger than MaxShare of the window in estimated tokens, or than
// MaxChars characters. What is left ends at the end of a line, where there is one in its last fifth, keeps at least
// MinKeepChars characters of each text, and says how much was left out. Unless HeadOnly is set it also keeps the end of
// the text where that matters (an error, an exit code, a test verdict, a closing summary) and lines of the dropped
// middle that carry an error.
//
// Texts of one result share its room by length. Parts that are not text stay; arguments of calls are never
// touched; pinned results stay whole. No result gets longer. The window is in tokens; with a window of 0
// or less nothing is done. Source of the limits: the reference system.
func TruncateToolResults(history []Message, window int, opts *TruncateOptions) ([]Message, []Edit) {
	if window <= 0 {
		return clip(history), nil
	}
	t := newTruncation(opts.withDefaults(), window)
	var out []Message
	var edits []Edit
	for i := range history {
		m := &history[i]
		if m.Role != RoleTool || m.Pinned || !t.mayBeOversized(m) {
			continue
		}
		tokens, chars := estimateResult(t.Estimator, m, -1)
		if tokens <= t.limit && chars <= t.MaxChars && (chars >= 0 || !charsAbove(m.Parts, t.MaxChars)) {
			continue
		}
		cut, after, ok := t.cut(m, tokens, chars)
		if !ok {
			continue
		}
		if out == nil {
			out = append(make([]Message, 0, len(history)), history...)
		}
		out[i] = cut
		edits = append(edits, truncateEdit(i, m, tokens, after))
	}
	if out == nil {
		return clip(history), nil
	}
	return out, edits
}

func truncateEdit(i int, m *Message, before, after int) Edit {
	return Edit{Op: OpTruncate, Index: i, ID: m.ID, Before: max(1, before), After: max(1, after), Reason: "the result is larger than one result may be"}
}

// truncation cuts results to one limit.
type truncation struct {
	TruncateOptions
	limit    int  // tokens of one result
	again    bool // what was cut before is cut again: the request does not fit otherwise
	bothEnds bool // the end is kept whatever it says, unless HeadOnly is set

	note string // how to get at what is left out of the result that is cut, see withNote; empty: nothing is said of that
}

func newTruncation(o TruncateOptions, window int) *truncation {
	return &truncation{TruncateOptions: o, limit: count.Share(window, min(o.MaxShare, 1))}
}

// mayBeOversized says, without reading a text, whether m can be above a limit.
func (t *truncation) mayBeOversized(m *Message) bool {
	bytes := textBytes(m)
	if bytes == 0 {
		return false // nothing that could be cut
	}
	most := mostTokens(t.Estimator, m)
	return bytes > t.MaxChars || most < 0 || most > t.limit
}

// isWithin says, of a result that is estimated as so many tokens, that nothing of it has to be cut.
func (t *truncation) isWithin(m *Message, tokens int) bool {
	return tokens <= t.limit && textBytes(m) <= t.MaxChars
}

// textPart is one text of a result that is being cut.
type textPart struct {
	index  int // in Parts
	chars  int
	floor  int // budget below which it is not cut, in characters
	budget int // characters it may have, notice included
}

// cut returns m cut to the limits and its tokens. known is the characters of its texts, or -1. ok is false if m is
// within them or cannot be made smaller.
func (t *truncation) cut(m *Message, tokens, known int) (out Message, after int, ok bool) {
	var scratch [8]textPart
	parts, chars := t.textParts(scratch[:0], m, known)
	if tokens <= t.limit && chars <= t.MaxChars || chars == 0 || !t.again && t.settled(m, parts, tokens, chars) {
		return Message{}, 0, false
	}
	// Characters that fit, if a token has as many characters in what is kept as in the whole. Where it has
	// fewer, as in a text that begins in another script, the estimate of the result says so, and the room
	// is made smaller in proportion.
	fixed := t.fixedTokens(m, len(parts))
	room := min(float64(t.MaxChars), float64(max(0, t.limit-fixed))*float64(chars)/float64(max(1, tokens-fixed)))
	for range 12 {
		atFloor := t.share(parts, chars, room)
		var left int
		out, left, ok = t.build(m, parts)
		if !ok {
			return Message{}, 0, false
		}
		after, _ = estimateResult(t.Estimator, &out, left)
		if after <= t.limit || atFloor || t.HeadOnly && t.isSettled(&out, after) {
			break
		}
		room *= 0.98 * float64(max(1, t.limit-fixed)) / float64(max(1, after-fixed))
	}
	if after > t.limit && len(parts) > 1 && !t.HeadOnly {
		return t.cutJoined(m, tokens)
	}
	return out, after, after < tokens || chars > t.MaxChars
}

// textParts appends the texts of m to parts and counts their characters, unless they are known.
func (t *truncation) textParts(parts []textPart, m *Message, known int) (_ []textPart, chars int) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != KindText {
			continue
		}
		n := known
		if n < 0 || len(m.Parts) > 1 {
			n = runes.Count(p.Text)
		}
		chars += n
		parts = append(parts, textPart{index: i, chars: n})
	}
	for i := range parts {
		parts[i].floor = t.MinKeepChars + t.noticeChars(parts[i].chars)
	}
	return parts, chars
}

// fixedTokens estimates what of m cannot be cut.
func (t *truncation) fixedTokens(m *Message, texts int) int {
	if texts == len(m.Parts) {
		return 0
	}
	rest := *m
	rest.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return p.Kind == KindText })
	return max(0, t.Estimator.Estimate(rest))
}

// settled says that m was cut before and is above the limit only by what must be kept of each text: to
// cut it again with the same options must change nothing.
func (t *truncation) settled(m *Message, parts []textPart, tokens, chars int) bool {
	cut, floors := false, 0.0
	for _, p := range parts {
		whole, ok := wholeChars(m.Parts[p.index].Text, t.Notice, t.note)
		if ok { // the notice counts the characters of what there was
			p.floor = t.MinKeepChars + t.noticeChars(whole)
		}
		cut = cut || ok
		floors += float64(p.floor)
	}
	return cut && float64(tokens) <= float64(t.limit)+floors*float64(tokens)/float64(chars) &&
		float64(chars) <= float64(t.MaxChars)+floors
}

func (t *truncation) isSettled(m *Message, tokens int) bool {
	parts, chars := t.textParts(nil, m, -1)
	return t.settled(m, parts, tokens, chars)
}

// share gives each text its part of room by length, and at least its floor. It says whether no
// text can get shorter.
func (t *truncation) share(parts []textPart, chars int, room float64) (atFloor bool) {
	for i := range parts {
		parts[i].budget = 0
	}
	left, chars64 := room, float64(chars)
	rounds := 8 // every round fixes at least one text; the few that a last round would fix matter little
	if t.HeadOnly {
		rounds = 0 // the reference lets texts at their floor add to the others
	}
	for range rounds {
		more := false
		for i := range parts {
			p := &parts[i]
			need := float64(min(p.chars, p.floor))
			if p.budget == 0 && p.chars > 0 && left*float64(p.chars)/chars64 < need {
				p.budget = int(need)
				left, chars64, more = left-need, chars64-float64(p.chars), true
			}
		}
		if !more || left <= 0 {
			break
		}
	}
	atFloor = true
	for i := range parts {
		p := &parts[i]
		if p.budget == 0 {
			p.budget = max(p.floor, int(math.Floor(max(0, left)*(float64(p.chars)/max(1, chars64)))))
		}
		atFloor = atFloor && (p.budget <= p.floor || p.chars <= p.floor)
	}
	return atFloor
}

// build returns m with the texts cut to their budgets, and how many characters they have then. ok is false if none
// gets shorter.
func (t *truncation) build(m *Message, parts []textPart) (out Message, chars int, ok bool) {
	out = *m
	out.Source = nil
	out.Parts = slices.Clone(m.Parts)
	for _, p := range parts {
		s := m.Parts[p.index].Text
		chars += p.chars
		if p.chars <= p.budget {
			continue
		}
		cut, left := t.cutText(s, p.chars, p.budget)
		if len(cut) < len(s) {
			out.Parts[p.index] = Part{Text: cut}
			chars += left - p.chars
			ok = true
		}
	}
	return out, chars, ok
}

// cutJoined cuts a result of so many texts that their floors alone are above the limit, as one text.
func (t *truncation) cutJoined(m *Message, tokens int) (Message, int, bool) {
	joined := *m
	joined.Source, joined.Parts = nil, nil
	var texts Message
	at := -1
	for _, p := range m.Parts {
		if p.Kind != KindText {
			joined.Parts = append(joined.Parts, p)
			continue
		}
		if at < 0 {
			at = len(joined.Parts)
			joined.Parts = append(joined.Parts, Part{})
		}
		texts.Parts = append(texts.Parts, p)
	}
	joined.Parts[at].Text = joinedText(&texts)
	out, after, ok := t.cut(&joined, max(0, t.Estimator.Estimate(joined)), -1)
	return out, after, ok && after < tokens
}

// cutText returns s, which has so many characters, cut to budget characters with the notice, and how many are left.
func (t *truncation) cutText(s string, chars, budget int) (cut string, left int) {
	keep := max(t.MinKeepChars, budget-t.noticeChars(chars))
	var e excerpt.Excerpt
	if t.HeadOnly {
		e = excerpt.Head(s, chars, keep)
	} else {
		e = excerpt.New(s, chars, keep, t.bothEnds)
	}
	kept := e.Kept()
	var room [noticeRoom]byte
	end := appendNotice(room[:0], t.Notice, chars-kept, chars, t.note)
	var b strings.Builder
	b.Grow(e.Size() + len(end))
	e.Write(&b)
	b.Write(end)
	return b.String(), kept + e.Marks() + utf8.RuneCount(end)
}

const (
	noticeBegin = "\n\n[Tool result cut: "
	noticeEnd   = " Ask for the part that you need, by offset and limit or by a narrower search, instead of the whole.]"
	noticeRoom  = 256 // bytes that our own is not longer than
)

// appendNotice appends the text behind what was cut: the host's own, or how many characters are missing.
func appendNotice(b []byte, own string, missing, chars int, note string) []byte {
	if own != "" {
		return append(b, withNote(own, note)...)
	}
	b = append(b, noticeBegin...)
	b = strconv.AppendInt(b, int64(missing), 10)
	b = append(b, " of "...)
	b = strconv.AppendInt(b, int64(chars), 10)
	b = append(b, " characters left out"...)
	b = append(b, note...)
	b = append(b, '.')
	return append(b, noticeEnd...)
}

// noticeChars returns the length of the longest notice for a text of so many characters.
func (t *truncation) noticeChars(chars int) int {
	if t.Notice != "" {
		return runes.Count(withNote(t.Notice, t.note))
	}
	var room [noticeRoom]byte
	return len(appendNotice(room[:0], "", chars, chars, t.note))
}

// wholeChars returns how many characters there were in the text that s was cut from. ok is false if s does
// not end in the notice.
func wholeChars(s, own, note string) (chars int, ok bool) {
	if own != "" {
		return 0, strings.HasSuffix(s, withNote(own, note))
	}
	body, ok := strings.CutSuffix(s, noticeEnd)
	if !ok {
		return 0, false
	}
	_, counts, ok := cutAtLast(body[max(0, len(body)-100):], noticeBegin)
	if !ok {
		return 0, false
	}
	missing, rest, _ := strings.Cut(counts, " of ")
	whole, _, ok := strings.Cut(rest, " characters")
	if _, err := strconv.Atoi(missing); err != nil {
		ok = false
	}
	chars, err := strconv.Atoi(whole)
	return chars, ok && err == nil && chars >= 0
}

// squeezedChars is what each result keeps when nothing else helps.
const squeezedChars = 400
