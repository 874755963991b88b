package provider

import (
	"fmt"
	"regexp"
	"strings"
)

// messagesChecks are the rules of the Messages API, in the order in which a request meets them: its
// shape, what is empty, the pairs of calls and results, thinking, images, the end, the numbers.
var messagesChecks = []func(*Provider, *messagesRequest, *Request) *Error{
	checkShape, checkToolNames, checkRoles, checkIDs, checkEmpty, checkCacheMarks, checkPairs, checkServerTools,
	checkDeferred, checkThinkingOrder, checkThinkingKept, checkSignatures, checkImages, checkEnd, checkNumbers,
}

var (
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	serverID = regexp.MustCompile(`^srvtoolu_[a-zA-Z0-9_]+$`)
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

const (
	maxTurns   = 100_000 // messages
	minThought = 1024    // tokens of a budget
)

// checkShape finds what is missing.
func checkShape(_ *Provider, m *messagesRequest, _ *Request) *Error {
	switch {
	case m.Model == "":
		return broken("SHAPE", "model: Field required")
	case m.MaxTokens <= 0:
		return broken("SHAPE", "max_tokens: Field required")
	case len(m.Messages) == 0:
		return broken("SHAPE", "messages: at least one message is required")
	case len(m.Messages) > maxTurns:
		return broken("ANT-MAX-MSGS", "messages: List should have at most %d items after validation, not %d", maxTurns,
			len(m.Messages))
	}
	for i, t := range m.Messages {
		if !t.Content.set {
			return broken("SHAPE", "messages.%d.content: Field required", i)
		}
	}
	return nil
}

func checkToolNames(_ *Provider, m *messagesRequest, _ *Request) *Error {
	for i, t := range m.Tools {
		if !toolName.MatchString(t.Name) {
			return broken("ANT-TOOLNAME", "tools.%d.custom.name: String should match pattern '%s'", i, toolName)
		}
	}
	return nil
}

func checkRoles(_ *Provider, m *messagesRequest, _ *Request) *Error {
	for i, t := range m.Messages {
		if t.Role != "user" && t.Role != "assistant" {
			return broken("ANT-SYSTEM-ROLE", "messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
	}
	if m.Messages[0].Role != "user" && !m.Messages[0].compacted() {
		return broken("ANT-FIRST-USER", `messages: first message must use the "user" role`)
	}
	return nil
}

// each calls f for each block with its place.
func (m *messagesRequest) each(f func(at string, turn int, b *contentBlock) *Error) *Error {
	for i := range m.Messages {
		for k := range m.Messages[i].Content.blocks {
			if err := f(fmt.Sprintf("messages.%d.content.%d", i, k), i, &m.Messages[i].Content.blocks[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkIDs(_ *Provider, m *messagesRequest, _ *Request) *Error {
	seen := map[string]bool{}
	return m.each(func(at string, _ int, b *contentBlock) *Error {
		switch {
		case b.Type == "server_tool_use" && !serverID.MatchString(b.ID):
			return broken("ANT-ID-SRVTOOL", "%s.server_tool_use.id: String should match pattern '%s'", at, serverID)
		case b.Type == "tool_use" && !callID.MatchString(b.ID):
			return broken("ANT-ID-CHARSET", "%s.tool_use.id: String should match pattern '%s'", at, callID)
		case b.Type == "tool_use" && (len(b.Input) == 0 || b.Input[0] != '{'):
			return broken("ALL-ARGS", "%s.tool_use.input: Input should be a valid dictionary", at)
		case b.result() && !callID.MatchString(b.ToolUseID):
			return broken("ANT-ID-CHARSET", "%s.tool_result.tool_use_id: String should match pattern '%s'", at, callID)
		case b.Type == "tool_use" && seen[b.ID]:
			return broken("ANT-ID-UNIQUE", "%s: tool_use ids must be unique", at)
		}
		if b.Type == "tool_use" {
			seen[b.ID] = true
		}
		return nil
	})
}

func checkEmpty(p *Provider, m *messagesRequest, _ *Request) *Error {
	if err := checkTexts("system", m.System); err != nil {
		return err
	}
	for i, t := range m.Messages {
		last := i == len(m.Messages)-1 && t.Role == "assistant" && p.o.Prefill
		if len(t.Content.blocks) == 0 && !last {
			return broken("ANT-EMPTY-MSG", "messages.%d: all messages must have non-empty content except for the "+
				"optional final assistant message", i)
		}
		if err := checkTexts("messages", t.Content); err != nil {
			return err
		}
	}
	return m.each(func(at string, _ int, b *contentBlock) *Error {
		if b.result() && b.Content.set && !b.Content.text && len(b.Content.blocks) == 0 {
			return broken("ANT-EMPTY-RESULT", "%s.tool_result.content: List should have at least 1 item after "+
				"validation, not 0", at)
		}
		return checkWithin(b)
	})
}

// checkWithin looks at the texts that a result, a document or a search result holds, at every depth.
func checkWithin(b *contentBlock) *Error {
	var within content
	switch {
	case b.Type == "tool_result", b.Type == "search_result", b.Type == "mcp_tool_result":
		within = b.Content
	case b.Type == "document" && b.Source != nil:
		within = b.Source.Content
	}
	if within.text { // a string may be empty
		return nil
	}
	if err := checkTexts("messages", within); err != nil {
		return err
	}
	for k := range within.blocks {
		if err := checkWithin(&within.blocks[k]); err != nil {
			return err
		}
	}
	return nil
}

func checkTexts(where string, c content) *Error {
	for i := range c.blocks {
		b := &c.blocks[i]
		switch {
		case b.Type != "text":
		case b.Text == "" && b.CacheControl != nil:
			return broken("ANT-CACHE-EMPTY", "%s: cache_control cannot be set for empty text blocks", where)
		case b.Text == "":
			return broken("ANT-EMPTY-TEXT", "%s: text content blocks must be non-empty", where)
		case strings.TrimSpace(b.Text) == "":
			return broken("ANT-BLANK-TEXT", "%s: text content blocks must contain non-whitespace text", where)
		}
	}
	return nil
}

const maxCacheMarks = 4

// checkCacheMarks counts cache_control, at every depth. An hour must not come behind five minutes.
func checkCacheMarks(_ *Provider, m *messagesRequest, _ *Request) *Error {
	n, short := 0, false
	for _, c := range m.marks() {
		if c == nil {
			continue
		}
		n++
		if c.TTL == "1h" && short {
			return broken("ANT-CACHE-ORDER", "a ttl='1h' cache_control block must not come after a ttl='5m' "+
				"cache_control block")
		}
		short = short || c.TTL != "1h"
	}
	if n > maxCacheMarks {
		return broken("ANT-CACHE-4", "A maximum of %d blocks with cache_control may be provided. Found %d.",
			maxCacheMarks, n)
	}
	return nil
}

// marks returns the cache_control of everything that may have one, in the order in which it is cached.
func (m *messagesRequest) marks() (marks []*cacheControl) {
	for i := range m.Tools {
		marks = append(marks, m.Tools[i].CacheControl)
	}
	var add func(c *content)
	add = func(c *content) {
		for k := range c.blocks {
			b := &c.blocks[k]
			add(&b.Content)
			if b.Source != nil {
				add(&b.Source.Content)
			}
			marks = append(marks, b.CacheControl)
		}
	}
	add(&m.System)
	for i := range m.Messages {
		add(&m.Messages[i].Content)
	}
	if n := len(marks); n > 0 && marks[n-1] == nil {
		marks[n-1] = m.CacheControl // the automatic mark
	}
	return marks
}

// checkPairs holds each call to one result at the beginning of the next turn. Messages of one role that
// follow each other are one turn.
func checkPairs(_ *Provider, m *messagesRequest, _ *Request) *Error {
	var calls []string        // of the newest turn of the assistant
	open := map[string]bool{} // of them: still without a result
	turn, content, at, uses := "", false, 0, false
	for i := range m.Messages {
		t := &m.Messages[i]
		if t.Role != turn {
			if t.Role == "assistant" {
				if err := checkOpen(at, calls, open); err != nil {
					return err
				}
				calls, open = nil, map[string]bool{}
			}
			turn, content = t.Role, false
		}
		if turn == "assistant" {
			at = i
		}
		for k := range t.Content.blocks {
			b := &t.Content.blocks[k]
			if b.Type == "tool_use" {
				calls, open[b.ID], uses = append(calls, b.ID), true, true
			}
			if !b.result() {
				content = true
				continue
			}
			waits, known := open[b.ToolUseID]
			switch place := fmt.Sprintf("messages.%d.content.%d", i, k); {
			case turn == "assistant" || !known:
				return broken("ANT-PAIR-ORPHAN", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
					"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
					place, b.ToolUseID)
			case !waits:
				return broken("ANT-PAIR-DUP-RESULT", "%s: each tool_use must have a single result. Found multiple "+
					"`tool_result` blocks with id: %s", place, b.ToolUseID)
			case content:
				return broken("ANT-PAIR-RESULTS-FIRST", "messages.%d: Did not find %d `tool_result` block(s) at the "+
					"beginning of this message. Messages following `tool_use` blocks must begin with a matching "+
					"number of `tool_result` blocks.", at+1, len(openOf(calls, open)))
			}
			open[b.ToolUseID] = false
		}
	}
	err := checkOpen(at, calls, open)
	if err == nil && uses && len(m.Tools) == 0 {
		err = broken("ANT-TOOLS-REQUIRED", "Requests which include `tool_use` or `tool_result` blocks must define "+
			"tools")
	}
	return err
}

// openOf returns the calls without a result.
func openOf(calls []string, open map[string]bool) (ids []string) {
	for _, id := range calls {
		if open[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// checkOpen refuses calls without a result; at is the message that they stand in.
func checkOpen(at int, calls []string, open map[string]bool) *Error {
	ids := openOf(calls, open)
	if ids == nil {
		return nil
	}
	return broken("ANT-PAIR-MISSING", "messages.%d: `tool_use` ids were found without `tool_result` blocks "+
		"immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next "+
		"message.", at, strings.Join(ids, ", "))
}

// checkServerTools holds each call of the provider's own to its result, in the same turn: messages of the assistant
// with nothing between them but results of the host's tools. A call that is open at the end is one that the provider
// runs when it goes on.
func checkServerTools(_ *Provider, m *messagesRequest, _ *Request) *Error {
	answered := map[string]bool{} // the calls of the turn, by id
	return m.each(func(at string, i int, b *contentBlock) *Error {
		switch {
		case b.serverCall():
			if done, again := answered[b.ID]; again && !done {
				return openServerCall(at, b.ID)
			}
			answered[b.ID] = false
		case b.serverResult():
			if _, called := answered[b.ToolUseID]; !called {
				call := strings.Replace(b.Type, "_tool_result", "_tool_use", 1) // of MCP
				if call != "mcp_tool_use" {
					call = "server_tool_use"
				}
				return broken("ANT-PAIR-SERVERTOOL",
					"%s: unexpected `tool_use_id` found in `%s` blocks: %s. Each `%s` block must have a corresponding "+
						"`%s` block before it.", at, b.Type, b.ToolUseID, b.Type, call)
			}
			answered[b.ToolUseID] = true
		case m.Messages[i].Role == "user" && !b.result(): // the end of the turn
			for id, done := range answered {
				if !done {
					return openServerCall(at, id)
				}
			}
			clear(answered)
		}
		return nil
	})
}

// checkDeferred refuses a cache marker on a tool that is loaded on demand, and a tool that a search found and that is
// no longer among the tools.
func checkDeferred(_ *Provider, m *messagesRequest, _ *Request) *Error {
	known := map[string]bool{}
	for _, t := range m.Tools {
		if known[t.Name] = true; t.DeferLoading && t.CacheControl != nil {
			return broken("ANT-DEFER-CACHE", "Tool '%s' cannot have both defer_loading=true and cache_control set. "+
				"Tools with defer_loading cannot use prompt caching.", t.Name)
		}
	}
	return m.each(func(_ string, _ int, b *contentBlock) *Error {
		for i := range b.Content.blocks {
			inner := &b.Content.blocks[i]
			for _, found := range append([]contentBlock{*inner}, inner.References...) {
				if found.Type == "tool_reference" && !known[found.ToolName] {
					return broken("ANT-DEFER-GONE", "Tool reference '%s' not found in available tools", found.ToolName)
				}
			}
		}
		return nil
	})
}

// openServerCall refuses a call of the provider's own without a result in front of the place.
func openServerCall(at, id string) *Error {
	return broken("ANT-PAIR-SERVERCALL", "%s: the server's tool use with id `%s` was found without a corresponding "+
		"result block before it", at, id)
}

// goesOn reports whether the last message is an answer that paused within a call of the provider's own.
func (m *messagesRequest) goesOn() bool {
	open := map[string]bool{}
	for i := range m.Messages {
		for _, b := range m.Messages[i].Content.blocks {
			if b.serverCall() {
				open[b.ID] = true
			} else if b.serverResult() {
				delete(open, b.ToolUseID)
			}
		}
	}
	return len(open) > 0 // one in an earlier turn is refused before
}

// checkEnd looks at the last message.
func checkEnd(p *Provider, m *messagesRequest, _ *Request) *Error {
	last := m.Messages[len(m.Messages)-1]
	if last.Role != "assistant" || m.goesOn() {
		return nil
	}
	if !p.o.Prefill || m.Thinking.on() {
		return broken("ANT-PREFILL", "This model does not support assistant message prefill. The conversation must "+
			"end with a user message.")
	}
	if n := len(last.Content.blocks); n > 0 {
		if b := last.Content.blocks[n-1]; b.Type == "text" && strings.TrimRight(b.Text, " \t\r\n") != b.Text {
			return broken("ANT-TRAIL-WS", "messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return nil
}

// checkNumbers looks at max_tokens and the budget of thinking.
func checkNumbers(p *Provider, m *messagesRequest, _ *Request) *Error {
	if p.o.MaxOutput > 0 && m.MaxTokens > p.o.MaxOutput {
		return broken("ANT-OUT-CAP", "max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s",
			m.MaxTokens, p.o.MaxOutput, m.Model)
	}
	if m.Thinking != nil && m.Thinking.Type == "enabled" {
		if m.Thinking.BudgetTokens < minThought {
			return broken("ANT-THINK-BUDGET", "thinking.enabled.budget_tokens: Input should be greater than or equal "+
				"to %d", minThought)
		}
		if m.MaxTokens <= m.Thinking.BudgetTokens {
			return broken("ANT-THINK-BUDGET", "`max_tokens` must be greater than `thinking.budget_tokens`.")
		}
	}
	return nil
}
