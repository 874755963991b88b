package pairs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/adapters/bedrock"
	"github.com/winnowgo/winnow/adapters/eino"
	"github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	chat "github.com/winnowgo/winnow/adapters/openai"
	"github.com/winnowgo/winnow/adapters/openai/responses"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// side is an adapter with a model of its provider.
type side struct {
	name, model string
	history     func(*testing.T) []winnow.Message
	export      func([]winnow.Message) any // the messages that are sent
	valid       func(messages []byte) error
}

var sides = []side{
	{"anthropic", "claude-opus-4-6", anthropicHistory, func(m []winnow.Message) any { return anthropic.Export(m) }, func(b []byte) error {
		return accepted("/v1/messages", map[string]any{"model": "claude", "max_tokens": 16, "messages": json.RawMessage(b), "tools": []any{
			map[string]any{"name": "read", "input_schema": map[string]any{"type": "object"}},
		}})
	}},
	{"chat", "gpt-6-sol", chatHistory, func(m []winnow.Message) any { return chat.Export(m) }, acceptedChat},
	{"responses", "gpt-6-luna", responsesHistory, func(m []winnow.Message) any { return responses.Export(m) }, adaptertest.ValidItems},
	{"genai", "gemini-3.5-flash", geminiHistory, func(m []winnow.Message) any { return genai.Export(m) }, adaptertest.ValidContents},
	{"bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", bedrockHistory, func(m []winnow.Message) any { return converseBody(bedrock.Export(m)) }, adaptertest.ValidConverse},
	{"eino", "qwen3-max", einoHistory, func(m []winnow.Message) any { return wire(eino.Export(m)) }, acceptedChat},
}

// TestPairs moves a conversation that one provider had to a model of another one, over a restart. The new provider
// accepts the request. It has all that was said, a text in the place of what only the old provider can read, and
// nothing that the old model signed.
func TestPairs(t *testing.T) {
	for _, from := range sides {
		for _, to := range sides {
			if from.name == to.name {
				continue
			}
			t.Run(from.name+" to "+to.name, func(t *testing.T) { checkPair(t, from, to) })
		}
	}
}

func checkPair(t *testing.T, from, to side) {
	history := append(from.history(t), question("And its colour?"))
	old, err := winnow.New(200_000, &winnow.Options{Model: from.model})
	require.NoError(t, err)
	_, err = old.Prepare(t.Context(), history)
	require.NoError(t, err)
	state, err := old.Snapshot()
	require.NoError(t, err)

	m, err := winnow.New(200_000, &winnow.Options{Model: to.model})
	require.NoError(t, err)
	require.NoError(t, m.Restore(state))
	request, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	for _, sent := range request.Messages {
		for _, p := range sent.Parts {
			assert.False(t, p.Kind == winnow.KindThinking && p.Signature != "", "thinking that another model signed")
		}
	}
	body := marshal(t, to.export(request.Messages))
	require.NoError(t, to.valid(body), "%s", body)

	rest, wanted := string(body), expected(history)
	assert.Equal(t, strings.Count(strings.Join(wanted, ""), "[attachment]"), strings.Count(rest, "[attachment]"), "nothing stands for a cache point")
	for _, want := range wanted {
		_, behind, found := strings.Cut(rest, want)
		if assert.True(t, found, "%q is not there, or not in its place: %s", want, body) {
			rest = behind
		}
	}
	_, image := adaptertest.PNG(t)
	for _, private := range []string{signature, thought, unknown, image} {
		assert.NotContains(t, string(body), private)
	}
}

