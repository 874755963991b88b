package bedrock

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	smithy "github.com/aws/smithy-go/document"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in the SDK's form. Messages and blocks that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got, as far as that follows the rules.
//
// System messages are left out: [ExportSystem] returns them.
func Export(messages []winnow.Message) []types.Message {
	e := exporter{out: make([]types.Message, 0, len(messages))}
	e.ids.Rule = adapter.IDRule{MaxLength: 64, Byte: adapter.Letters, Objects: true}
	for run := range adapter.Runs(messages) {
		if adapter.IsAssistant(&run[0]) {
			e.assistant(&run[0])
		} else {
			e.user(run)
		}
	}
	return e.out
}

// noContent is the text of a result that has none.
const noContent = "[no output]"

// exporter makes the SDK's messages.
type exporter struct {
	out []types.Message
	ids adapter.CallIDs
}

// add adds a message, or adds its content to the last message if that has the same role.
func (e *exporter) add(m types.Message) {
	n := len(e.out)
	if len(m.Content) == 0 {
		return
	}
	if n > 0 && e.out[n-1].Role == m.Role {
		last := &e.out[n-1]
		last.Content = append(last.Content[:len(last.Content):len(last.Content)], m.Content...)
		return
	}
	e.out = append(e.out, m)
}

func (e *exporter) assistant(m *winnow.Message) {
	p := adapter.PieceOf[types.Message](m)
	if len(e.out) == 0 && (p == nil || !p.First) {
		e.add(types.Message{Role: types.ConversationRoleUser,
			Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: adapter.Opening}}})
	}
	sent, stay := e.ids.Name(m)
	if stay && p != nil && isSendable(p.Of.Content) {
		e.add(*p.Of)
		return
	}
	out := types.Message{Role: types.ConversationRoleAssistant}
	for k := range m.Parts {
		part := &m.Parts[k]
		own, _ := part.Source.(types.ContentBlock)
		switch {
		case part.Kind == winnow.KindToolCall:
			out.Content = append(out.Content, callBlock(part, own, sent[k]))
		case own != nil && isSendableBlock(own):
			out.Content = append(out.Content, own)
		case part.Kind == winnow.KindThinking, adapter.IsSilent(part):
		default:
			out.Content = append(out.Content, &types.ContentBlockMemberText{Value: adapter.TextOf(part)})
		}
	}
	if onlyReasoning(out.Content) {
		return
	}
	e.add(out)
}

// onlyReasoning reports whether content is reasoning without the blocks that it led to.
func onlyReasoning(content []types.ContentBlock) bool {
	for _, b := range content {
		if _, ok := b.(*types.ContentBlockMemberReasoningContent); !ok {
			return false
		}
	}
	return true
}

// isSendable reports whether there is content, and the API accepts all of it.
func isSendable(content []types.ContentBlock) bool {
	for _, b := range content {
		if !isSendableBlock(b) {
			return false
		}
	}
	return len(content) > 0
}

// isSendableBlock reports whether b is neither blank nor of a kind that the SDK cannot send.
func isSendableBlock(b types.ContentBlock) bool {
	switch b := b.(type) {
	case nil, *types.UnknownUnionMember:
		return false
	case *types.ContentBlockMemberText:
		return !adapter.IsBlank(b.Value)
	case *types.ContentBlockMemberCitationsContent:
		return !adapter.IsBlank(citedText(b.Value.Content))
	case *types.ContentBlockMemberToolResult:
		return resultIsSendable(b.Value.Content)
	}
	_, filled := filledBlock(b)
	return filled
}

func resultIsSendable(content []types.ToolResultContentBlock) bool {
	for _, c := range content {
		switch c := c.(type) {
		case nil, *types.UnknownUnionMember:
			return false
		case *types.ToolResultContentBlockMemberText:
			if adapter.IsBlank(c.Value) {
				return false
			}
		}
		if _, filled := filledInner(c); !filled {
			return false
		}
	}
	return len(content) > 0
}

// callBlock returns a call with the id to send.
func callBlock(p *winnow.Part, own types.ContentBlock, id string) types.ContentBlock {
	if b, ok := own.(*types.ContentBlockMemberToolUse); ok {
		if id == p.ID && adapter.IsObject(p.Arguments) {
			return b
		}
		call := b.Value
		call.ToolUseId = aws.String(id)
		if !adapter.IsObject(p.Arguments) {
			call.Input = object(p.Arguments)
		}
		return &types.ContentBlockMemberToolUse{Value: call}
	}
	return &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
		ToolUseId: aws.String(id), Name: aws.String(adapter.Name(p.Name, 64, adapter.Letters)),
		Input: object(p.Arguments),
	}}
}

