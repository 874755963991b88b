package wire

import (
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// ChatBuilder makes messages of Chat Completions.
type ChatBuilder struct {
	IDs adapter.IDRule
	// Given returns the JSON of the content that a host keeps in the Source of a part.
	Given func(source any) []byte
	// ImagesApart says that messages of the user have the images of results already.
	ImagesApart bool

	out    Values
	ids    adapter.CallIDs
	images [][]byte // of results
}

// Build returns messages as those of a request. Those that were not changed since [Import] are the caller's.
func (b *ChatBuilder) Build(messages []winnow.Message) Values {
	b.ids.Rule = b.IDs
	for run := range adapter.Runs(ownOf(Chat{}, messages)) {
		if adapter.IsAssistant(&run[0]) {
			b.assistant(&run[0])
		} else {
			b.between(run)
		}
	}
	return b.out
}

func (b *ChatBuilder) add(members ...any) {
	b.out = append(b.out, Given{JSON: jsonedit.Object(members...)})
}

// between adds the messages between two of the model, results first.
func (b *ChatBuilder) between(run []winnow.Message) {
	for i := range run {
		if run[i].Role == winnow.RoleTool {
			b.result(&run[i])
		}
	}
	if len(b.images) > 0 {
		b.add("content", jsonedit.List(b.images...), "role", "user")
		b.images = nil
	}
	for i := range run {
		m := &run[i]
		if m.Role == winnow.RoleTool {
			continue
		}
		if own := ownChat(m); own != nil {
			b.out = append(b.out, *own)
		} else if content := b.content(m, m.Role != winnow.RoleSystem); content != nil {
			members := []any{"content", content}
			switch {
			case m.Role == winnow.RoleSystem:
				members = append(members, "role", "system")
			case m.Speaker != "":
				members = append(members, "name", strings.Map(nameRune, m.Speaker), "role", "user")
			default:
				members = append(members, "role", "user")
			}
			b.add(members...)
		}
	}
}

// ownChat returns the caller's message for m, or nil if it is to be built anew: some servers refuse an empty text in a
// list of content, and gateways pass it on to them.
func ownChat(m *winnow.Message) *Given {
	p := adapter.PieceOf[Values](m)
	if p == nil || p.Hollow && (len(m.Parts) > 0 || m.Role == winnow.RoleTool) {
		return nil
	}
	return &(*p.Of)[0]
}

// nameRune returns r as the API takes it in the name of a person: without white space and the marks of a template.
func nameRune(r rune) rune {
	if unicode.IsSpace(r) || strings.ContainsRune(`<|\/>`, r) {
		return '_'
	}
	return r
}

// content returns the content of a message that is not the model's. Only the user's may have more than texts.
func (b *ChatBuilder) content(m *winnow.Message, isUsers bool) []byte {
	return contentOf(m, "text", adapter.IsShown, func(p *winnow.Part) value {
		if !isUsers && b.UserImage(p) != nil {
			return nil
		}
		return b.own(p)
	})
}

// own returns the caller's element of content for a part, or nil.
func (b *ChatBuilder) own(p *winnow.Part) value { return ownElement(Chat{}, p, b.Given) }

// UserImage returns the caller's element for an image that only a message of the user may hold, or nil.
func (b *ChatBuilder) UserImage(p *winnow.Part) value {
	if block, ok := p.Source.(*Block); ok && block.of.role == winnow.RoleTool {
		return nil
	}
	if own := b.own(p); own.Get("type").Text() == "image_url" {
		return own
	}
	return nil
}

// result adds a result. It may not hold images, which are kept for later.
func (b *ChatBuilder) result(m *winnow.Message) {
	id, _ := b.ids.Result(m.ToolCallID)
	if own := ownChat(m); own != nil {
		if of := own.JSON.Get("tool_call_id"); of.Exists() && of.Text() != id {
			own = &Given{JSON: own.JSON.Set("tool_call_id", jsonedit.Quote(id))}
		}
		b.out = append(b.out, *own)
		return
	}
	for k := range m.Parts {
		if image := b.UserImage(&m.Parts[k]); image != nil && !b.ImagesApart {
			b.images = append(b.images, image)
		}
	}
	content := b.content(m, false)
	switch {
	case IsFunctionID(m.ToolCallID):
		b.add("content", adapter.Text(m.Parts), "name", m.ToolName, "role", "function")
	case content == nil: // the member must be there
		b.add("content", "", "tool_call_id", id, "role", "tool")
	default:
		b.add("content", content, "tool_call_id", id, "role", "tool")
	}
}

// IsFunctionID reports whether [Import] made an id.
func IsFunctionID(id string) bool { return strings.HasPrefix(id, functionPrefix) }

func (b *ChatBuilder) assistant(m *winnow.Message) {
	sent, stay := b.ids.Name(m)
	own := ownChat(m)
	switch {
	case own == nil:
		b.build(m, sent)
	case !stay:
		e := jsonedit.Edit(own.JSON)
		for k, id := range sent {
			if block, ok := m.Parts[k].Source.(*Block); ok && id != "" && len(block.id) > 0 && id != m.Parts[k].ID {
				e.Replace(block.id, jsonedit.Quote(id))
			}
		}
		b.out = append(b.out, Given{JSON: e.Bytes(own.JSON)})
	case len(m.Parts) > 0 || isSaid(own.JSON.Get("content")): // the API refuses it without content and calls
		b.out = append(b.out, *own)
	}
}

// chatAnswer is a message of the model in the making.
type chatAnswer struct {
	texts, calls   [][]byte
	hasOwn         bool // one of the texts is the caller's
	members, extra []any
}

// build adds a message of the model that cannot be sent unchanged.
func (b *ChatBuilder) build(m *winnow.Message, sent []string) {
	var a chatAnswer
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
			a.call(p, b.own(p), sent[k])
		} else {
			a.content(p, b.own(p))
		}
	}
	switch {
	case len(a.texts) == 1 && !a.hasOwn: // every server takes a string
		a.members = append(a.members, "content", value(a.texts[0]).Get("text"))
	case len(a.texts) > 0:
		a.members = append(a.members, "content", jsonedit.List(a.texts...))
	}
	if len(a.calls) > 0 {
		a.members = append(a.members, "tool_calls", jsonedit.List(a.calls...))
	}
	if len(a.members) > 0 {
		b.add(slices.Concat(a.members, []any{"role", "assistant"}, a.extra)...)
	}
}

