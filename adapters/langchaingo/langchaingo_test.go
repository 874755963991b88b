package langchaingo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/tools"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/winnowtest"
)

var underTest = winnowtest.Adapter[llms.MessageContent]{Import: Import, Export: Export, Valid: valid}

var foreignID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

// valid returns an error for messages that one of the providers refuses.
func valid(messages []llms.MessageContent) error {
	seen, open := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		if len(m.Parts) == 0 || len(open) > 0 && m.Role != llms.ChatMessageTypeTool {
			return fmt.Errorf("message %d: no content, or calls wait: %v", i, open)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llms.ToolCall:
				own := strings.HasPrefix(p.ID, "functions.")
				if m.Role != llms.ChatMessageTypeAI || !own && !foreignID.MatchString(p.ID) || seen[p.ID] || p.FunctionCall.Name == "" || !json.Valid([]byte(p.FunctionCall.Arguments)) {
					return fmt.Errorf("message %d: call %+v", i, p)
				}
				seen[p.ID], open[p.ID] = true, true
			case llms.ToolCallResponse:
				if m.Role != llms.ChatMessageTypeTool || !open[p.ToolCallID] {
					return fmt.Errorf("message %d: no call %q", i, p.ToolCallID)
				}
				delete(open, p.ToolCallID)
			case llms.TextContent:
				if strings.TrimSpace(p.Text) == "" {
					return fmt.Errorf("message %d: a blank text", i)
				}
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	return nil
}

func TestConformance(t *testing.T) {
	call := func(id string) llms.ToolCall {
		return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: `{"x": 1}`}}
	}
	winnowtest.Run(t, underTest, winnowtest.Values[llms.MessageContent]{Name: "all that LangChainGo has", Values: []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "Be careful."),
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextPart("Look."),
			llms.ImageURLWithDetailPart("data:image/png;base64,aGk=", "low"), llms.BinaryPart("image/png", []byte("hi")), llms.BinaryPart("application/pdf", []byte("hi"))}},
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextPart("I look."), call("functions.read:0"), call("b")}},
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "functions.read:0", Name: "read", Content: "found"}, llms.ToolCallResponse{ToolCallID: "b", Content: strings.Repeat("and found; ", 40)}}},
		llms.TextParts(llms.ChatMessageTypeGeneric, "Go on."),
		llms.TextParts(llms.ChatMessageTypeAI, "Done."),
	}})
}

func TestCorpus(t *testing.T) { adaptertest.CheckCorpus(t, underTest) }

func TestOrder(t *testing.T) { adaptertest.CheckOrder(t, underTest, nil) }

func modelAt(url string, client *http.Client) llms.Model {
	llm, err := openai.New(openai.WithToken("none"), openai.WithBaseURL(url+"/v1"), openai.WithModel("gpt"), openai.WithHTTPClient(client))
	if err != nil {
		panic(err) // only for a configuration that is not valid
	}
	return llm
}

// reader is the tool of the agents.
type reader func(page string) string

func (reader) Name() string        { return "read" }
func (reader) Description() string { return "Reads a page." }
func (r reader) Call(_ context.Context, page string) (string, error) {
	return r(strings.Trim(page, `{}"page: `)), nil
}

// runExecutor runs LangChainGo's own agent for models that call tools.
func runExecutor(ctx context.Context, r adaptertest.Run) (any, error) {
	llm, list := modelAt(r.URL, r.Client), []tools.Tool{reader(r.Read)}
	if r.Options != nil {
		wrapped := Wrap(llm, r.Options)
		llm, list = wrapped, append(list, wrapped.Tools()...)
	}
	e := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(llm, list), agents.WithMaxIterations(r.Steps), agents.WithReturnIntermediateSteps())
	return chains.Call(ctx, e, map[string]any{"input": r.Question})
}

// runLoop is the loop of LangChainGo's documentation.
func runLoop(ctx context.Context, r adaptertest.Run) (any, error) {
	llm := modelAt(r.URL, r.Client)
	definitions := []llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "read", Description: "Reads a page.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"page":{"type":"integer"}}}`)}}}
	list := []tools.Tool{reader(r.Read)}
	var sent []llms.MessageContent
	if r.Options != nil {
		wrapped := Wrap(recorder{llm, &sent}, r.Options)
		llm, definitions, list = wrapped, append(definitions, wrapped.Definitions()...), append(list, wrapped.Tools()...)
	}
	o := []llms.CallOption{llms.WithTools(definitions)}
	if r.Stream {
		o = append(o, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	before, _ := r.History.([]llms.MessageContent)
	history := append(slices.Clip(before), llms.TextParts(llms.ChatMessageTypeHuman, r.Question))
	for {
		answer, err := llm.GenerateContent(ctx, history, o...)
		if err != nil {
			return nil, err
		}
		if r.Mistake {
			history = sent
		}
		choice := answer.Choices[0]
		said := llms.TextParts(llms.ChatMessageTypeAI, choice.Content)
		for _, call := range choice.ToolCalls {
			said.Parts = append(said.Parts, call)
		}
		history = append(slices.Clip(history), said)
		if len(choice.ToolCalls) == 0 {
			return history, nil
		}
		for _, call := range choice.ToolCalls {
			at := slices.IndexFunc(list, func(t tools.Tool) bool { return t.Name() == call.FunctionCall.Name })
			text, err := list[at].Call(ctx, call.FunctionCall.Arguments)
			if err != nil {
				return nil, err
			}
			history = append(history, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name, Content: text}}})
		}
	}
}

