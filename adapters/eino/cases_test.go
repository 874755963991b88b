package eino

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// The conversation of the cases: a question, a call, its result, an answer.
const (
	ask    = `{"role":"user","content":"q"}`
	said   = `{"role":"assistant","content":"a"}`
	toolA  = `{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}`
	toolB  = `{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}`
	callA  = `{"role":"assistant","content":"","tool_calls":[` + toolA + `]}`
	callAB = `{"role":"assistant","content":"","tool_calls":[` + toolA + `,` + toolB + `]}`
	gotA   = `{"role":"tool","content":"ra","tool_call_id":"a"}`
	gotB   = `{"role":"tool","content":"rb","tool_call_id":"b"}`

	missing = "[No result: the conversation has no result for this call. Whether it ran is not known.]"
)

// turn is a question, an assistant message with a call and these members, its result and a question.
func turn(members string) []string {
	return []string{ask, `{"role":"assistant",` + members + `"tool_calls":[` + toolA + `]}`, gotA, ask}
}

func turnOf(tool string) []string {
	return []string{ask, `{"role":"assistant","content":"","tool_calls":[` + tool + `]}`, gotA, ask}
}

func userOf(parts string) []string {
	return []string{`{"role":"user","content":"","user_input_multi_content":[` + parts + `]}`, said, ask}
}

func withResult(members string) []string {
	return []string{ask, callA, `{"role":"tool","tool_call_id":"a",` + members + `}`, said, ask}
}

// nameless is a message of texts without ids.
func nameless(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `"id":"a"`, `"id":""`), `,"tool_call_id":"a"`, ``)
}

