// Package wire checks what providers refuse in a list of messages. It is based on their documentation and shares no
// code with the library that it checks.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// These are the rules of providers for the order and the shape of messages. A history is rendered like a simple adapter
// would do it, and each provider's rules are applied to the result. The ids of the rules begin with ANT for Anthropic
// Messages, OAI for OpenAI Chat Completions, RSP for OpenAI Responses, GEM for Gemini, BRC for Bedrock Converse, and
// ALL for every provider.
//
// Characters and lengths of call ids are not checked: a history holds the ids of the provider that made them, and an
// adapter maps ids that another provider refuses.

// Rules are optional checks.
type Rules struct {
	Blank bool // refuse texts of only white space (ANT-BLANK-TEXT, BRC-BLANK)
	Lead  bool // the assistant may come first, because it did in the history
	Bytes bool // text may be invalid UTF-8, because the history holds such text
}

// Check returns what providers would refuse in msgs, or nil: the rule, the index of the message, and what is wrong.
// Calls at the very end may wait for their results: the host is about to answer them.
func (w Rules) Check(msgs []winnow.Message) error {
	c := &check{}
	for i := range msgs {
		c.message(i, &msgs[i], w)
	}
	turns := render(answerPending(msgs))
	if w.Lead && len(turns) > 0 && !turns[0].user {
		turns = append([]turn{{user: true, blocks: []block{{kind: blockContent}}}}, turns...)
	}
	c.chat(answerPending(msgs))
	c.responses(turns)
	c.gemini(turns)
	joined := joinTurns(turns, func(a, b *turn) bool { return a.user == b.user }) // ANT-MERGE, BRC-ALTERNATE
	c.anthropic(joined)
	c.bedrock(joined)
	return errors.Join(c.errs...)
}

type check struct{ errs []error }

func (c *check) refuse(rule string, at int, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s at message %d: %s", rule, at, fmt.Sprintf(format, args...)))
}

// message checks a single message.
func (c *check) message(i int, m *winnow.Message, w Rules) {
	content := false
	for k, p := range m.Parts {
		if !w.Bytes && !utf8.ValidString(p.Text+p.ID+p.Name+p.Signature) {
			c.refuse("ALL-UTF8", i, "part %d", k)
		}
		switch p.Kind {
		case winnow.KindText:
			if p.Text == "" {
				c.refuse("ANT-EMPTY-TEXT", i, "part %d", k)
				continue
			}
			if w.Blank && strings.TrimSpace(p.Text) == "" {
				c.refuse("ANT-BLANK-TEXT", i, "part %d", k)
				continue
			}
		case winnow.KindThinking:
			continue
		case winnow.KindToolCall:
			if len(p.Arguments) > 0 && !json.Valid(p.Arguments) {
				c.refuse("ALL-ARGS", i, "part %d: %.60q", k, p.Arguments)
			}
			if m.StopReason == "error" || m.StopReason == "aborted" {
				c.refuse("ALL-ERRORED", i, "a call of a turn that ended with %q", m.StopReason)
			}
		}
		content = true
	}
	switch m.Role {
	case winnow.RoleTool: // a result may be empty
	case winnow.RoleUser, winnow.RoleAssistant, winnow.RoleSystem:
		if !content {
			c.refuse("ANT-EMPTY-MSG", i, "%s without content", m.Role)
		}
	default:
		c.refuse("ROLE", i, "%q", m.Role)
	}
}

type blockKind byte

const (
	blockContent  blockKind = iota // text, an image, anything opaque
	blockThinking                  // signed: unsigned thinking is not sent
	blockCall
	blockResult
)

type block struct {
	kind blockKind
	id   string
}

type turn struct {
	at     int // index of its first message
	user   bool
	blocks []block
}

func (t *turn) ids(kind blockKind) (ids []string) {
	for _, b := range t.blocks {
		if b.kind == kind {
			ids = append(ids, b.id)
		}
	}
	return ids
}

