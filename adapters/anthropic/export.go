package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Export returns messages in the SDK's form. Messages and blocks that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
//
// System messages that did not come from an [sdk.MessageParam] are left out: [ExportSystem] returns them. If a history
// of another origin begins with an assistant message, Export puts a user message in front, unless that begins with a
// block of compaction, which stands for what was there, system messages too.
func Export(messages []winnow.Message) []sdk.MessageParam {
	return wire.Export(wire.Messages{}.Build(messages, given), typed)
}

// ExportBeta is [Export] for the messages of the beta API. Both take messages of [Import] and of [ImportBeta].
func ExportBeta(messages []winnow.Message) []sdk.BetaMessageParam {
	return wire.Export(wire.Messages{}.Build(messages, given), typedBeta)
}

// A message is given as JSON only if the SDK's types cannot hold it.
var (
	typed = adapter.ReadExactly(param.Override[sdk.MessageParam], func(m *sdk.MessageParam, raw json.RawMessage) {
		for i, input := range inputsOf(raw, len(m.Content)) {
			if call := m.Content[i].OfToolUse; call != nil {
				call.Input = input
			}
		}
	})
	typedBeta = adapter.ReadExactly(param.Override[sdk.BetaMessageParam],
		func(m *sdk.BetaMessageParam, raw json.RawMessage) {
			for i, input := range inputsOf(raw, len(m.Content)) {
				if call := m.Content[i].OfToolUse; call != nil {
					call.Input = input
				}
			}
		})
)

// inputsOf returns the inputs of the calls of so many blocks. The SDK decodes them into maps, in which their order and
// the spelling of numbers are gone.
func inputsOf(raw json.RawMessage, blocks int) []json.RawMessage {
	inputs := make([]json.RawMessage, blocks)
	for i, b := range jsonedit.Value(raw).Get("content").Elements() {
		if i < blocks {
			inputs[i] = json.RawMessage(b.Get("input"))
		}
	}
	return inputs
}

// given returns the block that a host put into the Source of a part, for a message or for a result.
func given(source any) []byte {
	switch s := source.(type) {
	case *sdk.ContentBlockParamUnion:
		return adapter.Raw(s)
	case *sdk.ToolResultBlockParamContentUnion:
		return adapter.Raw(s)
	}
	return nil
}
