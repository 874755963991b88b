package winnow

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// Estimator returns the tokens that a message costs in a request. Implementations are safe for concurrent use and never
// panic.
type Estimator interface{ Estimate(m Message) int }

// EstimatorFunc is a function that is an [Estimator].
type EstimatorFunc func(m Message) int

// Estimate calls f.
func (f EstimatorFunc) Estimate(m Message) int { return f(m) }

// estimateWith never returns a negative count, whatever the estimator says.
func estimateWith(e Estimator, m Message) int { return max(0, e.Estimate(m)) }

// partTokens estimates part k of m as a message of its own.
func partTokens(e Estimator, m *Message, k int) int {
	return estimateWith(e, Message{Role: m.Role, Parts: m.Parts[k : k+1]})
}

// textTokens estimates a text as a message of its own.
func textTokens(e Estimator, s string) int {
	return estimateWith(e, Message{Role: RoleUser, Parts: []Part{{Text: s}}})
}

// CharsPerToken returns the estimator of most agents: characters of text, thinking and calls / n, rounded up for each
// message (n not above 0: 4). Images, pages, seconds and bytes count by fixed rates. Part.Tokens wins. [NewEstimator]
// is more exact.
func CharsPerToken(n float64) Estimator {
	if !(n > 0) || math.IsInf(n, 0) {
		n = 4
	}
	return charsPerToken(n)
}

// charsPerToken is the number of characters that are taken for a token.
type charsPerToken float64

func (n charsPerToken) Estimate(m Message) int {
	tokens, chars := 0, 0
	for i := range m.Parts {
		p := &m.Parts[i]
		if known, ok := tokensWithoutText(p, &tokencount.Unknown, tokencount.Quarter); ok {
			tokens = count.Add(tokens, known)
			continue
		}
		tokens = count.Add(tokens, besidesText(p, 0, tokencount.Quarter))
		chars += runes.Count(p.Text) + runes.Count(p.Name) + runes.Count(mem.String(p.Arguments))
	}
	return count.Add(tokens, n.tokens(chars))
}

func (n charsPerToken) tokens(chars int) int {
	return int(min(math.Ceil(float64(chars)/float64(n)), math.MaxInt32))
}

// tokensWithoutText returns the tokens of p if they are known without reading its text: the host's own count, or an
// estimate of a part without text. The bytes of an image say nothing about its tokens, which depend on its pixels.
func tokensWithoutText(p *Part, of *tokencount.Structure, payload func(bytes int) int) (int, bool) {
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

// besidesText returns what p costs besides its text: a call, or the payload of a part that is not only text.
func besidesText(p *Part, call int, payload func(bytes int) int) int {
	switch p.Kind {
	case KindText, KindThinking:
		return 0
	case KindToolCall:
		return call
	}
	return payload(p.Bytes)
}

// familyEstimator estimates for one family of tokenizers.
type familyEstimator struct {
	texts                interface{ Tokens(text string) int }
	tokencount.Structure // what messages cost beyond their text
}

// Estimate implements [Estimator].
func (e familyEstimator) Estimate(m Message) int {
	if exact, ok := e.texts.(exactText); ok && textBytes(&m)+argumentBytes(&m) > maxExactBytes {
		e.texts = exact.family
	}
	n := e.Message
	if m.Role == RoleTool {
		n += e.Result
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if known, ok := tokensWithoutText(p, &e.Structure, tokencount.Payload); ok {
			n = count.Add(n, known)
			continue
		}
		texts := count.Add(e.texts.Tokens(p.Text), e.texts.Tokens(p.Name))
		texts = count.Add(texts, e.texts.Tokens(mem.String(p.Arguments)))
		n = count.Add(n, count.Add(max(texts, e.ofReasoning(p)), besidesText(p, e.Call, tokencount.Payload)))
	}
	return n
}

// ofReasoning returns the tokens of the reasoning that the signature of p stands for. They count if they are more than
// the tokens of the text.
func (e familyEstimator) ofReasoning(p *Part) int {
	if p.Kind != KindThinking {
		return 0
	}
	return e.Reasoning(len(p.Text), len(p.Signature))
}

// forgetsReasoning reports whether e is for a provider that does not read the reasoning of earlier turns.
func forgetsReasoning(e Estimator) bool {
	f, ok := e.(familyEstimator)
	return ok && f.ForgetsReasoning
}

// reasoningOf returns the tokens of reasoning in m, as e counts them while its turn lasts.
func reasoningOf(e Estimator, m *Message) (n int) {
	f, ok := e.(familyEstimator)
	if !ok || m.Role != RoleAssistant {
		return 0
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindThinking && p.Tokens <= 0 {
			n = count.Add(n, max(f.texts.Tokens(p.Text), f.ofReasoning(p)))
		}
	}
	return n
}

// NewEstimator returns the estimator of a family of tokenizers: see [FamilyForModel].
//
//	""           an unknown model: cautious
//	o200k        OpenAI from GPT-4o on          cl100k  GPT-4, GPT-3.5
//	claude       Claude up to 3.7               claude4 Claude 4 to 4.6       claude-next  Claude from 4.7 on
//	gemini       Gemini; gemma is the same      qwen    Qwen
//	deepseek     DeepSeek                       llama3  Llama 3
//
// Half of all texts are within 3 % of the family's count; an unknown model's is rather too high. Images, pages and
// seconds count as with the family's provider. Another name is an error.
func NewEstimator(family string) (Estimator, error) {
	if f, ok := tokencount.Of(family); ok {
		return familyEstimator{f.Texts(), f.Structure}, nil
	}
	names := tokencount.Families()
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	return nil, fmt.Errorf("winnow: unknown tokenizer family %q; known are %s", family, strings.Join(names, ", "))
}

// cautious returns the estimator of an unknown model.
func cautious() Estimator {
	f, _ := tokencount.Of("")
	return familyEstimator{f.Texts(), f.Structure}
}

// FamilyForModel returns the family of tokenizers of a model for [NewEstimator], by the name as in Options.Model; "" if
// it is not known.
func FamilyForModel(model string) string { return models.Family(model) }

// maxExactBytes is the most text, in bytes, that is counted exactly in a message. The worst text is counted at 10 MB/s,
// so a longer one would stop an agent for seconds. It is estimated.
const maxExactBytes = 8 << 20

// TiktokenEstimator returns an estimator that counts text as OpenAI's models do: encoding is "o200k_base" (GPT-4o and
// later) or "cl100k_base" (GPT-4, GPT-3.5). Special tokens, very long words and messages, and all else count as with
// [NewEstimator], which is many times as fast and exact enough for most uses. The vocabulary takes 9 MB of memory.
func TiktokenEstimator(encoding string) (Estimator, error) {
	f, _ := tokencount.Of(strings.TrimSuffix(encoding, "_base"))
	switch encoding {
	case "o200k_base":
		return familyEstimator{exactText{tokencount.O200k, f.Texts()}, f.Structure}, nil
	case "cl100k_base":
		return familyEstimator{exactText{tokencount.CL100k, f.Texts()}, f.Structure}, nil
	}
	return nil, fmt.Errorf("winnow: unknown encoding %q; known are %q, %q", encoding, "o200k_base", "cl100k_base")
}

// exactText counts texts with a vocabulary.
type exactText struct {
	load   func() *tokencount.Encoding
	family *tokencount.Table // estimates what is too long
}

func (e exactText) Tokens(text string) int {
	if text == "" {
		return 0
	}
	return e.load().Count(text)
}
