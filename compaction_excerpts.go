package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/chunks"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
)

// How much a summarizer reads of one result, of the arguments of one call, and of one thought, in tokens. What a file
// held does not belong in a summary, but how a command ended does. Code collects the identifiers in the rest. Reading
// everything would cost as much again as all the requests of the conversation, at the price of input that is not
// cached.
const (
	mostExcerptTokens = 500 // 2 000 characters: what pi shows of a result
	// Where many long texts would need several calls, they are cut as far as one call needs, but not further than this:
	// 600 characters, which is what OpenClaw keeps of a message beside a summary.
	leastExcerptTokens = 150
)

// read returns what a summarizer reads, before long texts are cut: older and prefix, with the request of a divided turn
// in front of the work on that request. Without the request, the work would seem to belong to the request before it.
func (c *compaction) read() (older, prefix sizedMessages) {
	if c.asked == nil {
		return c.older, c.prefix
	}
	asked := *c.asked
	tokens := estimateWith(c.opts.Estimator, asked)
	if short, ok := excerptTexts(&asked, c.textTokensOf(&asked, tokens), mostExcerptTokens); ok {
		asked, tokens = short, estimateWith(c.opts.Estimator, short)
	}
	if len(c.prefix.messages) > 0 {
		return c.older, c.prefix.with(0, asked, tokens)
	}
	return c.older.with(c.askedAt, asked, tokens), c.prefix
}

// excerpts returns r with each long result, argument and thought cut to limit tokens: the beginning and the end, and of
// a result also the lines with errors. A message that is not cut shares its memory with r.
func (c *compaction) excerpts(r sizedMessages, limit int) sizedMessages {
	out := sizedMessages{slices.Clone(r.messages), slices.Clone(r.tokens)}
	for i := range out.messages {
		if r.tokens[i] <= limit {
			continue // no part of it can be longer
		}
		m := &r.messages[i]
		short, ok := Message{}, false
		switch {
		case returnsContent(m):
			short, ok = excerptTexts(m, c.textTokensOf(m, r.tokens[i]), limit)
		case m.Role == RoleAssistant:
			short, ok = excerptParts(c.opts.Estimator, m, limit)
		}
		if ok {
			out.messages[i], out.tokens[i] = short, estimateWith(c.opts.Estimator, short)
		}
	}
	return out
}

// excerptLimit returns the largest limit with which the excerpts of r fit into one call, but at least
// leastExcerptTokens and at most mostExcerptTokens.
func (c *compaction) excerptLimit(r sizedMessages) int {
	var sizes []int // of what may be cut
	fixed := 0
	for i := range r.messages {
		m := &r.messages[i]
		fixed = count.Add(fixed, frameTokens(m))
		switch {
		case r.tokens[i] <= leastExcerptTokens:
			fixed = count.Add(fixed, r.tokens[i])
		case returnsContent(m):
			sizes = append(sizes, min(r.tokens[i], mostExcerptTokens))
		case m.Role == RoleAssistant:
			for k := range m.Parts {
				n := partTokens(c.opts.Estimator, m, k)
				if isExcerpted(&m.Parts[k]) {
					sizes = append(sizes, min(n, mostExcerptTokens))
				} else {
					fixed = count.Add(fixed, n)
				}
			}
		default:
			fixed = count.Add(fixed, r.tokens[i])
		}
	}
	room := chunks.OfSmall(c.opts.Compact.SummarizerWindow)
	return min(mostExcerptTokens, max(leastExcerptTokens, count.Fair(sizes, max(0, room-fixed))))
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
		messages := c.summarized()
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
