package tokencount

// What is not text: the frames of messages, images, bytes, encrypted reasoning.

// Structure is what a message costs beyond its text, in tokens: the markers of its role, and the blocks of calls and
// results with their ids, keys and types. Ids are counted here and not by their text, as hosts and providers replace
// them.
type Structure struct {
	Message int
	Call    int // more for each tool call
	Result  int // more for a tool result
	// Tokens of encrypted reasoning for each that Claude 4 needs: a family that needs more tokens for a text also needs
	// more for the reasoning.
	reasoning float64
	sealed    int // bytes of a signature that stand for no reasoning
	Images    Images
	Length    Length

	// The provider does not read the reasoning of earlier turns, although it is sent: from a user's message on, it
	// counts nothing.
	ForgetsReasoning bool
}

// Fitted to what was billed for the messages between two requests in recorded sessions, with the text
// estimated by the family: 13 000 requests to Claude 4.5 and 4.6 had 2 a message and 65 to 75 for a call with
// its result, 1 600 to Claude 5 had 8 and 48, 4 400 to Gemini 1 to 4 and nothing, 1 100 to GPT-5 27 to 36 for
// all of a call. OpenAI's cookbook has 3 a message and 1 for its role. The other families were not
// measured: their chat templates spend 4 or 5 a message, and a call is written as JSON in tags.
var (
	claude     = Structure{Message: 4, Call: 48, Result: 16, reasoning: 1, sealed: sealed, Length: lengthClaude}
	claudeNext = Structure{
		Message: 4, Call: 48, Result: 16, reasoning: claudeNextLatin, sealed: sealed,
		Images: ByAreaTo5k, Length: lengthUnknown,
	}
	gemini = Structure{
		Message: 2, Call: 1, Result: 0, reasoning: 1, sealed: sealed, Images: ByCrops, Length: lengthGemini,
	}
	openAI = Structure{
		Message: 4, Call: 14, Result: 8, reasoning: reasoningOpenAI, sealed: sealedOpenAI, Images: ByTiles,
		Length: lengthOpenAI, ForgetsReasoning: true,
	}
	templated = Structure{
		Message: 5, Call: 20, Result: 8, reasoning: 1, sealed: sealed, Images: ByPatches, Length: lengthQwen,
	}
	// Unknown is for a model that is not known.
	Unknown = Structure{Message: 4, Call: 40, Result: 12, reasoning: 1, sealed: sealed, Length: lengthUnknown}
)

const (
	// An opaque part whose length is not known counts a quarter of its bytes, which is right for text in ASCII. Binary
	// data costs less than its bytes suggest, so there is a limit: about ten pages of PDF at Anthropic.
	maxOpaqueTokens = 25_000
	// For an opaque part, or one of an unknown kind, that does not say how large it is.
	unsizedTokens = 100
	// Claude puts the encrypted reasoning into the signature and a shortened text beside it; what is billed
	// is the reasoning: in the same sessions 15 to 19 tokens for 100 bytes of signature beyond the first 150
	// to 330 (26 at Claude 5), and none for the text.
	sealed                 = 200
	signatureBytesPerToken = 5
	// OpenAI's encrypted reasoning is Base64 of the text, at four bytes a token, with 650 bytes around it: so does
	// Codex count it (openai/codex, context_manager/history.rs). In ten recorded sessions with GPT-5.3 to 5.5 all of an
	// answer's reasoning is in the next prompts of its turn, and a user's message takes it out: 109 484 tokens became
	// 95 851 with 15 000 of reasoning before it, 191 298 became 183 546 with 8 000.
	sealedOpenAI    = 650 * 4 / 3
	reasoningOpenAI = signatureBytesPerToken * 3.0 / 4 / 4
	// Reasoning of which the host has neither text nor signature (OpenAI's, by its id): 20 to 44 in the
	// sessions with GPT-5.
	hiddenThinkingTokens = 30
)

// Reasoning returns the tokens that thinking stands for, by the bytes of its text and of its signature. It counts if it
// is more than the tokens of the text.
func (s *Structure) Reasoning(text, signature int) int {
	n := int(s.reasoning * float64(max(0, signature-s.sealed)) / signatureBytesPerToken)
	if text == 0 {
		return max(n, hiddenThinkingTokens)
	}
	return n
}

// Payload estimates a payload of which only the size is known.
func Payload(bytes int) int {
	if bytes <= 0 {
		return unsizedTokens
	}
	return min(Quarter(bytes), maxOpaqueTokens)
}

// Quarter is the reference's estimate of a payload: a token for four bytes.
func Quarter(bytes int) int { return max(1, bytes/4) }
