package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
)

// mostExcerptTokens is how much a summarizer reads of one result, of the arguments of one call, and of one thought:
// 2 000 characters, which is what pi shows of a result. What a file held does not belong in a summary, but how a
// command ended does. Code collects the identifiers in the rest. Reading everything would cost as much again as all the
// requests of the conversation, at the price of input that is not cached.
const mostExcerptTokens = 500

// read returns what a summarizer reads: older with long results, arguments and thoughts cut to their two ends, and of a
// result also the lines with errors. The open request stands in front of the work on it, which would seem to belong to
// the request before it otherwise. A message that is not cut shares its memory with older.
func (c *compaction) read() []Message {
	out := make([]Message, 0, len(c.older)+1)
	for i := range c.older {
		if c.open != nil && i == c.openAt {
			out = append(out, c.excerpt(c.open, true))
		}
		m := &c.older[i]
		out = append(out, c.excerpt(m, returnsContent(m)))
	}
	return out
}

// excerpt returns m with its long arguments and thoughts cut, and if its texts are cut as well, those together.
func (c *compaction) excerpt(m *Message, cutsTexts bool) Message {
	e := c.opts.Estimator
	tokens := estimateWith(e, *m)
	switch {
	case tokens <= mostExcerptTokens: // no part of it can be longer
	case cutsTexts:
		if short, ok := excerptTexts(m, c.textTokensOf(m, tokens), mostExcerptTokens); ok {
			return short
		}
	case m.Role == RoleAssistant:
		if short, ok := excerptParts(e, m, mostExcerptTokens); ok {
			return short
		}
	}
	return *m
}

// isExcerpted reports whether a summarizer need not read all of a part of an answer.
func isExcerpted(p *Part) bool { return p.Kind == KindToolCall || isThinking(*p) }

// partTokens estimates part k of m.
func partTokens(e Estimator, m *Message, k int) int {
	return estimateWith(e, Message{Role: m.Role, Parts: m.Parts[k : k+1]})
}

// textTokensOf returns how many of the tokens of m belong to its texts.
func (c *compaction) textTokensOf(m *Message, tokens int) int {
	isOther := func(p Part) bool { return p.Kind != KindText }
	if !slices.ContainsFunc(m.Parts, isOther) {
		return tokens
	}
	texts := *m
	texts.Parts = slices.DeleteFunc(slices.Clone(m.Parts), isOther)
	return estimateWith(c.opts.Estimator, texts)
}

// excerptTexts returns m with its texts, of `tokens` tokens, cut to about limit tokens together. The cut need not be
// exact, because only a summarizer reads it. ok is false if nothing was cut.
func excerptTexts(m *Message, tokens, limit int) (out Message, ok bool) {
	tokens = min(tokens, textBytes(m)) // a host's own count may be absurd
	if tokens <= limit {
		return Message{}, false
	}
	share := float64(limit) / float64(tokens)
	out = *m
	out.Source, out.Parts = nil, slices.Clone(m.Parts)
	for k := range out.Parts {
		p := &out.Parts[k]
		if p.Kind != KindText {
			continue
		}
		chars := runes.Count(p.Text)
		if cut := excerpt.ForSummary(p.Text, chars, int(share*float64(chars))); len(cut) < len(p.Text) {
			*p, ok = Part{Text: cut}, true
		}
	}
	return out, ok
}

// excerptParts returns m with the long arguments of its calls and its long thoughts cut to limit tokens each. ok is
// false if nothing of m is longer.
func excerptParts(e Estimator, m *Message, limit int) (out Message, ok bool) {
	for k := range m.Parts {
		p := &m.Parts[k]
		if !isExcerpted(p) || len(p.Arguments)+len(p.Text) < limit { // a token has a byte or more
			continue
		}
		n := partTokens(e, m, k)
		if n <= limit {
			continue
		}
		if !ok {
			out, ok = *m, true
			out.Parts = slices.Clone(m.Parts)
		}
		if p.Kind == KindToolCall {
			out.Parts[k].Arguments = cut.MiddleOfJSON(p.Arguments, n, limit)
		} else {
			out.Parts[k].Text = cut.Middle(p.Text, n, limit)
		}
	}
	return out, ok
}

// notes returns what a digest may say of previous, an earlier summary, and of the messages that are summarized. It
// prepares these one by one: a copy of them all would take as much memory as the history, which may be many times as
// long as the window.
func (c *compaction) notes(previous string) *digest.Notes {
	return notesOf(previous, func(yield func(*Message) bool) {
		messages := c.older
		tools := toolNamesOf(messages)
		var shown Message
		for i := range messages {
			m := &messages[i]
			if shown = summaryMessage(m, tools.of(i, m), shown.Parts[:0]); !yield(&shown) {
				return
			}
		}
	})
}
