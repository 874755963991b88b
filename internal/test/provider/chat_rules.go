package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
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
	switch n := max(m.MaxTokens, m.MaxCompletion); {
	case m.Model == "":
		return broken("SHAPE", "you must provide a model parameter")
	case len(m.Messages) == 0:
		return broken("SHAPE", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "+
			"empty array instead.")
	case p.o.MaxOutput > 0 && n > p.o.MaxOutput:
		return broken("OAI-OUT-CAP", "max_tokens is too large: %d. This model supports at most %d completion tokens, "+
			"whereas you provided %d.", n, p.o.MaxOutput, n)
	}
	return tooLongText("OAI-CACHE-KEY", "prompt_cache_key", m.CacheKey, maxCacheKey)
}

// tooLongText refuses a text of more characters than most.
func tooLongText(rule, at, text string, most int) *Error {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return nil
	}
	return broken(rule, "Invalid '%s': string too long. Expected a string with maximum length %d, but got a string "+
		"with length %d instead.", at, most, n)
}

func checkChatTools(_ *Provider, m *chatRequest) *Error {
	if n := len(m.Tools); n > maxChatTools {
		return broken("OAI-TOOLS-128", "Invalid 'tools': array too long. Expected an array with maximum length %d, "+
			"but got an array with length %d instead.", maxChatTools, n)
	}
	for i, t := range m.Tools {
		if err := checkFunctionName(fmt.Sprintf("tools[%d].function.name", i), t.Function.Name); err != nil {
			return err
		}
	}
	return nil
}

func checkFunctionName(at, name string) *Error {
	if !functionName.MatchString(name) {
		return broken("OAI-FN-NAME", "Invalid '%s': string does not match pattern. Expected a string that matches the "+
			"pattern '%s'.", at, functionName)
	}
	return tooLongText("OAI-FN-NAME", at, name, 64)
}

func checkChatMessages(_ *Provider, m *chatRequest) *Error {
	for i := range m.Messages {
		c := &m.Messages[i]
		at := fmt.Sprintf("messages[%d]", i)
		switch c.Role {
		case "system", "developer", "user", "assistant", "tool":
		default:
			return broken("SHAPE", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', "+
				"'function', 'tool', and 'developer'.", c.Role)
		}
		switch {
		case !c.Content.set && len(c.ToolCalls) == 0:
			return broken("OAI-CONTENT-NULL", "Invalid value for 'content': expected a string, got null.")
		case c.Content.list && len(c.Content.parts) == 0:
			return broken("OAI-CONTENT-NULL", "Invalid '%s.content': empty array. Expected an array with minimum "+
				"length 1, but got an empty array instead.", at)
		}
		for _, part := range c.Content.parts {
			if err := tooLongText("OAI-STR", at+".content", part.Text, maxChatString); err != nil {
				return err
			}
		}
		if err := checkChatCalls(at, c.ToolCalls); err != nil {
			return err
		}
		if c.Role == "tool" {
			if err := checkCallID(at+".tool_call_id", c.ToolCallID); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkChatCalls(at string, calls []chatCall) *Error {
	ids := map[string]bool{}
	for k, call := range calls {
		where := fmt.Sprintf("%s.tool_calls[%d]", at, k)
		if err := checkCallID(where+".id", call.ID); err != nil {
			return err
		}
		if ids[call.ID] {
			return broken("OAI-ID-UNIQUE", "Invalid '%s.id': duplicate tool call id '%s'.", where, call.ID)
		}
		ids[call.ID] = true
		if err := checkFunctionName(where+".function.name", call.Function.Name); err != nil {
			return err
		}
	}
	return nil
}

func checkCallID(at, id string) *Error {
	if id == "" {
		return broken("OAI-ID-40", "Missing required parameter: '%s'.", at)
	}
	return tooLongText("OAI-ID-40", at, id, maxChatCallID)
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
	for i := 0; i <= len(m.Messages); i++ {
		if i < len(m.Messages) && m.Messages[i].Role == "tool" {
			answers := m.Messages[i].ToolCallID
			if !known[answers] {
				return broken(w.orphan, "%s", w.orphanText)
			}
			waiting = slices.DeleteFunc(waiting, func(id string) bool { return id == answers })
			continue
		}
		if len(waiting) > 0 {
			return broken(w.missing, "%s", strings.Replace(w.missingText, "%s", strings.Join(waiting, ", "), 1))
		}
		clear(known)
		if i < len(m.Messages) {
			for _, call := range m.Messages[i].ToolCalls {
				waiting = append(waiting, call.ID)
				known[call.ID] = true
			}
		}
	}
	return nil
}

func checkChatImages(_ *Provider, m *chatRequest) *Error {
	total := 0
	for i := range m.Messages {
		c := &m.Messages[i]
		n := c.Content.images()
		total += n
		if n > 0 && c.Role != "user" {
			return broken("OAI-IMG-TOOL", "Invalid 'messages[%d]'. Image URLs are only allowed for messages with role "+
				"'user', but this message with role '%s' contains an image URL.", i, c.Role)
		}
	}
	if total > maxChatImages {
		return broken("OAI-BYTES", "Too many images in request: %d images, at most %d are allowed.", total,
			maxChatImages)
	}
	return nil
}
