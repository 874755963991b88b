package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// chatCheck is one rule of Chat Completions.
type chatCheck func(*Provider, *chatRequest) *Error

// Limits from refusals that were seen, and from the client libraries' tables.
const (
	maxChatTools  = 128
	maxChatCallID = 40
	maxChatString = 1_048_576
	maxChatImages = 1500
	maxCacheKey   = 64
)

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func checkChatShape(p *Provider, m *chatRequest) *Error {
	switch {
	case m.Model == "":
		return broken("SHAPE", "you must provide a model parameter")
	case len(m.Messages) == 0:
		return param(broken("SHAPE", "Invalid 'messages': empty array. Expected an array with minimum length 1, but "+
			"got an empty array instead."), "messages", "empty_array")
	case p.o.MaxOutput > 0 && max(m.MaxTokens, m.MaxCompletion) > p.o.MaxOutput:
		n := max(m.MaxTokens, m.MaxCompletion)
		return param(broken("OAI-OUT-CAP", "max_tokens is too large: %d. This model supports at most %d completion "+
			"tokens, whereas you provided %d.", n, p.o.MaxOutput, n), "max_tokens", "invalid_value")
	case len(m.CacheKey) > maxCacheKey:
		return param(broken("OAI-CACHE-KEY",
			"Invalid 'prompt_cache_key': string too long. Expected a string with maximum length %d, but got a string "+
				"with length %d instead.", maxCacheKey, len(m.CacheKey)), "prompt_cache_key", "string_above_max_length")
	}
	return nil
}

// param adds what OpenAI says besides.
func param(e *Error, name, code string) *Error {
	e.Param, e.Code = name, code
	return e
}

func checkChatTools(_ *Provider, m *chatRequest) *Error {
	if n := len(m.Tools); n > maxChatTools {
		return param(broken("OAI-TOOLS-128",
			"Invalid 'tools': array too long. Expected an array with maximum length %d, but got an array with length "+
				"%d instead.", maxChatTools, n), "tools", "array_above_max_length")
	}
	for i, t := range m.Tools {
		if err := checkFunctionName(fmt.Sprintf("tools[%d].function.name", i), t.Function.Name); err != nil {
			return err
		}
	}
	return nil
}

func checkFunctionName(at, name string) *Error {
	switch {
	case len(name) > 64:
		return param(broken("OAI-FN-NAME", "Invalid '%s': string too long. Expected a string with maximum length 64, "+
			"but got a string with length %d instead.", at, len(name)), at, "string_above_max_length")
	case !functionName.MatchString(name):
		return param(broken("OAI-FN-NAME", "Invalid '%s': string does not match pattern. Expected a string that "+
			"matches the pattern '%s'.", at, functionName), at, "invalid_value")
	}
	return nil
}

