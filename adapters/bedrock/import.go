package bedrock

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Import returns messages in winnow's form. A user message with tool results becomes one message for each result, and
// one for the rest. The result holds the caller's values, which must not be changed while it is in use. Importing the
// same values again gives equal messages.
//
// What stands beside results, or is nothing but reminders of an agent, is marked as no person's (Injected), unless
// nothing else could be the request. Afterwards the host may mark others, and messages that must survive (Pinned).
func Import(messages []types.Message) []winnow.Message {
	im := importer{asked: slices.ContainsFunc(messages, isAsked)}
	for i := range messages {
		im.add(&messages[i])
	}
	adapter.EnsureImported(im.out)
	return im.out
}

// importer turns messages into winnow's.
type importer struct {
	out   []winnow.Message
	names adapter.ToolNames
	calls []winnow.Part // calls of the newest assistant message
	asked bool          // the user says something
}

// isAsked reports whether Export sends something of a user message. Without one, the messages are an answer that the
// host imports alone, and not a conversation that begins with it.
func isAsked(of types.Message) bool {
	if of.Role == types.ConversationRoleAssistant {
		return false
	}
	return slices.ContainsFunc(of.Content, func(b types.ContentBlock) bool {
		switch b.(type) {
		case *types.ContentBlockMemberToolResult, *types.UnknownUnionMember: // a placeholder at least
			return true
		}
		return isSendableBlock(b)
	})
}

func (im *importer) add(of *types.Message) {
	if of.Role == types.ConversationRoleAssistant {
		parts := im.blocks(of)
		im.names.Add(parts)
		im.calls = parts
		im.emit(winnow.Message{Role: winnow.RoleAssistant, Parts: parts}, of, nil, 0, 1)
		return
	}
	results, count, _ := adapter.ResultsIn(of.Content, isResult)
	first := len(im.out)
	for _, b := range of.Content {
		if r, ok := b.(*types.ContentBlockMemberToolResult); ok {
			id := aws.ToString(r.Value.ToolUseId)
			im.emit(winnow.Message{
				Role: winnow.RoleTool, ToolCallID: id, ToolName: im.names.Of(id),
				IsError: r.Value.Status == types.ToolResultStatusError, Parts: im.result(r.Value.Content),
			}, of, r, len(im.out)-first, count)
		}
	}
	adapter.SortByCalls(im.out[first:], im.calls)
	for i := range im.out[first:] {
		adapter.PieceOf[types.Message](&im.out[first+i]).Index = i
	}
	if results < count {
		m := winnow.Message{Role: winnow.RoleUser, Parts: im.blocks(of)}
		if of.Role != types.ConversationRoleUser { // a typo, which Prepare refuses
			m.Role = winnow.Role(of.Role)
		}
		adapter.NoteWhose(&m, results > 0)
		im.emit(m, of, nil, results, count)
	}
}

func isResult(b types.ContentBlock) bool {
	_, is := b.(*types.ContentBlockMemberToolResult)
	return is
}

func (im *importer) emit(m winnow.Message, of *types.Message, block any, index, count int) {
	m.Source = &adapter.Piece[types.Message]{Of: of, Block: block, Index: index, Count: count,
		First: len(im.out) == 0 && im.asked}
	im.out = append(im.out, m)
}

// redacted marks thinking that exists only in encrypted form.
const redacted = "redacted"

// blocks returns the parts of all blocks except the results in a user message. Calls that the service itself answered,
// and their results, count as the model's: the host does not answer them.
func (im *importer) blocks(of *types.Message) []winnow.Part {
	parts := make([]winnow.Part, 0, len(of.Content))
	for _, b := range of.Content {
		b, _ = filledBlock(b)
		p := winnow.Part{Source: b}
		switch b := b.(type) {
		case *types.ContentBlockMemberToolResult:
			if of.Role != types.ConversationRoleAssistant {
				continue
			}
			p.Kind, p.Bytes, p.ID = winnow.KindOpaque, sizeOfResult(b.Value.Content), aws.ToString(b.Value.ToolUseId)
		case *types.ContentBlockMemberText:
			p.Text = b.Value
		case *types.ContentBlockMemberToolUse:
			if b.Value.Type == types.ToolUseTypeServerToolUse {
				p.Kind, p.Bytes = winnow.KindOpaque, len(adapter.Arguments(jsonOf(b.Value.Input)))
				p.ID, p.Name = aws.ToString(b.Value.ToolUseId), cmp.Or(aws.ToString(b.Value.Name), "tool")
				break
			}
			p.Kind, p.ID, p.Name = winnow.KindToolCall, aws.ToString(b.Value.ToolUseId), aws.ToString(b.Value.Name)
			p.Arguments = adapter.Arguments(jsonOf(b.Value.Input))
		case *types.ContentBlockMemberReasoningContent:
			reasoning(&p, b.Value)
		case *types.ContentBlockMemberCitationsContent:
			p.Text = citedText(b.Value.Content)
		case *types.ContentBlockMemberImage:
			p = adapter.MediaBytes(winnow.KindImage, "image/"+string(b.Value.Format), dataOf(b.Value.Source), b)
		case *types.ContentBlockMemberDocument:
			p = documentPart(&b.Value, b)
		case *types.ContentBlockMemberAudio:
			p = adapter.MediaBytes(winnow.KindOpaque, "audio/"+string(b.Value.Format), dataOf(b.Value.Source), b)
		case *types.ContentBlockMemberVideo:
			p = adapter.MediaBytes(winnow.KindOpaque, "video/"+string(b.Value.Format), dataOf(b.Value.Source), b)
		case *types.ContentBlockMemberCachePoint:
			p = adapter.Marker(b)
		case *types.UnknownUnionMember:
			p.Kind = winnow.KindOpaque // without a size, because it is not sent
		default:
			p.Kind, p.Bytes = winnow.KindOpaque, adapter.Size(b)
		}
		parts = append(parts, p)
	}
	return parts
}