// TestPairsWithoutAModel moves a conversation over a restart, without a name of a model that could tell that another one
// goes on: no provider is sent what another one signed. Claude's signatures count at Anthropic and at Bedrock.
func TestPairsWithoutAModel(t *testing.T) {
	for _, from := range sides {
		for _, to := range sides {
			if from.name == to.name || from.name == "bedrock" && to.name == "anthropic" {
				continue
			}
			m, err := winnow.New(200_000, nil)
			require.NoError(t, err)
			request, err := m.Prepare(t.Context(), append(from.history(t), question("And its colour?")))
			require.NoError(t, err)
			text := marshal(t, request.Messages) // a restart: what is kept is JSON, without Source
			var restored []winnow.Message
			require.NoError(t, json.Unmarshal(text, &restored))
			for _, messages := range [][]winnow.Message{request.Messages, restored} {
				body := marshal(t, to.export(messages))
				require.NoError(t, to.valid(body), "%s to %s: %s", from.name, to.name, body)
				require.NotContains(t, string(body), signature, "%s to %s", from.name, to.name)
			}
		}
	}
}

// TestOpenTurns moves a conversation to another provider in the middle of a turn: after results, and again after a step
// of the new model. Its calls and those of the old one are in one turn then. The new provider accepts each request, also
// after a restart that kept no source, and gets nothing that another one signed.
func TestOpenTurns(t *testing.T) {
	for _, from := range sides {
		for _, to := range sides {
			if from.name == to.name {
				continue
			}
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				history := from.history(t)
				history = history[:len(history)-1] // without the answer behind the results
				m, err := winnow.New(200_000, &winnow.Options{Model: from.model})
				require.NoError(t, err)
				_, err = m.Prepare(t.Context(), history)
				require.NoError(t, err)
				state, err := m.Snapshot()
				require.NoError(t, err)
				m, err = winnow.New(200_000, &winnow.Options{Model: to.model})
				require.NoError(t, err)
				require.NoError(t, m.Restore(state))
				for range 2 {
					request, err := m.Prepare(t.Context(), history)
					require.NoError(t, err)
					var restored []winnow.Message
					require.NoError(t, json.Unmarshal(marshal(t, request.Messages), &restored))
					for _, messages := range [][]winnow.Message{request.Messages, restored} {
						body := marshal(t, to.export(messages))
						require.NoError(t, to.valid(body), "%s", body)
						if to.name == "genai" {
							require.NoError(t, signedContents(body), "%s", body)
						}
						for _, text := range []string{"What is on this picture?", "I look into the file.", "a.txt", "The file says 42."} {
							assert.Contains(t, string(body), text)
						}
						assert.NotContains(t, string(body), signature)
						assert.NotContains(t, string(body), thought)
					}
					step := winnow.Part{Kind: winnow.KindToolCall, ID: fmt.Sprintf("call_of_%s", to.name), Name: "read", Arguments: json.RawMessage(`{"path":"b.txt"}`)}
					if to.name == "genai" { // as Gemini signs it
						step.Signature = "c2lnbmF0dXJlLW9mLWdlbWluaQ=="
					}
					history = append(history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{step}},
						winnow.Message{Role: winnow.RoleTool, ToolCallID: step.ID, ToolName: "read", Parts: []winnow.Part{{Text: "And it says 43."}}})
				}
			})
		}
	}
}

// expected returns what another provider should read from a history, in order.
func expected(history []winnow.Message) []string {
	var texts []string
	for i := range history {
		for _, p := range history[i].Parts {
			switch p.Kind {
			case winnow.KindThinking:
			case winnow.KindText:
				texts = append(texts, p.Text)
			case winnow.KindToolCall:
				texts = append(texts, "a.txt")
			case winnow.KindImage:
				texts = append(texts, fmt.Sprintf("[image: image/png, %d bytes]", p.Bytes))
			default:
				if !isSilent(&p) {
					texts = append(texts, "[attachment]")
				}
			}
		}
	}
	return texts
}

// isSilent reports whether p is a cache point, or a signature alone: nothing need be said in its place.
func isSilent(p *winnow.Part) bool { return p.Signature != "" || p.Tokens == 1 }

