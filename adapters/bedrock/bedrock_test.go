package bedrock

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/winnowtest"
)

var underTest = winnowtest.Adapter[types.Message]{Import: Import, Export: Export, Valid: valid, Copy: copied}

// clientOf returns the SDK's client of a local server.
func clientOf(url string) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		BaseEndpoint: aws.String(url), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "none", SecretAccessKey: "none"}, nil
		}),
	})
}

// copied returns messages in other memory.
func copied(messages []types.Message) ([]types.Message, error) {
	out := make([]types.Message, len(messages))
	for i, m := range messages {
		out[i].Role = m.Role
		for _, b := range m.Content {
			switch b := b.(type) {
			case *types.ContentBlockMemberText:
				out[i].Content = append(out[i].Content, &types.ContentBlockMemberText{Value: strings.Clone(b.Value)})
			case *types.ContentBlockMemberToolUse:
				c := b.Value
				c.Input = copiedDocument(c.Input)
				out[i].Content = append(out[i].Content, &types.ContentBlockMemberToolUse{Value: c})
			case *types.ContentBlockMemberToolResult:
				r := b.Value
				r.Content = nil
				for _, c := range b.Value.Content {
					if text, ok := c.(*types.ToolResultContentBlockMemberText); ok {
						c = &types.ToolResultContentBlockMemberText{Value: strings.Clone(text.Value)}
					}
					r.Content = append(r.Content, c)
				}
				out[i].Content = append(out[i].Content, &types.ContentBlockMemberToolResult{Value: r})
			default:
				out[i].Content = append(out[i].Content, b)
			}
		}
	}
	return out, nil
}

// copiedDocument returns a document as a host has it after reading arguments from a file.
func copiedDocument(d document.Interface) document.Interface {
	b, err := d.MarshalSmithyDocument()
	if err != nil {
		return d
	}
	return object(b)
}

// wireMessage is a message in the form that is sent.
type wireMessage struct {
	Role    string                       `json:"role"`
	Content []map[string]json.RawMessage `json:"content"`
}

// read returns the SDK's message that a message in JSON is.
func read(raw json.RawMessage) (types.Message, error) {
	var wire wireMessage
	if err := json.Unmarshal(raw, &wire); err != nil {
		return types.Message{}, err
	}
	m := types.Message{Role: types.ConversationRole(wire.Role)}
	for _, members := range wire.Content {
		for tag, value := range members {
			m.Content = append(m.Content, readBlock(tag, value))
		}
	}
	return m, nil
}

func readBlock(tag string, raw json.RawMessage) types.ContentBlock {
	var b struct {
		ToolUseID string                       `json:"toolUseId"`
		Name      string                       `json:"name"`
		Input     json.RawMessage              `json:"input"`
		Content   []map[string]json.RawMessage `json:"content"`
		Status    string                       `json:"status"`
		Format    string                       `json:"format"`
		Source    struct{ Bytes []byte }       `json:"source"`
		Type      string                       `json:"type"`
		Reasoning *struct {
			Text      *string `json:"text"`
			Signature *string `json:"signature"`
		} `json:"reasoningText"`
		Redacted  []byte                   `json:"redactedContent"`
		Citations []struct{ Title string } `json:"citations"`
	}
	var text string
	if tag == "text" {
		_ = json.Unmarshal(raw, &text)
		return &types.ContentBlockMemberText{Value: text}
	}
	if json.Unmarshal(raw, &b) != nil {
		return &types.UnknownUnionMember{Tag: tag, Value: raw}
	}
	switch tag {
	case "toolUse":
		call := types.ToolUseBlock{ToolUseId: aws.String(b.ToolUseID), Name: aws.String(b.Name), Input: object(b.Input), Type: types.ToolUseType(b.Type)}
		return &types.ContentBlockMemberToolUse{Value: call}
	case "toolResult":
		r := types.ToolResultBlock{ToolUseId: aws.String(b.ToolUseID), Status: types.ToolResultStatus(b.Status)}
		if b.Type != "" {
			r.Type = aws.String(b.Type)
		}
		if b.Content != nil {
			r.Content = []types.ToolResultContentBlock{}
		}
		for _, members := range b.Content {
			for tag, value := range members {
				r.Content = append(r.Content, readResult(tag, value))
			}
		}
		return &types.ContentBlockMemberToolResult{Value: r}
	case "image":
		return &types.ContentBlockMemberImage{Value: types.ImageBlock{Format: types.ImageFormat(b.Format), Source: &types.ImageSourceMemberBytes{Value: b.Source.Bytes}}}
	case "document":
		return &types.ContentBlockMemberDocument{Value: types.DocumentBlock{Format: types.DocumentFormat(b.Format), Name: aws.String(b.Name), Source: &types.DocumentSourceMemberBytes{Value: b.Source.Bytes}}}
	case "citationsContent":
		var c types.CitationsContentBlock
		for _, members := range b.Content {
			for _, text := range members {
				var s string
				_ = json.Unmarshal(text, &s)
				c.Content = append(c.Content, &types.CitationGeneratedContentMemberText{Value: s})
			}
		}
		for _, cited := range b.Citations {
			c.Citations = append(c.Citations, types.Citation{Title: aws.String(cited.Title)})
		}
		return &types.ContentBlockMemberCitationsContent{Value: c}
	case "cachePoint":
		return &types.ContentBlockMemberCachePoint{Value: types.CachePointBlock{Type: types.CachePointType(b.Type)}}
	case "reasoningContent":
		if b.Reasoning == nil {
			return &types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberRedactedContent{Value: b.Redacted}}
		}
		return &types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberReasoningText{Value: types.ReasoningTextBlock{Text: b.Reasoning.Text, Signature: b.Reasoning.Signature}}}
	}
	return &types.UnknownUnionMember{Tag: tag, Value: raw}
}

