package provider

import (
	"regexp"
	"slices"
	"strings"
)

// vendorChecks are the rules of those who speak Chat Completions in their own way.
func vendorChecks(v Vendor) []chatCheck {
	common := []chatCheck{checkChatShape, checkChatTools, checkChatMessages, checkChatArguments}
	switch v {
	case VendorMistral:
		return []chatCheck{checkMistralOrder, checkMistralIDs, checkMistralMessages, checkMistralEnd, checkChatShape,
			checkChatArguments}
	case VendorDeepSeek:
		return append(common, deepSeekPairs.check, checkDeepSeekReasoning)
	case VendorKimi:
		return append([]chatCheck{checkKimiMessages}, append(common, openAIPairs.check, checkKimiReasoning)...)
	case VendorMiniMax:
		return append(common, checkMiniMaxPairs)
	case VendorQwen:
		return append(common, qwenPairs.check)
	case VendorGemini:
		return append(common, openAIPairs.check, checkGeminiSignatures)
	case VendorVLLM, VendorLlamaCpp, VendorLMStudio:
		return []chatCheck{checkChatShape, checkTail, checkTemplate, checkChatArguments}
	}
	return append(common, openAIPairs.check, checkChatImages)
}

var deepSeekPairs = pairWords{"DS-PAIR", "DS-PAIR",
	"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
		"(insufficient tool messages following tool_calls message)",
	"Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"}

var qwenPairs = pairWords{"QWN-PAIR", "QWN-ORPHAN",
	`<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool ` +
		`messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: %s`,
	`<400> InternalError.Algo.InvalidParameter: messages with role "tool" must be a response to a preceeding message ` +
		`with "tool_calls".`}

// The rules of Mistral are those of mistral-common's validator.

func checkMistralOrder(_ *Provider, m *chatRequest) *Error {
	if len(m.Messages) == 0 {
		return broken("MIS-EMPTY", "Conversation must have at least one message")
	}
	if r := m.Messages[0].Role; r != "user" && r != "system" {
		return broken("MIS-START", "Conversation must start with a user message or system message, got %s", r)
	}
	for i := 1; i < len(m.Messages); i++ {
		last, role := m.Messages[i-1].Role, m.Messages[i].Role
		switch {
		case role == "tool" && last != "assistant" && last != "tool", role == "system" && last != "system" &&
			last != "user":
			return broken("MIS-ORDER", "Unexpected role '%s' after role '%s'", role, last)
		}
	}
	return nil
}

var mistralID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

func checkMistralIDs(_ *Provider, m *chatRequest) *Error {
	known, answered := map[string]bool{}, map[string]bool{}
	for i := range m.Messages {
		c := &m.Messages[i]
		if c.Role == "assistant" {
			clear(known)
			clear(answered)
		}
		for _, call := range c.ToolCalls {
			switch {
			case !mistralID.MatchString(call.ID):
				return broken("MIS-ID-9", "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", call.ID)
			case known[call.ID]:
				return broken("MIS-ID-DUP-CALL", "Duplicate tool call id %s in assistant message", call.ID)
			case !toolName.MatchString(call.Function.Name):
				return broken("MIS-FNAME", "Function name was %s but must be a-z, A-Z, 0-9, or contain underscores "+
					"and dashes, with a maximum length of 64.", call.Function.Name)
			}
			known[call.ID] = true
		}
		if c.Role != "tool" {
			continue
		}
		switch {
		case c.ToolCallID == "" || c.ToolCallID == "null":
			return broken("MIS-ID-NULL", "Tool call id has to be defined.")
		case !known[c.ToolCallID]:
			return broken("MIS-ID-UNEXPECTED", "Unexpected tool call id %s in tool results", c.ToolCallID)
		case answered[c.ToolCallID]:
			return broken("MIS-ID-DUP-RES", "Duplicate tool call id %s in tool results", c.ToolCallID)
		}
		answered[c.ToolCallID] = true
	}
	return nil
}

func checkMistralMessages(_ *Provider, m *chatRequest) *Error {
	for i := range m.Messages {
		c := &m.Messages[i]
		switch {
		case c.Role == "system" && c.Content.text() == "":
			return broken("MIS-SYS-EMPTY", "System prompt must have content")
		case c.Role == "assistant" && c.Content.text() == "" && len(c.ToolCalls) == 0:
			return broken("MIS-EITHER", "Assistant message must have either content or tool_calls, but not both.")
		case c.Role == "tool" && c.Content.images() > 0:
			return broken("MIS-TOOL-CHUNKS", "Unexpected content chunk types in tool message: {'image_url'}")
		}
	}
	return nil
}

func checkMistralEnd(_ *Provider, m *chatRequest) *Error {
	open := 0
	for i := range m.Messages {
		c := &m.Messages[i]
		if c.Role == "tool" {
			open--
		}
		if open < 0 || open > 0 && c.Role == "assistant" {
			break
		}
		open += len(c.ToolCalls)
	}
	if open != 0 {
		return broken("MIS-COUNT", "Not the same number of function calls and responses")
	}
	if last := m.Messages[len(m.Messages)-1]; last.Role == "assistant" {
		return broken("MIS-LAST", "Expected last role User or Tool (or Assistant with prefix or "+
			"continue_final_message set to True) for serving but got assistant")
	}
	return nil
}

