package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is the Messages API.
type anthropic struct{}

// messagesRequest is a request as it comes.
type messagesRequest struct {
	Model        string          `json:"model"`
	MaxTokens    int             `json:"max_tokens"`
	System       content         `json:"system"`
	Messages     []messagesTurn  `json:"messages"`
	Tools        []messagesTool  `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Thinking     *thinkingOption `json:"thinking"`
	CacheControl *cacheControl   `json:"cache_control"`
	Stream       bool            `json:"stream"`
}

type messagesTurn struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type messagesTool struct {
	Name         string          `json:"name"`
	Type         string          `json:"type"`
	CacheControl *cacheControl   `json:"cache_control"`
	DeferLoading bool            `json:"defer_loading"`
	raw          json.RawMessage //
}

type thinkingOption struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens"`
}

func (t *thinkingOption) on() bool { return t != nil && (t.Type == "enabled" || t.Type == "adaptive") }

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

// content is a string, a list of blocks, or one block.
type content struct {
	blocks []contentBlock
	text   bool // a string
	set    bool
}

type contentBlock struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      content         `json:"content"`
	IsError      bool            `json:"is_error"`
	Thinking     string          `json:"thinking"`
	Signature    string          `json:"signature"`
	Source       *imageSource    `json:"source"`
	ToolName     string          `json:"tool_name"`       // of a reference to a tool
	References   []contentBlock  `json:"tool_references"` // of a search for tools
	CacheControl *cacheControl   `json:"cache_control"`
	raw          json.RawMessage
}

type imageSource struct {
	Type      string  `json:"type"`
	MediaType string  `json:"media_type"`
	Data      string  `json:"data"`
	Content   content `json:"content"` // of a document
}

// UnmarshalJSON reads the source of an image or a document. That of a search result is a text, of which nothing is
// checked.
func (s *imageSource) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return nil
	}
	type plain imageSource
	return json.Unmarshal(data, (*plain)(s))
}

func (c *content) UnmarshalJSON(data []byte) error {
	*c = content{set: true}
	switch {
	case bytes.Equal(data, []byte("null")):
		c.set = false
		return nil
	case data[0] == '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		c.text = true
		c.blocks = []contentBlock{{Type: "text", Text: text, raw: data}}
		return nil
	case data[0] == '{': // of a tool that the server runs
		c.blocks = make([]contentBlock, 1)
		return json.Unmarshal(data, &c.blocks[0])
	}
	return json.Unmarshal(data, &c.blocks)
}

func (b *contentBlock) UnmarshalJSON(data []byte) error {
	type plain contentBlock
	if err := json.Unmarshal(data, (*plain)(b)); err != nil {
		return err
	}
	b.raw = bytes.Clone(data)
	return nil
}

func (t *messagesTool) UnmarshalJSON(data []byte) error {
	type plain messagesTool
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	t.raw = bytes.Clone(data)
	return nil
}

// result reports whether a block answers a call; the servers' own results stand in the assistant's message.
func (b *contentBlock) result() bool { return b.Type == "tool_result" }

// serverCall reports whether a block is a call that the provider runs itself.
func (b *contentBlock) serverCall() bool {
	return b.Type == "server_tool_use" || b.Type == "mcp_tool_use"
}

func (b *contentBlock) serverResult() bool {
	return strings.HasSuffix(b.Type, "_tool_result") && b.Type != "tool_result"
}

func (b *contentBlock) thinks() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// shown is what of a block counts as its text.
func (b *contentBlock) shown() string {
	switch b.Type {
	case "text":
		return b.Text
	case "thinking":
		return b.Thinking
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return b.Name + string(b.Input)
	case "tool_result":
		var text []string
		for i := range b.Content.blocks {
			text = append(text, b.Content.blocks[i].shown())
		}
		return strings.Join(text, "\n")
	case "image":
		return ""
	}
	return string(b.raw)
}

