package agents

import (
	"github.com/winnowgo/winnow"
)

type codex struct {
	*writer
	total winnow.Usage
	turns int
}

func (c *codex) write(typ string, payload object) {
	c.line(object{"timestamp": c.now(), "type": typ, "payload": payload})
}

const instructions = "You are Codex, based on GPT-5. You are running as a coding agent in a terminal."

func (c *codex) begin() {
	c.write("session_meta", object{
		"id": "019ed836-b1da-78f1-0000-000000000000", "timestamp": c.now(), "cwd": "/home/me/project",
		"originator":  "codex_cli_rs",
		"cli_version": "0.98.0", "source": "cli", "model_provider": "openai", "git": object{"branch": "main"},
		"base_instructions": object{"text": instructions},
	})
	c.want(winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: instructions}}})
	const permissions = "<permissions instructions>\nThe network is restricted.\n</permissions instructions>"
	c.item("developer", permissions)
	c.want(winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: permissions}}})
	const environment = "<environment_context>\n  <cwd>/home/me/project</cwd>\n</environment_context>"
	c.item("user", environment)
	c.want(winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: environment}}})
	c.write("turn_context", object{"cwd": "/home/me/project", "approval_policy": "never", "model": "gpt-5.5",
		"effort": "high"})
}

func (c *codex) item(role, text string) {
	c.write("response_item", object{"type": "message", "role": role,
		"content": []object{{"type": "input_text", "text": text}}})
}

func (c *codex) message(m winnow.Message) {
	switch m.Role {
	case winnow.RoleUser:
		c.user(m)
	case winnow.RoleAssistant:
		c.answer(m)
	case winnow.RoleTool:
		c.result(m)
	}
}

func (c *codex) user(m winnow.Message) {
	if len(m.Parts) == 0 {
		return
	}
	role := "user"
	if m.Injected {
		role = "developer"
	} else {
		c.write("event_msg", object{"type": "task_started", "model_context_window": 258_400})
		c.turns++
	}
	if role == "developer" && c.turns == 0 {
		return // it would belong to the request
	}
	c.write("response_item", object{"type": "message", "role": role, "content": c.content(m.Parts)})
	c.want(m)
	if role == "user" {
		c.write("event_msg", object{"type": "user_message", "message": text(&m), "images": []string{}})
	}
}

func (c *codex) content(parts []winnow.Part) []object {
	out := []object{}
	for _, p := range parts {
		if p.Kind == winnow.KindImage {
			out = append(out, object{"type": "input_image", "image_url": "data:image/png;base64," + pixel})
			continue
		}
		out = append(out, object{"type": "input_text", "text": p.Text})
	}
	return out
}

func (c *codex) answer(m winnow.Message) {
	wrote := false
	parts := m.Parts
	m.Parts = nil
	m.StopReason = ""
	for _, p := range parts {
		switch p.Kind {
		case winnow.KindThinking:
			summary := []object{}
			if p.Text != "" {
				summary = append(summary, object{"type": "summary_text", "text": p.Text})
			}
			p.Signature = "gAAAA" + c.id(8)
			c.write("response_item", object{"type": "reasoning", "summary": summary, "content": nil,
				"encrypted_content": p.Signature})
			c.write("event_msg", object{"type": "agent_reasoning", "text": p.Text})
		case winnow.KindToolCall:
			c.write("response_item", object{"type": "function_call", "name": p.Name, "arguments": string(p.Arguments),
				"call_id": p.ID})
		case winnow.KindText:
			c.write("event_msg", object{"type": "agent_message", "message": p.Text})
			c.write("response_item", object{"type": "message", "role": "assistant",
				"content": []object{{"type": "output_text", "text": p.Text}}})
		default:
			continue
		}
		wrote = true
		m.Parts = append(m.Parts, p)
	}
	if !wrote {
		return
	}
	if m.Usage == nil {
		m.Usage = c.usage(&m)
	}
	u := *m.Usage
	u.Input, u.CacheWrite = u.Input+u.CacheWrite+1, 0 // each total differs
	m.Usage = &u
	c.total.Input, c.total.CacheRead, c.total.Output = c.total.Input+u.Input, c.total.CacheRead+u.CacheRead,
		c.total.Output+u.Output
	for range 1 + c.r.IntN(2) { // repeated when a rate limit changes
		c.write("event_msg", object{"type": "token_count", "info": object{
			"total_token_usage": counts(c.total), "last_token_usage": counts(u), "model_context_window": 258_400,
		}, "rate_limits": object{"primary": object{"used_percent": c.r.IntN(100)}}})
	}
	c.want(m)
}

func counts(u winnow.Usage) object {
	return object{
		"input_tokens": u.Input + u.CacheRead, "cached_input_tokens": u.CacheRead, "output_tokens": u.Output,
		"reasoning_output_tokens": 0, "total_tokens": u.Input + u.CacheRead + u.Output,
	}
}

func (c *codex) result(m winnow.Message) {
	item := object{"type": "function_call_output", "call_id": m.ToolCallID}
	images := false
	for _, p := range m.Parts {
		images = images || p.Kind == winnow.KindImage
	}
	if images || c.r.IntN(4) == 0 {
		item["output"] = c.content(m.Parts)
	} else {
		all := text(&m)
		item["output"] = all
		m.Parts = nil
		if all != "" {
			m.Parts = []winnow.Part{{Text: all}}
		}
	}
	c.write("response_item", item)
	m.Details = nil
	c.want(m)
}

// compact writes a compaction that keeps what people wrote.
func (c *codex) compact(summary string) {
	payload := object{"message": summary}
	if c.r.IntN(2) == 0 {
		history := []object{}
		for _, m := range c.file.Want {
			if m.Role == winnow.RoleUser && len(m.Parts) > 0 {
				history = append(history, object{"type": "message", "role": "user", "content": c.content(m.Parts)})
			}
		}
		history = append(history, object{"type": "message", "role": "user",
			"content": []object{{"type": "input_text", "text": summary}}})
		payload["replacement_history"] = history
		if c.r.IntN(2) == 0 {
			payload["message"] = ""
		}
	}
	c.write("compacted", payload)
	c.write("event_msg", object{"type": "context_compacted"})
}

func (c *codex) detour() {
	before := c.file
	c.user(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "No, something else."}}})
	c.answer(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "As you like."}}})
	c.file = before
	c.write("event_msg", object{"type": "thread_rolled_back", "num_turns": 1})
}

func (c *codex) other(unknown bool) {
	switch {
	case unknown:
		c.write("telepathy", object{"waves": []int{1, 2, 3}})
	case c.r.IntN(3) == 0:
		c.write("turn_context", object{"cwd": "/home/me/project", "model": "gpt-5.5"})
	case c.r.IntN(2) == 0:
		c.write("event_msg", object{"type": "exec_command_end", "call_id": "x", "exit_code": 0})
	default:
		c.write("event_msg", object{"type": "thread_name_updated", "thread_name": "Mending the parser"})
	}
}
