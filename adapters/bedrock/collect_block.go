package bedrock

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
)

// collected is the streamed part of a block.
type collected struct {
	index     int32
	text      string
	citations []types.Citation
	call      *types.ToolUseBlockStart
	input     string
	result    *types.ToolResultBlock // of a tool that the service ran
	image     *types.ImageBlock
	thinks    bool
	thought   string
	signature string
	redacted  []byte
	unknown   *types.UnknownUnionMember
}

// begin takes the event that starts a block. Text and reasoning have no such event.
func (b *collected) begin(start types.ContentBlockStart) {
	switch s := start.(type) {
	case *types.ContentBlockStartMemberToolUse:
		b.call = &s.Value
	case *types.ContentBlockStartMemberToolResult:
		b.result = &types.ToolResultBlock{ToolUseId: s.Value.ToolUseId, Status: s.Value.Status, Type: s.Value.Type}
	case *types.ContentBlockStartMemberImage:
		b.image = &types.ImageBlock{Format: s.Value.Format}
	case *types.UnknownUnionMember:
		b.unknown = s
	default:
		b.unknown = &types.UnknownUnionMember{}
	}
}

// add takes a piece of a block.
func (b *collected) add(delta types.ContentBlockDelta) {
	switch d := delta.(type) {
	case *types.ContentBlockDeltaMemberText:
		b.text += d.Value
	case *types.ContentBlockDeltaMemberToolUse:
		b.input += aws.ToString(d.Value.Input)
	case *types.ContentBlockDeltaMemberReasoningContent:
		b.reason(d.Value)
	case *types.ContentBlockDeltaMemberCitation:
		b.citations = append(b.citations, citation(&d.Value))
	case *types.ContentBlockDeltaMemberToolResult:
		b.addResult(d.Value)
	case *types.ContentBlockDeltaMemberImage:
		b.addImage(&d.Value)
	case *types.UnknownUnionMember:
		b.unknown = d
	default:
		b.unknown = &types.UnknownUnionMember{}
	}
}

func (b *collected) reason(delta types.ReasoningContentBlockDelta) {
	b.thinks = true
	switch r := delta.(type) {
	case *types.ReasoningContentBlockDeltaMemberText:
		b.thought += r.Value
	case *types.ReasoningContentBlockDeltaMemberSignature:
		b.signature += r.Value
	case *types.ReasoningContentBlockDeltaMemberRedactedContent:
		b.redacted = append(b.redacted, r.Value...)
	}
}

func citation(d *types.CitationsDelta) types.Citation {
	c := types.Citation{Location: d.Location, Source: d.Source, Title: d.Title}
	for _, s := range d.SourceContent {
		c.SourceContent = append(c.SourceContent, &types.CitationSourceContentMemberText{Value: aws.ToString(s.Text)})
	}
	return c
}

func (b *collected) addResult(deltas []types.ToolResultBlockDelta) {
	if b.result == nil {
		b.result = &types.ToolResultBlock{}
	}
	for _, delta := range deltas {
		switch d := delta.(type) {
		case *types.ToolResultBlockDeltaMemberText:
			if n := len(b.result.Content); n > 0 {
				if last, ok := b.result.Content[n-1].(*types.ToolResultContentBlockMemberText); ok {
					last.Value += d.Value
					continue
				}
			}
			b.result.Content = append(b.result.Content, &types.ToolResultContentBlockMemberText{Value: d.Value})
		case *types.ToolResultBlockDeltaMemberJson:
			b.result.Content = append(b.result.Content, &types.ToolResultContentBlockMemberJson{Value: d.Value})
		}
	}
}

func (b *collected) addImage(d *types.ImageBlockDelta) {
	if b.image == nil {
		b.image = &types.ImageBlock{}
	}
	piece, ok := d.Source.(*types.ImageSourceMemberBytes)
	if before, also := b.image.Source.(*types.ImageSourceMemberBytes); ok && also {
		before.Value = append(before.Value, piece.Value...)
	} else if d.Source != nil {
		b.image.Source = d.Source
	}
}

// content returns the block, or nil if nothing came.
func (b *collected) content() types.ContentBlock {
	switch {
	case b.unknown != nil:
		return b.unknown
	case b.call != nil:
		return &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
			ToolUseId: b.call.ToolUseId, Name: b.call.Name, Type: b.call.Type, Input: object(json.RawMessage(b.input)),
		}}
	case b.result != nil:
		return &types.ContentBlockMemberToolResult{Value: *b.result}
	case b.image != nil:
		return &types.ContentBlockMemberImage{Value: *b.image}
	case b.redacted != nil:
		redacted := &types.ReasoningContentBlockMemberRedactedContent{Value: b.redacted}
		return &types.ContentBlockMemberReasoningContent{Value: redacted}
	case b.thinks:
		thought := types.ReasoningTextBlock{Text: aws.String(b.thought)}
		if b.signature != "" {
			thought.Signature = aws.String(b.signature)
		}
		text := &types.ReasoningContentBlockMemberReasoningText{Value: thought}
		return &types.ContentBlockMemberReasoningContent{Value: text}
	case b.citations != nil:
		return &types.ContentBlockMemberCitationsContent{Value: types.CitationsContentBlock{
			Content:   []types.CitationGeneratedContent{&types.CitationGeneratedContentMemberText{Value: b.text}},
			Citations: b.citations,
		}}
	case b.text != "":
		return &types.ContentBlockMemberText{Value: b.text}
	}
	return nil
}
