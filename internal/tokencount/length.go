package tokencount

import "math"

// Length is what a provider bills for media that have a length, in tokens.
type Length struct {
	page   float64 // of a document: its picture and, at most providers, its text besides
	second float64 // of sound
}

// Claude 5.5 counted 2 324 to 2 347 tokens for a page of text, Claude 4.5 2 098 to 2 115, and Gemini 3 560; for a page
// with a table 2 481, 2 278 and 561, and for a scanned one 1 600, 1 592 and 561 (measured on 2026-10-18:
// huggingface.co/datasets/JOHNISKING/pdf-token-cost). Older Gemini has 258 (ai.google.dev, document understanding).
// OpenAI takes the text of a page and its picture (platform.openai.com, PDF files), which make 500 and 765 of the same
// page. Who turns pages into pictures for Qwen pays for these, 1 280 mostly.
//
// A second of sound is 32 tokens at Gemini (ai.google.dev, token counting), 10 at OpenAI (one for 100 ms of a user's:
// platform.openai.com, realtime costs) and 25 at Qwen (help.aliyun.com, Qwen-Audio). Claude takes none.
var (
	lengthClaude  = Length{page: 2_100, second: 32}
	lengthGemini  = Length{page: 560, second: 32}
	lengthOpenAI  = Length{page: 1_265, second: 10}
	lengthQwen    = Length{page: 1_280, second: 25}
	lengthUnknown = Length{page: 2_330, second: 32} // Claude 5's, which is the most
)

// videoSecond is what a second of a video costs at Gemini 2.5 with its sound, about (ai.google.dev, video
// understanding). Gemini 3 takes a third of it by default.
const videoSecond = 300

// Tokens returns what pages or seconds cost, or 0 if there are none.
func (l Length) Tokens(pages, seconds int, isVideo bool) int {
	second := l.second
	if isVideo {
		second = videoSecond
	}
	return int(min(math.MaxInt32, float64(max(0, pages))*l.page+float64(max(0, seconds))*second))
}
