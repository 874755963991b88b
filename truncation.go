package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
)

// TruncateToolResults cuts tool results that are larger than TruncateOptions allow, and says in what is left how much
// was left out. Unless HeadOnly is set, the first lines with errors stay, and the end if it matters (an error, an exit
// code, a verdict). Pins stay, and what is not text.
func TruncateToolResults(history []Message, window int, opts *TruncateOptions) ([]Message, []Edit) {
	if window <= 0 {
		return clip(history), nil
	}
	t := newTruncation(opts.withDefaults(cautious()), window)
	var out []Message
	var edits []Edit
	for i := range history {
		m := &history[i]
		if m.Role != RoleTool || m.Pinned {
			continue
		}
		tokens := estimateWith(t.Estimator, *m)
		if t.isWithin(m, tokens) {
			continue
		}
		short, after, ok := t.cut(m, tokens)
		if !ok {
			continue
		}
		if out == nil {
			out = append(make([]Message, 0, len(history)), history...)
		}
		out[i] = short
		edits = append(edits, Edit{
			Op: OpTruncate, Index: i, ID: m.ID, Before: max(1, tokens), After: max(1, after), Reason: oversizedReason,
		})
	}
	if out == nil {
		return clip(history), nil
	}
	return out, edits
}

const oversizedReason = "the result is larger than one result may be"

// truncation cuts results to one limit.
type truncation struct {
	TruncateOptions
	limit     int  // tokens of one result
	cutsAgain bool // what was cut before is cut again: the request does not fit otherwise
	bothEnds  bool // the end is kept whatever it says, unless HeadOnly is set

	// how to get at what is left out of the result, see excerpt.WithNote; empty: the cut does not say
	note string
}

// newTruncation returns the truncation for a window, in tokens.
func newTruncation(o TruncateOptions, window int) *truncation {
	return &truncation{TruncateOptions: o, limit: count.Share(window, min(o.MaxShare, 1))}
}

// isWithin reports whether a result, estimated as the given tokens, needs no cut.
func (t *truncation) isWithin(m *Message, tokens int) bool {
	return tokens <= t.limit && textBytes(m) <= t.MaxChars
}

func (t *truncation) limits() excerpt.Limits {
	return excerpt.Limits{
		MinKeep: t.MinKeepChars, Notice: t.Notice, Note: t.note, HeadOnly: t.HeadOnly, BothEnds: t.bothEnds,
	}
}

// cut returns m, which has the given tokens, cut to the limits, and the tokens that it then has. ok is false if m is
// within the limits or cannot be made smaller.
func (t *truncation) cut(m *Message, tokens int) (out Message, after int, ok bool) {
	texts, chars := t.texts(m)
	if tokens <= t.limit && chars <= t.MaxChars || chars == 0 {
		return Message{}, 0, false
	}
	if !t.cutsAgain && t.isCutEnough(texts, tokens, chars) {
		return Message{}, 0, false
	}
	// room is how many characters fit if the kept part has as many characters in a token as the whole. Where it has
	// fewer, as in a text that begins in another script, the estimate of the result shows it, and room is made smaller
	// in proportion.
	fixed := t.fixedTokens(m, len(texts))
	room := min(float64(t.MaxChars), float64(max(0, t.limit-fixed))*float64(chars)/float64(max(1, tokens-fixed)))
	for range 12 {
		limits := t.limits()
		atFloor := limits.Share(texts, chars, room)
		if out, ok = t.build(m, texts); !ok {
			return Message{}, 0, false
		}
		after = estimateWith(t.Estimator, out)
		if after <= t.limit || atFloor || t.HeadOnly && t.wasCutEnough(&out, after) {
			break
		}
		room *= 0.98 * float64(max(1, t.limit-fixed)) / float64(max(1, after-fixed))
	}
	if after > t.limit && len(texts) > 1 && !t.HeadOnly {
		return t.cutJoined(m, tokens)
	}
	// A result with too many characters is cut, whatever the estimator says of what is left.
	return out, after, after < tokens || chars > t.MaxChars
}

// texts returns the texts of m and the number of their characters.
func (t *truncation) texts(m *Message) (texts []excerpt.Text, chars int) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != KindText {
			continue
		}
		n := runes.Count(p.Text)
		chars += n
		texts = append(texts, excerpt.Text{Text: p.Text, Index: i, Chars: n})
	}
	limits := t.limits()
	limits.SetFloors(texts)
	return texts, chars
}

// fixedTokens estimates the parts of m that cannot be cut: those that are not text. texts is the number of its texts.
func (t *truncation) fixedTokens(m *Message, texts int) int {
	if texts == len(m.Parts) {
		return 0
	}
	rest := *m
	rest.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return p.Kind == KindText })
	return estimateWith(t.Estimator, rest)
}

// isCutEnough reports whether a result was cut before and exceeds the limit only by what must be kept of each text.
// Cutting it again with the same options must change nothing.
func (t *truncation) isCutEnough(texts []excerpt.Text, tokens, chars int) bool {
	limits := t.limits()
	wasCut, floors := limits.WereCut(texts)
	return wasCut && float64(tokens) <= float64(t.limit)+floors*float64(tokens)/float64(chars) &&
		float64(chars) <= float64(t.MaxChars)+floors
}

// wasCutEnough is isCutEnough for m, a result that was cut just now to the given tokens.
func (t *truncation) wasCutEnough(m *Message, tokens int) bool {
	texts, chars := t.texts(m)
	return t.isCutEnough(texts, tokens, chars)
}

// build returns m with the texts cut to their budgets. ok is false if none gets shorter.
func (t *truncation) build(m *Message, texts []excerpt.Text) (out Message, ok bool) {
	out = *m
	out.Source = nil
	out.Parts = slices.Clone(m.Parts)
	limits := t.limits()
	for i := range texts {
		if text, shorter := limits.Cut(&texts[i]); shorter {
			out.Parts[texts[i].Index], ok = Part{Text: text}, true
		}
	}
	return out, ok
}

// cutJoined cuts a result with its texts joined into one. It is for a result of many texts, if what has to be kept of
// each adds up to more than the limit.
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
	joined.Parts[at].Text = joinedText(&texts) // in the place of the first: other parts keep their order
	out, after, ok := t.cut(&joined, estimateWith(t.Estimator, joined))
	return out, after, ok && after < tokens
}
