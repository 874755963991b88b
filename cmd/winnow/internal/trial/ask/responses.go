package ask

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/winnowgo/winnow"
)

// responses is OpenAI's newer API. It is told to store nothing.
type responses struct{}

func (responses) Name() string                   { return "responses" }
func (responses) key() string                    { return "OPENAI_API_KEY" }
func (responses) home() string                   { return "https://api.openai.com" }
func (responses) at(string) (string, string)     { return "/v1", "/responses" }
func (responses) sign(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func (responses) write(model string, r *Request) any {
	system, list := turns(r)
	input := []object{}
	for i := range list {
		input = append(input, responsesItems(&list[i])...)
	}
	body := object{"model": model, "input": input, "max_output_tokens": r.MaxTokens, "store": false}
	if system != "" {
		body["instructions"] = system
	}
	if len(r.Tools) > 0 {
		tools := make([]object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = object{"type": "function", "name": t.Name, "description": t.Description, "parameters": t.Schema,
				"strict": false}
		}
		body["tools"] = tools
	}
	return body
}

func responsesItems(t *turn) (items []object) {
	for _, p := range t.thinking {
		summary := []object{}
		if p.Text != "" {
			summary = append(summary, object{"type": "summary_text", "text": p.Text})
		}
		items = append(items, object{"type": "reasoning", "id": p.ID, "summary": summary,
			"encrypted_content": p.Signature})
	}
	for _, m := range t.results {
		items = append(items, object{"type": "function_call_output", "call_id": m.ToolCallID, "output": resultText(m)})
	}
	if said := strings.Join(t.texts, "\n\n"); said != "" {
		role := "user"
		if t.assistant {
			role = "assistant"
		}
		items = append(items, object{"type": "message", "role": role, "content": said})
	}
	for _, p := range t.calls {
		items = append(items, object{"type": "function_call", "call_id": p.ID, "name": p.Name,
			"arguments": string(p.Arguments)})
	}
	return items
}

func (responses) read(body []byte) (Answer, error) {
	var a struct {
		Status  string
		Details struct{ Reason string } `json:"incomplete_details"`
		Output  []struct {
			Type, Name, Arguments string
			CallID                string `json:"call_id"`
			Content               []struct{ Text, Refusal string }
		}
		Usage struct {
			Input   int `json:"input_tokens"`
			Output  int `json:"output_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		}
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Answer{}, err
	}
	said, calls := "", []winnow.Part{}
	for _, item := range a.Output {
		switch item.Type {
		case "message":
			for _, c := range item.Content {
				said += c.Text + c.Refusal
			}
		case "function_call":
			calls = append(calls, callOf(item.CallID, item.Name, []byte(item.Arguments)))
		}
	}
	read := min(a.Usage.Details.Cached, a.Usage.Input)
	usage := winnow.Usage{Input: a.Usage.Input - read, CacheRead: read, Output: a.Usage.Output}
	return answerOf(said, calls, usage, a.Status+a.Details.Reason, a.Status == "incomplete"), nil
}