// withoutReasoning finds a message with calls that came with reasoning, or must have, and has lost it.
func withoutReasoning(p *Provider, m *chatRequest) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range m.Messages {
		c := &m.Messages[i]
		thought := m.Thinking != nil && m.Thinking.Type == "enabled" ||
			slices.ContainsFunc(c.ToolCalls, func(call chatCall) bool { return p.thought[call.ID] })
		if len(c.ToolCalls) > 0 && c.Reasoning == "" && thought {
			return i
		}
	}
	return -1
}

func checkDeepSeekReasoning(p *Provider, m *chatRequest) *Error {
	if withoutReasoning(p, m) < 0 {
		return nil
	}
	return broken("DS-REASONING", "The `reasoning_content` in the thinking mode must be passed back to the API.")
}

func checkKimiReasoning(p *Provider, m *chatRequest) *Error {
	if i := withoutReasoning(p, m); i >= 0 {
		return broken("KIM-REASONING", "thinking is enabled but reasoning_content is missing in assistant tool call "+
			"message at index %d", i)
	}
	return nil
}

// checkGeminiSignatures finds a step of the newest turn whose first call has no thought signature.
func checkGeminiSignatures(_ *Provider, m *chatRequest) *Error {
	for i := len(m.Messages) - 1; i >= 0 && m.Messages[i].Role != "user"; i-- {
		if calls := m.Messages[i].ToolCalls; len(calls) > 0 && calls[0].Extra.Google.ThoughtSignature == "" {
			return broken("GEM-SIGNATURE", "Function call is missing a thought_signature in functionCall parts. "+
				"This is required for tools to work correctly. Additional data, function call `%s`, position %d.",
				calls[0].Function.Name, i)
		}
	}
	return nil
}

// maxKimiBytes is of all messages together.
const maxKimiBytes = 2 << 20

func checkKimiMessages(_ *Provider, m *chatRequest) *Error {
	total := 0
	for i := range m.Messages {
		c := &m.Messages[i]
		total += len(c.raw)
		if len(c.ToolCalls) == 0 && c.Role != "tool" && strings.TrimSpace(c.Content.text()) == "" &&
			c.Content.images() == 0 {
			return broken("KIM-EMPTY", "the message at position %d with role '%s' must not be empty", i, c.Role)
		}
	}
	if total > maxKimiBytes {
		return broken("KIM-BYTES", "total message size %d exceeds limit %d", total, maxKimiBytes)
	}
	return nil
}

func checkMiniMaxPairs(_ *Provider, m *chatRequest) *Error {
	for i := range m.Messages {
		c := &m.Messages[i]
		if c.Role != "tool" {
			continue
		}
		k := i - 1
		for k >= 0 && m.Messages[k].Role == "tool" {
			k--
		}
		if k < 0 || len(m.Messages[k].ToolCalls) == 0 {
			return broken("MMX-PAIR", "invalid params, tool call result does not follow tool call (2013)")
		}
		if !slices.ContainsFunc(m.Messages[k].ToolCalls, func(call chatCall) bool { return call.ID == c.ToolCallID }) {
			return broken("MMX-ID", "invalid params, tool result's tool id(%s) not found (2013)", c.ToolCallID)
		}
	}
	text := "invalid params, tool call result does not follow tool call (2013)"
	pairs := pairWords{"MMX-PAIR", "MMX-PAIR", text, text}
	return pairs.check(nil, m)
}

// checkTail is llama.cpp's rule for assistant messages at the end: one is a beginning that the model goes
// on with, two are refused.
func checkTail(p *Provider, m *chatRequest) *Error {
	n := len(m.Messages)
	if p.o.Vendor == VendorLlamaCpp && n > 1 && m.Messages[n-1].Role == "assistant" &&
		m.Messages[n-2].Role == "assistant" {
		return broken("LCP-ASSISTANT-TAIL", "Cannot have 2 or more assistant messages at the end of the list.")
	}
	return nil
}

// checkTemplate does what the chat templates of local models do: roles alternate behind one system
// message; what a family of models refuses besides goes by the model's name.
func checkTemplate(p *Provider, m *chatRequest) *Error {
	model, images := strings.ToLower(m.Model), 0
	last := "assistant"
	for i := range m.Messages {
		c := &m.Messages[i]
		images += c.Content.images()
		switch {
		case c.system() && strings.Contains(model, "gemma"):
			return broken("VLL-NOSYSTEM", "System role not supported")
		case len(c.ToolCalls) > 1 && strings.Contains(model, "llama-3"):
			return broken("VLL-SINGLECALL", "This model only supports single tool-calls at once!")
		case c.system() && i == 0, c.Role == "tool", len(c.ToolCalls) > 0:
			continue
		case c.Role == last || c.system():
			return templateError(p.o.Vendor)
		}
		last = c.Role
	}
	if images > 1 && p.o.Vendor == VendorVLLM {
		return broken("VLL-MM", "At most 1 image(s) may be provided in one prompt.")
	}
	if strings.Contains(model, "mistral") {
		if err := checkMistralIDs(p, m); err != nil {
			err.Rule = "VLL-MISTRAL"
			return err
		}
	}
	return nil
}

func templateError(v Vendor) *Error {
	const text = "After the optional system message, conversation roles must alternate user and assistant roles " +
		"except for tool calls and results"
	switch v {
	case VendorLlamaCpp:
		err := broken("LCP-JINJA", "Jinja Exception: %s", text)
		err.Status, err.Type = 500, "server_error"
		return err
	case VendorLMStudio:
		return broken("LMS-JINJA", "Error rendering prompt with jinja template: %q", text+".")
	}
	return broken("VLL-ALTERNATE", "Conversation roles must alternate user/assistant/user/assistant/...")
}
