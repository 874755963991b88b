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

// Silent is the wording of a server that takes whatever comes.
func Silent(Size) *Error { return nil }

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
		"bedrock":         inputAbove(400, "ValidationException", "Input is too long for requested model."),
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
		"zai":       inputAbove(400, "1261", "Prompt exceeds max length"),
		"minimax":   inputAbove(400, "", "invalid params, context window exceeds limit (2013)"),
		"vllm":      vllm,
		"llama.cpp": llamaCpp,
		"lmstudio": inputAbove(400, "", "Trying to keep the first {input} tokens when context the overflows. "+
			"However, the model is loaded with context length of only {window} tokens, which is not enough. Try to "+
			"load the model with a larger context length, or provide a shorter input"),
		"ollama": inputAbove(400, "", "the prompt is longer than the context length currently available to the "+
			"model; shorten the prompt, adjust the context length in settings, or use a model with a longer context "+
			"length"),
		"sglang": inputAbove(400, "",
			"The input ({input} tokens) is longer than the model's context length ({window} tokens)."),
		"cohere": cohere,
		"github": inputAbove(413, "tokens_limit_reached",
			"Request body too large for {model} model. Max size: {window} tokens."),
		"chinese":    inputAbove(400, "", "请求的 tokens 数 {input} 超过了模型最大上下文长度 {window}"),
		"openrouter": wrapped(anthropicTooLong, "Anthropic"),
		"silent":     Silent,
	}
}

// inputAbove refuses prompts above the window. The text may name {input}, {window} and {model}.
func inputAbove(status int, code, text string) Wording {
	return func(s Size) *Error {
		if s.Input <= s.Window {
			return nil
		}
		numbers := strings.NewReplacer("{input}", strconv.Itoa(s.Input), "{window}", strconv.Itoa(s.Window), "{model}",
			s.Model)
		return &Error{Status: status, Code: code, Message: numbers.Replace(text)}
	}
}

// anthropicTooLong is what models since Claude 4.5 do: only the prompt counts, and an answer that does
// not fit ends early.
func anthropicTooLong(s Size) *Error {
	if s.Input <= s.Window {
		return nil
	}
	return &Error{Message: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", s.Input, s.Window)}
}

// anthropicSum is what older models do.
func anthropicSum(s Size) *Error {
	if s.Input > s.Window || s.Total() <= s.Window {
		return anthropicTooLong(s)
	}
	return &Error{Message: fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease "+
		"input length or `max_tokens` and try again", s.Input, s.Output, s.Window)}
}

func openAIMessages(s Size) *Error {
	if s.Input <= s.Window {
		return nil
	}
	return &Error{Code: "context_length_exceeded", Param: "messages",
		Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in "+
			"%d tokens. Please reduce the length of the messages.", s.Window, s.Input)}
}

func openAIRequested(s Size) *Error {
	if s.Output == 0 || s.Total() <= s.Window {
		return openAIMessages(s)
	}
	return &Error{Code: "context_length_exceeded", Param: "messages",
		Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens (%d "+
			"in the messages, %d in the completion). Please reduce the length of the messages or completion.", s.Window,
			s.Total(), s.Input, s.Output)}
}

// vllm counts no further than one token above what it allows.
func vllm(s Size) *Error {
	if s.Total() <= s.Window {
		return nil
	}
	return &Error{Type: "BadRequestError", Param: "input_tokens",
		Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d output "+
			"tokens and your prompt contains at least %d input tokens, for a total of at least %d tokens. Please "+
			"reduce "+
			"the length of the input prompt or the number of requested output tokens.", s.Window, s.Output,
			s.Window-s.Output+1, s.Window+1)}
}

// llamaCpp gives the numbers in fields of their own.
func llamaCpp(s Size) *Error {
	if s.Input <= s.Window {
		return nil
	}
	return &Error{Status: 400, Type: "exceed_context_size_error", Body: fmt.Sprintf(
		`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing `+
			`it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, s.Input, s.Window)}
}

func cohere(s Size) *Error {
	if s.Input <= s.Window {
		return nil
	}
	return &Error{Message: fmt.Sprintf("too many tokens: size limit exceeded by %d tokens. Try using shorter or "+
		"fewer inputs. The limit for this model is %d tokens.", s.Input-s.Window, s.Window)}
}
