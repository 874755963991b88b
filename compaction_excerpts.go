package winnow

import "slices"

// excerptTokens is what a summarizer reads of one result and of the arguments of one call: 2 000 characters,
// as other agents do it. What a file held is no part of a summary, how a command ended is, and the
// identifiers in the rest are collected by code. To read all of it would cost as much as all the requests
// of the conversation once more, at the price of input that is not cached.
const excerptTokens = 500

const excerptNotice = "\n[… cut …]"

// excerpts returns messages with long results and arguments cut to what a summary needs of them: head, end,
// and lines with errors. What it does not cut is shared.
func (c *compaction) excerpts(messages []Message) []Message {
	t := &truncation{TruncateOptions: *c.opts.Truncate, limit: excerptTokens}
	t.Estimator, t.MinKeepChars, t.Notice = c.opts.Estimator, 0, excerptNotice
	out := messages
	for i := range messages {
		m := &messages[i]
		var short Message
		ok := false
		switch m.Role {
		case RoleTool:
			short, _, ok = t.cut(m, estimate(t.Estimator, *m), -1)
		case RoleAssistant:
			short, ok = excerptArguments(t.Estimator, m)
		}
		if !ok {
			continue
		}
		if &out[0] == &messages[0] {
			out = slices.Clone(messages)
		}
		out[i] = short
	}
	return out
}

// excerptArguments returns m with the long arguments of its calls cut. ok is false if it has none.
func excerptArguments(e Estimator, m *Message) (out Message, ok bool) {
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != KindToolCall || len(p.Arguments) < excerptTokens { // a token has a byte or more
			continue
		}
		n := estimate(e, Message{Role: m.Role, Parts: m.Parts[k : k+1]})
		if n <= excerptTokens {
			continue
		}
		if !ok {
			out, ok = *m, true
			out.Parts = slices.Clone(m.Parts)
		}
		out.Parts[k].Arguments = clipArguments(p.Arguments, n, excerptTokens)
	}
	return out, ok
}
