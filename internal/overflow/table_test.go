package overflow

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

// told is what a host is told of a diagnosis: tokens and a limit only where tokens were counted.
type told struct {
	Class         Class
	Tokens, Limit int
}

func classify(err error) told {
	d := Diagnose(err, isOwn)
	if d.Class == ClassImages {
		return told{Class: d.Class, Limit: d.Limit}
	}
	if d.Class != ClassOverflow || d.Unit != UnitTokens {
		return told{Class: d.Class}
	}
	return told{d.Class, d.Size, d.Limit}
}

// ownErr is a refusal of the caller's own, around a provider's or without one.
type ownErr struct{ inner error }

func (e *ownErr) Error() string { return "the request does not fit: 5 tokens > 4" }
func (e *ownErr) Unwrap() error { return e.inner }

func isOwn(err error) bool {
	_, ok := err.(*ownErr)
	return ok
}

// tooLong is Anthropic's refusal, around which the tests put what gateways and SDKs put.
const tooLong = "prompt is too long: 200049 tokens > 200000 maximum"

var isTooLong = told{ClassOverflow, 200049, 200000}

// refusalTexts holds a text for each rule, in the words of the provider for which the rule is there. What the rules find
// in the refusals that were collected is measured with the shared catalogue.
var refusalTexts = []struct {
	why, text string
	want      told
}{
	// an overflow outweighs the words of a wrapper
	{"a key is used", "Error using your API key: prompt is too long: 212000 tokens > 200000 maximum", told{ClassOverflow, 212000, 200000}},
	{"the name of an error", "QuotaExceeded: prompt is too long: 212000 tokens > 200000 maximum", told{ClassOverflow, 212000, 200000}},
	{"whose quota it is", "quota project my-proj-1: The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).", told{ClassOverflow, 1050000, 1048576}},
	{"a quota was looked at", "Permission check ok, quota ok, upstream: requested 50000 tokens exceed the model's context length of 32768 tokens", told{ClassOverflow, 50000, 32768}},
	{"behind several colons", "litellm.BadRequestError: key=prod-7 spend=12.50 max_budget=100 Message: This model's maximum context length is 131072 tokens. However, your messages resulted in 131500 tokens.", told{ClassOverflow, 131500, 131072}},
	{"a key beside it was refused", "Unauthorized models were skipped; the remaining model answered: prompt too long (35000 tokens, max 32000 tokens)", told{ClassOverflow, 35000, 32000}},
	{"a wrapper without both sizes", "rate limit: This model's maximum context length is 100000 tokens. Try again in 20 s.", told{Class: ClassRateLimit}},
	{"a quota that is used up", "Token budget of key 'ci' exceeded: 1200000 of 1000000 tokens this month", told{Class: ClassQuota}},
	{"a key that may not", "key 'dev' may not use models with a context window above 200000 tokens: permission denied", told{Class: ClassAuth}},

	// a server's memory is no window
	{"CUDA", "CUDA out of memory. GPU 0 has a total capacity of 79.10 GiB. The model's context of 131072 tokens does not fit.", told{}},
	{"vLLM at its start", "To serve at least one request with the model's max seq len (131072), 16.00 GiB KV cache is needed, which is larger than the available KV cache memory (7.41 GiB). Decrease max_model_len.", told{}},
	{"Ollama", "model requires more system memory (18.2 GiB) than is available (11.4 GiB)", told{}},

	// numbers in other places
	{"what it needs", "needs 70076 context tokens, but the maximum is 65536", told{ClassOverflow, 70076, 65536}},
	{"the sign the other way", "max context 131072 < prompt 150000", told{ClassOverflow, 150000, 131072}},
	{"a field behind a number", "prompt_len=8300 ctx_len=8192 -> rejected: prompt longer than context", told{ClassOverflow, 8300, 8192}},
	{"exceeded: got", "Context window of 262,144 tokens exceeded: got 270,000.", told{ClassOverflow, 270000, 262144}},
	{"exceeded by", "ctx 8192 exceeded by prompt with 9100 tokens", told{ClassOverflow, 9100, 8192}},
	{"given at the end", "context: 131072 max, 150000 given", told{ClassOverflow, 150000, 131072}},
	{"were sent", "the model can process 8192 tokens, but 9100 tokens were sent", told{ClassOverflow, 9100, 8192}},
	{"were given", "9000 tokens were given but this model takes at most 8192", told{ClassOverflow, 9000, 8192}},
	{"a window that cannot take it", "65536-token window cannot take a 66000-token prompt", told{ClassOverflow, 0, 65536}},
	{"input images", "number of input images exceeds limit", told{Class: ClassImages}},

	// what is sent, how it is too much, what it is compared with
	{"Anthropic", tooLong, isTooLong},
	{"Anthropic, with the answer", "input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000, decrease input length or `max_tokens` and try again", told{ClassOverflow, 207653, 200000}},
	{"OpenAI", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.", told{ClassOverflow, 9000, 8192}},
	{"OpenAI, without numbers", "Your input exceeds the context window of this model. Please adjust your input and try again.", told{Class: ClassOverflow}},
	{"Gemini", "The input token count (5000) exceeds the maximum number of tokens allowed (4096).", told{ClassOverflow, 5000, 4096}},
	{"Bedrock", "Input is too long for requested model.", told{Class: ClassOverflow}},
	{"Bedrock Titan counts characters", "Malformed input request: expected maxLength: 42000, actual: 150180, please reformat your input and try again.", told{Class: ClassOverflow}},
	{"llama.cpp", "the request exceeds the available context size, try increasing it", told{Class: ClassOverflow}},
	{"llama.cpp's fields", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}`, told{ClassOverflow, 9001, 8192}},
	{"llama.cpp's fields, broken", `{"error":{"code":400,"message":"the request exceeds the available context size", "type":"exceed_context_size_error",` + strings.Repeat(" ", 200) + `"n_prompt_tokens":9001,"n_ctx":81` + "\n" + `92}}`, told{ClassOverflow, 9001, 0}},
	{"TGI", "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000", told{ClassOverflow, 5000, 4095}},
	{"DashScope", "Range of input length should be [1, 30720]", told{ClassOverflow, 0, 30720}},
	{"Groq's advice", "Please reduce the length of the messages or completion.", told{Class: ClassOverflow}},
	{"a tokenizer's", "Token indices sequence length is longer than the specified maximum sequence length for this model (5231 > 4096)", told{ClassOverflow, 5231, 4096}},
	{"vLLM stops counting", "This model's maximum context length is 8192 tokens. However, your prompt contains at least 8193 input tokens.", told{ClassOverflow, 0, 8192}},
	{"the answer is as large as the window", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (10 in the messages, 8990 in the completion).", told{}},
	{"a code alone", `{"error":{"code":"context_length_exceeded","message":"Bad request"}}`, told{Class: ClassOverflow}},
	{"Z.ai's code", `{"error":{"code":"1261","message":"Prompt 超长"}}`, told{Class: ClassOverflow}},
	{"Chinese", "输入的 token 数量 140000 超过了模型的最大上下文长度 131072", told{ClassOverflow, 140000, 131072}},
	{"a limit that was cut off at the end", "prompt is too long: 210000 tokens > 200", told{ClassOverflow, 210000, 0}},

	// what stands around it
	{"FastAPI's detail", `HTTP 422: {"detail":[{"loc":["body","messages"],"msg":"` + tooLong + `","type":"value_error","input":"hello"}]}`, isTooLong},
	{"errors as an array", `{"errors":["` + tooLong + `"]}`, isTooLong},
	{"OpenRouter's raw, encoded twice", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"` + tooLong + `\"}}"}}}`, isTooLong},
	{"Go's %q of a body", `request failed: "{\"error\":{\"message\":\"` + tooLong + `\"}}"`, isTooLong},
	{"Python's repr", `BadRequestError(400): {'detail': '` + tooLong + `'}`, isTooLong},
	{"an event of a stream", "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"" + tooLong + "\"}}\n\n", isTooLong},
	{"gRPC", "rpc error: code = InvalidArgument desc = " + tooLong, isTooLong},
	{"the request is sent back", `{"error":{"message":"bad role"},"messages":[{"role":"usr","content":"` + tooLong + `"}]}`, told{}},
	{"pydantic sends it back", `{"detail":[{"msg":"field required","input":{"messages":"` + tooLong + `"}}]}`, told{}},
	{"an answer", `{"content":[{"text":"` + tooLong + `"}],"stop_reason":"end_turn"}`, told{}},
	{"the caller's own", tooLong + ": context canceled", told{}},

	// caps of the answer
	{"OpenAI", "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.", told{}},
	{"DashScope", "Range of max_tokens should be [1, 8192]", told{}},
	{"DeepSeek", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", told{}},
	{"Gemini", "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.", told{}},
	{"Chinese", "输出长度超限，请降低 max_tokens", told{}},

	{"Bedrock", "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.", told{}},
	{"Bedrock's, behind words of a client", "failed to send the prompt to the model: The maximum tokens you requested exceeds the model limit of 4096.", told{}},
	{"maximum output tokens, behind words of a client", "The conversation could not be continued: maximum output tokens exceeds the limit of 64000", told{}},
	{"they are part of a sum", "The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000)", told{ClassOverflow, 35000, 24000}},

	// what a host or a gateway says beside it
	{"a quota in brackets", tooLong + " (quota used: 12%)", isTooLong},
	{"a quota in front", "Quota used: 12%. " + tooLong, isTooLong},
	{"a rate on a line of its own", tooLong + "\nRate limit: 50 requests per minute", isTooLong},
	{"a budget with numbers", tooLong + " [monthly token quota: 1500000 of 10000000 tokens used]", isTooLong},
	{"a rate that is the refusal, with advice", "This request would exceed your organization's rate limit of 40,000 input tokens per minute. For details, see the documentation. Please reduce the prompt length or the maximum tokens requested, or try again later.", told{Class: ClassRateLimit}},
	{"a rate that is the refusal, in a code", `{"error":{"code":"rate_limit_exceeded","message":"Request too large. ` + tooLong + `"}}`, told{Class: ClassRateLimit}},
	{"a line of a file", "client.go:263 Input is too long for requested model.", told{Class: ClassOverflow}},
	{"a line and a column", "context length exceeded (/srv/handler.ts:26300:17)", told{Class: ClassOverflow}},
	{"a place in a log", "[chat:2630] Your input exceeds the context window of this model.", told{Class: ClassOverflow}},
	{"a date", "2026-10-01 12:00:00 Your input exceeds the context window of this model.", told{Class: ClassOverflow}},
	{"a status", "call failed with 400 Input tokens exceed the configured limit.", told{Class: ClassOverflow}},
	{"a status and a size", "BadRequest - 400 Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.", told{ClassOverflow, 300000, 272000}},
	{"what is available is a limit", "context window exceeded: 140000 tokens requested, 131072 tokens available", told{ClassOverflow, 140000, 131072}},
	{"the words in front", "context window exceeded (requested: 140000, available: 131072)", told{ClassOverflow, 140000, 131072}},
	{"Gemini counts less than it allows", "The input token count (1043256) exceeds the maximum number of tokens allowed (1048576).", told{ClassOverflow, 0, 1048576}},
	{"a size that a line break cuts", "prompt is too long: 2000\n49 tokens > 200000 maximum", told{ClassOverflow, 0, 200000}},
	{"a limit that a line break cuts", "prompt is too long: 200049 tokens > 200\n  000 maximum", told{ClassOverflow, 200049, 0}},
	{"a line break between groups", "prompt is too long: 200,\n049 tokens > 200,000 maximum", told{ClassOverflow, 0, 200000}},
	{"a part of a sum that a line break cuts", "input length and `max_tokens` exceed context limit: 143653 + 64\n000 > 200000", told{ClassOverflow, 0, 200000}},
	{"a line break in a body", `{"error":{"message":"prompt is too long: 200\n049 tokens > 200000 maximum"}}`, told{ClassOverflow, 0, 200000}},

	// wrappers that name a key or a quota
	{"a key in front", "Error using your API key: " + tooLong, isTooLong},
	{"a key's alias behind", tooLong + ", API key alias: team-a", isTooLong},
	{"a key in the sentence", "Your input exceeds the context window of this model for your API key.", told{Class: ClassOverflow}},
	{"a key that is refused", "Invalid API key: your input was not read, and no context was made", told{Class: ClassAuth}},
	{"what a key may use", "Your API key has exceeded its token limit of 1000", told{Class: ClassAuth}},
	{"a quota in front of it", "QuotaExceeded: " + tooLong, isTooLong},
	{"a quota that is exceeded", "QuotaExceeded: 212000 tokens > 200000 tokens", told{Class: ClassQuota}},
	{"a rate in front of it", "RateLimitError: too many tokens", told{Class: ClassRateLimit}},
	{"what is needed is no limit", "this request needs 70076 context tokens, but the maximum is 65536", told{ClassOverflow, 70076, 65536}},
	{"a limit of context tokens", "prompt of 70076 tokens exceeds the maximum of 65536 context tokens", told{ClassOverflow, 70076, 65536}},
	{"memory for a context", "a context of 131072 tokens does not fit into the GPU's memory", told{}},
	{"memory for a model", "model requires more system memory (24.6 GiB) than is available (15.2 GiB)", told{}},
	{"memory of a card", "the context size exceeds the available VRAM", told{}},

	// other refusals that count
	{"one request above its rate", "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 132819. The input or output tokens must be reduced in order to run successfully.", told{ClassOverflow, 132819, 30000}},
	{"OpenAI's rate", "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4s.", told{Class: ClassRateLimit}},
	{"Anthropic's rate", "This request would exceed your organization's rate limit of 40,000 input tokens per minute.", told{Class: ClassRateLimit}},
	{"Azure's rate", "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current pricing tier. Please retry after 20 seconds.", told{Class: ClassRateLimit}},
	{"AWS's rate", "ThrottlingException: Too many tokens, please wait before trying again.", told{Class: ClassRateLimit}},
	{"a Chinese rate", "请求过于频繁，请稍后重试", told{Class: ClassRateLimit}},
	{"a quota", "You exceeded your current quota, please check your plan and billing details.", told{Class: ClassQuota}},
	{"a key", "Incorrect API key provided", told{Class: ClassAuth}},
	{"no credentials", "could not find default credentials", told{Class: ClassAuth}},
	{"bad credentials", "Bad credentials", told{Class: ClassAuth}},
	{"a header", "no authorization header", told{Class: ClassAuth}},
	{"a rate of sound", "input audio sample rate exceeds the maximum of 48000", told{}},
	{"a rate that was exceeded", "ThrottlingException: Rate exceeded", told{Class: ClassRateLimit}},
	{"a second part", "The request second part exceeds the maximum context length of 8192 tokens", told{ClassOverflow, 0, 8192}},
	{"a code of access", `{"error":{"code":403,"message":"forbidden"}}`, told{Class: ClassAuth}},
	{"Anthropic is busy", "Overloaded", told{Class: ClassOverloaded}},
	{"a gateway", "502 Bad Gateway", told{Class: ClassOverloaded}},
	{"Go's client", "context deadline exceeded (Client.Timeout exceeded while awaiting headers)", told{Class: ClassTimeout}},
	{"an image", "messages.4.content.0.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes", told{}},
	{"the number of images", "Too many images in request: at most 20 images are allowed", told{Class: ClassImages, Limit: 20}},
	{"Anthropic's many images", "messages.3.content.79.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", told{Class: ClassImages}},
	{"Anthropic's media", "Too much media: 0 document pages + 101 images > 100", told{Class: ClassImages, Limit: 100}},
	{"Bedrock's images", "messages: too many images and documents: 21 + 0 > 20", told{Class: ClassImages, Limit: 20}},
	{"vLLM's images", "At most 1 image(s) may be provided in one request.", told{Class: ClassImages, Limit: 1}},
	{"more than", "The request has more than 20 images, which this model does not take.", told{Class: ClassImages, Limit: 20}},
	{"a number of images", "The number of images (25) exceeds the limit of 16", told{Class: ClassImages, Limit: 16}},
	{"one image's size", "image dimensions exceed max allowed size: 8000 pixels", told{}},
	{"one image's bytes", "Image 3 of 12 is larger than the maximum of 5 MB", told{}},
	{"a model without eyes", "This model does not support image inputs", told{}},
	{"pages", "A maximum of 100 PDF pages may be provided.", told{}},
	{"an id", "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 45 instead.", told{}},
	{"the name of a tool", "tools.0.custom.name: String should have at most 64 characters", told{}},
	{"the number of tools", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 130 instead.", told{}},
	{"a prompt that is too small for a cache", "Cached content is too small. total_token_count=1000, min_total_token_count=4096", told{}},
	{"the kernel", "fork/exec /bin/sh: argument list too long", told{}},

	// bodies
	{"HTTP", "413 Payload Too Large", told{Class: ClassBytes}},
	{"Gemini", "Request payload size exceeds the limit: 20971520 bytes.", told{Class: ClassBytes}},
	{"gRPC", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (5000000 vs. 4194304)", told{Class: ClassBytes}},
	{"a proxy's page", "<html><head><title>413 Request Entity Too Large</title></head></html>", told{Class: ClassBytes}},
	{"IIS", "HTTP Error 404.13 - Not Found: The request filtering module is configured to deny a request that exceeds the request content length.", told{Class: ClassBytes}},
	{"IIS's page", "<html><head><title>IIS 10.0 Detailed Error - 404.13 - Not Found</title></head></html>", told{Class: ClassBytes}},
	{"IIS's other page", "<html><head><title>IIS 10.0 Detailed Error - 404.0 - Not Found</title></head></html>", told{}},
	{"HTTP's header", "431 Request Header Fields Too Large", told{}},

	{"nothing", "", told{}},
	{"only a status", "400 Bad Request", told{}},
}

func TestDiagnose(t *testing.T) {
	for _, c := range refusalTexts {
		if got := classify(errors.New(c.text)); got != c.want {
			t.Errorf("%s: got %+v, want %+v\n%s", c.why, got, c.want, c.text)
		}
	}
}

// TestDiagnoseConcurrently: one error leaves nothing behind for another, in whatever order they come.
func TestDiagnoseConcurrently(t *testing.T) {
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 400 {
				c := refusalTexts[(i*7+worker)%len(refusalTexts)]
				if got := classify(errors.New(c.text)); got != c.want {
					t.Errorf("%s: got %+v, want %+v", c.why, got, c.want)
				}
			}
		})
	}
	group.Wait()
}

// TestWords: a word stands in the dictionary once, or one of its roles would be lost.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range words {
		for word := range strings.FieldsSeq(w.list) {
			if seen[word] {
				t.Errorf("%q stands in two lists", word)
			}
			seen[word] = true
		}
	}
}
