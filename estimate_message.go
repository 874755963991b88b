package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/nontext"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// familyEstimator estimates for one family of tokenizers.
type familyEstimator struct {
	table *tokencount.Table
	structure
}

// structure is what messages cost beyond their text.
type structure struct{ nontext.Structure }

// Estimate implements [Estimator].
func (e familyEstimator) Estimate(m Message) int {
	return e.sum(&m, e.table.Tokens)
}

// atMost implements bounded.
func (e familyEstimator) atMost(m *Message) int {
	return e.bound(m, e.table.MostPerByte())
}

// bound returns an upper bound of sum without reading a text. perByte is what a byte of text costs at most, in
// 1/[tokencount.Scale] of a token.
func (b structure) bound(m *Message, perByte int32) int {
	return b.add(m, func(p *Part) int {
		bytes := int64(len(p.Text) + len(p.Name) + len(p.Arguments))
		if bytes == 0 {
			return 0
		}
		// 64 bits, so that a text of a gigabyte does not overflow. Each of the three is rounded up by itself.
		return tokencount.Tokens(bytes*int64(perByte)) + 2
	})
}

// sum returns the tokens of m. text counts those of one text.
func (b structure) sum(m *Message, text func(string) int) int {
	return b.add(m, func(p *Part) int {
		k := count.Add(text(p.Text), text(p.Name))
		return count.Add(k, text(mem.String(p.Arguments))) // read only, and not kept
	})
}

// add adds up the tokens of m. texts counts those of the texts of one part.
func (b structure) add(m *Message, texts func(*Part) int) int {
	n := b.ofMessage(m)
	for i := range m.Parts {
		p := &m.Parts[i]
		if known, ok := tokensWithoutText(p, &b.Structure, nontext.Payload); ok {
			n = count.Add(n, known)
			continue
		}
		n = count.Add(n, count.Add(max(texts(p), b.ofReasoning(p)), b.ofPart(p)))
	}
	return n
}

// ofMessage returns what m costs besides its parts.
func (b structure) ofMessage(m *Message) int {
	if m.Role == RoleTool {
		return b.Message + b.Result
	}
	return b.Message
}

// ofReasoning returns the tokens of the reasoning that the signature of p stands for. They count if they are more than
// the tokens of the text.
func (b structure) ofReasoning(p *Part) int {
	if p.Kind != KindThinking {
		return 0
	}
	return b.Reasoning(len(p.Text), len(p.Signature))
}

// reasoner is an estimator that tells the tokens of reasoning from the others.
type reasoner interface {
	forgets() bool            // the provider does not read the reasoning of earlier turns
	reasoning(m *Message) int // what it costs while its turn lasts
}

// forgetsReasoning reports whether e is for a provider that does not read the reasoning of earlier turns.
func forgetsReasoning(e Estimator) bool {
	r, ok := e.(reasoner)
	return ok && r.forgets()
}

// reasoningOf returns the tokens of reasoning in m, as e counts them.
func reasoningOf(e Estimator, m *Message) int {
	if r, ok := e.(reasoner); ok && m.Role == RoleAssistant && hasThinking(*m) {
		return r.reasoning(m)
	}
	return 0
}

func (b structure) forgets() bool { return b.ForgetsReasoning }

// reasoning implements reasoner.
func (e familyEstimator) reasoning(m *Message) int { return e.reasoningIn(m, e.table.Tokens) }

// reasoningIn returns the tokens of reasoning in m. text counts those of one text.
func (b structure) reasoningIn(m *Message, text func(string) int) (n int) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindThinking && p.Tokens <= 0 {
			n = count.Add(n, max(text(p.Text), b.ofReasoning(p)))
		}
	}
	return n
}

// ofPart returns what p costs besides its text.
func (b structure) ofPart(p *Part) int {
	switch p.Kind {
	case KindText, KindThinking:
		return 0
	case KindToolCall:
		return b.Call
	}
	return nontext.Payload(p.Bytes) // of an unknown kind, the payload counts besides the text
}
