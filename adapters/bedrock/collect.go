package bedrock

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
)

// Collect reads a stream (ConverseStreamOutput.GetStream) to its end and returns the answer, for [Response]. It returns
// the stream's error, as which Bedrock also sends overflows, and io.ErrUnexpectedEOF for a stream that ends before the
// answer does. Each event is passed to seen first, which may be nil.
func Collect(stream *bedrockruntime.ConverseStreamEventStream, seen func(types.ConverseStreamOutput)) (*bedrockruntime.ConverseOutput, error) {
	defer stream.Close()
	c := collector{answer: &bedrockruntime.ConverseOutput{}}
	for event := range stream.Events() {
		if seen != nil {
			seen(event)
		}
		c.add(event)
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if c.answer.StopReason == "" {
		return nil, fmt.Errorf("bedrock: the stream ended before the answer: %w", io.ErrUnexpectedEOF)
	}
	c.answer.Output = &types.ConverseOutputMemberMessage{Value: types.Message{Role: types.ConversationRoleAssistant, Content: c.content()}}
	return c.answer, nil
}

type collector struct {
	answer *bedrockruntime.ConverseOutput
	blocks []collected
}

// collected is a block as far as it was streamed.
type collected struct {
	index     int32
	text      string
	call      *types.ToolUseBlockStart
	input     string
	thinks    bool
	thought   string
	signature string
	redacted  []byte
}

func (c *collector) add(event types.ConverseStreamOutput) {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		if call, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
			c.block(e.Value.ContentBlockIndex).call = &call.Value
		}
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		c.delta(c.block(e.Value.ContentBlockIndex), e.Value.Delta)
	case *types.ConverseStreamOutputMemberMessageStop:
		c.answer.StopReason = e.Value.StopReason
		c.answer.AdditionalModelResponseFields = e.Value.AdditionalModelResponseFields
	case *types.ConverseStreamOutputMemberMetadata:
		c.answer.Usage = e.Value.Usage
	}
}

// block returns the block with an index.
func (c *collector) block(index *int32) *collected {
	n := aws.ToInt32(index)
	at := slices.IndexFunc(c.blocks, func(b collected) bool { return b.index == n })
	if at < 0 {
		at = len(c.blocks)
		c.blocks = append(c.blocks, collected{index: n})
	}
	return &c.blocks[at]
}

func (c *collector) delta(b *collected, delta types.ContentBlockDelta) {
	switch d := delta.(type) {
	case *types.ContentBlockDeltaMemberText:
		b.text += d.Value
	case *types.ContentBlockDeltaMemberToolUse:
		b.input += aws.ToString(d.Value.Input)
	case *types.ContentBlockDeltaMemberReasoningContent:
		b.thinks = true
		switch r := d.Value.(type) {
		case *types.ReasoningContentBlockDeltaMemberText:
			b.thought += r.Value
		case *types.ReasoningContentBlockDeltaMemberSignature:
			b.signature += r.Value
		case *types.ReasoningContentBlockDeltaMemberRedactedContent:
			b.redacted = append(b.redacted, r.Value...)
		}
	}
}

// content returns the blocks in their order.
func (c *collector) content() []types.ContentBlock {
	slices.SortStableFunc(c.blocks, func(a, b collected) int { return int(a.index - b.index) })
	var content []types.ContentBlock
	for i := range c.blocks {
		b := &c.blocks[i]
		switch {
		case b.call != nil:
			content = append(content, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
				ToolUseId: b.call.ToolUseId, Name: b.call.Name, Type: b.call.Type, Input: object(json.RawMessage(b.input)),
			}})
		case b.redacted != nil:
			content = append(content, &types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberRedactedContent{Value: b.redacted}})
		case b.thinks:
			thought := types.ReasoningTextBlock{Text: aws.String(b.thought)}
			if b.signature != "" {
				thought.Signature = aws.String(b.signature)
			}
			content = append(content, &types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberReasoningText{Value: thought}})
		case b.text != "":
			content = append(content, &types.ContentBlockMemberText{Value: b.text})
		}
	}
	return content
}
