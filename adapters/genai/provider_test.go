package genai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// signed is the thought signature of the first call of each step.
var signed = []byte("signed")

// readRequest checks a request as Gemini 3 does: the first call of each step of the current turn has the
// signature that it came with, or the placeholder that the API takes.
func readRequest(r *http.Request, body []byte) (adaptertest.FrontRequest, error) {
	var wire struct {
		Contents          []*sdk.Content        `json:"contents"`
		SystemInstruction *sdk.Content          `json:"systemInstruction"`
		GenerationConfig  *sdk.GenerationConfig `json:"generationConfig"`
		Tools             []*sdk.Tool           `json:"tools"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return adaptertest.FrontRequest{}, err
	}
	q := adaptertest.FrontRequest{Messages: Import(wire.Contents), Tools: len(wire.Tools) > 0, Stream: strings.Contains(r.URL.Path, ":stream")}
	if wire.SystemInstruction != nil {
		q.System = wire.SystemInstruction.Parts[0].Text
	}
	if wire.GenerationConfig != nil {
		q.MaxTokens = int(wire.GenerationConfig.MaxOutputTokens)
	}
	for i := len(wire.Contents) - 1; i >= 0 && !isQuestion(wire.Contents[i]); i-- {
		for _, p := range wire.Contents[i].Parts {
			if p.FunctionCall != nil {
				if s := string(p.ThoughtSignature); s != string(signed) && !isPlaceholder(p) {
					return q, fmt.Errorf("contents[%d]: function call is missing a thought_signature", i)
				}
				break
			}
		}
	}
	return q, valid(wire.Contents)
}

// isPlaceholder reports whether Google reads the signature of a part, as the SDK writes it, as the documented text.
func isPlaceholder(p *sdk.Part) bool {
	documented, err := base64.URLEncoding.DecodeString("skip_thought_signature_validator")
	return err == nil && bytes.Equal(p.ThoughtSignature, documented)
}

func isQuestion(c *sdk.Content) bool { return c.Role == sdk.RoleUser && c.Parts[0].Text != "" }

// writeAnswer gives calls no ids, as the API does. A stream comes in two pieces.
func writeAnswer(m *winnow.Message, stream bool) []byte {
	reply := func(finish string, parts []*sdk.Part) map[string]any {
		r := map[string]any{"responseId": m.ID, "candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": finish}}}
		if finish != "" {
			r["usageMetadata"] = map[string]any{"promptTokenCount": m.Usage.Input, "candidatesTokenCount": m.Usage.Output}
		}
		return r
	}
	var parts []*sdk.Part
	first := true
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText {
			parts = append(parts, &sdk.Part{Text: p.Text})
			continue
		}
		call := &sdk.Part{FunctionCall: &sdk.FunctionCall{Name: p.Name}}
		_ = json.Unmarshal(p.Arguments, &call.FunctionCall.Args)
		if first {
			call.ThoughtSignature, first = signed, false
		}
		parts = append(parts, call)
	}
	finish := "STOP"
	if m.StopReason == "length" {
		finish = "MAX_TOKENS"
	}
	if stream {
		return append(adaptertest.Event("", reply("", parts[:1])), adaptertest.Event("", reply(finish, parts[1:]))...)
	}
	b, _ := json.Marshal(reply(finish, parts)) // it can always be written
	return b
}

func writeRefusal(status int, text string) []byte {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"code": status, "message": text, "status": "INVALID_ARGUMENT"}})
	return b
}

// clientOf returns the SDK's client of a local server.
func clientOf(url string) *sdk.Client {
	client, err := sdk.NewClient(context.Background(), &sdk.ClientConfig{APIKey: "none", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: url}})
	if err != nil {
		panic(err) // it only reads its configuration
	}
	return client
}

var asMessage = adaptertest.Answer(Response)

func withTool(f *sdk.FunctionDeclaration) *sdk.GenerateContentConfig {
	return &sdk.GenerateContentConfig{Tools: []*sdk.Tool{{FunctionDeclarations: []*sdk.FunctionDeclaration{f}}}}
}

var readTool = withTool(&sdk.FunctionDeclaration{Name: "read"})

func whole(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(clientOf(url).Models.GenerateContent(ctx, "gemini-3.8-flash", Export(messages), readTool))
}

func streamed(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(Collect(clientOf(url).Models.GenerateContentStream(ctx, "gemini-3.8-flash", Export(messages), readTool), nil))
}

var front = adaptertest.Front{Wording: "gemini", Read: readRequest, Answer: writeAnswer, Refuse: writeRefusal}

func TestConversations(t *testing.T) {
	summarizer := func(url string) winnow.Summarizer { return NewSummarizer(clientOf(url), "gemini-3.5-flash", 0, nil) }
	t.Run("whole", func(t *testing.T) { adaptertest.CheckConversations(t, whole, summarizer, front) })
	t.Run("streamed", func(t *testing.T) { adaptertest.CheckConversations(t, streamed, summarizer, front) })
}

// TestAgent: the loop of the README, streaming, over restarts.
func TestAgent(t *testing.T) {
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "contents", Keeps: `"thoughtSignature":`, Send: streamed}, front)
}

// TestUnsignedCalls: a model goes on with an open turn whose calls Gemini 3 did not make. Gemini 3 gets a placeholder
// on the first call of each step of that turn, and on no other; older models get none.
func TestUnsignedCalls(t *testing.T) {
	call := func(id, signature string) winnow.Part {
		return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "read", Arguments: []byte(`{}`), Signature: signature}
	}
	step := func(calls ...winnow.Part) []winnow.Message {
		messages := []winnow.Message{{Role: winnow.RoleAssistant, Parts: calls}}
		for _, c := range calls {
			messages = append(messages, winnow.Message{Role: winnow.RoleTool, ToolCallID: c.ID, Parts: []winnow.Part{{Text: "r"}}})
		}
		return messages
	}
	ask := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}}
	show := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 9}}}}
	own := func(signature []byte) []winnow.Message { // as Gemini 2.5 makes them, or Gemini 3
		return Import([]*sdk.Content{
			{Role: sdk.RoleModel, Parts: []*sdk.Part{{FunctionCall: &sdk.FunctionCall{Name: "read"}, ThoughtSignature: signature}}},
			{Role: sdk.RoleUser, Parts: []*sdk.Part{{FunctionResponse: &sdk.FunctionResponse{Name: "read", Response: map[string]any{"output": "r"}}}}},
		})
	}
	for _, tt := range []struct {
		name                  string
		history               []winnow.Message
		three, unknown, older int // placeholders
	}{
		{"another provider's", slices.Concat(ask, step(call("a", "")), step(call("b", ""), call("c", ""))), 2, 2, 0},
		{"an older turn", slices.Concat(ask, step(call("a", "")), ask, step(call("b", ""))), 1, 1, 0},
		{"a turn that ended", slices.Concat(ask, step(call("a", "")), ask), 0, 0, 0},
		{"an image begins a turn", slices.Concat(ask, step(call("a", "")), []winnow.Message{{Role: winnow.RoleAssistant, Parts: ask[0].Parts}}, show, step(call("b", ""))), 1, 1, 0},
		{"Gemini's own", slices.Concat(ask, own(signed), step(call("b", ""))), 1, 1, 0},
		{"an older Gemini's", slices.Concat(ask, own(nil), step(call("b", ""))), 2, 1, 0},
		{"Gemini's own, restored without its contents", slices.Concat(ask, step(call("a", base64.StdEncoding.EncodeToString(signed)), call("b", ""))), 0, 0, 0},
	} {
		for model, want := range map[string]int{"gemini-3.5-flash": tt.three, "models/gemini-3-pro-preview": tt.three, "gemini-10-pro": tt.three,
			"": tt.unknown, "gemini-flash-latest": tt.three, "gemini-2.5-pro": tt.older, "gemini-1.5-pro-latest": tt.older, "google/gemini-1.5-flash": tt.older} {
			contents := ExportFor(model, tt.history)
			require.NoError(t, valid(contents), tt.name)
			got := 0
			for _, c := range contents {
				for _, p := range c.Parts {
					if isPlaceholder(p) {
						got++
					}
				}
			}
			assert.Equal(t, want, got, "%s for %q", tt.name, model)
			if want == tt.three && want > 0 {
				_, err := readRequest(httptest.NewRequest(http.MethodPost, "/v1beta/models/m:generateContent", nil), marshalled(t, contents))
				assert.NoError(t, err, tt.name)
			}
		}
		before := jsonOf(t, tt.history)
		Export(tt.history)
		assert.Equal(t, before, jsonOf(t, tt.history), "the history is as it was")
	}
}

func marshalled(t *testing.T, contents []*sdk.Content) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{"contents": contents})
	require.NoError(t, err)
	return b
}
