package agents

import (
	"encoding/json"

	"github.com/winnowgo/winnow"
)

type pi struct {
	*writer
	version int
	leaf    any   // id of the newest line; nil: none
	lines   []any // version 1: ids of the lines, which are not written
	turns   []any // for each turn, the id that its first line follows
}

func (p *pi) begin() {
	h := object{"type": "session", "id": "0d8e6e0c-1d0e-4c3e-9a64-7f1f3d2a9c11", "timestamp": p.now(),
		"cwd": "/home/me/project"}
	if p.version > 1 {
		h["version"] = p.version
	} else {
		h["provider"], h["modelId"], h["thinkingLevel"] = "anthropic", "claude-sonnet-4-5", "off"
	}
	p.line(h)
	p.lines = append(p.lines, nil)
}

// entry writes a line after the leaf.
func (p *pi) entry(v object) any {
	v["timestamp"] = p.now()
	id := p.id(8)
	if p.version > 1 {
		v["id"], v["parentId"] = id, p.leaf
	}
	p.line(v)
	p.leaf = id
	p.lines = append(p.lines, id)
	return id
}

func (p *pi) message(m winnow.Message) {
	if m.Role == winnow.RoleSystem {
		return
	}
	if m.Role == winnow.RoleUser && !m.Injected {
		p.turns = append(p.turns, p.leaf)
	}
	content := p.content(m)
	out := object{"role": string(m.Role), "content": content, "timestamp": m.Time.UnixMilli()}
	switch {
	case m.Role == winnow.RoleUser && m.Injected:
		p.injected(out)
		return
	case m.Role == winnow.RoleUser && p.r.IntN(2) == 0 && len(m.Parts) == 1 && m.Parts[0].Kind == winnow.KindText:
		out["content"] = m.Parts[0].Text
	case m.Role == winnow.RoleTool:
		out["role"], out["toolCallId"], out["toolName"], out["isError"] = "toolResult", m.ToolCallID, m.ToolName,
			m.IsError
		if m.Details != nil {
			out["details"] = m.Details
		}
	case m.Role == winnow.RoleAssistant:
		p.answer(out, &m)
	}
	p.entry(object{"type": "message", "message": out})
	p.want(m)
}

// injected writes a message of an extension.
func (p *pi) injected(m object) {
	m["customType"], m["display"] = "reminder", false
	delete(m, "role")
	want := winnow.Message{Role: winnow.RoleUser, Injected: true, Time: p.at, Parts: partsOf(m["content"].([]object))}
	if p.version < 3 {
		m["role"] = "hookMessage"
		p.entry(object{"type": "message", "message": m})
	} else {
		delete(m, "timestamp")
		m["type"] = "custom_message"
		p.entry(m)
	}
	p.want(want)
}

// partsOf returns the texts and images of a content.
func partsOf(content []object) (parts []winnow.Part) {
	for _, c := range content {
		if c["type"] == "image" {
			parts = append(parts, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png"})
			continue
		}
		parts = append(parts, winnow.Part{Text: c["text"].(string)})
	}
	return parts
}

func (p *pi) answer(out object, m *winnow.Message) {
	if m.Usage == nil {
		m.Usage = p.usage(m)
	}
	u := m.Usage
	out["api"], out["provider"], out["model"] = "anthropic-messages", "anthropic", "claude-sonnet-4-5"
	out["usage"] = object{
		"input": u.Input, "output": u.Output, "cacheRead": u.CacheRead, "cacheWrite": u.CacheWrite,
		"totalTokens": u.Input + u.Output + u.CacheRead + u.CacheWrite,
		"cost":        object{"input": 0.003, "output": 0.015, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.018},
	}
	if m.StopReason != "error" && m.StopReason != "aborted" {
		m.StopReason = "stop"
	} else {
		out["errorMessage"] = "529 overloaded"
	}
	out["stopReason"] = m.StopReason
}

func (p *pi) content(m winnow.Message) []object {
	out := []object{}
	for _, x := range m.Parts {
		switch x.Kind {
		case winnow.KindThinking:
			block := object{"type": "thinking", "thinking": x.Text}
			if x.Signature != "" {
				block["thinkingSignature"] = x.Signature
			}
			out = append(out, block)
		case winnow.KindToolCall:
			out = append(out, object{"type": "toolCall", "id": x.ID, "name": x.Name,
				"arguments": json.RawMessage(x.Arguments)})
		case winnow.KindImage:
			out = append(out, object{"type": "image", "data": pixel, "mimeType": "image/png"})
		default:
			out = append(out, object{"type": "text", "text": x.Text})
		}
	}
	return out
}

func (p *pi) compact(summary string) {
	c := object{"type": "compaction", "summary": summary, "tokensBefore": 90_000 + p.r.IntN(9_000),
		"details": object{"readFiles": []string{"a.go"}}}
	n := len(p.lines) - 1 - p.r.IntN(min(4, len(p.lines)-1))
	if p.version == 1 {
		c["firstKeptEntryIndex"] = n
		delete(c, "details")
	} else {
		c["firstKeptEntryId"] = p.lines[n]
	}
	p.entry(c)
}

func (p *pi) detour() {
	if p.version == 1 || len(p.turns) == 0 {
		return
	}
	leaf := p.leaf
	before := p.file
	p.message(winnow.Message{Role: winnow.RoleUser, Time: p.at, Parts: []winnow.Part{{Text: "No, something else."}}})
	p.message(winnow.Message{Role: winnow.RoleAssistant, Time: p.at, Parts: []winnow.Part{{Text: "As you like."}}})
	p.file, p.leaf = before, leaf
}

func (p *pi) other(unknown bool) {
	switch {
	case unknown:
		p.entry(object{"type": "telepathy", "waves": []int{1, 2, 3}})
	case p.version == 1 || p.r.IntN(5) == 0:
		p.entry(object{"type": "model_change", "provider": "openai", "modelId": "gpt-5.5"})
	case p.r.IntN(4) == 0:
		p.entry(object{"type": "thinking_level_change", "thinkingLevel": "high"})
	case p.r.IntN(3) == 0:
		p.entry(object{"type": "custom", "customType": "todo", "data": object{"open": []string{"<a> & b"}}})
	case p.r.IntN(2) == 0:
		p.entry(object{"type": "label", "targetId": p.leaf, "label": "good point"})
	default:
		p.entry(object{"type": "session_info", "name": "Mending the parser"})
	}
}
