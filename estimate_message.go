package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// structure is what a message costs beyond its text, in tokens: the markers of its role, and the blocks
// of calls and results with their ids, keys and types. Ids are counted here and not by their text, as hosts
// and providers replace them.
type structure struct {
	message int
	call    int // more for each tool call
	result  int // more for a tool result
	// What a token of encrypted reasoning is to one of Claude 4: a family that needs more tokens for a text
	// also needs more for the reasoning.
	reasoning float64
	images    imageRule
}

// Fitted to what was billed for the messages between two requests in recorded sessions, with the text
// estimated by the family: 13 000 requests to Claude 4.5 and 4.6 had 2 a message and 65 to 75 for a call with
// its result, 1 600 to Claude 5 had 8 and 48, 4 400 to Gemini 1 to 4 and nothing, 1 100 to GPT-5 27 to 36 for
// all of a call. OpenAI's cookbook has 3 a message and 1 for its role. The other families were not
// measured: their chat templates spend 4 or 5 a message, and a call is written as JSON in tags.
var (
	claudeStructure = structure{message: 4, call: 48, result: 16, reasoning: 1}
	nextStructure   = structure{message: 4, call: 48, result: 16, reasoning: tokencount.ClaudeNextLatin, images: imagesByAreaTo5k}
	geminiStructure = structure{message: 2, call: 1, result: 0, reasoning: 1, images: imagesByCrops}
	openAIStructure = structure{message: 4, call: 14, result: 8, reasoning: 1, images: imagesByTiles}
	templated       = structure{message: 5, call: 20, result: 8, reasoning: 1, images: imagesByPatches}
	safeStructure   = structure{message: 4, call: 40, result: 12, reasoning: 1} // for a model that is not known
)

const (
	// An opaque part counts a quarter of its bytes, which is right for text in ASCII. What is binary costs
	// less than its bytes say, so there is an end: about ten pages of PDF at Anthropic (1 500 to 3 000 each).
	maxOpaqueTokens = 25_000
	// An opaque part, or one of a kind that is not known, that does not say how large it is.
	unsizedTokens = 100
	// Claude puts the encrypted reasoning into the signature and a shortened text beside it; what is billed
	// is the reasoning: in the same sessions 15 to 19 tokens for 100 bytes of signature beyond the first 150
	// to 330 (26 at Claude 5), and none for the text.
	signatureBase          = 200
	signatureBytesPerToken = 5
	// Reasoning of which the host has neither text nor signature (OpenAI's, by its id): 20 to 44 in the
	// sessions with GPT-5.
	hiddenThinkingTokens = 30
)

// familyEstimator estimates for one family of tokenizers.
type familyEstimator struct {
	table *tokencount.Table
	structure
}

// Estimate implements [Estimator].
func (e familyEstimator) Estimate(m Message) int {
	return e.sum(&m, e.table.Tokens)
}

// atMost implements bounded.
func (e familyEstimator) atMost(m *Message) int {
	return e.bound(m, e.table.MostPerByte())
}

// bound is sum without reading: perByte is what a byte of text costs at most, in 1/[tokencount.Scale] of a token.
func (b structure) bound(m *Message, perByte int32) int {
	n := b.ofMessage(m)
	for i := range m.Parts {
		p := &m.Parts[i]
		if known, ok := b.blockTokens(p); ok {
			n = count.Add(n, known)
			continue
		}
		bytes := int64(len(p.Text) + len(p.Name) + len(p.Arguments))
		text := tokencount.Tokens(bytes * int64(perByte))
		if bytes > 0 {
			text += 2 // each of the three is rounded up by itself
		}
		n = count.Add(n, count.Add(max(text, b.ofReasoning(p)), b.ofPart(p)))
	}
	return n
}

// sum adds up m; text counts the tokens of a text.
func (b structure) sum(m *Message, text func(string) int) int {
	n := b.ofMessage(m)
	for i := range m.Parts {
		p := &m.Parts[i]
		if known, ok := b.blockTokens(p); ok {
			n = count.Add(n, known)
			continue
		}
		k := count.Add(text(p.Text), text(p.Name))
		k = count.Add(k, text(mem.String(p.Arguments))) // read only, and not kept
		n = count.Add(n, count.Add(max(k, b.ofReasoning(p)), b.ofPart(p)))
	}
	return n
}

// ofMessage is the structure of a message without its parts.
func (b structure) ofMessage(m *Message) int {
	if m.Role == RoleTool {
		return b.message + b.result
	}
	return b.message
}

// ofReasoning is the reasoning that a signature stands for. It counts where it is more than the text beside it.
func (b structure) ofReasoning(p *Part) int {
	if p.Kind != KindThinking {
		return 0
	}
	n := int(b.reasoning * float64(max(0, len(p.Signature)-signatureBase)) / signatureBytesPerToken)
	if p.Text == "" {
		return max(n, hiddenThinkingTokens)
	}
	return n
}

// ofPart is what a part with text costs beyond it.
func (b structure) ofPart(p *Part) int {
	switch p.Kind {
	case KindText, KindThinking:
		return 0
	case KindToolCall:
		return b.call
	}
	return sizeTokens(p.Bytes) // a kind that is not known: its text, if it has one, and its payload
}

// blockTokens returns the count of a part whose text is not read: the host's own count, or the default
// for what has no text. The payload of an image says nothing about its tokens; they depend on its pixels.
func (b structure) blockTokens(p *Part) (int, bool) {
	switch {
	case p.Tokens > 0:
		return p.Tokens, true
	case p.Kind == KindImage:
		return b.images.tokensOf(p), true
	case p.Kind == KindOpaque:
		return sizeTokens(p.Bytes), true
	}
	return 0, false
}

// sizeTokens estimates a payload of which only the size is known.
func sizeTokens(bytes int) int {
	if bytes <= 0 {
		return unsizedTokens
	}
	return min(max(1, bytes/4), maxOpaqueTokens)
}