// answerPending adds results for the open calls at the end of msgs.
func answerPending(msgs []winnow.Message) []winnow.Message {
	last := len(msgs) - 1
	answered := map[string]bool{}
	for last >= 0 && msgs[last].Role == winnow.RoleTool {
		answered[msgs[last].ToolCallID] = true
		last--
	}
	if last < 0 || msgs[last].Role != winnow.RoleAssistant {
		return msgs
	}
	out := msgs[:len(msgs):len(msgs)]
	for _, p := range msgs[last].Parts {
		if p.Kind == winnow.KindToolCall && !answered[p.ID] {
			out = append(out, winnow.Message{Role: winnow.RoleTool, ToolCallID: p.ID,
				Parts: []winnow.Part{{Text: "(to come)"}}})
			answered[p.ID] = true
		}
	}
	return out
}

// render turns msgs into user and model turns, one for each message. System messages are left out, because they go into
// a separate field, and a summary is sent as the user's.
func render(msgs []winnow.Message) []turn {
	var turns []turn
	for i := range msgs {
		m := &msgs[i]
		if m.Role == winnow.RoleSystem {
			continue
		}
		t := turn{at: i, user: m.Role != winnow.RoleAssistant || m.Summary}
		if m.Role == winnow.RoleTool {
			t.blocks = []block{{blockResult, m.ToolCallID}}
			turns = append(turns, t)
			continue
		}
		for _, p := range m.Parts {
			switch {
			case p.Kind == winnow.KindToolCall:
				t.blocks = append(t.blocks, block{blockCall, p.ID})
			case p.Kind != winnow.KindThinking:
				t.blocks = append(t.blocks, block{kind: blockContent})
			case p.Signature != "":
				t.blocks = append(t.blocks, block{kind: blockThinking})
			}
		}
		turns = append(turns, t)
	}
	return turns
}

// joinTurns joins neighbours that are alike.
func joinTurns(turns []turn, alike func(a, b *turn) bool) []turn {
	var out []turn
	for _, t := range turns {
		if n := len(out); n > 0 && alike(&out[n-1], &t) {
			out[n-1].blocks = append(out[n-1].blocks, t.blocks...)
			continue
		}
		t.blocks = slices.Clone(t.blocks) // a turn may be joined more than once
		out = append(out, t)
	}
	return out
}

// pairs compares the calls of a model turn with the results in the next user turn.
func (c *check) pairs(provider string, at int, calls, results []string) {
	open := map[string]bool{}
	for _, id := range calls {
		open[id] = true
	}
	for _, id := range results {
		waits, known := open[id]
		switch {
		case !known:
			c.refuse(provider+"-PAIR-ORPHAN", at, "result %q has no call in front of it", id)
		case !waits:
			c.refuse(provider+"-PAIR-DUP-RESULT", at, "call %q has two results", id)
		}
		if known {
			open[id] = false
		}
	}
	for _, id := range calls {
		if open[id] {
			c.refuse(provider+"-PAIR-MISSING", at, "call %q has no result", id)
		}
	}
}

// modelTurns calls f for each model turn with the next user turn, which may be empty.
func modelTurns(turns []turn, f func(model, user *turn)) {
	for k := range turns {
		user := &turn{}
		if k+1 < len(turns) && turns[k+1].user {
			user = &turns[k+1]
		}
		if !turns[k].user {
			f(&turns[k], user)
		}
	}
}

func repeated(ids []string) (string, bool) {
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			return id, true
		}
		seen[id] = true
	}
	return "", false
}