// Each history has what the test is about.
func TestHistoriesHaveWhatIsLost(t *testing.T) {
	silent := map[string]int{}
	for _, s := range sides {
		kinds := map[winnow.Kind]int{}
		results := 0
		for _, m := range s.history(t) {
			for _, p := range m.Parts {
				if p.Kind == winnow.KindOpaque && isSilent(&p) {
					silent[s.name]++
					continue
				}
				kinds[p.Kind]++
			}
			if m.Role == winnow.RoleTool {
				results++
			}
		}
		assert.Equal(t, 2, kinds[winnow.KindImage], s.name)
		opaque := 1
		if s.name == "genai" { // code that the API ran, and what came of it
			opaque = 2
		}
		assert.Equal(t, opaque, kinds[winnow.KindOpaque], s.name)
		assert.Equal(t, 1, kinds[winnow.KindThinking], s.name)
		assert.Equal(t, 1, kinds[winnow.KindToolCall], s.name)
		assert.Equal(t, 1, results, s.name)
	}
	assert.Equal(t, map[string]int{"bedrock": 2, "genai": 1}, silent)
}

func question(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// accepted asks the strict provider.
func accepted(path string, request map[string]any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://provider"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer none")
	r.Header.Set("X-Api-Key", "none")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Content-Type", "application/json")
	p := provider.New(provider.Options{Window: adaptertest.HugeWindow, MaxBytes: adaptertest.HugeWindow})
	answer, err := adaptertest.Direct(p).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("%d: %s", answer.StatusCode, text)
	}
	return nil
}

func acceptedChat(b []byte) error {
	return accepted("/v1/chat/completions", map[string]any{"model": "gpt", "messages": json.RawMessage(b)})
}

// converseBody returns messages as AWS's SDK sends them.
func converseBody(messages []types.Message) json.RawMessage {
	var sent struct{ Messages json.RawMessage }
	client := bedrockruntime.New(bedrockruntime.Options{
		BaseEndpoint: aws.String("http://provider"), Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "none", SecretAccessKey: "none"}, nil
		}),
		HTTPClient: adaptertest.Direct(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = json.NewDecoder(r.Body).Decode(&sent) // what cannot be read is not valid
			_, _ = io.WriteString(w, "{}")
		})),
	})
	_, err := client.Converse(context.Background(), &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: messages})
	if err != nil {
		return nil
	}
	return sent.Messages
}

// wire returns messages of Eino as its components send them to Chat Completions.
func wire(messages []*schema.Message) []map[string]any {
	out := make([]map[string]any, len(messages))
	for i, m := range messages {
		out[i] = map[string]any{"role": m.Role, "content": m.Content}
		var parts []any
		for _, p := range m.UserInputMultiContent {
			if p.Image != nil {
				parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + *p.Image.Base64Data}})
			} else {
				parts = append(parts, map[string]any{"type": "text", "text": p.Text})
			}
		}
		if parts != nil {
			out[i]["content"] = parts
		}
		if m.ReasoningContent != "" {
			out[i]["reasoning_content"] = m.ReasoningContent
		}
		if len(m.ToolCalls) > 0 {
			out[i]["tool_calls"] = m.ToolCalls // with Extra, if that is there
		}
		if m.ToolCallID != "" {
			out[i]["tool_call_id"] = m.ToolCallID
		}
	}
	return out
}

// TestLaterResults: a call whose result comes twice, with more of the conversation in between. Every provider accepts
// the request, and the model reads both, in their order.
func TestLaterResults(t *testing.T) {
	answer := func(parts ...winnow.Part) winnow.Message {
		return winnow.Message{Role: winnow.RoleAssistant, Parts: parts}
	}
	result := func(id, text string) winnow.Message {
		return winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "read", Parts: []winnow.Part{{Text: text}}}
	}
	call := func(id string) winnow.Part {
		return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a.txt"}`)}
	}
	history := []winnow.Message{
		question("Read it."), answer(call("call_1")), result("call_1", "It is being read."), answer(winnow.Part{Text: "I wait."}),
		result("call_1", "Half of it."), answer(call("call_2")), result("call_1", "All of it."), result("call_2", "Another file."),
		answer(winnow.Part{Text: "Done."}), question("And now?"),
	}
	for _, s := range sides {
		m, err := winnow.New(200_000, nil)
		require.NoError(t, err)
		request, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		body := string(marshal(t, s.export(request.Messages)))
		require.NoError(t, s.valid([]byte(body)), "%s: %s", s.name, body)
		at := 0
		for _, want := range []string{"Read it.", "It is being read.", "I wait.", "Half of it.", "Another file.", "All of it.", "Done.", "And now?"} {
			i := strings.Index(body[at:], want)
			require.GreaterOrEqual(t, i, 0, "%s: %q is not behind the one before it: %s", s.name, want, body)
			at += i
		}
	}
}

