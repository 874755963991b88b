package genkit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/x/session"
	gk "github.com/firebase/genkit/go/genkit"
	oai "github.com/firebase/genkit/go/plugins/compat_oai"
	"github.com/openai/openai-go/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/winnowtest"
)

var underTest = winnowtest.Adapter[*ai.Message]{Import: Import, Export: Export, Valid: valid, Copy: exactly}

// exactly copies messages through JSON, but for numbers that Genkit reads as float64.
func exactly(messages []*ai.Message) (out []*ai.Message, err error) {
	text, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	for i, m := range messages {
		for k, p := range m.Content {
			if p.IsToolRequest() {
				out[i].Content[k].ToolRequest.Input = p.ToolRequest.Input
			}
		}
	}
	return out, nil
}

// valid returns an error for messages that one of the providers refuses.
func valid(messages []*ai.Message) error {
	seen, open := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		if len(m.Content) == 0 || len(open) > 0 && m.Role != ai.RoleTool {
			return fmt.Errorf("message %d: no content, or calls wait: %v", i, open)
		}
		for _, p := range m.Content {
			switch {
			case p.IsToolRequest():
				if c := p.ToolRequest; m.Role != ai.RoleModel || c.Ref == "" || seen[c.Ref] || c.Name == "" {
					return fmt.Errorf("message %d: call %+v", i, c)
				}
				seen[p.ToolRequest.Ref], open[p.ToolRequest.Ref] = true, true
			case p.IsToolResponse():
				if m.Role != ai.RoleTool || !open[p.ToolResponse.Ref] {
					return fmt.Errorf("message %d: no call %q", i, p.ToolResponse.Ref)
				}
				delete(open, p.ToolResponse.Ref)
			case p.IsText() && strings.TrimSpace(p.Text) == "":
				return fmt.Errorf("message %d: a blank text", i)
			}
		}
		if m.Role == ai.RoleTool && len(open) > 0 {
			return fmt.Errorf("message %d: results of one answer stand apart: %v", i, open)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	return nil
}

func TestConformance(t *testing.T) {
	call := func(ref string) *ai.Part {
		p := ai.NewToolRequestPart(&ai.ToolRequest{Name: "read", Ref: ref, Input: map[string]any{"x": 1.0}})
		p.Metadata = map[string]any{"signature": []byte("abc")}
		return p
	}
	winnowtest.Run(t, underTest, winnowtest.Values[*ai.Message]{Name: "all that Genkit has", Values: []*ai.Message{
		ai.NewSystemTextMessage("Be careful."),
		{Role: ai.RoleUser, Metadata: map[string]any{"mine": "kept"}, Content: []*ai.Part{ai.NewTextPart("Look."), ai.NewMediaPart("image/png", "data:image/png;base64,aGk="),
			ai.NewMediaPart("application/pdf", "data:application/pdf;base64,aGk="), ai.NewCustomPart(map[string]any{"x": 1.0}), ai.NewDataPart("d"), ai.NewResourcePart("file://x")}},
		{Role: ai.RoleModel, Content: []*ai.Part{ai.NewReasoningPart("Hm.", []byte("signed")), ai.NewTextPart("I look."), call("a"), call("b")}},
		{Role: ai.RoleTool, Content: []*ai.Part{
			ai.NewToolResponsePart(&ai.ToolResponse{Name: "read", Ref: "a", Output: map[string]any{"found": strings.Repeat("and found; ", 40)}}),
			ai.NewToolResponsePart(&ai.ToolResponse{Name: "read", Ref: "b", Output: "taken", Content: []*ai.Part{ai.NewMediaPart("image/png", "data:image/png;base64,aGk=")}})}},
		ai.NewModelTextMessage("Done."),
	}})
}

func TestCorpus(t *testing.T) { adaptertest.CheckCorpus(t, underTest) }

func TestOrder(t *testing.T) { adaptertest.CheckOrder(t, underTest, nil) }

// genkitAt returns Genkit with its own plugin for Chat Completions, whose model is "local/gpt".
func genkitAt(ctx context.Context, url string, client *http.Client) *gk.Genkit {
	plugin := &oai.OpenAICompatible{Provider: "local", APIKey: "none", BaseURL: url + "/v1",
		Opts: []option.RequestOption{option.WithHTTPClient(client), option.WithMaxRetries(0)}}
	g := gk.Init(ctx, gk.WithPlugins(plugin), gk.WithDefaultModel("local/gpt"))
	gk.RegisterAction(g, plugin.DefineModel("local", "gpt", ai.ModelOptions{Supports: &oai.Multimodal}))
	return g
}

// runAgent runs Genkit's own loop.
func runAgent(ctx context.Context, r adaptertest.Run) (any, error) {
	g := genkitAt(ctx, r.URL, r.Client)
	tools := []ai.ToolRef{gk.DefineTool(g, "read", "Reads a page.", func(_ *ai.ToolContext, in struct {
		Page int `json:"page"`
	}) (string, error) {
		return r.Read(fmt.Sprint(in.Page)), nil
	})}
	before, _ := r.History.([]*ai.Message)
	o := []ai.GenerateOption{ai.WithMessages(append(slices.Clip(before), ai.NewUserTextMessage(r.Question))...), ai.WithMaxTurns(r.Steps)}
	if r.Options != nil {
		w := Wrap(r.Options)
		tools = append(tools, w.Tools()...)
		middleware := ai.ModelMiddleware(w.Middleware)
		if r.Mistake { // the request that went out is that of the answer
			middleware = func(next ai.ModelFunc) ai.ModelFunc {
				return func(ctx context.Context, req *ai.ModelRequest, each ai.ModelStreamCallback) (*ai.ModelResponse, error) {
					return w.Middleware(func(ctx context.Context, sent *ai.ModelRequest, each ai.ModelStreamCallback) (*ai.ModelResponse, error) {
						answer, err := next(ctx, sent, each)
						req.Messages = sent.Messages
						return answer, err
					})(ctx, req, each)
				}
			}
		}
		o = append(o, ai.WithMiddleware(middleware))
	}
	o = append(o, ai.WithTools(tools...))
	if r.Stream {
		o = append(o, ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))
	}
	var last *ai.ModelRequest // a streamed answer of this plugin does not say what it answers
	if r.Options == nil {
		o = append(o, ai.WithMiddleware(func(next ai.ModelFunc) ai.ModelFunc {
			return func(ctx context.Context, req *ai.ModelRequest, each ai.ModelStreamCallback) (*ai.ModelResponse, error) {
				last = req
				return next(ctx, req, each)
			}
		}))
	}
	answer, err := gk.Generate(ctx, g, o...)
	if err != nil {
		return nil, err
	}
	if answer.Request == nil || len(answer.Request.Messages) == 0 {
		answer.Request = last
	}
	return answer.History(), nil
}

