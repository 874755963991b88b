package ask

import (
	"encoding/json"
	"net/http"

	"github.com/winnowgo/winnow"
)

// messages is Anthropic's API.
type messages struct{}

func (messages) Name() string               { return "messages" }
func (messages) key() string                { return "ANTHROPIC_API_KEY" }
func (messages) home() string               { return "https://api.anthropic.com" }
func (messages) at(string) (string, string) { return "/v1", "/messages" }
func (messages) sign(h http.Header, key string) {
	h.Set("X-Api-Key", key)
	h.Set("Anthropic-Version", "2023-06-01")
}

// redacted is the kind of thinking of which there is only what the provider reads.
const redacted = "redacted_thinking"

var ephemeral = object{"type": "ephemeral"}

func (messages) write(model string, r *Request) any {
	system, list := turns(r)
	out := make([]object, len(list))
	for i := range list {
		role := "user"
		if list[i].assistant {
			role = "assistant"
		}
		out[i] = object{"role": role, "content": messagesBlocks(&list[i])}
	}
	body := object{"model": model, "max_tokens": r.MaxTokens, "messages": out}
	if system != "" {
		body["system"] = system
	}
	if len(r.Tools) > 0 {
		tools := make([]object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = object{"name": t.Name, "description": t.Description, "input_schema": t.Schema}
		}
		body["tools"] = tools
	}
	return body
}

func messagesBlocks(t *turn) (blocks []object) {
	for _, p := range t.thinking {
		if p.MediaType == redacted {
			blocks = append(blocks, object{"type": redacted, "data": p.Signature})
		} else {
			blocks = append(blocks, object{"type": "thinking", "thinking": p.Text, "signature": p.Signature})
		}
	}
	for _, m := range t.results {
		b := object{"type": "tool_result", "tool_use_id": m.ToolCallID,
			"content": []object{{"type": "text", "text": resultText(m)}}}
		if m.IsError {
			b["is_error"] = true
		}
		blocks = append(blocks, b)
	}
	end := len(blocks) + t.cut - 1
	for _, s := range t.texts {
		blocks = append(blocks, object{"type": "text", "text": s})
	}
	if t.isShared && end >= 0 {
		blocks[end]["cache_control"] = ephemeral
	}
	for _, p := range t.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": p.ID, "name": p.Name, "input": p.Arguments})
	}
	return blocks
}

func (messages) read(body []byte) (Answer, error) {
	var a struct {
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type, Text, ID, Name string
			Input                json.RawMessage
		}
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
			Read   int `json:"cache_read_input_tokens"`
			Write  int `json:"cache_creation_input_tokens"`
		}
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Answer{}, err
	}
	said, calls := "", []winnow.Part{}
	for _, b := range a.Content {
		switch b.Type {
		case "text":
			said += b.Text
		case "tool_use":
			calls = append(calls, callOf(b.ID, b.Name, b.Input))
		}
	}
	usage := winnow.Usage{Input: a.Usage.Input, CacheRead: a.Usage.Read, CacheWrite: a.Usage.Write,
		Output: a.Usage.Output}
	return answerOf(said, calls, usage, a.StopReason, a.StopReason == "max_tokens"), nil
}
