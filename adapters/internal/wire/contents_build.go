package wire

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// ContentBuilder makes contents of Gemini's API.
type ContentBuilder struct {
	// Given returns the JSON of the part that a host keeps in the Source of a part.
	Given func(source any) []byte

	out     Values
	foreign map[int]bool // contents whose first call did not come from Gemini's API
	ids     adapter.CallIDs
	calls   []sentCall // of the model's newest message, by its parts
}

// sentCall is the id and name of a sent call, which its response has to repeat.
type sentCall struct{ id, name string }

// Build makes contents of messages. Those that were not changed since [Import] are the caller's.
func (b *ContentBuilder) Build(messages []winnow.Message) {
	b.ids.Rule = adapter.IDRule{MaxLength: 64, Byte: adapter.Letters}
	b.foreign = map[int]bool{}
	for run := range adapter.Runs(ownOf(Contents{}, messages)) {
		if adapter.IsAssistant(&run[0]) {
			b.model(&run[0])
		} else {
			b.user(run)
		}
	}
}

// Contents returns what was made.
func (b *ContentBuilder) Contents() Values { return b.out }

func (b *ContentBuilder) add(role string, parts [][]byte) {
	if len(parts) > 0 {
		b.out = append(b.out, Given{JSON: jsonedit.Object("parts", jsonedit.List(parts...), "role", role)})
	}
}

func isModel(v Given) bool { return v.JSON.Get("role").Text() == "model" }

// ownContent returns the caller's content of m, nil for one that is changed or has a part that is empty.
func ownContent(m *winnow.Message) *Given {
	if p := adapter.PieceOf[Values](m); p != nil && !p.Hollow && len(m.Parts) > 0 {
		return &(*p.Of)[0]
	}
	return nil
}

func (b *ContentBuilder) model(m *winnow.Message) {
	p := adapter.PieceOf[Values](m)
	stay, calls := b.nameCalls(m)
	content, isForeign := ownContent(m), false
	if content == nil || !stay {
		var parts [][]byte
		if parts, isForeign = b.modelParts(m); len(parts) == 0 {
			return
		}
		content = &Given{JSON: jsonedit.Object("parts", jsonedit.List(parts...), "role", "model")}
	}
	if calls {
		content = b.joinModel(content)
	}
	if len(b.out) == 0 && (p == nil || !p.First || calls) {
		b.add("user", [][]byte{jsonedit.Object("text", adapter.Opening)})
	}
	b.foreign[len(b.out)] = isForeign
	b.out = append(b.out, *content)
}

// joinModel joins the model's trailing contents with content, which has calls, because calls have to follow the user.
func (b *ContentBuilder) joinModel(content *Given) *Given {
	first := len(b.out)
	for first > 0 && isModel(b.out[first-1]) {
		first--
	}
	if first == len(b.out) {
		return content
	}
	var parts [][]byte
	for _, c := range append(b.out[first:len(b.out):len(b.out)], *content) {
		for _, p := range c.JSON.Get("parts").Elements() {
			parts = append(parts, p)
		}
	}
	joined := &Given{JSON: b.out[first].JSON.Set("parts", jsonedit.List(parts...))}
	b.out = b.out[:first]
	return joined
}

// nameCalls decides the ids of m's calls. It reports whether all of them stay unchanged, and whether m has calls.
func (b *ContentBuilder) nameCalls(m *winnow.Message) (stay, calls bool) {
	sent, stay := b.ids.Name(m)
	b.calls = make([]sentCall, len(m.Parts))
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
			b.calls[k], calls = sentCall{sent[k], b.callName(p)}, true
		}
	}
	return stay, calls
}

// callName returns the name to send for a call.
func (b *ContentBuilder) callName(p *winnow.Part) string {
	if call := either(b.own(p), "functionCall"); call.Exists() {
		return call.Get("name").Text()
	}
	return adapter.Name(p.Name, 64, func(c byte) bool { return adapter.Letters(c) || c == '.' || c == ':' })
}

// own returns the caller's part, or nil. A response is none: its text is only a member of it.
func (b *ContentBuilder) own(p *winnow.Part) value { return ownElement(Contents{}, p, b.Given) }

