package winnow

import (
	"math"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/nontext"
	"github.com/winnowgo/winnow/internal/runes"
)

// Estimator returns the tokens that a message costs in a request. Implementations are safe for concurrent use and never
// panic, whatever the text.
type Estimator interface{ Estimate(m Message) int }

// EstimatorFunc is a function that is an [Estimator].
type EstimatorFunc func(m Message) int

// Estimate calls f.
func (f EstimatorFunc) Estimate(m Message) int { return f(m) }

// estimateWith never returns a negative count, whatever the estimator says.
func estimateWith(e Estimator, m Message) int { return max(0, e.Estimate(m)) }

// textTokens estimates a text as a message of its own.
func textTokens(e Estimator, s string) int {
	return estimateWith(e, Message{Role: RoleUser, Parts: []Part{{Text: s}}})
}

// CharsPerToken returns the estimator of the reference and of most agents: characters / n, rounded up for each message;
// n = 4 is usual. It counts the characters of text, thinking, and the names and arguments of tool calls. An image
// counts by its size, as with Anthropic, or 1 200 tokens if the size is unknown; an opaque part counts by its pages or
// seconds. If these are unknown, or the kind is, it counts a quarter of its bytes, at least 1. [Part.Tokens] wins. The
// estimator knows neither languages nor tokenizers: see [NewEstimator]. An n that is not above 0, or is infinite, is
// taken as 4.
func CharsPerToken(n float64) Estimator {
	if !(n > 0) || math.IsInf(n, 0) {
		n = 4
	}
	return charsPerToken(n)
}

// charsPerToken is the number of characters that are taken for a token.
type charsPerToken float64

func (n charsPerToken) Estimate(m Message) int {
	// Arguments are bytes: their characters are counted without a copy of them.
	return n.sum(&m, func(p *Part) int {
		return runes.Count(p.Text) + runes.Count(p.Name) + runes.CountBytes(p.Arguments)
	})
}

// atMost returns an upper bound of the estimate from lengths alone.
func (n charsPerToken) atMost(m *Message) int {
	return n.sum(m, func(p *Part) int { return len(p.Text) + len(p.Name) + len(p.Arguments) })
}

// sum returns the estimate of m. chars counts the characters of a part with text.
func (n charsPerToken) sum(m *Message, chars func(*Part) int) int {
	tokens, all := 0, 0
	for i := range m.Parts {
		p := &m.Parts[i]
		if known, ok := tokensWithoutText(p, &nontext.Unknown, nontext.Quarter); ok {
			tokens = count.Add(tokens, known)
			continue
		}
		tokens = count.Add(tokens, payloadTokens(p))
		all += chars(p)
	}
	return count.Add(tokens, int(min(math.Ceil(float64(all)/float64(n)), math.MaxInt32)))
}

// tokensWithoutText returns the tokens of p if they are known without reading its text: the host's own count, or an
// estimate of a part without text. The bytes of an image say nothing about its tokens, which depend on its pixels.
func tokensWithoutText(p *Part, of *nontext.Structure, payload func(bytes int) int) (int, bool) {
	switch {
	case p.Tokens > 0:
		return p.Tokens, true
	case p.Kind == KindImage:
		return of.Images.Tokens(p.Width, p.Height), true
	case p.Kind != KindOpaque:
		return 0, false
	}
	if n := of.Length.Tokens(p.Pages, p.Seconds, strings.HasPrefix(p.MediaType, "video/")); n > 0 {
		return n, true
	}
	return payload(p.Bytes), true
}

// payloadTokens returns what p counts besides its text: its bytes, unless a part of its kind is nothing but text.
func payloadTokens(p *Part) int {
	switch p.Kind {
	case KindText, KindThinking, KindToolCall:
		return 0
	}
	return nontext.Quarter(p.Bytes)
}

// bounded is an estimator that can say, without reading a text, what a message costs at most.
type bounded interface{ atMost(m *Message) int }

// mostTokens returns an upper bound of e's estimate of m without reading a text, or -1 if e has no bound.
func mostTokens(e Estimator, m *Message) int {
	if b, ok := e.(bounded); ok {
		return b.atMost(m)
	}
	return -1
}
