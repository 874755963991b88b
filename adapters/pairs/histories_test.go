package pairs

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	anthropicparam "github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/cloudwego/eino/schema"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/require"
	gemini "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/adapters/bedrock"
	"github.com/winnowgo/winnow/adapters/eino"
	"github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	chat "github.com/winnowgo/winnow/adapters/openai"
	"github.com/winnowgo/winnow/adapters/openai/responses"
)

// The histories below mean the same in the form of each SDK, as far as the SDK can express it: a question with an
// image, signed thinking, a call whose result has an image, and a block that the SDK does not know.

const (
	thought   = "A thought of the old model."
	signature = "c2lnbmF0dXJlLW9mLXRoZS1vbGQtbW9kZWw="
	unknown   = "payload of a block of next year"
)

func readAll[T any](t *testing.T, values ...string) []T {
	t.Helper()
	out := make([]T, len(values))
	for i, v := range values {
		require.NoError(t, json.Unmarshal([]byte(v), &out[i]), v)
	}
	return out
}

func anthropicHistory(t *testing.T) []winnow.Message {
	_, image := adaptertest.PNG(t)
	png := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + image + `"}}`
	var messages []anthropicsdk.MessageParam
	for _, text := range []string{
		`{"role":"user","content":[{"type":"text","text":"What is on this picture?"},` + png + `]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"` + thought + `","signature":"` + signature + `"},{"type":"text","text":"I look into the file."},` +
			`{"type":"block_of_next_year","payload":"` + unknown + `"},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.txt"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"The file says 42."},` + png + `]}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"It is a cat."}]}`,
	} {
		messages = append(messages, anthropicparam.Override[anthropicsdk.MessageParam](json.RawMessage(text)))
	}
	return anthropic.Import(messages)
}

func chatHistory(t *testing.T) []winnow.Message {
	_, image := adaptertest.PNG(t)
	var messages []openai.ChatCompletionMessageParamUnion
	for _, text := range []string{
		`{"role":"user","content":[{"type":"text","text":"What is on this picture?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + image + `"}},` +
			`{"type":"block_of_next_year","payload":"` + unknown + `"}]}`,
		`{"role":"assistant","content":"I look into the file.","reasoning_details":[{"type":"reasoning.encrypted","data":"` + signature + `"}],` +
			`"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"},"extra_content":{"google":{"thought_signature":"` + signature + `"}}}]}`,
		`{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"The file says 42."},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + image + `"}}]}`,
		`{"role":"assistant","content":"It is a cat."}`,
	} {
		messages = append(messages, param.Override[openai.ChatCompletionMessageParamUnion](json.RawMessage(text)))
	}
	return chat.Import(messages)
}

func responsesHistory(t *testing.T) []winnow.Message {
	_, image := adaptertest.PNG(t)
	png := `{"type":"input_image","image_url":"data:image/png;base64,` + image + `"}`
	var items []responses.Item
	for _, text := range []string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"What is on this picture?"},` + png + `]}`,
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"` + thought + `"}],"encrypted_content":"` + signature + `"}`,
		`{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"I look into the file.","annotations":[]}]}`,
		`{"type":"block_of_next_year","id":"by_1","payload":"` + unknown + `"}`,
		`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"path\":\"a.txt\"}","status":"completed"}`,
		`{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"The file says 42."},` + png + `]}`,
		`{"type":"message","role":"assistant","id":"msg_2","status":"completed","content":[{"type":"output_text","text":"It is a cat.","annotations":[]}]}`,
	} {
		items = append(items, param.Override[responses.Item](json.RawMessage(text)))
	}
	return responses.Import(items)
}

func geminiHistory(t *testing.T) []winnow.Message {
	_, image := adaptertest.PNG(t)
	png := `{"inlineData":{"mimeType":"image/png","data":"` + image + `"}}`
	return genai.Import(readAll[*gemini.Content](t,
		`{"role":"user","parts":[{"text":"What is on this picture?"},`+png+`]}`,
		`{"role":"model","parts":[{"thought":true,"text":"`+thought+`","thoughtSignature":"`+signature+`"},{"text":"I look into the file."},`+
			`{"executableCode":{"language":"PYTHON","code":"`+unknown+`"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"`+unknown+`"}},{"functionCall":{"name":"read","args":{"path":"a.txt"}},"thoughtSignature":"`+signature+`"}]}`,
		`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"The file says 42."},"parts":[`+png+`]}}]}`,
		`{"role":"model","parts":[{"text":"It is a cat."},{"thoughtSignature":"`+signature+`"}]}`,
	))
}

func bedrockHistory(t *testing.T) []winnow.Message {
	_, image := adaptertest.PNG(t)
	data, err := base64.StdEncoding.DecodeString(image)
	require.NoError(t, err)
	png := types.ImageBlock{Format: types.ImageFormatPng, Source: &types.ImageSourceMemberBytes{Value: data}}
	text := func(s string) types.ContentBlock { return &types.ContentBlockMemberText{Value: s} }
	point := &types.ContentBlockMemberCachePoint{Value: types.CachePointBlock{Type: types.CachePointTypeDefault}}
	return bedrock.Import([]types.Message{
		{Role: "user", Content: []types.ContentBlock{text("What is on this picture?"), &types.ContentBlockMemberImage{Value: png}, point}},
		{Role: "assistant", Content: []types.ContentBlock{
			&types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberReasoningText{
				Value: types.ReasoningTextBlock{Text: aws.String(thought), Signature: aws.String(signature)},
			}},
			text("I look into the file."),
			&types.UnknownUnionMember{Tag: "blockOfNextYear", Value: []byte(`{"payload":"` + unknown + `"}`)},
			&types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
				ToolUseId: aws.String("tooluse_1"), Name: aws.String("read"), Input: document.NewLazyDocument(map[string]any{"path": "a.txt"}),
			}},
		}},
		{Role: "user", Content: []types.ContentBlock{
			&types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{ToolUseId: aws.String("tooluse_1"), Content: []types.ToolResultContentBlock{
				&types.ToolResultContentBlockMemberText{Value: "The file says 42."}, &types.ToolResultContentBlockMemberImage{Value: png},
			}}},
			point,
		}},
		{Role: "assistant", Content: []types.ContentBlock{text("It is a cat.")}},
	})
}

func einoHistory(t *testing.T) []winnow.Message {
	_, image := adaptertest.PNG(t)
	png := schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{
		MessagePartCommon: schema.MessagePartCommon{Base64Data: &image, MIMEType: "image/png"},
	}}
	text := func(s string) schema.MessageInputPart {
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: s}
	}
	call := schema.ToolCall{ID: "call_1", Type: "function", Extra: map[string]any{"signature": signature}}
	call.Function.Name, call.Function.Arguments = "read", `{"path":"a.txt"}`
	return eino.Import([]*schema.Message{
		{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{text("What is on this picture?"), png, {Type: "block_of_next_year", Text: unknown}}},
		{Role: schema.Assistant, ReasoningContent: thought, Content: "I look into the file.", ToolCalls: []schema.ToolCall{call}, Extra: map[string]any{"signature": signature}},
		{Role: schema.Tool, ToolCallID: "call_1", ToolName: "read", UserInputMultiContent: []schema.MessageInputPart{text("The file says 42."), png}},
		{Role: schema.Assistant, Content: "It is a cat."},
	})
}
