package eino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/winnowtest"
)

var underTest = winnowtest.Adapter[*schema.Message]{Import: Import, Export: Export, Valid: valid}

var foreignID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

// valid returns an error for messages that any of Eino's providers refuses.
func valid(messages []*schema.Message) error {
	seen, open := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		if len(open) > 0 && m.Role != schema.Tool {
			return fmt.Errorf("message %d: calls wait for their results: %v", i, open)
		}
		switch m.Role {
		case schema.System, schema.User, schema.Assistant:
			if isEmpty(m) {
				return fmt.Errorf("message %d: no content", i)
			}
		case schema.Tool:
			if !open[m.ToolCallID] {
				return fmt.Errorf("message %d: no call %q", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		default:
			return fmt.Errorf("message %d: role %q", i, m.Role)
		}
		for _, c := range m.ToolCalls {
			own := strings.HasPrefix(c.ID, "functions.") // for a model that requires it
			if m.Role != schema.Assistant || !own && !foreignID.MatchString(c.ID) || seen[c.ID] || c.Function.Name == "" || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("message %d: call %+v", i, c)
			}
			seen[c.ID], open[c.ID] = true, true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	return nil
}

func TestConformance(t *testing.T) {
	winnowtest.Run(t, underTest, richValues()...)
	t.Run("at a provider", func(t *testing.T) {
		strict := underTest
		strict.Valid = validAtProvider
		winnowtest.Run(t, strict)
	})
}

func call(id, name, arguments string) schema.ToolCall {
	return schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: arguments}}
}

func ptr[T any](v T) *T { return &v }

// richValues hold what only Eino's types do.
func richValues() []winnowtest.Values[*schema.Message] {
	png := schema.MessagePartCommon{Base64Data: ptr("aGk="), MIMEType: "image/png", Extra: map[string]any{"mine": "kept"}}
	indexed := call("functions.read:0", "read", `{"path": "x"}`)
	indexed.Index, indexed.Extra = ptr(0), map[string]any{"signature": "abc"}
	return []winnowtest.Values[*schema.Message]{{Name: "all that Eino has", Values: []*schema.Message{
		schema.SystemMessage("Be careful."),
		{Role: schema.User, Name: "ann", UserInputMultiContent: []schema.MessageInputPart{
			{Type: schema.ChatMessagePartTypeText, Text: "Look.", Extra: map[string]any{"cache": true}},
			{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: png, Detail: "low"}},
			{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{MessagePartCommon: schema.MessagePartCommon{URL: ptr("data:application/pdf;base64,aGk=")}}},
		}},
		{Role: schema.Assistant, Content: "I look.", ReasoningContent: "Hm.", ToolCalls: []schema.ToolCall{indexed, call("b", "shot", "{}")},
			Extra: map[string]any{"signature": "abc"}, ResponseMeta: &schema.ResponseMeta{FinishReason: "tool_calls", Usage: &schema.TokenUsage{PromptTokens: 240, CompletionTokens: 7, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 200}}}},
		schema.ToolMessage(strings.Repeat("found and found; ", 40), "functions.read:0", schema.WithToolName("read")),
		{Role: schema.Tool, ToolCallID: "b", UserInputMultiContent: []schema.MessageInputPart{
			{Type: schema.ChatMessagePartTypeText, Text: "taken"}, {Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: png}},
		}},
		{Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{
			{Type: schema.ChatMessagePartTypeText, Text: "Here."}, {Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageOutputImage{MessagePartCommon: png}},
		}},
		oldMessage(),
		schema.AssistantMessage("Done.", nil),
	}}}
}

func oldMessage() *schema.Message {
	m := schema.UserMessage("")
	addOldPart(m, nil, "Old.")
	//lint:ignore SA1019 transcripts hold it
	addOldPart(m, &oldPart{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: "data:image/png;base64,aGk="}}, "")
	return m
}

