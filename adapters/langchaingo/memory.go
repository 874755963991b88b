package langchaingo

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
)

// Memory is a conversation buffer for chains that write the conversation into one prompt. Its history stays whole, and
// what the prompt gets of it fits into the window: see [NewMemory].
type Memory struct {
	*memory.ConversationBuffer
	conversations *framework.Conversations
}

// NewMemory returns a memory. The reserve of the managers ([winnow.Options]) is for the answer and the newest request,
// and Overhead for the rest of the prompt. The context of a run names its conversation.
//
// A refusal of the provider is not recovered from: the memory does not see it.
func NewMemory(o *framework.Options, options ...memory.ConversationBufferOption) *Memory {
	return &Memory{memory.NewConversationBuffer(options...), framework.New(o)}
}

// LoadMemoryVariables implements schema.Memory.
func (m *Memory) LoadMemoryVariables(ctx context.Context, _ map[string]any) (map[string]any, error) {
	of, err := m.ChatHistory.Messages(ctx)
	if err != nil {
		return nil, err
	}
	history := make([]winnow.Message, len(of))
	for i, c := range of {
		history[i] = winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: c.GetContent()}}}
		switch c.GetType() {
		case llms.ChatMessageTypeAI:
			history[i].Role = winnow.RoleAssistant
		case llms.ChatMessageTypeSystem:
			history[i].Role = winnow.RoleSystem
		}
	}
	var messages []llms.ChatMessage
	if len(history) > 0 {
		messages, _, err = framework.Do(ctx, m.conversations, history,
			func(_ context.Context, request []winnow.Message) (messages []llms.ChatMessage, err error) {
				for i := range request {
					messages = append(messages, chatMessage(&request[i]))
				}
				return messages, nil
			})
		if err != nil {
			return nil, err
		}
	}
	if m.ReturnMessages {
		return map[string]any{m.MemoryKey: messages}, nil
	}
	text, err := llms.GetBufferString(messages, m.HumanPrefix, m.AIPrefix)
	if err != nil {
		return nil, fmt.Errorf("langchaingo: %w", err)
	}
	return map[string]any{m.MemoryKey: text}, nil
}

func chatMessage(m *winnow.Message) llms.ChatMessage {
	text := ""
	for k := range m.Parts {
		text += m.Parts[k].Text
	}
	switch m.Role {
	case winnow.RoleAssistant:
		return llms.AIChatMessage{Content: text}
	case winnow.RoleSystem:
		return llms.SystemChatMessage{Content: text}
	}
	return llms.HumanChatMessage{Content: text}
}
