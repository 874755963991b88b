package genkit

import (
	"encoding/base64"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// piece is a message or a part of one of the caller's.
type piece = adapter.Piece[*ai.Message]

// Import returns messages in winnow's form: one for each, and of a message with results one for each result. The
// caller's messages must not be changed while they are in use. A nil message is left out. What stands beside results,
// or is nothing but reminders of an agent, is marked as no person's (Injected), unless nothing else could be the
// request.
func Import(messages []*ai.Message) (out []winnow.Message) {
	var names adapter.ToolNames
	for i, of := range messages {
		if of == nil {
			continue
		}
		isResult := (*ai.Part).IsToolResponse
		results, count, _ := adapter.ResultsIn(of.Content, isResult)
		rest := winnow.Message{Role: winnow.RoleUser}
		switch of.Role {
		case ai.RoleModel:
			rest.Role = winnow.RoleAssistant
		case ai.RoleSystem:
			rest.Role = winnow.RoleSystem
		case ai.RoleUser, ai.RoleTool:
		default: // a typo, which Prepare refuses
			rest.Role = winnow.Role(of.Role)
		}
		begin := len(out)
		for _, p := range of.Content {
			switch {
			case isResult(p) && p.ToolResponse != nil:
				out = append(out, result(p, &names))
			case p != nil:
				rest.Parts = appendPart(rest.Parts, p)
			}
		}
		if count > results {
			names.Add(rest.Parts)
			if rest.Role == winnow.RoleUser {
				adapter.NoteWhose(&rest, results > 0)
			}
			out = append(out, rest)
		}
		for k := range out[begin:] {
			out[begin+k].Source = &piece{Of: &messages[i], Index: k, Count: count}
		}
	}
	adapter.EnsureImported(out)
	return out
}

// result returns a result. Its output is any value, which the model sees as JSON or, if it is one, as a text.
func result(p *ai.Part, names *adapter.ToolNames) winnow.Message {
	r := p.ToolResponse
	m := winnow.Message{Role: winnow.RoleTool, ToolCallID: r.Ref, ToolName: r.Name}
	if m.ToolName == "" {
		m.ToolName = names.Of(r.Ref)
	}
	text, isText := r.Output.(string)
	if !isText && r.Output != nil {
		text = string(adapter.Arguments(r.Output))
	}
	if text != "" {
		m.Parts = append(m.Parts, winnow.Part{Text: text, Source: p})
	}
	for _, c := range r.Content {
		m.Parts = appendPart(m.Parts, c)
	}
	return m
}

// appendPart leaves out an empty text, which makes no difference.
func appendPart(parts []winnow.Part, p *ai.Part) []winnow.Part {
	out := winnow.Part{Kind: winnow.KindOpaque, Source: p}
	switch {
	case p.IsText():
		if p.Text == "" {
			return parts
		}
		out.Kind, out.Text = winnow.KindText, p.Text
	case p.IsReasoning():
		out.Kind, out.Text, out.Signature = winnow.KindThinking, p.Text, signature(p)
	case p.IsToolRequest() && p.ToolRequest != nil:
		c := p.ToolRequest
		out.Kind, out.ID, out.Name = winnow.KindToolCall, c.Ref, c.Name
		out.Arguments, out.Signature = adapter.Arguments(c.Input), signature(p)
	case p.IsImage():
		out = adapter.Media(winnow.KindImage, p.ContentType, p.Text, p)
	case p.IsMedia():
		out = adapter.Media(winnow.KindOpaque, p.ContentType, p.Text, p)
	default:
		out.Bytes = adapter.Size(p)
	}
	return append(parts, out)
}

// signature returns the proof that a model wrote a part: bytes, or their Base64 in a history that was stored.
func signature(p *ai.Part) string {
	switch s := p.Metadata["signature"].(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(s)
	case string:
		return s
	}
	return ""
}

// Response returns an answer as the next message of the history, with its finish reason and usage.
func Response(answer *ai.ModelResponse) winnow.Message {
	m := winnow.Message{Role: winnow.RoleAssistant}
	if answer == nil {
		return m
	}
	if of := Import([]*ai.Message{answer.Message}); len(of) > 0 {
		m = of[0]
	}
	m.StopReason = string(answer.FinishReason)
	if u := answer.Usage; u != nil {
		m.Usage = adapter.Usage(u.InputTokens, u.CachedContentTokens, 0, u.OutputTokens+u.ThoughtsTokens)
	}
	return m
}

// decoded returns arguments as Genkit holds them.
func decoded(arguments json.RawMessage) any {
	v, _ := adapter.Decode(adapter.Object(arguments)) // always an object
	return v
}