func readResult(tag string, raw json.RawMessage) types.ToolResultContentBlock {
	switch tag {
	case "text":
		var text string
		_ = json.Unmarshal(raw, &text)
		return &types.ToolResultContentBlockMemberText{Value: text}
	case "json":
		return &types.ToolResultContentBlockMemberJson{Value: object(raw)}
	case "image":
		b := readBlock(tag, raw).(*types.ContentBlockMemberImage)
		return &types.ToolResultContentBlockMemberImage{Value: b.Value}
	}
	return &types.UnknownUnionMember{Tag: tag, Value: raw}
}

// valid refuses what the SDK cannot send, and what Converse refuses.
func valid(messages []types.Message) error {
	for i, m := range messages {
		for k, b := range m.Content {
			if _, unknown := b.(*types.UnknownUnionMember); unknown {
				return fmt.Errorf("messages.%d.content.%d cannot be sent", i, k)
			}
		}
	}
	body, err := json.Marshal(wrap(messages))
	if err != nil {
		return err
	}
	return adaptertest.ValidConverse(body)
}

func TestConformance(t *testing.T) { winnowtest.Run(t, underTest) }

func TestCorpus(t *testing.T) { adaptertest.CheckCorpus(t, underTest) }

func TestOrder(t *testing.T) { adaptertest.CheckOrder(t, underTest, nil) } // Export joins neighbours

// TestCallsHaveObjects checks what is sent for a call whose input the API refuses, such as the null of a nil map.
func TestCallsHaveObjects(t *testing.T) {
	for _, tt := range []struct {
		input document.Interface
		want  string
	}{
		{nil, `{}`},
		{document.NewLazyDocument(nil), `{}`},
		{document.NewLazyDocument(map[string]any(nil)), `{}`},
		{document.NewLazyDocument([]int{1}), `{"arguments":[1]}`},
		{document.NewLazyDocument(map[string]any{"n": 1}), `{"n":1}`},
	} {
		own := &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{ToolUseId: aws.String("a"), Name: aws.String("read"), Input: tt.input}}
		out := Export(Import([]types.Message{
			{Role: "user", Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "q"}}},
			{Role: "assistant", Content: []types.ContentBlock{own}},
		}))
		sent, err := out[1].Content[0].(*types.ContentBlockMemberToolUse).Value.Input.MarshalSmithyDocument()
		require.NoError(t, err)
		assert.JSONEq(t, tt.want, string(sent))
		assert.Equal(t, tt.input, own.Value.Input, "the caller's value is as it was")
	}
}

func TestSystem(t *testing.T) {
	own := []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: "s"}, &types.SystemContentBlockMemberCachePoint{Value: types.CachePointBlock{Type: "default"}}}
	history := append(ImportSystem(own), winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "t"}, {Text: " "}}})
	assert.Equal(t, append(own, &types.SystemContentBlockMemberText{Value: "t"}), ExportSystem(history))
	assert.Empty(t, Export(history))
	assert.Nil(t, ImportSystem(nil))
}

// readRequest checks a request by the rules of the API.
func readRequest(r *http.Request, body []byte) (adaptertest.FrontRequest, error) {
	var wire struct {
		Messages  []json.RawMessage       `json:"messages"`
		System    []struct{ Text string } `json:"system"`
		Inference struct{ MaxTokens int } `json:"inferenceConfig"`
		Tools     json.RawMessage         `json:"toolConfig"`
	}
	if err := errors.Join(json.Unmarshal(body, &wire), validCachePoints(body)); err != nil {
		return adaptertest.FrontRequest{}, err
	}
	q := adaptertest.FrontRequest{MaxTokens: wire.Inference.MaxTokens, Tools: wire.Tools != nil, Stream: strings.HasSuffix(r.URL.Path, "/converse-stream")}
	if len(wire.System) > 0 {
		q.System = wire.System[0].Text
	}
	messages := make([]types.Message, len(wire.Messages))
	for i, raw := range wire.Messages {
		var err error
		if messages[i], err = read(raw); err != nil {
			return q, err
		}
	}
	if err := valid(messages); err != nil {
		return q, err
	}
	for i := range messages { // the provider has no cache points
		messages[i].Content = slices.DeleteFunc(messages[i].Content, func(b types.ContentBlock) bool {
			_, ok := b.(*types.ContentBlockMemberCachePoint)
			return ok
		})
	}
	q.Messages = Import(messages)
	return q, nil
}