// TestRecalledImages lets a model ask for the image of a result that a record stands for. The provider accepts the
// request, which has the image. A person's image does not come back: not every provider takes one in a result.
func TestRecalledImages(t *testing.T) {
	_, image := adaptertest.PNG(t)
	for _, s := range sides {
		m, err := winnow.New(24_000, &winnow.Options{
			Recall: true, RecallImages: true, FoldAbove: -1, Cache: &winnow.CacheOptions{None: true},
		})
		require.NoError(t, err)
		history := []winnow.Message{question("Begin.")}
		for _, had := range s.history(t) {
			for _, p := range had.Parts {
				takes := had.Role == winnow.RoleTool && s.name != "chat" && s.name != "eino" // which send what a host has
				for k := 0; p.Kind == winnow.KindImage && takes && k < 12; k++ {
					id := fmt.Sprint("call_", k)
					history = append(history, calls(id, "read", `{"path":"a.png"}`), winnow.Message{
						Role: winnow.RoleTool, ToolCallID: id, ToolName: "read",
						Parts: []winnow.Part{{Text: fmt.Sprint("Look ", k, ". ", strings.Repeat("I see grey. ", 40))}, p},
					})
				}
			}
		}
		if len(history) == 1 {
			continue
		}
		request, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		handle := regexp.MustCompile(`recall (\d+)`).FindStringSubmatch(string(marshal(t, request.Messages)))
		require.NotNil(t, handle, s.name)
		call := calls("recalled_1", winnow.RecallTool().Name, `{"handle":"`+handle[1]+`"}`)
		history = append(history, call)
		answer, err := m.Recall(t.Context(), history, call.Parts[0].Arguments)
		require.NoError(t, err)
		require.Len(t, answer.Parts, 2, "%s: %s", s.name, answer.Parts[0].Text)
		request, err = m.Prepare(t.Context(), append(history, answer))
		require.NoError(t, err)
		body := marshal(t, s.export(request.Messages))
		require.NoError(t, s.valid(body), "%s: %s", s.name, body)
		newest := request.Messages[len(request.Messages)-1]
		require.Len(t, newest.Parts, 2, s.name)
		without := marshal(t, s.export(request.Messages[:len(request.Messages)-1]))
		assert.Equal(t, 1, strings.Count(string(body), image)-strings.Count(string(without), image), s.name)
	}
}

func calls(id, tool, arguments string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
		{Kind: winnow.KindToolCall, ID: id, Name: tool, Arguments: json.RawMessage(arguments)},
	}}
}

// signedContents returns an error for contents that Gemini 3 would refuse because the first call of a step of the
// newest turn has no signature.
func signedContents(b []byte) error {
	var contents []struct {
		Role  string
		Parts []struct{ Text, ThoughtSignature, FunctionCall, FunctionResponse json.RawMessage }
	}
	if err := json.Unmarshal(b, &contents); err != nil {
		return err
	}
	for i := len(contents) - 1; i >= 0; i-- {
		for _, p := range contents[i].Parts {
			switch {
			case contents[i].Role == "user" && p.Text != nil:
				return nil // where the turn begins
			case p.FunctionCall != nil && p.ThoughtSignature == nil:
				return fmt.Errorf("contents[%d]: function call is missing a thought_signature in functionCall parts", i)
			}
			if p.FunctionCall != nil {
				break
			}
		}
	}
	return nil
}
