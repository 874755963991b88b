package winnow

import (
	"encoding/json"

	"github.com/winnowgo/winnow/internal/recall"
)

// Tool is a tool that a model may call. It has no provider's form; each adapter converts it to the form of its SDK.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"` // for the model
	Schema      json.RawMessage `json:"parameters"`  // JSON schema of the arguments
}

// RecallTool returns the tool with which a model asks for what was left out of a request. Offer it in every request of
// a conversation with [Options].Recall, and answer its calls with [Manager.Recall]. It takes at most 250 tokens.
func RecallTool() Tool {
	description, schema := recall.Definition()
	return Tool{Name: recall.Name, Description: description, Schema: json.RawMessage(schema)}
}

// recallOverhead estimates how many tokens RecallTool takes in a request.
func recallOverhead(e Estimator) int {
	text, err := json.Marshal(RecallTool())
	if err != nil { // cannot happen: all values are constants
		return 0
	}
	return textTokens(e, string(text))
}

// isRefusedRecall reports whether m, a result of tool, says that [Manager.Recall] quotes nothing: what was asked for is
// not there, or need not be shown. That is not a failure of the agent's work.
func isRefusedRecall(m *Message, tool string) bool {
	return tool == recall.Name && len(m.Parts) == 1 && recall.IsRefusal(m.Parts[0].Text)
}