var cases = []adaptertest.Case{
	// What a model keeps, and kinds of parts.
	{Name: "extra of a message", Imports: turn(`"content":"t","extra":{"mine":{"x":[1]}},`), Reason: "at every level"},
	{Name: "extra of a call", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra":{"x":1}}`), Reason: "at every level"},
	{Name: "extra of a result", Imports: withResult(`"content":"r","extra":{"x":1}`), Reason: "at every level"},
	{Name: "extra of a part", Imports: userOf(`{"type":"text","text":"q","extra":{"x":1}}`), Reason: "at every level"},
	{Name: "extra of a question", Imports: []string{`{"role":"user","content":"q","extra":{"x":1}}`, said, ask}, Reason: "at every level"},
	{Name: "extra and an id that is replaced", Imports: []string{ask, `{"role":"assistant","content":"t","extra":{"x":1},"tool_calls":[{"id":"","type":"function","function":{"name":"read","arguments":"{}"},"extra":{"y":2}}]}`, nameless(gotA), ask},
		Want: ask + `{"role":"assistant","content":"t","extra":{"x":1},"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{}"},"extra":{"y":2}}]}{"role":"tool","content":"ra","tool_call_id":"call_1","tool_name":"read"}` + ask, Reason: "what the model keeps stays"},
	{Name: "thought signature and an id that repeats", Imports: []string{ask, callA, gotA, `{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{]"},"extra":{"thought_signature":"c2ln"}}]}`, gotA, ask},
		Want: ask + callA + gotA + `{"role":"assistant","content":"","tool_calls":[{"id":"a_2","type":"function","function":{"name":"read","arguments":"{\"invalidJson\":\"{]\"}"},"extra":{"thought_signature":"c2ln"}}]}{"role":"tool","content":"ra","tool_call_id":"a_2","tool_name":"read"}` + ask, Reason: "Gemini's component names calls by their tools"},
	{Name: "name of a message", Imports: []string{`{"role":"user","content":"q","name":"ann"}`, said, ask}, Reason: "as it is"},
	{Name: "unknown part of a user", Imports: userOf(`{"type":"text","text":"q"},{"type":"future","extra":{"x":1}}`), Reason: "in its place"},
	{Name: "unknown part alone", Imports: userOf(`{"type":"future","extra":{"x":1}}`), Reason: "in its role"},
	{Name: "unknown part of an assistant", Imports: turn(`"content":"","assistant_output_multi_content":[{"type":"future","extra":{"x":1}},{"type":"text","text":"t"}],`), Reason: "in its place"},
	{Name: "unknown part of an assistant alone", Imports: []string{ask, `{"role":"assistant","content":"","assistant_output_multi_content":[{"type":"future"}]}`, ask}, Reason: "in its role"},
	{Name: "unknown part of a result", Imports: withResult(`"content":"","user_input_multi_content":[{"type":"future"},{"type":"text","text":"r"}]`), Reason: "in its place"},
	{Name: "unknown part of the old list", Imports: []string{`{"role":"user","content":"","multi_content":[{"type":"text","text":"q"},{"type":"future"}]}`, said, ask}, Reason: "in its place"},
	{Name: "an image", Imports: userOf(`{"type":"image_url","image":{"base64data":"aGk=","mime_type":"image/png","detail":"low"}}`), Reason: "as it is"},
	{Name: "an image by its address", Imports: userOf(`{"type":"text","text":"q"},{"type":"image_url","image":{"url":"https://example.com/a.png"}}`), Reason: "as it is"},
	{Name: "a recording, a film, a file", Imports: userOf(`{"type":"audio_url","audio":{"base64data":"aGk=","mime_type":"audio/wav"}},{"type":"video_url","video":{"url":"u"}},{"type":"file_url","file":{"base64data":"aGk=","mime_type":"application/pdf","name":"f"}}`), Reason: "as they are"},
	{Name: "an image in the old list", Imports: []string{`{"role":"user","content":"","multi_content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","detail":"high"}}]}`, said, ask}, Reason: "as it is"},
	{Name: "an image of the model", Imports: []string{ask, `{"role":"assistant","content":"","assistant_output_multi_content":[{"type":"image_url","image":{"base64data":"aGk=","mime_type":"image/png"}}]}`, ask}, Reason: "as it is"},
	{Name: "an image in a result", Imports: withResult(`"content":"","user_input_multi_content":[{"type":"image_url","image":{"base64data":"aGk=","mime_type":"image/png"}}]`), Reason: "as it is"},

	// Results.
	{Name: "result alone", Imports: []string{ask, callA, gotA}, Reason: "the usual loop"},
	{Name: "result alone, and an answer", Imports: []string{ask, callA, gotA, said, ask}, Reason: "the usual loop"},
	{Name: "results in two imports", Imports: []string{ask, callAB, gotA, gotB, ask}, Reason: "one message each"},
	{Name: "results in one import", Imports: []string{ask, callAB, gotA + gotB, ask}, Reason: "one message each"},
	{Name: "results out of order", Imports: []string{ask, callAB, gotB, gotA, ask}, Want: ask + callAB + gotA + gotB + ask, Reason: "in the order of the calls"},
	{Name: "all in one import", Imports: []string{ask + callAB + gotA + gotB + said + ask}, Reason: "as read from a file"},
	{Name: "a word between", Imports: []string{ask, callAB, gotA, ask, gotB}, Want: ask + callAB + gotA + gotB + ask, Reason: "results come first"},
	{Name: "a system message between", Imports: []string{ask, callA, `{"role":"system","content":"s"}`, gotA, ask}, Want: ask + callA + gotA + `{"role":"system","content":"s"}` + ask, Reason: "results come first"},
	{Name: "result twice", Imports: []string{ask, callA, gotA, gotA, ask}, Want: ask + callA + gotA + ask, Reason: "the first counts"},
	{Name: "result missing", Imports: []string{ask, callAB, gotB, ask}, Want: ask + callAB + `{"role":"tool","content":"` + missing + `","tool_call_id":"a","tool_name":"read"}` + gotB + ask, Reason: "one stands in"},
	{Name: "result of nothing", Imports: []string{ask, said, gotA, ask}, Want: ask + said + ask, Reason: "it goes"},
	{Name: "history begins with a result", Imports: []string{gotA, said, ask}, Want: said + ask, Reason: "it goes"},
	{Name: "name of the tool", Imports: withResult(`"content":"r","tool_name":"read"`), Reason: "as it is"},
	{Name: "another name of the tool", Imports: withResult(`"content":"r","tool_name":"files.read"`), Reason: "as it is"},
	{Name: "no ids", Imports: []string{ask, nameless(callA), nameless(gotA), ask}, Want: ask + strings.ReplaceAll(callA, `"id":"a"`, `"id":"call_1"`) + `{"role":"tool","content":"ra","tool_call_id":"call_1","tool_name":"read"}` + ask, Reason: "they get one, as Ollama gives none"},
	{Name: "no ids, in one import", Imports: []string{ask + nameless(callA) + nameless(gotA) + ask}, Want: ask + strings.ReplaceAll(callA, `"id":"a"`, `"id":"call_1"`) + `{"role":"tool","content":"ra","tool_call_id":"call_1","tool_name":"read"}` + ask, Reason: "the name does not depend on how it was imported"},
	{Name: "result without an id", Imports: []string{ask, callAB, `{"role":"tool","content":"rb","tool_name":"ls"}`, `{"role":"tool","content":"ra"}`, ask}, Want: ask + callAB + `{"role":"tool","content":"ra","tool_call_id":"a","tool_name":"read"}{"role":"tool","content":"rb","tool_call_id":"b","tool_name":"ls"}` + ask, Reason: "by name, and what is left by order"},
	{Name: "the same id in two turns", Imports: []string{ask, callA, gotA, callA, gotA, ask},
		Want: ask + callA + gotA + strings.ReplaceAll(callA, `"id":"a"`, `"id":"a_2"`) + `{"role":"tool","content":"ra","tool_call_id":"a_2","tool_name":"read"}` + ask, Reason: "unique in the history"},
	{Name: "ids of Kimi", Imports: []string{ask, strings.ReplaceAll(callA, `"id":"a"`, `"id":"functions.read:0"`), strings.ReplaceAll(gotA, `"a"`, `"functions.read:0"`), ask}, Reason: "it wants its own back"},

	// Empty content in each spelling.
	{Name: "empty answer", Imports: []string{ask, `{"role":"assistant","content":""}`, ask}, Want: ask + ask, Reason: "some providers refuse it"},
	{Name: "empty list of an answer", Imports: []string{ask, `{"role":"assistant","content":"","assistant_output_multi_content":[]}`, ask}, Want: ask + ask, Reason: "nothing is said"},
	{Name: "empty part of an answer", Imports: []string{ask, `{"role":"assistant","content":"","assistant_output_multi_content":[{"type":"text"}]}`, ask}, Want: ask + ask, Reason: "nothing is said"},
	{Name: "blank answer", Imports: []string{ask, `{"role":"assistant","content":" \n"}`, ask}, Want: ask + ask, Reason: "nothing is said"},
	{Name: "blank text beside a call", Imports: turn(`"content":" ",`), Want: strings.Join(turn(`"content":"",`), ""), Reason: "a manager leaves out what is blank"},
	{Name: "empty part beside a call", Imports: turn(`"content":"","assistant_output_multi_content":[{"type":"text"}],`), Want: strings.Join(turn(`"content":"",`), ""), Reason: "some providers refuse it in a list"},
	{Name: "empty question", Imports: []string{ask, said, `{"role":"user","content":""}`}, Want: ask + said, Reason: "nothing is said"},
	{Name: "empty part of a question", Imports: []string{ask, said, `{"role":"user","content":"","user_input_multi_content":[{"type":"text"},{"type":"text","text":"q"}]}`}, Want: ask + said + `{"role":"user","content":"","user_input_multi_content":[{"type":"text","text":"q"}]}`, Reason: "some providers refuse it in a list"},
	{Name: "empty result", Imports: withResult(`"content":""`), Want: strings.Join(withResult(`"content":"[empty]"`), ""), Reason: "OpenAI's component sends null, which is refused"},
	{Name: "empty part of a result", Imports: withResult(`"content":"","user_input_multi_content":[{"type":"text"}]`), Want: strings.Join(withResult(`"content":"[empty]","tool_name":"read"`), ""), Reason: "likewise"},
	{Name: "blank result", Imports: withResult(`"content":" "`), Want: strings.Join(withResult(`"content":"[empty]","tool_name":"read"`), ""), Reason: "a manager leaves out what is blank"},
	{Name: "call without arguments", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":""}}`), Want: strings.Join(turnOf(`{"id":"a","type":"function","function":{"name":"read"}}`), ""), Reason: "as the model wrote it"},
	{Name: "call with broken arguments", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{]"}}`), Want: strings.Join(turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{\"invalidJson\":\"{]\"}"}}`), ""), Reason: "wrapped"},

	// Reasoning and signatures.
	{Name: "reasoning", Imports: turn(`"content":"","reasoning_content":"Hm.",`), Reason: "as the caller sends it"},
	{Name: "reasoning and an answer", Imports: []string{ask, `{"role":"assistant","content":"a","reasoning_content":"Hm."}`, ask}, Reason: "as the caller sends it"},
	{Name: "signature beside reasoning", Imports: turn(`"content":"t","reasoning_content":"Hm.","extra":{"_eino_claude_thinking_signature":"c2ln"},`), Reason: "what the model keeps beside it"},
	{Name: "signature beside reasoning, and a blank part", Imports: turn(`"content":"","assistant_output_multi_content":[{"type":"text","text":" "},{"type":"text","text":"t"}],"reasoning_content":"Hm.","extra":{"signature":"c2ln"},`),
		Want: strings.Join(turn(`"content":"","assistant_output_multi_content":[{"type":"text","text":"t"}],"reasoning_content":"Hm.","extra":{"signature":"c2ln"},`), ""), Reason: "of a message that is mended as well"},
	{Name: "thought signature of a call", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra":{"thought_signature":"c2ln"}}`), Reason: "Gemini 3 demands it"},
	{Name: "thought signature of a message", Imports: turn(`"content":"","extra":{"thought_signature":"c2ln"},`), Reason: "Gemini 3 demands it"},
	{Name: "encrypted reasoning", Imports: turn(`"content":"","extra":{"reasoning_items":[{"id":"rs_1","encrypted_content":"ZW5j"}]},`), Reason: "as it is"},
	{Name: "reasoning alone", Imports: []string{ask, `{"role":"assistant","content":"","reasoning_content":"Hm."}`, ask}, Want: ask + ask, Reason: "what it led to never came"},
}

