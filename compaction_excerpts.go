package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
)

// excerptTokens is how much a summarizer reads of one result, and of the arguments of one call: 2 000 characters, as in
// other agents. What a file held does not belong in a summary, but how a command ended does. Code collects the
// identifiers in the rest. To read everything would cost as much as all the requests of the conversation once more, at
// the price of input that is not cached.
const excerptTokens = 500

// excerpts returns r with long results and arguments cut to what a summary needs of them: beginning, end, and lines
// with errors. It shares with r what it does not cut.
func (c *compaction) excerpts(r sizedMessages) sizedMessages {
	out := sizedMessages{slices.Clone(r.messages), slices.Clone(r.tokens)}
	for i := range out.messages {
		if r.tokens[i] <= excerptTokens {
			continue // no part of it can be longer
		}
		m := &r.messages[i]
		short, ok := Message{}, false
		switch m.Role {
		case RoleTool:
			short, ok = excerptResult(m, c.textTokensOf(m, r.tokens[i]))
		case RoleAssistant:
			short, ok = excerptArguments(c.opts.Estimator, m)
		}
		if ok {
			out.messages[i], out.tokens[i] = short, estimateWith(c.opts.Estimator, short)
		}
	}
	return out
}

// textTokensOf returns how many of the tokens of m its texts have.
func (c *compaction) textTokensOf(m *Message, tokens int) int {
	isOther := func(p Part) bool { return p.Kind != KindText }
	if !slices.ContainsFunc(m.Parts, isOther) {
		return tokens
	}
	texts := *m
	texts.Parts = slices.DeleteFunc(slices.Clone(m.Parts), isOther)
	return estimateWith(c.opts.Estimator, texts)
}

// excerptResult returns m with its texts, of `tokens` tokens, cut to about excerptTokens together. The cut need not be
// exact, because only a summarizer reads it. ok is false if nothing was cut.
func excerptResult(m *Message, tokens int) (out Message, ok bool) {
	tokens = min(tokens, textBytes(m)) // a host's own count may be absurd
	if tokens <= excerptTokens {
		return Message{}, false
	}
	share := float64(excerptTokens) / float64(tokens)
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

// excerptArguments returns m with the long arguments of its calls cut. ok is false if m has none.
func excerptArguments(e Estimator, m *Message) (out Message, ok bool) {
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != KindToolCall || len(p.Arguments) < excerptTokens { // a token has a byte or more
			continue
		}
		n := estimateWith(e, Message{Role: m.Role, Parts: m.Parts[k : k+1]})
		if n <= excerptTokens {
			continue
		}
		if !ok {
			out, ok = *m, true
			out.Parts = slices.Clone(m.Parts)
		}
		out.Parts[k].Arguments = cut.MiddleOfJSON(p.Arguments, n, excerptTokens)
	}
	return out, ok
}

// notes returns what a digest may say of previous, an earlier summary, and of the messages that are summarized.
func (c *compaction) notes(previous string) *digest.Notes {
	return notesOf(&SummaryRequest{Messages: forSummary(c.summarized()), Previous: previous})
}
