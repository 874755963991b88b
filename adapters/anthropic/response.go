package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Response returns the answer of the API as the next message of the history, with its id, stop reason and usage.
// Members of its blocks that the SDK does not know are kept. [Collect] reads a streamed answer first; [Check]
// recognizes an error in place of an answer.
func Response(answer *sdk.Message) winnow.Message {
	own := answer.ToParam()
	for i := range own.Content {
		carryUnknown(&own.Content[i], answer.Content[i].RawJSON())
	}
	m := Import([]sdk.MessageParam{own})[0]
	adapter.PieceOf[message](&m).First = false
	m.ID = answer.ID
	m.StopReason = string(answer.StopReason)
	u := usage(&answer.Usage)
	m.Usage = &u
	return m
}

func usage(u *sdk.Usage) winnow.Usage {
	return winnow.Usage{
		Input:      int(u.InputTokens),
		CacheRead:  int(u.CacheReadInputTokens),
		CacheWrite: int(u.CacheCreationInputTokens),
		Output:     int(u.OutputTokens),
	}
}

// carryUnknown adds to a block those members of the answer's block that the SDK does not know. It leaves out null.
func carryUnknown[B json.Marshaler](b B, raw string) {
	known, err := b.MarshalJSON()
	if err != nil || raw == "" {
		return
	}
	extra := adapter.UnknownMembers([]byte(raw), known)
	if len(extra) == 0 {
		return
	}
	var variant any
	switch b := any(b).(type) {
	case *block:
		variant = variantOf(b)
	case *sdk.BetaContentBlockParamUnion:
		variant = betaVariantOf(b)
	}
	if v, ok := variant.(interface{ SetExtraFields(map[string]any) }); ok {
		v.SetExtraFields(extra)
	}
}

// variantOf returns the typed block, for blocks that models write.
func variantOf(b *block) any {
	switch {
	case b.OfText != nil:
		return b.OfText
	case b.OfThinking != nil:
		return b.OfThinking
	case b.OfRedactedThinking != nil:
		return b.OfRedactedThinking
	case b.OfToolUse != nil:
		return b.OfToolUse
	case b.OfServerToolUse != nil:
		return b.OfServerToolUse
	}
	return nil
}

func betaVariantOf(b *sdk.BetaContentBlockParamUnion) any {
	switch {
	case b.OfText != nil:
		return b.OfText
	case b.OfThinking != nil:
		return b.OfThinking
	case b.OfRedactedThinking != nil:
		return b.OfRedactedThinking
	case b.OfToolUse != nil:
		return b.OfToolUse
	case b.OfServerToolUse != nil:
		return b.OfServerToolUse
	}
	return nil
}