// modelParts builds the content of a message of the model that cannot be sent unchanged.
func (b *ContentBuilder) modelParts(m *winnow.Message) (parts [][]byte, isForeign bool) {
	isFirst := true // of the calls
	for k := range m.Parts {
		p := &m.Parts[k]
		own, signature := b.own(p), signatureOf(p)
		switch {
		case p.Kind == winnow.KindToolCall:
			if isFirst { // Import makes the ids of Gemini's calls
				isForeign, isFirst = own == nil && !IsMade(p.ID), false
			}
			parts = append(parts, b.callPart(p, own, b.calls[k]))
		case own != nil:
			parts = append(parts, own)
		case p.Kind == winnow.KindOpaque && signature != "":
			parts = append(parts, jsonedit.Object("thoughtSignature", signature))
		case p.Kind == winnow.KindThinking: // the API ignores thoughts, but reads its own signatures
		case adapter.IsSilent(p) && p.Signature == "": // a signature stays
		default:
			parts = append(parts, signedPart(signature, "text", jsonedit.Quote(adapter.TextOf(p))))
		}
	}
	return parts, isForeign
}

// signedPart returns a part with a thought signature, if there is one.
func signedPart(signature, name string, v []byte) []byte {
	if signature == "" {
		return jsonedit.Object(name, v)
	}
	return jsonedit.Object(name, v, "thoughtSignature", signature)
}

// signatureOf returns the thought signature of a text or a call. Only [Import] sets it.
func signatureOf(p *winnow.Part) string {
	if _, err := base64.StdEncoding.DecodeString(p.Signature); err != nil || p.MediaType == winnow.MediaCompaction {
		return "" // of another provider
	}
	return p.Signature
}

// callPart returns a call with the id to send. If the caller's call has no id, neither does this one.
func (b *ContentBuilder) callPart(p *winnow.Part, own value, sent sentCall) []byte {
	switch {
	case own != nil && sent.id == p.ID:
		return own
	case own != nil:
		return own.Set("functionCall.id", jsonedit.Quote(sent.id))
	}
	members := []any{"args", []byte(adapter.Object(p.Arguments)), "name", sent.name}
	if !IsMade(sent.id) {
		members = append([]any{"id", sent.id}, members...)
	}
	return signedPart(signatureOf(p), "functionCall", jsonedit.Object(members...))
}

// IsMade reports whether [Import] made an id, for a call of Gemini without one.
func IsMade(id string) bool { return strings.HasPrefix(id, madePrefix) }

// user adds the messages between two of the model: first the responses in one content, and then the rest.
func (b *ContentBuilder) user(run []winnow.Message) {
	joined, run := adapter.JoinResults[Values](run)
	if joined != nil {
		b.build(joined, b.answered(joined))
	}
	sent := b.answered(run)
	for i := 0; i < len(run); {
		of, n := adapter.Whole[Values](run[i:])
		if n > 0 && responsesStay(run[i:i+n], sent[i:]) {
			b.out = append(b.out, (*of)[0])
		} else if n = max(n, 1); run[i].Role != winnow.RoleSystem {
			b.build(run[i:i+n], sent[i:])
		}
		i += n
	}
}

// answered returns the call that each response in run answers.
func (b *ContentBuilder) answered(run []winnow.Message) []sentCall {
	calls := make([]sentCall, len(run))
	for i := range run {
		m := &run[i]
		if m.Role != winnow.RoleTool {
			continue
		}
		id, call := b.ids.Result(m.ToolCallID)
		calls[i] = sentCall{id, m.ToolName}
		switch {
		case call >= 0:
			calls[i].name = b.calls[call].name
		case m.ToolCallID == "": // the API accepts it
			calls[i].id = ""
		}
		if calls[i].name == "" && call < 0 && ownResult(m) == nil {
			calls[i].name = "unknown"
		}
	}
	return calls
}

// responsesStay reports whether the caller's content, whose pieces these are, is sent unchanged.
func responsesStay(pieces []winnow.Message, sent []sentCall) bool {
	for i := range pieces {
		m := &pieces[i]
		if p := adapter.PieceOf[Values](m); p.Hollow {
			return false
		}
		if m.Role != winnow.RoleTool {
			if len(m.Parts) == 0 {
				return false
			}
			continue
		}
		own := ownResult(m)
		if own == nil || sent[i].id != m.ToolCallID ||
			sent[i].name != either(own, "functionResponse").Get("name").Text() {
			return false
		}
	}
	return true
}

// build adds the content of messages: one content with responses and another with the images that it may not hold, or
// one with the user's words.
func (b *ContentBuilder) build(messages []winnow.Message, sent []sentCall) {
	var parts, images [][]byte
	for i := range messages {
		m := &messages[i]
		if m.Role != winnow.RoleTool {
			parts = append(parts, b.userParts(m)...)
			continue
		}
		parts = append(parts, b.response(m, sent[i]))
		for k := range m.Parts { // what a host put into a result, but not every model accepts in a response
			if _, isRead := m.Parts[k].Source.(*Block); isRead {
				continue
			}
			if own := b.own(&m.Parts[k]); own.Get("inlineData").Exists() || own.Get("fileData").Exists() {
				images = append(images, own)
			}
		}
	}
	b.add("user", parts)
	b.add("user", images)
}