func TestImport(t *testing.T) {
	history := Import(append(richValues()[0].Values, nil))
	require.Len(t, history, 8)
	m := history[2]
	assert.Equal(t, "tool_calls", m.StopReason)
	assert.Equal(t, &winnow.Usage{Input: 40, CacheRead: 200, Output: 7}, m.Usage)
	assert.Equal(t, winnow.KindThinking, m.Parts[0].Kind)
	assert.Equal(t, "functions.read:0", m.Parts[2].ID)
	assert.Equal(t, "shot", history[4].ToolName, "by the id of its call")
	assert.Equal(t, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 4, Source: history[4].Parts[1].Source}, history[4].Parts[1])
	assert.Equal(t, winnow.KindOpaque, history[1].Parts[2].Kind)
	assert.Equal(t, "application/pdf", history[1].Parts[2].MediaType)
	assert.Equal(t, winnow.KindImage, history[6].Parts[1].Kind)
	assert.Equal(t, m.Usage, Response(richValues()[0].Values[2]).Usage)
	assert.Equal(t, winnow.RoleAssistant, Response(nil).Role)
}

var jsonOf = adaptertest.JSON

// TestRules has what the caller may send and some provider refuses, and what becomes of it.
func TestRules(t *testing.T) {
	q := schema.UserMessage("q")
	calls := func(ids ...string) *schema.Message {
		m := schema.AssistantMessage("c", nil)
		m.Name = "n"
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, call(id, "read", "{}"))
		}
		return m
	}
	result := func(id string) *schema.Message { return schema.ToolMessage("x", id, schema.WithToolName("read")) }
	const hashed = "call_ab111f21ecf8211a3f5696b6" // of the second a
	for _, tt := range []struct {
		name     string
		in, want []*schema.Message
		reason   string
	}{
		{"results behind a question", []*schema.Message{q, calls("a", "b"), result("a"), q, result("b")}, []*schema.Message{q, calls("a", "b"), result("a"), result("b"), q}, "results come first"},
		{"reused id", []*schema.Message{q, calls("a"), result("a"), calls("a"), result("a")}, []*schema.Message{q, calls("a"), result("a"), calls(hashed), result(hashed)}, "unique in the history; the rest stays"},
		{"own characters", []*schema.Message{q, calls("functions.read:0"), result("functions.read:0")}, []*schema.Message{q, calls("functions.read:0"), result("functions.read:0")}, "Kimi wants them so"},
		{"nothing said", []*schema.Message{q, schema.AssistantMessage("", nil), schema.UserMessage(""), nil}, []*schema.Message{q}, "no message is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := jsonOf(t, tt.in)
			assert.Equal(t, jsonOf(t, tt.want), jsonOf(t, Export(Import(tt.in))), tt.reason)
			assert.Equal(t, before, jsonOf(t, tt.in), "the caller's values are as they were")
		})
	}
}

// TestChangedMessagesKeepTheirParts as far as these were not changed.
func TestChangedMessagesKeepTheirParts(t *testing.T) {
	messages := richValues()[0].Values
	history := Import(messages)
	for i := range history {
		history[i].Source = nil
	}
	out := Export(history)
	require.Len(t, out, len(messages))
	assert.Equal(t, messages[1].UserInputMultiContent, out[1].UserInputMultiContent)
	assert.Equal(t, messages[2].ToolCalls, out[2].ToolCalls)
	assert.Equal(t, messages[2].Extra, out[2].Extra, "what the model keeps beside its reasoning")
	assert.Equal(t, messages[2].ReasoningContent, out[2].ReasoningContent)
	assert.Equal(t, messages[4].UserInputMultiContent, out[4].UserInputMultiContent)
	assert.Equal(t, messages[5].AssistantGenMultiContent, out[5].AssistantGenMultiContent)
	assert.Equal(t, messages[6], out[6])
}

// chat is a model that gives one answer.
type chat struct {
	answer  *schema.Message
	err     error
	asked   []*schema.Message
	options *model.Options
}

func (c *chat) Generate(_ context.Context, in []*schema.Message, options ...model.Option) (*schema.Message, error) {
	c.asked, c.options = in, model.GetCommonOptions(nil, options...)
	return c.answer, c.err
}

