package sdks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	claude "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/internal/test/recording"
)

var recorded = flag.Int("recorded", 6, "how many recorded sessions are asked in each API")

// The models are those of most recordings, or another provider's.
var apis = []struct {
	name, model string
	send        sender
}{
	{"messages", "claude-opus-4-6", sendMessages},
	{"chat", "gpt-5.5", sendChat},
	{"responses", "gpt-5.5", sendResponses},
	{"contents", "gemini-3-pro", sendContents},
}

// TestSDKs: a whole trial of recorded sessions, whose requests a client of the provider's SDK passes on. Nothing of a
// request may get lost in the SDK's types. In the two APIs that the strict provider speaks that answers; the rules of
// the others are tried by the tests of the trial itself.
func TestSDKs(t *testing.T) {
	files, _ := filepath.Glob("../../../../../../shared/corpus/*.jsonl.gz")
	if len(files) == 0 {
		t.Skip("there are no recorded sessions")
	}
	for _, of := range apis {
		t.Run(of.name, func(t *testing.T) {
			api, err := ask.ByName(of.name)
			require.NoError(t, err)
			list, found, err := questions.Choose(t.Context(), files, func(name string) (*recording.Session, error) {
				s, _, err := recording.OpenFile(name)
				return s, err
			}, questions.Options{Model: of.model, Window: 48_000, Count: *recorded, Probes: 5, Seed: 1,
				// The strict provider knows no signatures but its own: of the recorded model, too, no thought is sent to it.
				Keeps: func(with string, p *winnow.Part) bool {
					return of.name != "messages" && models.IsSame(with, of.model) && ask.CanThink(api, p)
				}})
			require.NoError(t, err)
			require.Len(t, list, *recorded)
			p := newPasser(t, of.name, of.send)
			server := httptest.NewServer(p)
			defer server.Close()
			to, err := url.Parse(server.URL)
			require.NoError(t, err)
			client, err := ask.New(api, of.model, to, "")
			require.NoError(t, err)
			log, err := ask.OpenLog(filepath.Join(t.TempDir(), "trial.jsonl"), client)
			require.NoError(t, err)
			a := &ask.Asker{Client: client, Log: log, Budget: 1e9, Price: func(u winnow.Usage) float64 { return float64(u.Prompt()) }}
			results, err := trial.Run(t.Context(), list, a, 4, func(int) {})
			require.NoError(t, err)
			recalls := 0
			for _, r := range results {
				assert.Empty(t, r.Errors, r.ID)
				require.Len(t, r.Replies, 4, r.ID)
				recalls += r.Replies[trial.Recall].Recalls
			}
			assert.Equal(t, len(list), recalls, "each recalls once")
			t.Logf("%d questions of %d sessions, %d requests; left out: %s", len(results), found.Sessions, a.Paid(), found.Left)
		})
	}
}

// A sender decodes a body into the types of an SDK, sends that with its client to an address, and returns the answer.
type sender func(ctx context.Context, address, path string, body []byte) ([]byte, error)

// passer gets the requests of a trial, and passes them to a provider by an SDK.
type passer struct {
	t      *testing.T
	api    string
	send   sender
	strict http.Handler // nil: there is none for this API
}

func newPasser(t *testing.T, api string, send sender) *passer {
	p := &passer{t: t, api: api, send: send}
	if api == "messages" || api == "chat" {
		p.strict = provider.New(provider.Options{Window: 1 << 30, Model: func(r *provider.Request) provider.Answer {
			if slices.Contains(r.Tools, "recall") && !slices.ContainsFunc(r.Messages, hasRecalled) {
				return provider.Answer{Calls: []provider.ToolCall{{Name: "recall", Arguments: []byte(`{"words":"error"}`)}}}
			}
			return provider.Answer{Text: "Done."}
		}})
	}
	return p
}

func hasRecalled(m provider.Message) bool {
	return slices.ContainsFunc(m.Calls, func(c provider.ToolCall) bool { return c.Name == "recall" })
}