// content adds what is not a call.
func (a *chatAnswer) content(p *winnow.Part, own value) {
	block, _ := p.Source.(*Block)
	switch {
	case p.Kind == winnow.KindThinking && slices.Contains(reasoningNames, p.MediaType):
		a.extra = append(a.extra, p.MediaType, p.Text)
	case p.Kind == winnow.KindThinking && p.MediaType == reasoningDetails:
		a.extra = append(a.extra, p.MediaType, []byte(p.Signature))
	case p.Kind == winnow.KindThinking:
	case block != nil && block.api == (Chat{}) && block.list == nil && (block.typ == "refusal" || block.typ == "audio"):
		a.members = append(a.members, block.typ, block.raw)
	case own != nil:
		a.texts, a.hasOwn = append(a.texts, own), true
	case !adapter.IsSilent(p):
		a.texts = append(a.texts, jsonedit.Object("text", adapter.TextOf(p), "type", "text"))
	}
}

// call adds a call with the id to send.
func (a *chatAnswer) call(p *winnow.Part, own value, id string) {
	name := adapter.Name(p.Name, 64, adapter.Letters)
	switch {
	case p.MediaType == "function_call":
		a.members = append(a.members, p.MediaType, jsonedit.Object("arguments", string(p.Arguments), "name", name))
	case own != nil && id == p.ID:
		a.calls = append(a.calls, own)
	case own != nil:
		a.calls = append(a.calls, own.Set("id", jsonedit.Quote(id)))
	case p.MediaType == "custom":
		input := jsonedit.Object("input", jsontext.Unquote(p.Arguments), "name", name)
		a.calls = append(a.calls, jsonedit.Object("id", id, "custom", input, "type", "custom"))
	default:
		function := jsonedit.Object("arguments", string(adapter.Object(p.Arguments)), "name", name)
		call := value(jsonedit.Object("id", id, "function", function, "type", "function"))
		if signature, ok := strings.CutPrefix(p.Signature, googlePrefix); ok {
			call = signed(call, signature)
		}
		a.calls = append(a.calls, call)
	}
}

// signed returns a call with a thought signature.
func signed(call value, signature string) value {
	google := value(jsonedit.Object("thought_signature", signature))
	switch extra := call.Get("extra_content"); {
	case extra.Get("google").IsObject():
		return call.Set("extra_content.google.thought_signature", jsonedit.Quote(signature))
	case extra.IsObject():
		return call.Set("extra_content.google", google)
	}
	return call.Set("extra_content", jsonedit.Object("google", google))
}

// SignChat puts a thought signature at the first call of each step of the newest turn, if that has none.
func SignChat(messages Values, signature string) {
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i].JSON
		call := m.Get("tool_calls.0")
		switch {
		case m.Get("role").Text() == "user":
			return
		case call.Exists() && call.Get("extra_content.google.thought_signature").Text() == "":
			messages[i] = Given{JSON: m.Set("tool_calls.0", signed(call, signature))}
		}
	}
}