// images counts the images of a block and of its results.
func (b *contentBlock) images() int {
	n := 0
	if b.Type == "image" {
		n++
	}
	for i := range b.Content.blocks {
		n += b.Content.blocks[i].images()
	}
	return n
}

func (anthropic) parse(p *Provider, body []byte) (*Request, *Error) {
	var m messagesRequest
	if err := decode(body, &m); err != nil {
		return nil, err
	}
	if err := m.dropCompacted(); err != nil {
		return nil, err
	}
	r := m.request()
	for _, check := range messagesChecks {
		if err := check(p, &m, r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// request makes what the model sees, and the blocks that are counted and cached.
func (m *messagesRequest) request() *Request {
	r := &Request{Dialect: Anthropic, Model: m.Model, MaxTokens: m.MaxTokens, Stream: m.Stream,
		Thinking: m.Thinking.on()}
	for _, t := range m.Tools {
		r.Tools = append(r.Tools, t.Name)
		if t.DeferLoading {
			continue // the model sees it where a search found it
		}
		r.block("tool", string(t.raw), string(t.raw), 0, t.CacheControl)
	}
	var system []string
	for i := range m.System.blocks {
		b := &m.System.blocks[i]
		system = append(system, b.Text)
		r.block("system", b.canonical(), b.shown(), 0, b.CacheControl)
	}
	r.System = joinTexts(system)
	options, _ := json.Marshal([]any{m.ToolChoice, m.Thinking}) // a change costs the messages, not the tools
	r.block(roleOptions, string(options), "", 0, nil)
	for i := range m.Messages {
		r.prefixes = append(r.prefixes, r.before)
		turn := &m.Messages[i]
		r.Messages = append(r.Messages, turn.message())
		for k := range turn.Content.blocks {
			b := &turn.Content.blocks[k]
			tokens := b.images() * ImageTokens
			if k == 0 {
				tokens += MessageTokens
			}
			r.block(turn.Role, b.canonical(), b.shown(), tokens, b.CacheControl)
		}
	}
	r.prefixes = append(r.prefixes, r.before)
	r.blocks[len(r.blocks)-1].marked = r.blocks[len(r.blocks)-1].marked || m.CacheControl != nil // the automatic mark
	return r
}

// message is one turn as the model sees it.
func (t *messagesTurn) message() Message {
	msg := Message{Role: t.Role}
	var texts []string
	for i := range t.Content.blocks {
		b := &t.Content.blocks[i]
		msg.Images += b.images()
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "compaction":
			texts = append(texts, b.summary())
		case "tool_use":
			msg.Calls = append(msg.Calls, ToolCall{b.ID, b.Name, b.Input})
		case "tool_result":
			msg.Results = append(msg.Results, ToolResult{b.ToolUseID, b.shown()})
		}
	}
	msg.Text = joinTexts(texts)
	return msg
}

// canonical is what must be the same for a block to be found in the cache: all but the mark. The order
// of the keys within an input counts, as it does for the provider.
func (b *contentBlock) canonical() string {
	if len(b.raw) > 0 && b.raw[0] == '"' {
		return `{"text":` + string(b.raw) + `,"type":"text"}`
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(b.raw, &fields)
	delete(fields, "cache_control")
	out, _ := json.Marshal(fields)
	return string(out)
}

func (anthropic) maxBytes() int { return 32 << 20 }

func (anthropic) tooLong() Wording { return anthropicTooLong }

func (anthropic) anonymous(h http.Header) *Error {
	if h.Get("x-api-key") != "" || strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return nil
	}
	return &Error{Status: 401, Rule: "KEY", Type: "authentication_error", Message: "x-api-key header is required"}
}

func (anthropic) failure(e *Error) any {
	return object{"type": "error", "error": object{"type": cmp.Or(e.Type, invalid), "message": e.Message},
		"request_id": "req_test"}
}

func (a anthropic) failureEvent(e *Error) event { return event{"error", a.failure(e)} }