func (p *passer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		if err := p.same(body, sent); err != nil {
			p.t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if p.strict == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, p.canned(sent))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
		p.strict.ServeHTTP(w, r)
	}))
	defer far.Close()
	answer, err := p.send(r.Context(), far.URL, r.URL.Path, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = w.Write(answer)
}

// same reports what an SDK has lost of a body, or added to it.
func (p *passer) same(body, sent []byte) error {
	body = bytes.ReplaceAll(body, []byte(`"content":null,`), nil) // which says as much as nothing
	if p.api == "contents" {                                      // the SDK has bytes, and writes them in the other alphabet of base64
		body = bytes.ReplaceAll(body, []byte(`"thoughtSignature":"skip_thought_signature_validator"`),
			[]byte(`"thoughtSignature":"skip/thought/signature/validator"`))
		body = bytes.ReplaceAll(body, []byte(`{"args":{},`), []byte(`{`)) // no arguments
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(body, &a), json.Unmarshal(sent, &b)); err != nil {
		return err
	}
	if !assert.ObjectsAreEqual(a, b) {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		at := 0
		for at < min(len(x), len(y)) && x[at] == y[at] {
			at++
		}
		from := max(0, at-80)
		return fmt.Errorf("the SDK sends something else: %.300s in place of %.300s", y[min(from, len(y)):], x[min(from, len(x)):])
	}
	return nil
}

// canned is an answer of the APIs that the strict provider does not speak.
func (p *passer) canned(sent []byte) string {
	isRecall := bytes.Count(sent, []byte(`"name":"recall"`)) == 1
	switch {
	case p.api == "responses" && isRecall:
		return `{"status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"recall","arguments":"{\"words\":\"error\"}"}],"usage":{"input_tokens":9}}`
	case p.api == "responses":
		return `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}],"usage":{"input_tokens":9}}`
	case isRecall:
		return `{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"functionCall":{"name":"recall","args":{"words":"error"}},"thoughtSignature":"c2ln"}]}}],"usageMetadata":{"promptTokenCount":9}}`
	}
	return `{"candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[{"text":"Done."}]}}],"usageMetadata":{"promptTokenCount":9}}`
}

func sendMessages(ctx context.Context, address, _ string, body []byte) ([]byte, error) {
	var params anthropic.MessageNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	c := anthropic.NewClient(claude.WithBaseURL(address), claude.WithAPIKey("none"), claude.WithMaxRetries(0))
	answer, err := c.Messages.New(ctx, params)
	if err != nil {
		return nil, err
	}
	return []byte(answer.RawJSON()), nil
}

func openAI(address string) openai.Client {
	return openai.NewClient(option.WithBaseURL(address+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

func sendChat(ctx context.Context, address, _ string, body []byte) ([]byte, error) {
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	c := openAI(address)
	answer, err := c.Chat.Completions.New(ctx, params)
	if err != nil {
		return nil, err
	}
	return []byte(answer.RawJSON()), nil
}

func sendResponses(ctx context.Context, address, _ string, body []byte) ([]byte, error) {
	var params responses.ResponseNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	c := openAI(address)
	answer, err := c.Responses.New(ctx, params)
	if err != nil {
		return nil, err
	}
	return []byte(answer.RawJSON()), nil
}

func sendContents(ctx context.Context, address, path string, body []byte) ([]byte, error) {
	var params struct {
		Contents          []*genai.Content
		SystemInstruction *genai.Content
		GenerationConfig  *genai.GenerationConfig
		Tools             []*genai.Tool
	}
	body = bytes.ReplaceAll(body, []byte(`"skip_thought_signature_validator"`), []byte(`"skip/thought/signature/validator"`))
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	c, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: "none", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: address}})
	if err != nil {
		return nil, err
	}
	_, model, _ := strings.Cut(path, "/models/")
	model, _, _ = strings.Cut(model, ":")
	answer, err := c.Models.GenerateContent(ctx, model, params.Contents, &genai.GenerateContentConfig{
		SystemInstruction: params.SystemInstruction, MaxOutputTokens: params.GenerationConfig.MaxOutputTokens, Tools: params.Tools})
	if err != nil {
		return nil, err
	}
	answer.SDKHTTPResponse = nil
	return json.Marshal(answer)
}