// fields are the members of a value in JSON.
type fields = map[string]any

func writeAnswer(m *winnow.Message, stream bool) []byte {
	stop := "end_turn"
	if m.StopReason == "tool_calls" {
		stop = "tool_use"
	}
	usage := fields{"inputTokens": m.Usage.Input, "outputTokens": m.Usage.Output, "totalTokens": m.Usage.Input + m.Usage.Output}
	if stream {
		return streamedAnswer(m, stop, usage)
	}
	content := []any{fields{"reasoningContent": fields{"reasoningText": fields{"text": "Hm.", "signature": "c2ln"}}}}
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText {
			content = append(content, fields{"text": p.Text})
		} else {
			content = append(content, fields{"toolUse": fields{"toolUseId": p.ID, "name": p.Name, "input": p.Arguments}})
		}
	}
	b, _ := json.Marshal(fields{"output": fields{"message": fields{"role": "assistant", "content": content}}, "stopReason": stop, "usage": usage})
	return b
}

// streamedAnswer is an answer as events. Texts and arguments come in two pieces.
func streamedAnswer(m *winnow.Message, stop string, usage fields) []byte {
	var out []byte
	send := func(name string, data fields) {
		b, err := json.Marshal(data)
		if err == nil {
			b, err = encodeEvent(name, b)
		}
		if err != nil {
			panic(err) // what tests write can be written
		}
		out = append(out, b...)
	}
	index := 0
	delta := func(d fields) { send("contentBlockDelta", fields{"contentBlockIndex": index, "delta": d}) }
	end := func() { send("contentBlockStop", fields{"contentBlockIndex": index}); index++ }
	send("messageStart", fields{"role": "assistant"})
	delta(fields{"reasoningContent": fields{"text": "Hm."}})
	delta(fields{"reasoningContent": fields{"signature": "c2ln"}})
	end()
	for _, p := range m.Parts {
		whole, piece := p.Text, func(s string) fields { return fields{"text": s} }
		if p.Kind == winnow.KindToolCall {
			send("contentBlockStart", fields{"contentBlockIndex": index, "start": fields{"toolUse": fields{"toolUseId": p.ID, "name": p.Name}}})
			whole, piece = string(p.Arguments), func(s string) fields { return fields{"toolUse": fields{"input": s}} }
		}
		runes := []rune(whole)
		delta(piece(string(runes[:len(runes)/2])))
		delta(piece(string(runes[len(runes)/2:])))
		end()
	}
	send("messageStop", fields{"stopReason": stop})
	send("metadata", fields{"usage": usage, "metrics": fields{"latencyMs": 1}})
	return out
}

func writeRefusal(_ int, text string) []byte {
	b, _ := json.Marshal(map[string]any{"__type": "ValidationException", "message": text})
	return b
}

var tools = &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
	Name: aws.String("read"), InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(map[string]any{"type": "object"})},
}}}}

var (
	front     = adaptertest.Front{Wording: "bedrock", Read: readRequest, Answer: writeAnswer, Refuse: writeRefusal}
	asMessage = adaptertest.Answer(Response)
)

func whole(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	return asMessage(clientOf(url).Converse(ctx, &bedrockruntime.ConverseInput{ModelId: aws.String("claude"), Messages: Export(messages), ToolConfig: tools}))
}

func streamed(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error) {
	input := &bedrockruntime.ConverseStreamInput{ModelId: aws.String("claude"), Messages: Export(messages), ToolConfig: tools}
	MarkStream(input, "")
	stream, err := clientOf(url).ConverseStream(ctx, input)
	if err != nil {
		return winnow.Message{}, err
	}
	return asMessage(Collect(stream.GetStream(), nil))
}

func TestConversations(t *testing.T) {
	adaptertest.CheckConversations(t, whole, func(url string) winnow.Summarizer { return NewSummarizer(clientOf(url), "claude", 0) }, front)
}

// TestAgent: the loop of the README over restarts, streaming and with cache points.
func TestAgent(t *testing.T) {
	adaptertest.CheckAgent(t, adaptertest.Agent{Codec: Codec(), List: "messages", Keeps: `"signature":"c2ln"`, Send: streamed}, front)
}