// post sends messages unchanged, which no chat model does, because the cases test the messages themselves.
func post(ctx context.Context, url string, messages []*schema.Message) error {
	body, err := json.Marshal(map[string]any{"messages": messages})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

var forms = []adaptertest.Form[*schema.Message]{{Name: "typed", Read: func(raw json.RawMessage) (m *schema.Message, err error) { return m, json.Unmarshal(raw, &m) }}}

// send returns a function that sends messages and returns what the server got.
func send(t *testing.T) func(*testing.T, []*schema.Message) []json.RawMessage {
	url, got := adaptertest.Sent(t, `{}`)
	return func(t *testing.T, values []*schema.Message) []json.RawMessage {
		require.NoError(t, post(t.Context(), url, values))
		return got(t, "messages")
	}
}

func TestCases(t *testing.T) { adaptertest.CheckCases(t, underTest, forms, send(t), cases) }

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) { adaptertest.CheckCodec(t, underTest, Codec(), forms, cases) }

// TestStreams has streams that fail at each piece: Eino's own function collects them.
func TestStreams(t *testing.T) {
	zero := 0
	pieces := []*schema.Message{
		{Role: schema.Assistant, ReasoningContent: "Hm."},
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{Index: &zero, ID: "a", Type: "function", Function: schema.FunctionCall{Name: "read", Arguments: "{"}, Extra: map[string]any{"thought_signature": "c2ln"}}}},
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{Index: &zero, Function: schema.FunctionCall{Arguments: "}"}}}},
		{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: "tool_calls", Usage: &schema.TokenUsage{PromptTokens: 10, CompletionTokens: 5}}},
	}
	answer, err := schema.ConcatMessageStream(schema.StreamReaderFromArray(pieces))
	require.NoError(t, err)
	m := Response(answer)
	assert.Equal(t, "tool_calls", m.StopReason)
	assert.Equal(t, "{}", string(m.Parts[1].Arguments))
	assert.Equal(t, map[string]any{"thought_signature": "c2ln"}, Export([]winnow.Message{m})[0].ToolCalls[0].Extra)
	refused := errors.New("error, status code: 400, message: This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.")
	for n := range len(pieces) + 1 {
		reader, writer := schema.Pipe[*schema.Message](len(pieces) + 1)
		for _, p := range pieces[:n] {
			writer.Send(p, nil)
		}
		writer.Send(nil, refused)
		writer.Close()
		_, err := schema.ConcatMessageStream(reader)
		assert.Equal(t, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 5000, Limit: 4096}, winnow.ClassifyError(err), "behind piece %d", n)
	}
}