func (c *chat) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.New("not asked for")
}

func TestSummarizer(t *testing.T) {
	req := winnow.SummaryRequest{
		Messages:  []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Find the bug."}}}},
		MaxTokens: 500,
	}
	said := func(stop string) *schema.Message {
		return &schema.Message{Role: schema.Assistant, ReasoningContent: "Hm.", Content: "## Goal", ResponseMeta: &schema.ResponseMeta{FinishReason: stop}}
	}
	called := said("stop")
	called.ToolCalls = []schema.ToolCall{call("a", "x", "{}")}
	for _, tt := range []struct {
		name   string
		answer *schema.Message
		ok     bool
	}{
		{"stop", said("stop"), true}, {"Gemini", said("STOP"), true}, {"Claude", said("end_turn"), true},
		{"length", said("length"), false}, {"MAX_TOKENS", said("MAX_TOKENS"), false}, {"not told", said(""), false},
		{"no meta", schema.AssistantMessage("## Goal", nil), false}, {"calls", called, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &chat{answer: tt.answer}
			text, err := NewSummarizer(c, 300, model.WithModel("m")).Summarize(context.Background(), req)
			if !tt.ok {
				assert.ErrorIs(t, err, winnow.ErrIncomplete)
				assert.Empty(t, text)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "## Goal", text)
			assert.Equal(t, []*schema.Message{schema.SystemMessage(req.System()), schema.UserMessage(req.Prompt())}, c.asked)
			assert.Equal(t, &model.Options{MaxTokens: ptr(300), Model: ptr("m")}, c.options, "no tools")
		})
	}
	_, err := NewSummarizer(&chat{}, 0).Summarize(context.Background(), req)
	assert.Error(t, err, "no answer and no error")
}

// apiError is what the models' SDKs return.
type apiError struct {
	HTTPStatusCode int
	Message        string
}

func (e *apiError) Error() string { return "error, status code: " + fmt.Sprint(e.HTTPStatusCode) }

// TestErrors reads the errors of models as Eino wraps them.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want winnow.ErrorInfo
	}{
		{&apiError{400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130129 tokens."}, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 130129, Limit: 128000}},
		{&apiError{429, "Rate limit reached"}, winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{errors.New("prompt is too long: 215000 tokens > 200000 maximum"), winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 215000, Limit: 200000}},
		{context.Canceled, winnow.ErrorInfo{}},
	} {
		wrapped := fmt.Errorf("[NodeRunError] failed to create chat completion: %w\n------------------------\nnode path: [node_1, ChatModel]", tt.err)
		assert.Equal(t, tt.want, winnow.ClassifyError(wrapped))
		_, err := NewSummarizer(&chat{err: wrapped}, 0).Summarize(context.Background(), winnow.SummaryRequest{})
		assert.ErrorIs(t, err, tt.err)
		assert.NotErrorIs(t, err, winnow.ErrIncomplete)
		assert.Equal(t, tt.want, winnow.ClassifyError(err))
	}
}

func TestCorpus(t *testing.T) {
	strict := underTest
	strict.Valid = func(messages []*schema.Message) error {
		return errors.Join(valid(messages), validAtProvider(messages))
	}
	adaptertest.CheckCorpus(t, strict)
}

func TestOrder(t *testing.T) { adaptertest.CheckOrder(t, underTest, nil) }

func FuzzAdapter(f *testing.F) { adaptertest.Fuzz(f, underTest) }

// The name of a person outlives the caller's value, as in a session that was read again.
func TestSpeaker(t *testing.T) {
	in := schema.UserMessage("Hi.")
	in.Name = "Zoë"
	m := Import([]*schema.Message{in})[0]
	assert.Equal(t, "Zoë", m.Speaker)
	m.Source = nil
	assert.Equal(t, in, Export([]winnow.Message{m})[0])
}

func TestImportTypo(t *testing.T) {
	adaptertest.Typo(t, Import([]*schema.Message{schema.UserMessage("Hello?"), {Role: "asistant", Content: "Hello."}}))
}