// object returns arguments in the SDK's form. Numbers keep their spelling.
func object(arguments json.RawMessage) document.Interface {
	v, err := adapter.Decode(adapter.Object(arguments))
	if err != nil {
		v = map[string]any{}
	}
	return document.NewLazyDocument(numbers(v))
}

// numbers returns v with numbers in the SDK's form.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return smithy.Number(v)
	case map[string]any:
		for key, value := range v {
			v[key] = numbers(value)
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// user adds the messages between two assistant messages as one message, results first.
func (e *exporter) user(run []winnow.Message) {
	sent := e.ids.Results(run)
	if of, n := adapter.Whole[types.Message](run); n == len(run) && staysWhole(of, run, sent) {
		e.add(*of)
		return
	}
	out := types.Message{Role: types.ConversationRoleUser}
	for i := range run {
		if m := &run[i]; m.Role == winnow.RoleTool {
			out.Content = append(out.Content, result(m, sent[i]))
		}
	}
	for i := range run {
		if m := &run[i]; m.Role != winnow.RoleTool && m.Role != winnow.RoleSystem {
			out.Content = append(out.Content, userBlocks(m)...)
		}
	}
	e.add(out)
}

// staysWhole reports whether the caller's message, of which these are the pieces, is sent unchanged.
func staysWhole(of *types.Message, pieces []winnow.Message, sent []string) bool {
	for i := range pieces {
		if sent[i] != "" && sent[i] != pieces[i].ToolCallID {
			return false
		}
	}
	_, _, first := adapter.ResultsIn(of.Content, isResult)
	return first && isSendable(of.Content)
}

// result returns the block of a result.
func result(m *winnow.Message, id string) types.ContentBlock {
	var r types.ToolResultBlock
	if p := adapter.PieceOf[types.Message](m); p != nil {
		if own, ok := p.Block.(*types.ContentBlockMemberToolResult); ok {
			if id == m.ToolCallID && resultIsSendable(own.Value.Content) {
				return own
			}
			r = own.Value
		}
	} else if m.IsError {
		r.Status = types.ToolResultStatusError
	}
	r.ToolUseId, r.Content = aws.String(id), resultContent(m)
	return &types.ContentBlockMemberToolResult{Value: r}
}

func resultContent(m *winnow.Message) []types.ToolResultContentBlock {
	var content []types.ToolResultContentBlock
	for k := range m.Parts {
		p := &m.Parts[k]
		own := resultSource(p)
		switch {
		case adapter.IsSilent(p):
		case own != nil:
			content = append(content, own)
		default:
			content = append(content, &types.ToolResultContentBlockMemberText{Value: adapter.TextOf(p)})
		}
	}
	if content == nil {
		content = []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: noContent}}
	}
	return content
}

// resultSource returns the caller's value of a part of a result. A host may put a block for user messages there.
func resultSource(p *winnow.Part) types.ToolResultContentBlock {
	switch s := p.Source.(type) {
	case *types.UnknownUnionMember:
		return nil
	case types.ToolResultContentBlock:
		return s
	case *types.ContentBlockMemberImage:
		return &types.ToolResultContentBlockMemberImage{Value: s.Value}
	case *types.ContentBlockMemberDocument:
		return &types.ToolResultContentBlockMemberDocument{Value: s.Value}
	}
	return nil
}

// userBlocks builds the content of a user message that cannot be sent unchanged.
func userBlocks(m *winnow.Message) []types.ContentBlock {
	var blocks []types.ContentBlock
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(types.ContentBlock)
		if c, ok := p.Source.(*types.ToolResultContentBlockMemberImage); ok {
			// of a result that is shown as a text of the host
			own = &types.ContentBlockMemberImage{Value: c.Value}
		}
		switch {
		case own != nil && isSendableBlock(own):
			blocks = append(blocks, own)
		case adapter.IsShown(p):
			blocks = append(blocks, &types.ContentBlockMemberText{Value: adapter.TextOf(p)})
		}
	}
	return blocks
}