// TestForms uses the recorded sessions directly, and read from a file.
func TestForms(t *testing.T) {
	adaptertest.CheckForms(t, underTest, adaptertest.Copying[*schema.Message]{Name: "JSON", Copy: adaptertest.Reread[*schema.Message]})
}

// TestMedia reads the pixels of images, the pages of files and the seconds of sounds, in all lists of a message.
func TestMedia(t *testing.T) {
	_, png := adaptertest.PNG(t)
	_, pdf := adaptertest.PDF()
	_, wav := adaptertest.WAV()
	var messages []*schema.Message
	for _, raw := range []string{
		`{"role":"user","user_input_multi_content":[{"type":"image_url","image":{"base64data":"` + png + `","mime_type":"image/png"}},{"type":"image_url","image":{"url":"data:image/png;base64,` + png + `"}}]}`,
		`{"role":"user","user_input_multi_content":[{"type":"file_url","file":{"base64data":"` + pdf + `","mime_type":"application/pdf"}},{"type":"audio_url","audio":{"url":"data:audio/wav;base64,` + wav + `"}}]}`,
		`{"role":"user","multi_content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}},{"type":"file_url","file_url":{"url":"data:application/pdf;base64,` + pdf + `"}}]}`,
		`{"role":"assistant","assistant_output_multi_content":[{"type":"image_url","image":{"base64data":"` + png + `","mime_type":"image/png"}},{"type":"audio_url","audio":{"base64data":"` + wav + `","mime_type":"audio/wav"}}]}`,
	} {
		m := new(schema.Message)
		require.NoError(t, json.Unmarshal([]byte(raw), m))
		messages = append(messages, m)
	}
	adaptertest.CheckMedia(t, Import(messages), 4, 2, 2)
}