// userParts returns the content of a message of the user.
func (b *ContentBuilder) userParts(m *winnow.Message) (parts [][]byte) {
	for k := range m.Parts {
		p := &m.Parts[k]
		own := b.own(p)
		if block, ok := p.Source.(*Block); ok && len(block.of.raw) > 0 && !own.Get("inlineData").Exists() {
			own = nil // of a response that is shown as a text of the host
		}
		switch {
		case own != nil:
			parts = append(parts, own)
		case adapter.IsShown(p):
			text := adapter.TextOf(p)
			if IsMade(m.ToolCallID) { // a later response, which names its call
				text = strings.Replace(text, ", call "+m.ToolCallID, "", 1)
			}
			parts = append(parts, jsonedit.Object("text", text))
		}
	}
	return parts
}

// response returns the response of a call.
func (b *ContentBuilder) response(m *winnow.Message, call sentCall) value {
	own := ownResult(m)
	if own == nil {
		own = unchanged(m)
	}
	if own != nil {
		return named(own, call)
	}
	key := "output"
	if m.IsError {
		key = "error"
	}
	var texts []winnow.Part
	var parts [][]byte
	for k := range m.Parts {
		p := &m.Parts[k]
		block, ok := p.Source.(*Block)
		if ok && block.api == (Contents{}) && block.list != nil && len(block.of.raw) > 0 {
			parts = append(parts, block.raw)
		} else {
			texts = append(texts, winnow.Part{Text: adapter.TextOf(p)})
		}
	}
	members := []any{"name", call.name, "response", jsonedit.Object(key, adapter.Text(texts))}
	if call.id != "" && !IsMade(call.id) {
		members = append([]any{"id", call.id}, members...)
	}
	if parts != nil {
		members = append([]any{"parts", jsonedit.List(parts...)}, members...)
	}
	return jsonedit.Object("functionResponse", jsonedit.Object(members...))
}

// named returns the caller's response with the id and the name of its call.
func named(own value, call sentCall) value {
	id, name := own.Get("functionResponse.id"), own.Get("functionResponse.name")
	switch {
	case IsMade(call.id), call.id == "" && id == nil:
	case id.Text() != call.id:
		own = own.Set("functionResponse.id", jsonedit.Quote(call.id))
	}
	if name.Text() != call.name {
		own = own.Set("functionResponse.name", jsonedit.Quote(call.name))
	}
	return own
}

// unchanged returns the caller's part behind all parts of a result, or nil.
func unchanged(m *winnow.Message) value {
	if len(m.Parts) == 0 {
		return nil
	}
	first, ok := m.Parts[0].Source.(*Block)
	if !ok || first.api != (Contents{}) || len(first.of.raw) == 0 || len(m.Parts) != len(first.of.blocks) {
		return nil
	}
	for k, block := range first.of.blocks {
		if m.Parts[k].Source != block {
			return nil
		}
	}
	return first.of.raw
}

// Sign puts a thought signature at the first call of each step of the newest turn that has none, in all contents or
// only at calls that did not come from Gemini's API.
func (b *ContentBuilder) Sign(signature string, all bool) {
	for i := len(b.out) - 1; i >= 0 && !b.begins(i); i-- {
		if !isModel(b.out[i]) || !all && !b.foreign[i] {
			continue
		}
		parts := b.out[i].JSON.Get("parts").Elements()
		k := slices.IndexFunc(parts, func(p value) bool { return p.Get("functionCall").Exists() })
		if k < 0 || parts[k].Get("thoughtSignature").Text() != "" {
			continue
		}
		e := jsonedit.Edit(b.out[i].JSON)
		e.Replace(parts[k], parts[k].Set("thoughtSignature", jsonedit.Quote(signature)))
		b.out[i] = Given{JSON: e.Bytes(b.out[i].JSON)}
	}
}

// begins reports whether the content begins a turn: the user says or shows something, and it is neither beside
// responses nor an image of one, which is sent behind it.
func (b *ContentBuilder) begins(i int) bool {
	has := func(i int, member string) bool {
		return slices.ContainsFunc(b.out[i].JSON.Get("parts").Elements(), func(p value) bool {
			return !p.Get(member).IsEmpty()
		})
	}
	if isModel(b.out[i]) || has(i, "functionResponse") {
		return false
	}
	return has(i, "text") || i == 0 || !has(i-1, "functionResponse")
}