// recorder notes what is sent.
type recorder struct {
	llms.Model
	sent *[]llms.MessageContent
}

func (r recorder) GenerateContent(ctx context.Context, messages []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	*r.sent = messages
	return r.Model.GenerateContent(ctx, messages, o...)
}

var (
	executor = adaptertest.FrameworkAgent{Run: runExecutor, Arguments: `{"page":"%d"}`, Recall: `{"__arg1":%s}`, NoResume: true, NoStream: true, Kept: true}
	loop     = adaptertest.FrameworkAgent{Run: runLoop, Arguments: `{"page":%d}`}
)

func TestExecutor(t *testing.T) { adaptertest.CheckFramework(t, executor) }

func TestLoop(t *testing.T) { adaptertest.CheckFramework(t, loop) }

func TestTransport(t *testing.T) {
	adaptertest.CheckUnderTransport(t, executor)
	adaptertest.CheckUnderTransport(t, loop)
}

// A chain writes the conversation into one prompt. Its memory has all of it, and the prompt fits.
func TestMemory(t *testing.T) {
	p := provider.New(provider.Options{Window: 8_000, Model: func(r *provider.Request) provider.Answer {
		return provider.Answer{Text: "It is noted: " + strings.Repeat("and so on, ", 100)}
	}})
	server := httptest.NewServer(p)
	defer server.Close()
	run := func(ctx context.Context, m interface {
		LoadMemoryVariables(context.Context, map[string]any) (map[string]any, error)
	}, questions int) (err error) {
		for i := range questions {
			var chain chains.LLMChain
			switch m := m.(type) {
			case *Memory:
				chain = chains.NewConversation(modelAt(server.URL, http.DefaultClient), m)
			case *memory.ConversationBuffer:
				chain = chains.NewConversation(modelAt(server.URL, http.DefaultClient), m)
			}
			if _, err = chains.Run(ctx, chain, fmt.Sprintf("Note this, number %d: %s", i, strings.Repeat("it is well. ", 50))); err != nil {
				return err
			}
		}
		return nil
	}
	ctx := framework.WithConversation(t.Context(), "c")
	assert.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(run(ctx, memory.NewConversationBuffer(), 60)).Class)
	m := NewMemory(&framework.Options{Manager: func(string) (int, *winnow.Options) { return 8_000, &winnow.Options{Overhead: 100} }})
	require.NoError(t, run(ctx, m, 60))
	all, err := m.ChatHistory.Messages(ctx)
	require.NoError(t, err)
	assert.Len(t, all, 120)
	for _, c := range all {
		assert.NotContains(t, c.GetContent(), "<summary>")
	}
}

// fixed is a model with one answer.
type fixed struct{ answer *llms.ContentResponse }

func (f fixed) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return f.answer, nil
}

func (fixed) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("not asked for")
}

func TestSummarizer(t *testing.T) {
	adaptertest.CheckSummarizer(t, func(url string) winnow.Summarizer { return NewSummarizer(modelAt(url, http.DefaultClient), 300) },
		`{"choices":[{"finish_reason":"stop","message":{"content":"## Goal\nFind the bug."}}]}`,
		[]string{`{"choices":[{"finish_reason":"length","message":{"content":"## Goal"}}]}`,
			`{"choices":[{"finish_reason":"stop","message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}]}}]}`},
		func(system, prompt string) map[string]any {
			return map[string]any{"model": "gpt", "max_completion_tokens": 300.0, "temperature": 0.0, "messages": []any{
				map[string]any{"role": "system", "content": system}, map[string]any{"role": "user", "content": prompt}}}
		})
	_, err := NewSummarizer(fixed{}, 0).Summarize(t.Context(), winnow.SummaryRequest{})
	assert.Error(t, err, "no answer and no error")
}

// A part that asks for a cache is read as what it has, and sent as it is.
func TestCacheControl(t *testing.T) {
	in := []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.WithCacheControl(llms.TextPart("Look."), &llms.CacheControl{Type: "ephemeral"})}}}
	h := Import(in)
	assert.Equal(t, "Look.", h[0].Parts[0].Text)
	h[0].Source = nil
	assert.Equal(t, in, Export(h))
}

// TestUsage has the names of the models.
func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		info map[string]any
		want *winnow.Usage
	}{
		{map[string]any{"PromptTokens": 240, "PromptCachedTokens": 200, "CompletionTokens": 7}, &winnow.Usage{Input: 40, CacheRead: 200, Output: 7}},
		{map[string]any{"InputTokens": 40, "CacheReadInputTokens": 200, "CacheCreationInputTokens": 5, "OutputTokens": 7}, &winnow.Usage{Input: 40, CacheRead: 200, CacheWrite: 5, Output: 7}},
		{map[string]any{"PromptTokens": int32(9)}, &winnow.Usage{Input: 9}},
		{nil, nil},
	} {
		m := Response(&llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "a", GenerationInfo: tt.info}}})
		assert.Equal(t, tt.want, m.Usage)
	}
}

func TestImportTypo(t *testing.T) {
	adaptertest.Typo(t, Import([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Hello?"), llms.TextParts("asistant", "Hello.")}))
}