// anthropic: results are the first blocks of the very next message, and ids are unique in the request.
func (c *check) anthropic(turns []turn) {
	var all []string
	for k := range turns {
		t := &turns[k]
		if k == 0 && t.user {
			c.pairs("ANT", t.at, nil, t.ids(blockResult))
		}
		if k == 0 && !t.user {
			c.refuse("ANT-FIRST-USER", t.at, "an assistant message comes first")
		}
		content := false
		for _, b := range t.blocks {
			if b.kind == blockResult && content {
				c.refuse("ANT-PAIR-RESULTS-FIRST", t.at, "result %q comes behind other content", b.id)
			}
			content = content || b.kind == blockContent
		}
		if n := len(t.blocks); !t.user && n > 0 && t.blocks[n-1].kind == blockThinking {
			c.refuse("ANT-THINK-LAST", t.at, "thinking without what it led to")
		}
		for _, id := range t.ids(blockCall) {
			if id == "" {
				c.refuse("ANT-ID-CHARSET", t.at, "an empty call id")
			}
		}
		all = append(all, t.ids(blockCall)...)
	}
	if id, ok := repeated(all); ok {
		c.refuse("ANT-ID-UNIQUE", 0, "call id %q is used twice", id)
	}
	modelTurns(turns, func(m, u *turn) { c.pairs("ANT", m.at, m.ids(blockCall), u.ids(blockResult)) })
}

// chat: nothing may stand between a call and its results, not even a system message.
func (c *check) chat(msgs []winnow.Message) {
	for i := 0; i < len(msgs); {
		at := i
		var calls, results []string
		if msgs[i].Role == winnow.RoleAssistant {
			for _, p := range msgs[i].Parts {
				if p.Kind == winnow.KindToolCall {
					calls = append(calls, p.ID)
				}
			}
		}
		if msgs[i].Role != winnow.RoleTool {
			i++
		}
		for ; i < len(msgs) && msgs[i].Role == winnow.RoleTool; i++ {
			results = append(results, msgs[i].ToolCallID)
		}
		if id, ok := repeated(calls); ok {
			c.refuse("OAI-ID-UNIQUE", at, "call id %q twice in one message", id)
		}
		c.pairs("OAI", at, calls, results)
	}
}

// responses: a flat list of items; an output may come at any time after its call.
func (c *check) responses(turns []turn) {
	open := map[string]int{}
	for _, t := range turns {
		for k, b := range t.blocks {
			switch b.kind {
			case blockThinking:
				if k+1 == len(t.blocks) {
					c.refuse("RSP-REASONING-NEXT", t.at, "a reasoning item without the one that it led to")
				}
			case blockCall:
				open[b.id]++
			case blockResult:
				if open[b.id] == 0 {
					c.refuse("RSP-PAIR-ORPHAN", t.at, "no call found for output %q", b.id)
					continue
				}
				open[b.id]--
			}
		}
	}
	for id, n := range open {
		if n > 0 {
			c.refuse("RSP-PAIR-MISSING", 0, "no output found for call %q", id)
		}
	}
}

// gemini: contents alternate; the responses form a separate content, one for each call.
func (c *check) gemini(turns []turn) {
	isResponse := func(t *turn) bool { return len(t.blocks) > 0 && t.blocks[0].kind == blockResult }
	contents := joinTurns(turns, func(a, b *turn) bool { return a.user == b.user && isResponse(a) == isResponse(b) })
	for k := range contents {
		t := &contents[k]
		calls := len(t.ids(blockCall))
		switch {
		case isResponse(t) && (k == 0 || len(contents[k-1].ids(blockCall)) == 0):
			c.refuse("GEM-ORDER-RESP", t.at, "responses that do not follow calls")
		case calls > 0 && k == 0:
			c.refuse("GEM-ORDER-CALL", t.at, "calls that follow no user turn")
		case calls > 0 && (k+1 == len(contents) || !isResponse(&contents[k+1]) || len(contents[k+1].blocks) != calls):
			c.refuse("GEM-COUNT", t.at, "not as many responses as calls (%d)", calls)
		}
	}
}

// bedrock: roles alternate, and the user turn after calls holds their results, anywhere in it.
func (c *check) bedrock(turns []turn) {
	if len(turns) > 0 && !turns[0].user {
		c.refuse("BRC-FIRST-USER", turns[0].at, "an assistant message comes first")
	}
	modelTurns(turns, func(m, u *turn) {
		if id, ok := repeated(m.ids(blockCall)); ok {
			c.refuse("BRC-DUP-ID", m.at, "call id %q twice in one turn", id)
		}
		c.pairs("BRC", m.at, m.ids(blockCall), u.ids(blockResult))
	})
}
