package transport_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
	"github.com/winnowgo/winnow/adapters/openai"
	"github.com/winnowgo/winnow/adapters/openai/responses"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// recordedAPI is an API in which a client sends recorded sessions.
type recordedAPI struct {
	path, rest string
	api        wire.API
	client     func(history []winnow.Message) recordedClient
	check      func(t *testing.T, body, list []byte)
}

// recordedClient is a session in the values of an SDK.
type recordedClient struct {
	elements []jsonedit.Value
	imported func(n int) []winnow.Message                  // the first n
	export   func(messages []winnow.Message) (list []byte) // as a host sends them
}

func clientOf[T any](t *testing.T, export func([]winnow.Message) []T, imported func([]T) []winnow.Message) func([]winnow.Message) recordedClient {
	list := func(messages []winnow.Message) []byte {
		text, err := json.Marshal(export(messages))
		require.NoError(t, err)
		return text
	}
	return func(history []winnow.Message) recordedClient {
		values := export(history)
		text, err := json.Marshal(values)
		require.NoError(t, err)
		return recordedClient{jsonedit.Value(text).Elements(), func(n int) []winnow.Message { return imported(values[:n]) }, list}
	}
}

// isModels reports whether an element is of an answer.
func isModels(of jsonedit.Value) bool {
	typ := of.Get("type").Text()
	return of.Get("role").Text() == "assistant" || of.Get("role").Text() == "model" || strings.HasSuffix(typ, "_call") || typ == "reasoning"
}

// strictly checks a body with a provider that refuses what breaks a rule.
func strictly(path string) func(*testing.T, []byte, []byte) {
	strict := provider.New(provider.Options{Window: adaptertest.HugeWindow, Prefill: true})
	return func(t *testing.T, body, _ []byte) {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body)))
		r.Header.Set("X-Api-Key", "k")
		r.Header.Set("Authorization", "Bearer k")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		strict.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	}
}

func recordedAPIs(t *testing.T) map[string]recordedAPI {
	of := func(valid func([]byte) error) func(*testing.T, []byte, []byte) {
		return func(t *testing.T, _, list []byte) { require.NoError(t, valid(list)) }
	}
	return map[string]recordedAPI{
		"messages": {"/v1/messages", `"max_tokens":8000,"tools":[{"name":"read","input_schema":{"type":"object"}}]`, wire.Messages{},
			clientOf(t, anthropic.Export, anthropic.Import), strictly("/v1/messages")},
		"chat": {"/v1/chat/completions", `"max_completion_tokens":8000,"tools":[{"type":"function","function":{"name":"read"}}]`, wire.Chat{},
			clientOf(t, openai.Export, openai.Import), strictly("/v1/chat/completions")},
		"responses": {"/v1/responses", `"max_output_tokens":8000,"tools":[{"type":"function","name":"read"}]`, wire.Responses{},
			clientOf(t, responses.Export, responses.Import), of(adaptertest.ValidItems)},
		"gemini": {"/v1beta/models/m:generateContent", `"generationConfig":{"maxOutputTokens":8000},"tools":[{"functionDeclarations":[{"name":"read"}]}]`, wire.Contents{},
			clientOf(t, genai.Export, genai.Import), of(adaptertest.ValidContents)},
	}
}

// Recorded sessions, as clients send them: the whole history each time. Each request is valid, and has the messages
// that a host would send which uses the library itself.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	for name, api := range recordedAPIs(t) {
		t.Run(name, func(t *testing.T) {
			requests, smaller := 0, 0
			adaptertest.EachSession(t, func(t *testing.T, history []winnow.Message) {
				for i := range history { // no provider here has signed the thinking
					history[i].Parts = slices.DeleteFunc(history[i].Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindThinking })
				}
				all, less := api.replay(t, history)
				requests, smaller = requests+all, smaller+less
			})
			t.Logf("%d requests, %d of them smaller than the client's", requests, smaller)
			assert.Positive(t, smaller)
		})
	}
}

// replay sends a session, and returns how many requests that were and how many were made smaller.
func (api *recordedAPI) replay(t *testing.T, history []winnow.Message) (requests, smaller int) {
	const window = 64_000
	var sent []byte
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		body := read(r)
		sent = jsonedit.Value(body).Get(api.api.List())
		api.check(t, body, sent)
		return answer(http.StatusOK, "application/json", "{}"), nil
	}), options(window, 0))
	require.NoError(t, err)
	library, err := winnow.New(window, &winnow.Options{Reserve: 8_000, Model: "m"})
	require.NoError(t, err)
	client := api.client(history)
	for i, element := range client.elements {
		if isModels(element) || i+1 < len(client.elements) && !isModels(client.elements[i+1]) {
			continue
		}
		if requests++; requests > 40 && requests%10 != 0 { // a client need not have asked each time
			continue
		}
		list := jsonedit.List(valuesOf(client.elements[:i+1])...)
		status, _ := post(t, tr, api.path, `{"model":"m",`+api.rest+`,"`+api.api.List()+`":`+string(list)+`}`)
		require.Equal(t, http.StatusOK, status)
		want, err := library.Prepare(t.Context(), client.imported(i+1))
		require.NoError(t, err)
		require.Equal(t, api.said(client.export(want.Messages)), api.said(sent), "request %d", requests)
		if len(sent) < len(list) {
			smaller++
		}
	}
	return requests, smaller
}

func valuesOf(elements []jsonedit.Value) (list [][]byte) {
	for _, e := range elements {
		list = append(list, e)
	}
	return list
}

// said returns the messages in a list, without where they come from.
func (api *recordedAPI) said(list []byte) []winnow.Message {
	messages := wire.Read(api.api, jsonedit.Value(list).Elements()).Messages
	for i := range messages {
		m := &messages[i]
		m.ID, m.Source = "", nil
		for k := range m.Parts {
			m.Parts[k].Source = nil
		}
	}
	return messages
}
