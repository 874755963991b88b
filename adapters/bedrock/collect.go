package bedrock

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Collect reads a stream (ConverseStreamOutput.GetStream) to its end and returns the answer, for [Response]. It returns
// the stream's error, in which Bedrock also reports overflows, or io.ErrUnexpectedEOF if the stream ends before the
// answer does. It first passes each event to seen, which may be nil.
func Collect(stream *bedrockruntime.ConverseStreamEventStream,
	seen func(types.ConverseStreamOutput)) (*bedrockruntime.ConverseOutput, error) {
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
		return nil, adapter.CutOff("bedrock")
	}
	c.answer.Output = &types.ConverseOutputMemberMessage{Value: types.Message{Role: types.ConversationRoleAssistant,
		Content: c.content()}}
	return c.answer, nil
}

type collector struct {
	answer *bedrockruntime.ConverseOutput
	blocks []collected
}

func (c *collector) add(event types.ConverseStreamOutput) {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		c.block(e.Value.ContentBlockIndex).begin(e.Value.Start)
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		c.block(e.Value.ContentBlockIndex).add(e.Value.Delta)
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
	at := len(c.blocks) - 1 // pieces are most likely of the last one
	for at >= 0 && c.blocks[at].index != n {
		at--
	}
	if at < 0 {
		at = len(c.blocks)
		c.blocks = append(c.blocks, collected{index: n})
	}
	return &c.blocks[at]
}

// content returns the blocks in their order.
func (c *collector) content() []types.ContentBlock {
	slices.SortStableFunc(c.blocks, func(a, b collected) int { return int(a.index - b.index) })
	var content []types.ContentBlock
	for i := range c.blocks {
		if b := c.blocks[i].content(); b != nil {
			content = append(content, b)
		}
	}
	return content
}