func checkChatMessages(_ *Provider, m *chatRequest) *Error {
	for i := range m.Messages {
		c := &m.Messages[i]
		at := fmt.Sprintf("messages[%d]", i)
		switch c.Role {
		case "system", "developer", "user", "assistant", "tool":
		default:
			return param(broken("SHAPE", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', "+
				"'function', 'tool', and 'developer'.", c.Role), at+".role", "invalid_value")
		}
		switch {
		case !c.Content.set && len(c.ToolCalls) == 0:
			return param(broken("OAI-CONTENT-NULL", "Invalid value for 'content': expected a string, got null."),
				at+".content", "")
		case c.Content.list && len(c.Content.parts) == 0:
			return param(broken("OAI-CONTENT-NULL",
				"Invalid '%s.content': empty array. Expected an array with minimum length 1, but got an empty array "+
					"instead.", at), at+".content", "empty_array")
		}
		ids := map[string]bool{}
		for k, call := range c.ToolCalls {
			where := fmt.Sprintf("%s.tool_calls[%d]", at, k)
			if err := checkCallID(where+".id", call.ID); err != nil {
				return err
			}
			if ids[call.ID] {
				return param(broken("OAI-ID-UNIQUE", "Invalid '%s.id': duplicate tool call id '%s'.", where, call.ID),
					where+".id", "")
			}
			ids[call.ID] = true
			if err := checkFunctionName(where+".function.name", call.Function.Name); err != nil {
				return err
			}
		}
		if c.Role == "tool" {
			if err := checkCallID(at+".tool_call_id", c.ToolCallID); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkCallID(at, id string) *Error {
	switch {
	case id == "":
		return param(broken("OAI-ID-40", "Missing required parameter: '%s'.", at), at, "missing_required_parameter")
	case len(id) > maxChatCallID:
		return param(broken("OAI-ID-40", "Invalid '%s': string too long. Expected a string with maximum length %d, "+
			"but got a string with length %d instead.", at, maxChatCallID, len(id)), at, "string_above_max_length")
	}
	return nil
}

func checkChatStrings(_ *Provider, m *chatRequest) *Error {
	for i := range m.Messages {
		for _, part := range m.Messages[i].Content.parts {
			if n := utf8.RuneCountInString(part.Text); n > maxChatString {
				at := fmt.Sprintf("messages[%d].content", i)
				return param(broken("OAI-STR", "Invalid '%s': string too long. Expected a string with maximum length "+
					"%d, but got a string with length %d instead.", at, maxChatString, n), at,
					"string_above_max_length")
			}
		}
	}
	return nil
}

// checkChatArguments: OpenAI takes any string, but no other server does, and a call that was cut off
// must not be sent again anyhow.
func checkChatArguments(_ *Provider, m *chatRequest) *Error {
	for i := range m.Messages {
		for k, call := range m.Messages[i].ToolCalls {
			args := call.Function.Arguments
			if !json.Valid([]byte(args)) || !strings.HasPrefix(strings.TrimSpace(args), "{") {
				return broken("ALL-ARGS", "Invalid 'messages[%d].tool_calls[%d].function.arguments': must be valid "+
					"JSON", i, k)
			}
		}
	}
	return nil
}

// pairWords are the texts of the two rules of pairing.
type pairWords struct {
	missing, orphan string // the rules
	missingText     string // %s: the ids
	orphanText      string
}

var openAIPairs = pairWords{"OAI-PAIR-MISSING", "OAI-PAIR-ORPHAN",
	"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The " +
		"following tool_call_ids did not have response messages: %s",
	"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."}

// check holds each call to a result directly behind it, with nothing between.
func (w *pairWords) check(_ *Provider, m *chatRequest) *Error {
	var waiting []string
	known := map[string]bool{}
	missing := func(i int) *Error {
		if len(waiting) == 0 {
			return nil
		}
		text := w.missingText
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, strings.Join(waiting, ", "))
		}
		return param(&Error{Status: 400, Rule: w.missing, Message: text}, fmt.Sprintf("messages.[%d].role", i), "")
	}
	for i := range m.Messages {
		c := &m.Messages[i]
		if c.Role == "tool" {
			if !known[c.ToolCallID] {
				return param(&Error{Status: 400, Rule: w.orphan, Message: w.orphanText},
					fmt.Sprintf("messages.[%d].role", i), "")
			}
			waiting = without(waiting, c.ToolCallID)
			continue
		}
		if err := missing(i); err != nil {
			return err
		}
		clear(known)
		for _, call := range c.ToolCalls {
			waiting = append(waiting, call.ID)
			known[call.ID] = true
		}
	}
	return missing(len(m.Messages))
}

func without(ids []string, id string) []string {
	var out []string
	for _, x := range ids {
		if x != id {
			out = append(out, x)
		}
	}
	return out
}

func checkChatImages(_ *Provider, m *chatRequest) *Error {
	total := 0
	for i := range m.Messages {
		c := &m.Messages[i]
		n := c.Content.images()
		total += n
		if n > 0 && c.Role != "user" {
			return param(broken("OAI-IMG-TOOL",
				"Invalid 'messages[%d]'. Image URLs are only allowed for messages with role 'user', but this message "+
					"with role '%s' contains an image URL.", i, c.Role), fmt.Sprintf("messages[%d]", i),
				"invalid_value")
		}
	}
	if total > maxChatImages {
		return broken("OAI-BYTES", "Too many images in request: %d images, at most %d are allowed.", total,
			maxChatImages)
	}
	return nil
}
