package ask

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/winnowgo/winnow"
)

// chat is OpenAI's Chat Completions, which most other servers speak.
type chat struct{}

func (chat) Name() string                   { return "chat" }
func (chat) key() string                    { return "OPENAI_API_KEY" }
func (chat) home() string                   { return "" }
func (chat) at(string) (string, string)     { return "/v1", "/chat/completions" }
func (chat) sign(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func (chat) write(model string, r *Request) any {
	system, list := turns(r)
	out := []object{}
	if system != "" {
		out = append(out, object{"role": "system", "content": system})
	}
	for i := range list {
		t := &list[i]
		for _, m := range t.results {
			out = append(out, object{"role": "tool", "tool_call_id": m.ToolCallID, "content": resultText(m)})
		}
		said := strings.Join(t.texts, "\n\n")
		switch {
		case t.assistant:
			out = append(out, chatAssistant(said, t.calls))
		case said != "":
			out = append(out, object{"role": "user", "content": said})
		}
	}
	body := object{"model": model, "messages": out, "max_tokens": r.MaxTokens}
	if len(r.Tools) > 0 {
		tools := make([]object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = object{"type": "function",
				"function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}}
		}
		body["tools"] = tools
	}
	return body
}

func chatAssistant(said string, calls []*winnow.Part) object {
	m := object{"role": "assistant", "content": said}
	if len(calls) == 0 {
		return m
	}
	if said == "" {
		m["content"] = nil
	}
	list := make([]object, len(calls))
	for i, p := range calls {
		list[i] = object{"id": p.ID, "type": "function",
			"function": object{"name": p.Name, "arguments": string(p.Arguments)}}
	}
	m["tool_calls"] = list
	return m
}

func (chat) read(body []byte) (Answer, error) {
	var a struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   string
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		Usage struct {
			Prompt  int `json:"prompt_tokens"`
			Output  int `json:"completion_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Answer{}, err
	}
	if len(a.Choices) == 0 {
		return Answer{}, errors.New("it has no choices")
	}
	c := &a.Choices[0]
	calls := []winnow.Part{}
	for _, call := range c.Message.ToolCalls {
		calls = append(calls, callOf(call.ID, call.Function.Name, []byte(call.Function.Arguments)))
	}
	read := min(a.Usage.Details.Cached, a.Usage.Prompt)
	usage := winnow.Usage{Input: a.Usage.Prompt - read, CacheRead: read, Output: a.Usage.Output}
	return answerOf(c.Message.Content, calls, usage, c.FinishReason, c.FinishReason == "length"), nil
}