var agent = adaptertest.FrameworkAgent{Run: runAgent, Arguments: `{"page":%d}`, NoUsage: true}

func TestAgent(t *testing.T) { adaptertest.CheckFramework(t, agent) }

func TestTransport(t *testing.T) { adaptertest.CheckUnderTransport(t, agent) }

// Genkit gives its tools in another order at each run. They are sent in one, or nothing is read from the cache.
func TestTools(t *testing.T) {
	p := provider.New(provider.Options{})
	server := httptest.NewServer(p)
	defer server.Close()
	ctx := framework.WithConversation(t.Context(), "a")
	g := genkitAt(ctx, server.URL, http.DefaultClient)
	w := Wrap(nil)
	var tools []ai.ToolRef
	for _, name := range strings.Fields("write read find list run ask") {
		tools = append(tools, gk.DefineTool(g, name, name, func(*ai.ToolContext, struct{}) (string, error) { return "", nil }))
	}
	for range 5 {
		_, err := gk.Generate(ctx, g, ai.WithPrompt("Go on."), ai.WithTools(tools...), ai.WithMiddleware(w.Middleware))
		require.NoError(t, err)
	}
	for _, x := range p.Exchanges() {
		assert.Equal(t, strings.Fields("ask find list read run write"), x.Request.Tools)
	}
}

type cart struct {
	Items []string `json:"items"`
}

