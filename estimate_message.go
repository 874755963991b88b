package winnow

import "unsafe"

// What a message costs beyond its text, in tokens. Providers wrap each message in markers of its role and
// each call in a block of its own, and few have published what that costs.
const (
	// OpenAI's cookbook on counting chat tokens has 3 a message and 1 for the name of the role. Claude and
	// Gemini have a marker, a role and an end as well; the templates of Qwen and Llama 3 spend 4 or 5.
	messageTokens = 4
	// A call is a nested block: type, id, name, arguments. The text of the id is not counted: hosts and
	// providers replace ids, and many do not show them to the model.
	callTokens = 12
	// A result is a block that names its call.
	resultTokens = 6
	// An opaque part counts a quarter of its bytes, which is right for text in ASCII. What is binary costs
	// less than its bytes say, so there is an end: about ten pages of PDF at Anthropic (1 500 to 3 000 each).
	maxOpaqueTokens = 25_000
	// An opaque part, or one of a kind that is not known, that does not say how large it is.
	unsizedTokens = 100
	// Providers put the encrypted reasoning into the signature, often with a shortened text beside it. Four
	// bytes of base64 are three of reasoning, of which a token has about 4.5. A signature that holds no reasoning is short.
	signatureBytesPerToken = 6
)

// familyEstimator estimates for one family of tokenizers.
type familyEstimator struct{ costs *costs }

// Estimate implements [Estimator].
func (e familyEstimator) Estimate(m Message) int {
	return addTokens(messageOverhead(&m), sumParts(&m, e.textTokens))
}

func (e familyEstimator) textTokens(s string) int { return tokensOf(e.costs.text(s)) }

// atMost implements bounded: no byte costs more than perByte.
func (e familyEstimator) atMost(m *Message) int {
	n := messageOverhead(m)
	for i := range m.Parts {
		n = addTokens(n, e.partAtMost(&m.Parts[i]))
	}
	return n
}

func (e familyEstimator) partAtMost(p *Part) int {
	if known, ok := blockTokens(p); ok {
		return known
	}
	bytes := int64(len(p.Text) + len(p.Name) + len(p.Arguments))
	// Each of the three texts is rounded up by itself: at most two tokens more than all in one.
	n := addTokens(tokensOf(bytes*int64(e.costs.perByte)), 2)
	return addTokens(addTokens(n, signatureTokens(p)), partOverhead(p))
}

// messageOverhead is the structure of a message without its parts.
func messageOverhead(m *Message) int {
	if m.Role == RoleTool {
		return messageTokens + resultTokens
	}
	return messageTokens
}

// sumParts adds up the parts of m; text counts the tokens of a text.
func sumParts(m *Message, text func(string) int) int {
	n := 0
	for i := range m.Parts {
		n = addTokens(n, partTokens(&m.Parts[i], text))
	}
	return n
}

func partTokens(p *Part, text func(string) int) int {
	if known, ok := blockTokens(p); ok {
		return known
	}
	n := addTokens(text(p.Text), text(p.Name))
	n = addTokens(n, text(unsafe.String(unsafe.SliceData(p.Arguments), len(p.Arguments)))) // read only, and not kept
	return addTokens(max(n, signatureTokens(p)), partOverhead(p))
}

// signatureTokens is the reasoning that a signature holds. It counts where it is more than the text beside it.
func signatureTokens(p *Part) int {
	if p.Kind != KindThinking {
		return 0
	}
	return len(p.Signature) / signatureBytesPerToken
}

// blockTokens returns the count of a part whose text is not read: the host's own count, or the default
// for what has no text. The payload of an image says nothing about its tokens; they depend on its pixels.
func blockTokens(p *Part) (int, bool) {
	switch {
	case p.Tokens > 0:
		return p.Tokens, true
	case p.Kind == KindImage:
		return imageTokens, true
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

// partOverhead is what a part with text costs beyond it.
func partOverhead(p *Part) int {
	switch p.Kind {
	case KindText, KindThinking:
		return 0
	case KindToolCall:
		return callTokens
	}
	return sizeTokens(p.Bytes) // a kind that is not known: its text, if it has one, and its payload
}
