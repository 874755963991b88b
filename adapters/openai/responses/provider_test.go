package responses

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// readRequest checks a request by the rules of the API.
func readRequest(_ *http.Request, body []byte) (adaptertest.FrontRequest, error) {
	var wire struct {
		Input        json.RawMessage `json:"input"`
		Instructions string          `json:"instructions"`
		MaxTokens    int             `json:"max_output_tokens"`
		Tools        []any           `json:"tools"`
		Stream       bool            `json:"stream"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return adaptertest.FrontRequest{}, err
	}
	q := adaptertest.FrontRequest{System: wire.Instructions, MaxTokens: wire.MaxTokens, Tools: len(wire.Tools) > 0, Stream: wire.Stream}
	var text string
	if json.Unmarshal(wire.Input, &text) == nil {
		q.Messages = []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}}}
		return q, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(wire.Input, &raw); err != nil {
		return q, err
	}
	items := make([]Item, len(raw))
	for i := range raw {
		items[i] = param.Override[Item](raw[i])
	}
	q.Messages = Import(items)
	return q, valid(items)
}

// made is how many items have an id.
type made struct{ n int }

// answer makes items: reasoning, and what came of it. Each of those is refused without the reasoning, by
// the ids that they have here; see valid.
func (m *made) answer(a *winnow.Message, stream bool) []byte {
	m.n++
	thought := fmt.Sprintf("rs_%d", m.n)
	output := []any{map[string]any{"type": "reasoning", "id": thought, "summary": []any{}, "encrypted_content": "abc"}}
	for k, p := range a.Parts {
		of := fmt.Sprintf("%d_%d of %s", m.n, k, thought)
		if p.Kind == winnow.KindText {
			output = append(output, map[string]any{"type": "message", "id": "msg_" + of, "role": "assistant", "status": "completed",
				"content": []any{map[string]any{"type": "output_text", "text": p.Text, "annotations": []any{}}}})
		} else {
			output = append(output, map[string]any{"type": "function_call", "id": "fc_" + of, "call_id": p.ID, "name": p.Name, "arguments": string(p.Arguments), "status": "completed"})
		}
	}
	reply := map[string]any{"id": a.ID, "object": "response", "status": "completed", "output": output,
		"usage": map[string]any{"input_tokens": a.Usage.Input, "output_tokens": a.Usage.Output}}
	if stream {
		return append(adaptertest.Event("response.created", map[string]any{"type": "response.created", "sequence_number": 0, "response": map[string]any{"id": a.ID}}),
			adaptertest.Event("response.completed", map[string]any{"type": "response.completed", "sequence_number": 1, "response": reply})...)
	}
	b, _ := json.Marshal(reply) // it can always be written
	return b
}

func refusal(_ int, text string) []byte {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded"}})
	return b
}

// clientOf returns the SDK's client of a local server.
func clientOf(url string) *openai.Client {
	c := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	return &c
}

// asMessage returns an answer that is one message.
func asMessage(answer *sdk.Response, err error) (winnow.Message, error) {
	if err != nil {
		return winnow.Message{}, err
	}
	messages := Response(answer)
	if len(messages) != 1 {
		return winnow.Message{}, fmt.Errorf("%d messages", len(messages))
	}
	return messages[0], nil
}

// input are the params of a request.
func input(items []Item, tools ...sdk.ToolUnionParam) sdk.ResponseNewParams {
	return sdk.ResponseNewParams{Model: "gpt", Store: openai.Bool(false), Input: sdk.ResponseNewParamsInputUnion{OfInputItemList: items}, Tools: tools}
}

var readTool = sdk.ToolUnionParam{OfFunction: &sdk.FunctionToolParam{Name: "read"}}

func whole(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(clientOf(url).Responses.New(ctx, input(Export(messages), readTool)))
}

func streamed(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(Collect(clientOf(url).Responses.NewStreaming(ctx, input(Export(messages), readTool)), nil))
}

func TestConversations(t *testing.T) {
	var items made
	front := adaptertest.Front{Wording: "openai-input", Read: readRequest, Answer: items.answer, Refuse: refusal}
	summarizer := func(url string) winnow.Summarizer { return NewSummarizer(*clientOf(url), "gpt", 0) }
	t.Run("whole", func(t *testing.T) { adaptertest.CheckConversations(t, whole, summarizer, front) })
	t.Run("streamed", func(t *testing.T) { adaptertest.CheckConversations(t, streamed, summarizer, front) })
}

// TestAgent: the loop of the README, streaming, over restarts.
func TestAgent(t *testing.T) {
	var items made
	front := adaptertest.Front{Wording: "openai-input", Read: readRequest, Answer: items.answer, Refuse: refusal}
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "input", Keeps: `"encrypted_content":"abc"`, Send: streamed}, front)
}
