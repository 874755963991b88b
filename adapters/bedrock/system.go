package bedrock

import (
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// ImportSystem returns the system prompt of [bedrockruntime.ConverseInput] as one message, or nil if there is none, so
// that it is counted with the history. Alternatively, count it in Options.Overhead.
//
// [bedrockruntime.ConverseInput]: https://pkg.go.dev/github.com/aws/aws-sdk-go-v2/service/bedrockruntime#ConverseInput
func ImportSystem(blocks []types.SystemContentBlock) []winnow.Message {
	if len(blocks) == 0 {
		return nil
	}
	m := winnow.Message{Role: winnow.RoleSystem, Parts: make([]winnow.Part, len(blocks))}
	for i, b := range blocks {
		m.Parts[i] = winnow.Part{Kind: winnow.KindOpaque, Tokens: 1, Source: b}
		if text, ok := b.(*types.SystemContentBlockMemberText); ok {
			m.Parts[i] = winnow.Part{Text: text.Value, Source: b}
		}
	}
	return []winnow.Message{m}
}

// ExportSystem returns the system messages for the field System of the request. The caller's own blocks come back
// unchanged.
func ExportSystem(messages []winnow.Message) []types.SystemContentBlock {
	var blocks []types.SystemContentBlock
	for i := range messages {
		if messages[i].Role != winnow.RoleSystem {
			continue
		}
		for k := range messages[i].Parts {
			p := &messages[i].Parts[k]
			if p.Kind == winnow.KindText && adapter.IsBlank(p.Text) {
				continue
			}
			if own, ok := p.Source.(types.SystemContentBlock); ok {
				blocks = append(blocks, own)
			} else if p.Kind == winnow.KindText {
				blocks = append(blocks, &types.SystemContentBlockMemberText{Value: p.Text})
			}
		}
	}
	return blocks
}