func TestResponse(t *testing.T) {
	url, _ := adaptertest.Server(t, 200, `{"output":{"message":{"role":"assistant","content":[
		{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},{"reasoningContent":{"redactedContent":"ZW5j"}},{"text":"I look."},{"future":{"x":1}},
		{"toolUse":{"toolUseId":"a","name":"read","input":{"path":"x","n":12345678901234567890}}},{"future":{"x":1}}]}},
		"stopReason":"tool_use","usage":{"inputTokens":10,"outputTokens":5,"totalTokens":245,"cacheReadInputTokens":200,"cacheWriteInputTokens":30,"cacheDetails":[{"ttl":"1h","inputTokens":20},{"ttl":"5m","inputTokens":10}]}}`)
	answer, err := clientOf(url).Converse(t.Context(), &bedrockruntime.ConverseInput{ModelId: aws.String("m")})
	require.NoError(t, err)
	m := Response(answer)
	assert.Equal(t, "tool_use", m.StopReason)
	assert.Equal(t, &winnow.Usage{Input: 10, CacheRead: 200, CacheWrite: 30, LongWrite: 20, Output: 5}, m.Usage)
	assert.Equal(t, []winnow.Part{
		{Kind: winnow.KindThinking, Text: "Hm.", Signature: "c2ln"},
		{Kind: winnow.KindThinking, Signature: base64.StdEncoding.EncodeToString([]byte("enc")), MediaType: redacted},
		{Text: "I look."},
		{Kind: winnow.KindOpaque}, // one that the SDK does not know
		{Kind: winnow.KindToolCall, ID: "a", Name: "read", Arguments: json.RawMessage(`{"n":12345678901234567890,"path":"x"}`)},
		{Kind: winnow.KindOpaque},
	}, adaptertest.Bare(m).Parts)
	assert.Equal(t, winnow.Message{Role: winnow.RoleAssistant}, Response(&bedrockruntime.ConverseOutput{}))
}

func TestSummarizer(t *testing.T) {
	answer := func(stop string) string {
		return `{"output":{"message":{"role":"assistant","content":[{"text":"## Goal\n"},{"text":"Find the bug."}]}},"stopReason":"` + stop + `","usage":{}}`
	}
	of := func(url string) winnow.Summarizer { return NewSummarizer(clientOf(url), "m", 300) }
	bad := []string{answer("max_tokens"), answer("tool_use"), answer("guardrail_intervened"), answer("model_context_window_exceeded")}
	adaptertest.CheckSummarizer(t, of, answer("end_turn"), bad, func(system, prompt string) map[string]any {
		return fields{
			"inferenceConfig": fields{"maxTokens": 300.0}, "system": []any{fields{"text": system}},
			"messages": []any{fields{"role": "user", "content": []any{fields{"text": prompt}}}},
		}
	})
}

// TestErrors reads what the API refuses with through the SDK's own error.
func TestErrors(t *testing.T) {
	adaptertest.CheckErrors[*smithy.OperationError](t, whole, []adaptertest.Refusal{
		{Status: 400, Body: `{"__type":"ValidationException","message":"Input is too long for requested model."}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow}},
		{Status: 400, Body: `{"__type":"ValidationException","message":"The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again."}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow}},
		{Status: 429, Body: `{"__type":"ThrottlingException","message":"Too many tokens, please wait before trying again."}`, Want: winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{Status: 400, Body: `{"__type":"ValidationException","message":"The toolUse blocks at messages.2.content contain duplicate Ids: http_request"}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOther}},
	})
}

func TestImportTypo(t *testing.T) {
	text := func(s string) []types.ContentBlock {
		return []types.ContentBlock{&types.ContentBlockMemberText{Value: s}}
	}
	adaptertest.Typo(t, Import([]types.Message{{Role: "user", Content: text("Hello?")}, {Role: "asistant", Content: text("Hello.")}}))
}

// validCachePoints returns an error for the body of a request with more cache points than models accept, or with one
// for an hour behind one for five minutes.
func validCachePoints(body []byte) error {
	type block struct {
		CachePoint *struct {
			TTL string `json:"ttl"`
		} `json:"cachePoint"`
	}
	var request struct {
		ToolConfig struct{ Tools []block }
		System     []block
		Messages   []struct{ Content []block }
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	blocks := append(request.ToolConfig.Tools, request.System...)
	for _, m := range request.Messages {
		blocks = append(blocks, m.Content...)
	}
	points, short := 0, false
	for _, b := range blocks {
		if b.CachePoint == nil {
			continue
		}
		points++
		if b.CachePoint.TTL == "1h" && short {
			return fmt.Errorf("a cache point with ttl 1h comes behind one with ttl 5m")
		}
		short = short || b.CachePoint.TTL != "1h"
	}
	if points > 4 {
		return fmt.Errorf("%d cache points, and a request may have 4", points)
	}
	return nil
}
