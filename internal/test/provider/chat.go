package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// chat is the Chat Completions API, of OpenAI and of the vendors that speak it.
type chat struct{}

// chatRequest is a request as it comes.
type chatRequest struct {
	Model         string        `json:"model"`
	Messages      []chatMessage `json:"messages"`
	Tools         []chatTool    `json:"tools"`
	MaxTokens     int           `json:"max_tokens"`
	MaxCompletion int           `json:"max_completion_tokens"`
	CacheKey      string        `json:"prompt_cache_key"`
	Stream        bool          `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Thinking *struct {
		Type string `json:"type"`
	} `json:"thinking"` // DeepSeek, Kimi: on unless it is "disabled"
}

type chatMessage struct {
	Role       string      `json:"role"`
	Content    chatContent `json:"content"`
	ToolCalls  []chatCall  `json:"tool_calls"`
	ToolCallID string      `json:"tool_call_id"`
	Reasoning  string      `json:"reasoning_content"`
	raw        json.RawMessage
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra struct {
		Google struct {
			ThoughtSignature string `json:"thought_signature"`
		} `json:"google"`
	} `json:"extra_content"` // of Gemini
}

type chatTool struct {
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
	raw json.RawMessage
}

// chatContent is a string, a list of parts, or nothing.
type chatContent struct {
	parts []chatPart
	set   bool // neither null nor left out
	list  bool
}

type chatPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *chatContent) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*c = chatContent{}
		return nil
	}
	*c = chatContent{set: true, list: data[0] == '['}
	if c.list {
		return json.Unmarshal(data, &c.parts)
	}
	c.parts = []chatPart{{Type: "text"}}
	return json.Unmarshal(data, &c.parts[0].Text)
}

func (m *chatMessage) UnmarshalJSON(data []byte) error {
	type plain chatMessage
	if err := json.Unmarshal(data, (*plain)(m)); err != nil {
		return err
	}
	m.raw = bytes.Clone(data)
	return nil
}

func (t *chatTool) UnmarshalJSON(data []byte) error {
	type plain chatTool
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	t.raw = bytes.Clone(data)
	return nil
}

// text joins the texts of a content, images counts its images.
func (c *chatContent) text() string {
	var texts []string
	for _, p := range c.parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return joinTexts(texts)
}

func (c *chatContent) images() int {
	n := 0
	for _, p := range c.parts {
		if p.Type == "image_url" {
			n++
		}
	}
	return n
}

func (m *chatMessage) system() bool { return m.Role == "system" || m.Role == "developer" }

func (chat) parse(p *Provider, body []byte) (*Request, *Error) {
	var m chatRequest
	if err := decode(body, &m); err != nil {
		return nil, err
	}
	r := m.request()
	for _, check := range vendorChecks(p.o.Vendor) {
		if err := check(p, &m); err != nil {
			return r, err
		}
	}
	return r, nil
}

// request makes what the model sees, and the blocks that are counted and cached.
func (m *chatRequest) request() *Request {
	r := &Request{Dialect: OpenAI, Model: m.Model, MaxTokens: max(m.MaxTokens, m.MaxCompletion), Stream: m.Stream,
		usageAsked: m.StreamOptions.IncludeUsage}
	for _, t := range m.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
		r.block("tool", string(t.raw), string(t.raw), 0, nil)
	}
	var system []string
	for i := range m.Messages {
		c := &m.Messages[i]
		shown := c.Content.text() + c.Reasoning
		msg := Message{Role: c.Role, Text: c.Content.text(), Images: c.Content.images()}
		for _, call := range c.ToolCalls {
			shown += call.Function.Name + call.Function.Arguments
			msg.Calls = append(msg.Calls, ToolCall{call.ID, call.Function.Name,
				json.RawMessage(call.Function.Arguments)})
		}
		r.block(c.Role, string(c.raw), shown, MessageTokens+msg.Images*ImageTokens, nil)
		switch {
		case c.system():
			system = append(system, msg.Text)
			continue
		case c.Role == "tool":
			msg.Results = []ToolResult{{ID: c.ToolCallID, Text: msg.Text}}
		}
		r.Messages = append(r.Messages, msg)
	}
	r.System = joinTexts(system)
	return r
}

func (chat) maxBytes() int { return 512 << 20 }

func (chat) tooLong() Wording { return openAIRequested }

func (chat) anonymous(h http.Header) *Error {
	if strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return nil
	}
	return &Error{Status: 401, Rule: "KEY", Code: "invalid_api_key",
		Message: "You didn't provide an API key. You need to provide your API key in an Authorization header using " +
			"Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."}
}

func (chat) failure(e *Error) any {
	failure := object{"message": e.Message, "type": cmp.Or(e.Type, invalid), "param": nil, "code": nil}
	if e.Code != "" {
		failure["code"] = e.Code
	}
	return object{"error": failure}
}

func (c chat) failureEvent(e *Error) event { return event{"", c.failure(e)} }

// reason is OpenAI's word for why an answer ends.
func (chat) reason(a *Answer, why cutReason) string {
	switch {
	case why != notCut:
		return "length"
	case len(a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (u Usage) openAI() object {
	return object{
		"prompt_tokens": u.Prompt(), "completion_tokens": u.Output, "total_tokens": u.Prompt() + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead},
	}
}

func (chat) calls(a *Answer) []object {
	var out []object
	for _, c := range a.Calls {
		out = append(out, object{"id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": string(c.Arguments)}})
	}
	return out
}

func (chat) frame(x *Exchange, id, kind string, choices []object) object {
	return object{"id": "chatcmpl-" + id, "object": kind, "created": 1, "model": x.Request.Model, "choices": choices}
}

func (c chat) answer(x *Exchange, id string) any {
	a := &x.Answer
	message := object{"role": "assistant", "content": a.Text, "refusal": nil}
	if len(a.Calls) > 0 {
		message["tool_calls"] = c.calls(a)
		if a.Text == "" {
			message["content"] = nil
		}
	}
	if len(a.Thinking) > 0 {
		message["reasoning_content"] = joinTexts(a.Thinking)
	}
	frame := c.frame(x, id, "chat.completion",
		[]object{{"index": 0, "message": message, "finish_reason": a.StopReason, "logprobs": nil}})
	frame["usage"] = x.Usage.openAI()
	return frame
}

func (c chat) events(x *Exchange, id string) []event {
	var events []event
	a := &x.Answer
	chunk := func(delta object, reason any) {
		events = append(events, event{"", c.frame(x, id, "chat.completion.chunk",
			[]object{{"index": 0, "delta": delta, "finish_reason": reason}})})
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	for _, t := range pieces(joinTexts(a.Thinking)) {
		chunk(object{"reasoning_content": t}, nil)
	}
	for _, t := range pieces(a.Text) {
		chunk(object{"content": t}, nil)
	}
	for i, call := range a.Calls {
		chunk(object{"tool_calls": []object{{"index": i, "id": call.ID, "type": "function",
			"function": object{"name": call.Name, "arguments": ""}}}}, nil)
		for _, part := range halves(call.Arguments) {
			chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": part}}}}, nil)
		}
	}
	chunk(object{}, a.StopReason)
	if x.Request.usageAsked {
		last := c.frame(x, id, "chat.completion.chunk", []object{})
		last["usage"] = x.Usage.openAI()
		events = append(events, event{"", last})
	}
	return append(events, event{"", "[DONE]"})
}
