package genai

import (
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Response returns the first candidate of an answer as the next message of the history, with the answer's id, finish
// reason and usage. Thoughts count as output. Without a candidate the message is empty, and its stop reason says why
// the prompt was blocked. [Collect] reads a streamed answer first; [Check] recognizes a response that is not an answer.
func Response(answer *sdk.GenerateContentResponse) winnow.Message {
	m := winnow.Message{Role: winnow.RoleAssistant}
	if len(answer.Candidates) > 0 {
		candidate := answer.Candidates[0]
		if candidate.Content != nil {
			content := candidate.Content
			if content.Role != sdk.RoleModel { // some servers leave it out
				content = &sdk.Content{Role: sdk.RoleModel, Parts: content.Parts}
			}
			m = Import([]*sdk.Content{content})[0]
		}
		m.StopReason = string(candidate.FinishReason)
	} else if answer.PromptFeedback != nil {
		m.StopReason = string(answer.PromptFeedback.BlockReason)
	}
	m.ID = answer.ResponseID
	if u := answer.UsageMetadata; u != nil {
		m.Usage = adapter.Usage(u.PromptTokenCount+u.ToolUsePromptTokenCount, u.CachedContentTokenCount, 0,
			u.CandidatesTokenCount+u.ThoughtsTokenCount)
	}
	return m
}