// citedText returns the model's text with citations.
func citedText(content []types.CitationGeneratedContent) string {
	var text strings.Builder
	for _, c := range content {
		if t, ok := c.(*types.CitationGeneratedContentMemberText); ok {
			text.WriteString(t.Value)
		}
	}
	return text.String()
}

func reasoning(p *winnow.Part, r types.ReasoningContentBlock) {
	p.Kind = winnow.KindThinking
	switch r := r.(type) {
	case *types.ReasoningContentBlockMemberReasoningText:
		p.Text, p.Signature = aws.ToString(r.Value.Text), aws.ToString(r.Value.Signature)
	case *types.ReasoningContentBlockMemberRedactedContent:
		p.Signature, p.MediaType = base64.StdEncoding.EncodeToString(r.Value), redacted
	}
}

func documentPart(b *types.DocumentBlock, source any) winnow.Part {
	if s, ok := b.Source.(*types.DocumentSourceMemberText); ok {
		return winnow.Part{Kind: winnow.KindOpaque, MediaType: "text/plain", Bytes: len(s.Value), Source: source}
	}
	return adapter.MediaBytes(winnow.KindOpaque, "application/"+string(b.Format), dataOf(b.Source), source)
}

// dataOf returns the data of an image, a document, a sound or a video. Of one that is stored elsewhere nothing is
// known.
func dataOf(source any) []byte {
	switch s := source.(type) {
	case *types.ImageSourceMemberBytes:
		return s.Value
	case *types.DocumentSourceMemberBytes:
		return s.Value
	case *types.AudioSourceMemberBytes:
		return s.Value
	case *types.VideoSourceMemberBytes:
		return s.Value
	}
	return nil
}

// result returns the parts of a result, without empty texts, which make no difference.
func (im *importer) result(content []types.ToolResultContentBlock) []winnow.Part {
	parts := make([]winnow.Part, 0, len(content))
	for _, c := range content {
		c, _ = filledInner(c)
		p := winnow.Part{Source: c}
		switch c := c.(type) {
		case *types.ToolResultContentBlockMemberText:
			if p.Text = c.Value; c.Value == "" {
				continue
			}
		case *types.ToolResultContentBlockMemberJson:
			p.Text = string(adapter.Arguments(jsonOf(c.Value)))
		case *types.ToolResultContentBlockMemberImage:
			p = adapter.MediaBytes(winnow.KindImage, "image/"+string(c.Value.Format), dataOf(c.Value.Source), c)
		case *types.ToolResultContentBlockMemberDocument:
			p = documentPart(&c.Value, c)
		case *types.ToolResultContentBlockMemberVideo:
			p = adapter.MediaBytes(winnow.KindOpaque, "video/"+string(c.Value.Format), dataOf(c.Value.Source), c)
		case *types.UnknownUnionMember:
			p.Kind = winnow.KindOpaque
		default:
			p.Kind, p.Bytes = winnow.KindOpaque, adapter.Size(c)
		}
		parts = append(parts, p)
	}
	return parts
}

// jsonOf returns the JSON that is sent for a document, or nil.
func jsonOf(d document.Interface) any {
	if d == nil {
		return nil
	}
	b, err := d.MarshalSmithyDocument()
	if err != nil {
		return nil
	}
	return json.RawMessage(b)
}

// sizeOfResult estimates the size of a result's content, in bytes.
func sizeOfResult(content []types.ToolResultContentBlock) (bytes int) {
	for _, c := range content {
		switch c := c.(type) {
		case *types.ToolResultContentBlockMemberText:
			bytes += len(c.Value)
		case *types.ToolResultContentBlockMemberJson:
			text, _ := jsonOf(c.Value).(json.RawMessage)
			bytes += len(text)
		default:
			bytes += adapter.Size(c)
		}
	}
	return bytes
}
