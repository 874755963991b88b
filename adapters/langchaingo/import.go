package langchaingo

import (
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// piece is a message or a part of a value of the caller's.
type piece = adapter.Piece[llms.MessageContent]

// Import returns messages in winnow's form. A message with several results becomes one for each. The caller's list must
// not be changed while they are in use. What stands beside results, or is nothing but reminders of an agent, is marked
// as no person's (Injected), unless nothing else could be the request.
func Import(messages []llms.MessageContent) (out []winnow.Message) {
	var names adapter.ToolNames
	for i := range messages {
		of := &messages[i]
		m := winnow.Message{Role: winnow.RoleUser, Source: &piece{Of: of, Count: 1}}
		switch of.Role {
		case llms.ChatMessageTypeAI:
			m.Role = winnow.RoleAssistant
		case llms.ChatMessageTypeSystem:
			m.Role = winnow.RoleSystem
		case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
			out = append(out, results(of, &names)...)
			continue
		case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		default: // a typo, which Prepare refuses
			m.Role = winnow.Role(of.Role)
		}
		for _, p := range of.Parts {
			if p, ok := importPart(p); ok {
				m.Parts = append(m.Parts, p)
			}
		}
		names.Add(m.Parts)
		if m.Role == winnow.RoleUser {
			adapter.NoteWhose(&m, false)
		}
		out = append(out, m)
	}
	adapter.EnsureImported(out)
	return out
}

// results returns the results of a message, and behind them what else it has.
func results(of *llms.MessageContent, names *adapter.ToolNames) (out []winnow.Message) {
	isResult := func(p llms.ContentPart) bool { _, ok := p.(llms.ToolCallResponse); return ok }
	_, count, _ := adapter.ResultsIn(of.Parts, isResult)
	rest := winnow.Message{Role: winnow.RoleUser}
	for _, p := range of.Parts {
		r, ok := p.(llms.ToolCallResponse)
		if !ok {
			if p, ok := importPart(p); ok {
				rest.Parts = append(rest.Parts, p)
			}
			continue
		}
		m := winnow.Message{Role: winnow.RoleTool, ToolCallID: r.ToolCallID, ToolName: r.Name}
		if m.ToolName == "" {
			m.ToolName = names.Of(r.ToolCallID)
		}
		if r.Content != "" {
			m.Parts = []winnow.Part{{Text: r.Content}}
		}
		out = append(out, m)
	}
	if len(out) < count {
		adapter.NoteWhose(&rest, true)
		out = append(out, rest)
	}
	for i := range out {
		out[i].Source = &piece{Of: of, Index: i, Count: count}
	}
	return out
}

// importPart reports false for an empty text, which makes no difference.
func importPart(of llms.ContentPart) (winnow.Part, bool) {
	p := of
	if cached, ok := of.(llms.CachedContent); ok {
		p = cached.ContentPart
	}
	switch p := p.(type) {
	case llms.TextContent:
		return winnow.Part{Text: p.Text, Source: of}, p.Text != ""
	case llms.ImageURLContent:
		return adapter.Media(winnow.KindImage, "", p.URL, of), true
	case llms.BinaryContent:
		kind := winnow.KindOpaque
		if strings.HasPrefix(p.MIMEType, "image/") {
			kind = winnow.KindImage
		}
		return adapter.MediaBytes(kind, p.MIMEType, p.Data, of), true
	case llms.ToolCall:
		call := winnow.Part{Kind: winnow.KindToolCall, ID: p.ID, Source: of}
		if p.FunctionCall != nil {
			call.Name, call.Arguments = p.FunctionCall.Name, []byte(p.FunctionCall.Arguments)
		}
		return call, true
	}
	return winnow.Part{Kind: winnow.KindOpaque, Source: of}, true
}

// Response returns an answer as the next message of the history, with its stop reason and usage as far as the model
// passes them on. Several choices are one answer, as with Anthropic, which has one for each block.
func Response(answer *llms.ContentResponse) winnow.Message {
	m := winnow.Message{Role: winnow.RoleAssistant}
	if answer == nil {
		return m
	}
	for _, c := range answer.Choices {
		if c.ReasoningContent != "" {
			m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindThinking, Text: c.ReasoningContent})
		}
		if c.Content != "" {
			m.Parts = append(m.Parts, winnow.Part{Text: c.Content})
		}
		calls := c.ToolCalls
		if len(calls) == 0 && c.FuncCall != nil {
			calls = []llms.ToolCall{{FunctionCall: c.FuncCall}}
		}
		for _, call := range calls {
			p, _ := importPart(call)
			m.Parts = append(m.Parts, p)
		}
		m.StopReason, m.Usage = c.StopReason, usageIn(c.GenerationInfo)
	}
	return m
}

// usageIn reads the names that the models use: those of OpenAI, Gemini and Ollama count the prompt with what came from
// the cache, and those of Anthropic without.
func usageIn(info map[string]any) *winnow.Usage {
	n := func(name string) int {
		switch n := info[name].(type) {
		case int:
			return n
		case int32:
			return int(n)
		case int64:
			return int(n)
		}
		return 0
	}
	if input := n("InputTokens"); input > 0 {
		read, written := n("CacheReadInputTokens"), n("CacheCreationInputTokens")
		return adapter.Usage(input+read+written, read, written, n("OutputTokens"))
	}
	return adapter.Usage(n("PromptTokens"), n("PromptCachedTokens"), 0, n("CompletionTokens"))
}
