package eino

import (
	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
)

// Response returns the answer of a chat model as the next message of the history, with its stop reason and usage, like
// [Import]. A streamed answer is collected by [schema.ConcatMessages] first.
func Response(answer *schema.Message) winnow.Message {
	m := Import([]*schema.Message{answer})
	if len(m) == 0 {
		return winnow.Message{Role: winnow.RoleAssistant}
	}
	return m[0]
}
