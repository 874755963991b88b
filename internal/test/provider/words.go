package provider

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is what a wording compares: tokens.
type Size struct {
	Input  int // of the prompt
	Output int // asked for as room for the answer; 0: not said
	Window int
	Model  string
}

// Total is the prompt and the room for the answer.
func (s Size) Total() int { return s.Input + s.Output }

// Wording decides whether a request is too long, and says so as one provider does: nil is yes, it fits.
// The status, type and code belong to it.
type Wording func(s Size) *Error

// Wordings returns how providers refuse what is too long, by their names. "anthropic" and "openai" are
// what the dialects use by themselves; any of them can be used with either.
func Wordings() map[string]Wording {
	return map[string]Wording{
		"anthropic":     anthropicTooLong,
		"anthropic-sum": anthropicSum,
		"openai":        openAIRequested,
		"openai-input": inputAbove(400, "context_length_exceeded",
			"Your input exceeds the context window of this model. Please adjust your input and try again."),
		"openai-messages": openAIMessages,
		"openai-tpm": totalAbove(429, "rate_limit_exceeded", "Request too large for {model} in organization org-test "+
			"on tokens per min (TPM): Limit {window}, Requested {total}. The input or output tokens must be reduced "+
			"in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more."),
		"bedrock": inputAbove(400, "ValidationException", "Input is too long for requested model."),
		"gemini": inputAbove(400, "INVALID_ARGUMENT",
			"The input token count ({input}) exceeds the maximum number of tokens allowed ({window})."),
		"vertex": inputAbove(400, "INVALID_ARGUMENT",
			"Unable to submit request because the input token count is {input} but model only supports up to "+
				"{window}. Reduce the input token count and try again."),
		"mistral": inputAbove(400, "3051", "Prompt contains {input} tokens and 0 draft tokens, too large for model "+
			"with {window} maximum context length"),
		"xai": inputAbove(400, "",
			"This model's maximum prompt length is {window} but the request contains {input} tokens."),
		"kimi": inputAbove(400, "",
			"Invalid request: Your request exceeded model token limit: {window} (requested: {input})"),
		"qwen": inputAbove(400, "invalid_parameter_error",
			"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {window}]"),
		"zai":     inputAbove(400, "1261", "Prompt exceeds max length"),
		"minimax": inputAbove(400, "", "invalid params, context window exceeds limit (2013)"),
		"vllm": totalAbove(400, "", "This model's maximum context length is {window} tokens. However, you requested "+
			"{output} output tokens and your prompt contains at least {least} input tokens, for a total of at least "+
			"{above} tokens. Please reduce the length of the input prompt or the number of requested output tokens."),
		"llama.cpp": llamaCpp,
		"lmstudio": inputAbove(400, "", "Trying to keep the first {input} tokens when context the overflows. "+
			"However, the model is loaded with context length of only {window} tokens, which is not enough. Try to "+
			"load the model with a larger context length, or provide a shorter input"),
		"ollama": inputAbove(400, "", "the prompt is longer than the context length currently available to the "+
			"model; shorten the prompt, adjust the context length in settings, or use a model with a longer context "+
			"length"),
		"sglang": inputAbove(400, "",
			"The input ({input} tokens) is longer than the model's context length ({window} tokens)."),
		"cohere": inputAbove(400, "", "too many tokens: size limit exceeded by {excess} tokens. Try using shorter or "+
			"fewer inputs. The limit for this model is {window} tokens."),
		"github": inputAbove(413, "tokens_limit_reached",
			"Request body too large for {model} model. Max size: {window} tokens."),
		"chinese":    inputAbove(400, "", "请求的 tokens 数 {input} 超过了模型最大上下文长度 {window}"),
		"openrouter": wrapped(anthropicTooLong, "Anthropic"),
	}
}

// inputAbove refuses prompts above the window, totalAbove those that leave too little room for their answers.
func inputAbove(status int, code, text string) Wording {
	return func(s Size) *Error {
		if s.Input <= s.Window {
			return nil
		}
		return s.refusal(status, code, text)
	}
}

func totalAbove(status int, code, text string) Wording {
	return func(s Size) *Error {
		if s.Total() <= s.Window {
			return nil
		}
		return s.refusal(status, code, text)
	}
}

// refusal fills in the numbers that a text names. vLLM counts no further than one token above what it allows: {least}
// of the prompt and {above} in all.
func (s Size) refusal(status int, code, text string) *Error {
	pairs := []string{"{model}", s.Model}
	for name, n := range map[string]int{
		"{input}": s.Input, "{output}": s.Output, "{total}": s.Total(), "{window}": s.Window,
		"{excess}": s.Input - s.Window, "{least}": s.Window - s.Output + 1, "{above}": s.Window + 1,
	} {
		pairs = append(pairs, name, strconv.Itoa(n))
	}
	return &Error{Status: status, Code: code, Message: strings.NewReplacer(pairs...).Replace(text)}
}

// Models since Claude 4.5 compare the prompt alone, and an answer that does not fit ends early. Older ones compare
// both.
var (
	anthropicTooLong = inputAbove(400, "", "prompt is too long: {input} tokens > {window} maximum")
	anthropicOlder   = totalAbove(400, "", "input length and `max_tokens` exceed context limit: {input} + {output} > "+
		"{window}, decrease input length or `max_tokens` and try again")
	openAIMessages = inputAbove(400, "context_length_exceeded", "This model's maximum context length is {window} "+
		"tokens. However, your messages resulted in {input} tokens. Please reduce the length of the messages.")
	openAIWithAnswer = totalAbove(400, "context_length_exceeded", "This model's maximum context length is {window} "+
		"tokens. However, you requested {total} tokens ({input} in the messages, {output} in the completion). Please "+
		"reduce the length of the messages or completion.")
)

func anthropicSum(s Size) *Error {
	if err := anthropicTooLong(s); err != nil {
		return err
	}
	return anthropicOlder(s)
}

func openAIRequested(s Size) *Error {
	if s.Output == 0 {
		return openAIMessages(s)
	}
	return openAIWithAnswer(s)
}

// llamaCpp gives the numbers in fields of their own.
func llamaCpp(s Size) *Error {
	if s.Input <= s.Window {
		return nil
	}
	return &Error{Type: "exceed_context_size_error", Body: fmt.Sprintf(
		`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing `+
			`it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, s.Input, s.Window)}
}

// wrapped is how OpenRouter passes on what a provider behind it says.
func wrapped(w Wording, provider string) Wording {
	return func(s Size) *Error {
		err := w(s)
		if err == nil {
			return nil
		}
		raw := fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, err.Message)
		err.Body = fmt.Sprintf(`{"error":{"message":"Provider returned `+
			`error","code":400,"metadata":{"raw":%q,"provider_name":%q}},"user_id":"user_test"}`, raw, provider)
		return err
	}
}