// The shop of Genkit's samples, in which the conversation is that of the session. Its flow is unchanged but for the
// middleware and the history, which the sample does not keep.
func TestSession(t *testing.T) {
	p := provider.New(provider.Options{Window: 32_000, Model: func(r *provider.Request) provider.Answer {
		if last := r.Last(); len(last.Results) == 0 {
			return provider.Answer{Calls: []provider.ToolCall{{ID: fmt.Sprint("call_", len(last.Text), "_", r.Tokens), Name: "addToCart", Arguments: fmt.Appendf(nil, `{"Items":[%q]}`, last.Text)}}}
		}
		return provider.Answer{Text: "It is in the cart."}
	}})
	server := httptest.NewServer(p)
	defer server.Close()
	ctx := t.Context()
	g := genkitAt(ctx, server.URL, http.DefaultClient)
	store := session.NewInMemoryStore[cart]()
	w := Wrap(&framework.Options{
		Key:     func(ctx context.Context) string { return session.FromContext[cart](ctx).ID() },
		Manager: func(string) (int, *winnow.Options) { return 32_000, nil },
	})
	addToCart := gk.DefineTool(g, "addToCart", "Adds items to the shopping cart", func(ctx *ai.ToolContext, input struct{ Items []string }) ([]string, error) {
		sess := session.FromContext[cart](ctx.Context)
		state := sess.State()
		state.Items = append(state.Items, input.Items...)
		return state.Items, sess.UpdateState(ctx.Context, state)
	})
	histories := map[string][]*ai.Message{}
	var mu sync.Mutex
	manage := gk.DefineFlow(g, "manageCart", func(ctx context.Context, input string) (string, error) {
		sess := session.FromContext[cart](ctx)
		mu.Lock()
		history := histories[sess.ID()]
		mu.Unlock()
		answer, err := gk.Generate(ctx, g, ai.WithSystem("You are a helpful shopping assistant. Use the provided tools to manage the user's cart."),
			ai.WithMiddleware(w.Middleware), ai.WithTools(addToCart), ai.WithMessages(history...), ai.WithPrompt("%s", input))
		if err != nil {
			return "", err
		}
		mu.Lock()
		histories[sess.ID()] = answer.History()[1:] // without the system prompt, which is written for each request
		mu.Unlock()
		return answer.Text(), nil
	})
	var group sync.WaitGroup
	for _, id := range []string{"ann", "bob"} {
		group.Go(func() {
			sess, err := session.New(ctx, session.WithID[cart](id), session.WithStore(store), session.WithInitialState(cart{}))
			if !assert.NoError(t, err) {
				return
			}
			for i := range 60 {
				_, err := manage.Run(session.NewContext(ctx, sess), fmt.Sprintf("%s %d: %s", id, i, strings.Repeat("apples ", i+1)))
				if !assert.NoError(t, err) {
					return
				}
			}
			assert.Len(t, sess.State().Items, 60)
		})
	}
	group.Wait()
	for i, x := range p.Exchanges() {
		require.Nil(t, x.Error, "request %d", i)
	}
	for id, history := range histories {
		text, err := json.Marshal(history)
		require.NoError(t, err)
		assert.Len(t, history, 4*60)
		assert.NotContains(t, string(text), "Record of ")
		other := map[string]string{"ann": "bob", "bob": "ann"}[id]
		assert.NotContains(t, string(text), other)
	}
}

func TestSummarizer(t *testing.T) {
	adaptertest.CheckSummarizer(t, func(url string) winnow.Summarizer {
		g := genkitAt(t.Context(), url, http.DefaultClient)
		return NewSummarizer(g, ai.WithConfig(map[string]any{"max_completion_tokens": 300}))
	},
		`{"choices":[{"finish_reason":"stop","message":{"content":"## Goal\nFind the bug."}}]}`,
		[]string{`{"choices":[{"finish_reason":"length","message":{"content":"## Goal"}}]}`},
		func(system, prompt string) map[string]any {
			return map[string]any{"model": "gpt", "max_completion_tokens": 300.0, "messages": []any{
				map[string]any{"role": "system", "content": system},
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": prompt}}}}}
		})
}

func TestImportTypo(t *testing.T) {
	adaptertest.Typo(t, Import([]*ai.Message{ai.NewUserTextMessage("Hello?"), {Role: "asistant", Content: []*ai.Part{ai.NewTextPart("Hello.")}}}))
}
