package agents

import (
	"encoding/json"
	"slices"

	"github.com/winnowgo/winnow"
)

type claude struct {
	*writer
	leaf any               // uuid of the newest line
	call map[string]string // line of each call without a result
}

func (c *claude) uuid() string {
	return c.id(8) + "-0000-4000-8000-" + "000000000000"
}

func (c *claude) begin() {
	c.call = map[string]string{}
	if !c.Noise {
		return
	}
	c.line(object{"type": "summary", "summary": "Of another session",
		"leafUuid": "00000000-dead-4000-8000-000000000000"})
	c.line(object{"type": "queue-operation", "operation": "enqueue", "timestamp": c.now(), "sessionId": sessionID})
}

const sessionID = "5e551011-0000-4000-8000-000000000000"

// entry writes a line of the tree after parent.
func (c *claude) entry(v object, parent any) string {
	id := c.uuid()
	for key, value := range map[string]any{
		"uuid": id, "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/me/project",
		"sessionId": sessionID, "version": "2.1.34", "gitBranch": "main", "timestamp": c.now(),
	} {
		if _, ok := v[key]; !ok {
			v[key] = value
		}
	}
	c.line(v)
	c.leaf = id
	return id
}

func (c *claude) message(m winnow.Message) {
	switch m.Role {
	case winnow.RoleUser:
		if len(m.Parts) == 0 {
			return
		}
		c.call = map[string]string{}
		v := object{"type": "user", "message": object{"role": "user", "content": c.content(m.Parts)}}
		if m.Injected {
			v["isMeta"] = true
		}
		if len(m.Parts) == 1 && m.Parts[0].Kind == winnow.KindText && c.r.IntN(3) > 0 {
			v["message"] = object{"role": "user", "content": m.Parts[0].Text}
		}
		c.entry(v, c.leaf)
		c.want(m)
	case winnow.RoleAssistant:
		c.answer(m)
	case winnow.RoleTool:
		c.result(m)
	}
}

// answer writes a line for each block. Each has the usage of the whole answer.
func (c *claude) answer(m winnow.Message) {
	if len(m.Parts) == 0 {
		return
	}
	if m.Usage == nil {
		m.Usage = c.usage(&m)
	}
	m.StopReason = "end_turn"
	usage := object{
		"input_tokens": m.Usage.Input, "output_tokens": m.Usage.Output, "cache_read_input_tokens": m.Usage.CacheRead,
		"cache_creation_input_tokens": m.Usage.CacheWrite, "service_tier": "standard",
	}
	id := "msg_" + c.id(8)
	for _, p := range m.Parts {
		message := object{
			"id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-6", "stop_reason": m.StopReason,
			"usage": usage, "content": c.content([]winnow.Part{p}),
		}
		line := c.entry(object{"type": "assistant", "requestId": "req_1", "message": message}, c.leaf)
		if p.Kind == winnow.KindToolCall {
			c.call[p.ID] = line
		}
		if c.Noise && c.r.IntN(20) == 0 {
			c.entry(object{"type": "progress", "data": object{"type": "hook_progress"}}, c.leaf)
		}
	}
	c.want(m)
}

// result writes a result after the line of its call, as for parallel calls.
func (c *claude) result(m winnow.Message) {
	content := []object{{"type": "tool_result", "tool_use_id": m.ToolCallID, "content": c.resultContent(m),
		"is_error": m.IsError}}
	v := object{"type": "user", "message": object{"role": "user", "content": content}}
	v["toolUseResult"] = object{"stdout": text(&m), "stderr": "", "interrupted": false}
	parent := c.leaf
	if line, ok := c.call[m.ToolCallID]; ok {
		parent = line
		delete(c.call, m.ToolCallID)
	}
	c.entry(v, parent)
	m.Details = nil
	c.want(m)
}

func (c *claude) resultContent(m winnow.Message) any {
	isText := func(p winnow.Part) bool { return p.Kind == winnow.KindText }
	if len(m.Parts) == 1 && isText(m.Parts[0]) && c.r.IntN(2) == 0 {
		return m.Parts[0].Text
	}
	return c.content(slices.DeleteFunc(slices.Clone(m.Parts), func(p winnow.Part) bool {
		return p.Kind == winnow.KindToolCall
	}))
}

func (c *claude) content(parts []winnow.Part) []object {
	out := []object{}
	for _, p := range parts {
		switch p.Kind {
		case winnow.KindThinking:
			out = append(out, object{"type": "thinking", "thinking": p.Text, "signature": p.Signature})
		case winnow.KindToolCall:
			out = append(out, object{"type": "tool_use", "id": p.ID, "name": p.Name,
				"input": json.RawMessage(p.Arguments)})
		case winnow.KindImage:
			source := object{"type": "base64", "media_type": "image/png", "data": pixel}
			out = append(out, object{"type": "image", "source": source})
		default:
			out = append(out, object{"type": "text", "text": p.Text})
		}
	}
	return out
}

func (c *claude) compact(summary string) {
	boundary := object{
		"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
		"logicalParentUuid": c.leaf,
		"compactMetadata":   object{"trigger": "auto", "preTokens": 155_000 + c.r.IntN(9_000)},
	}
	line := c.entry(boundary, nil)
	c.entry(object{
		"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
		"message": object{"role": "user", "content": summary},
	}, line)
	c.call = map[string]string{}
}

// detour writes a retracted turn, or the work of a sub-agent of an older version.
func (c *claude) detour() {
	leaf, before := c.leaf, c.file
	side := c.r.IntN(2) == 0
	var parent any
	if !side {
		parent = leaf
	}
	user := object{"type": "user", "isSidechain": side,
		"message": object{"role": "user", "content": "Look into the cache."}}
	id := c.entry(user, parent)
	message := object{"id": "msg_" + c.id(8), "role": "assistant", "model": "claude-haiku-4-5",
		"content": "It is empty.", "usage": object{"input_tokens": 9, "output_tokens": 4}}
	c.entry(object{"type": "assistant", "isSidechain": side, "message": message}, id)
	c.leaf, c.file = leaf, before
}

func (c *claude) other(unknown bool) {
	switch {
	case unknown:
		c.line(object{"type": "telepathy", "waves": []int{1, 2, 3}, "sessionId": sessionID})
	case c.r.IntN(4) == 0:
		c.line(object{"type": "file-history-snapshot", "messageId": c.leaf,
			"snapshot": object{"trackedFileBackups": object{}}})
	case c.r.IntN(3) == 0:
		c.entry(object{"type": "attachment", "attachment": object{"type": "todo_reminder", "content": []int{}}}, c.leaf)
	case c.r.IntN(2) == 0:
		c.entry(object{"type": "system", "subtype": "turn_duration", "durationMs": 9_000}, c.leaf)
	default:
		c.line(object{"type": "ai-title", "aiTitle": "Mending the parser", "sessionId": sessionID})
	}
}
