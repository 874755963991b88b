package provider

import "encoding/json"

// reason is Anthropic's word for why an answer ends.
func (anthropic) reason(a *Answer, why cutReason) string {
	switch {
	case why == cutAtMax:
		return "max_tokens"
	case why == cutAtLimit:
		return "model_context_window_exceeded"
	case len(a.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// object is a JSON object.
type object map[string]any

func (u Usage) anthropic() object {
	return object{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

// content returns the blocks of an answer.
func (anthropic) content(x *Exchange, id string) []object {
	blocks := []object{}
	a := &x.Answer
	if a.Compaction != "" {
		blocks = append(blocks, object{"type": "compaction", "content": a.Compaction, "encrypted_content": id})
	}
	for i, t := range a.Thinking {
		blocks = append(blocks, object{"type": "thinking", "thinking": t, "signature": sign(x.Request, id, a, i)})
	}
	if a.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": a.Text})
	}
	for _, b := range a.Served {
		blocks = append(blocks, b.(map[string]any))
	}
	for _, c := range a.Calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Arguments})
	}
	return blocks
}

func (p anthropic) message(x *Exchange, id string) object {
	return object{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": x.Request.Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil,
	}
}

func (p anthropic) answer(x *Exchange, id string) any {
	m := p.message(x, id)
	m["content"], m["stop_reason"], m["usage"] = p.content(x, id), x.Answer.StopReason, x.Usage.anthropic()
	return m
}

func (p anthropic) events(x *Exchange, id string) []event {
	start := p.message(x, id)
	before := x.Usage
	before.Output = 1
	start["usage"] = before.anthropic()
	events := []event{{"message_start", object{"type": "message_start", "message": start}},
		{"ping", object{"type": "ping"}}}
	for i, b := range p.content(x, id) {
		events = append(events, p.blockEvents(i, b)...)
	}
	end := object{"type": "message_delta", "delta": object{"stop_reason": x.Answer.StopReason, "stop_sequence": nil},
		"usage": object{"output_tokens": x.Usage.Output}}
	return append(events, event{"message_delta", end}, event{"message_stop", object{"type": "message_stop"}})
}

// blockEvents streams one block: its frame, then its content in pieces.
func (anthropic) blockEvents(i int, b object) []event {
	frame, deltas := object{"type": b["type"]}, []object{}
	switch b["type"] {
	case "text":
		frame["text"] = ""
		for _, t := range pieces(b["text"].(string)) {
			deltas = append(deltas, object{"type": "text_delta", "text": t})
		}
	case "compaction":
		frame["content"] = ""
		deltas = append(deltas, object{"type": "compaction_delta", "content": b["content"],
			"encrypted_content": b["encrypted_content"]})
	case "thinking":
		frame["thinking"], frame["signature"] = "", ""
		for _, t := range pieces(b["thinking"].(string)) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": t})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": b["signature"]})
	case "tool_use":
		frame["id"], frame["name"], frame["input"] = b["id"], b["name"], object{}
		for _, t := range halves(b["input"].(json.RawMessage)) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": t})
		}
	}
	if len(deltas) == 0 && b["type"] != "text" { // of the server's own tools
		frame = b
	}
	events := []event{{"content_block_start",
		object{"type": "content_block_start", "index": i, "content_block": frame}}}
	for _, d := range deltas {
		events = append(events, event{"content_block_delta",
			object{"type": "content_block_delta", "index": i, "delta": d}})
	}
	return append(events, event{"content_block_stop", object{"type": "content_block_stop", "index": i}})
}
