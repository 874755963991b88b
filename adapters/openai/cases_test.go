package openai

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
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
	callA  = `{"role":"assistant","tool_calls":[` + toolA + `]}`
	callAB = `{"role":"assistant","tool_calls":[` + toolA + `,` + toolB + `]}`
	gotA   = `{"role":"tool","tool_call_id":"a","content":"ra"}`
	gotB   = `{"role":"tool","tool_call_id":"b","content":"rb"}`
)

// The form of calls before tools.
const (
	oldCall   = `{"role":"assistant","function_call":{"name":"read","arguments":"{}"}}`
	oldResult = `{"role":"function","name":"read","content":"r"}`
)

const asJSON = "JSON"

// turn is a question, an assistant message with a call and these members, its result and a question.
func turn(members string) []string {
	return []string{ask, `{"role":"assistant",` + members + `"tool_calls":[` + toolA + `]}`, gotA, ask}
}

func turnOf(tool string) []string {
	return []string{ask, `{"role":"assistant","tool_calls":[` + tool + `]}`, gotA, ask}
}

func userOf(content string) []string {
	return []string{`{"role":"user","content":[` + content + `]}`, said, ask}
}

func withResult(content string) []string {
	return []string{ask, callA, `{"role":"tool","tool_call_id":"a"` + content + `}`, said, ask}
}

var long = strings.Repeat("x", 41)

const hashed = "call_3164596df4fdd018b2c567ec" // of long

var cases = []adaptertest.Case{
	// What the SDK does not know.
	{Name: "unknown part of a user", Imports: userOf(`{"type":"text","text":"q"},{"type":"video_url","video_url":{"url":"u"}}`), Forms: asJSON, Reason: "in its place"},
	{Name: "unknown part alone", Imports: userOf(`{"type":"future","x":[1]}`), Forms: asJSON, Reason: "in its role"},
	{Name: "unknown part of an assistant", Imports: turn(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"t"}],`), Forms: asJSON, Reason: "Mistral's thinking"},
	{Name: "unknown part of an assistant alone", Imports: []string{ask, `{"role":"assistant","content":[{"type":"future"}]}`, ask}, Forms: asJSON, Reason: "in its role"},
	{Name: "unknown part of a result", Imports: withResult(`,"content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"t"}]`), Forms: asJSON, Reason: "some servers take images there"},
	{Name: "unknown part of a system message", Imports: []string{`{"role":"system","content":[{"type":"future","x":1},{"type":"text","text":"s"}]}`, ask}, Forms: asJSON, Reason: "as it is"},
	{Name: "unknown member of a message", Imports: []string{`{"role":"user","content":"q","later":1}`, said, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a part", Imports: userOf(`{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}`), Forms: asJSON, Reason: "markers of OpenRouter and LiteLLM"},
	{Name: "unknown member of an assistant", Imports: turn(`"content":"t","prefix":true,`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a call", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"later":{"x":1}}`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a function", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{}","later":1}}`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a result", Imports: withResult(`,"content":"r","name":"read","later":1`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown kind of call", Imports: turnOf(`{"id":"a","type":"future","future":{"x":1}}`), Forms: asJSON, Reason: "it is answered like others"},
	{Name: "unknown role", Imports: []string{ask, `{"role":"critic","content":"c"}`, said, ask}, Forms: asJSON, Reason: "carried"},
	{Name: "members of a message whose ids are replaced", Imports: []string{ask, `{"role":"assistant","content":"t","later":1,"tool_calls":[{"id":"` + long + `","type":"function","function":{"name":"read","arguments":"{}"},"later":2}]}`, `{"role":"tool","tool_call_id":"` + long + `","content":"r","later":3}`, ask},
		Want:  ask + `{"role":"assistant","content":"t","later":1,"tool_calls":[{"id":"` + hashed + `","type":"function","function":{"name":"read","arguments":"{}"},"later":2}]}{"role":"tool","tool_call_id":"` + hashed + `","content":"r","later":3}` + ask,
		Forms: asJSON, Reason: "the rest stays"},
	{Name: "known parts", Imports: userOf(`{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","detail":"low"}},{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,aGk=","filename":"f"}}`), Reason: "as they are"},
	{Name: "names", Imports: []string{`{"role":"user","name":"ann","content":"q"}`, `{"role":"assistant","name":"bot","content":"a"}`, ask}, Reason: "as they are"},
	{Name: "a custom call", Imports: turnOf(`{"id":"a","type":"custom","custom":{"name":"sql","input":"select 1"}}`), Reason: "as it is"},

	// Results.
	{Name: "result alone", Imports: []string{ask, callA, gotA}, Reason: "the usual loop"},
	{Name: "results in two imports", Imports: []string{ask, callAB, gotA, gotB, ask}, Reason: "one message each"},
	{Name: "results in one import", Imports: []string{ask, callAB, gotA + gotB, ask}, Reason: "one message each"},
	{Name: "results out of order", Imports: []string{ask, callAB, gotB, gotA, ask}, Want: ask + callAB + gotA + gotB + ask, Reason: "in the order of the calls"},
	{Name: "all in one import", Imports: []string{ask + callA + gotA + said + ask}, Reason: "as read from a file"},
	{Name: "a word between", Imports: []string{ask, callAB, gotA, ask, gotB}, Want: ask + callAB + gotA + gotB + ask, Reason: "results come first"},
	{Name: "a system message between", Imports: []string{ask, callA, `{"role":"system","content":"s"}`, gotA, ask}, Want: ask + callA + gotA + `{"role":"system","content":"s"}` + ask, Reason: "results come first"},
	{Name: "result twice", Imports: []string{ask, callA, gotA, gotA, ask}, Want: ask + callA + gotA + ask, Reason: "the first counts"},
	{Name: "result missing", Imports: []string{ask, callAB, gotB, ask}, Want: ask + callAB + `{"role":"tool","tool_call_id":"a","content":"[No result: the conversation has no result for this call. Whether it ran is not known.]"}` + gotB + ask, Reason: "one stands in"},
	{Name: "result of nothing", Imports: []string{ask, said, gotA, ask}, Want: ask + said + ask, Reason: "it goes"},
	{Name: "history begins with a result", Imports: []string{gotA, said, ask}, Want: said + ask, Reason: "accepted"},
	{Name: "result without an id", Imports: []string{ask, callA, `{"role":"tool","tool_call_id":"","content":"ra"}`, ask}, Want: ask + callA + gotA + ask, Reason: "it answers the open call"},
	{Name: "calls and results without ids", Imports: []string{ask, strings.ReplaceAll(callA, `"id":"a"`, `"id":""`), `{"role":"tool","tool_call_id":"","content":"ra"}`, ask},
		Want: ask + strings.ReplaceAll(callA, `"id":"a"`, `"id":"call_1"`) + `{"role":"tool","tool_call_id":"call_1","content":"ra"}` + ask, Reason: "they get one"},
	{Name: "the same id in two turns", Imports: []string{ask, callA, gotA, callA, gotA, ask},
		Want:   ask + callA + gotA + strings.ReplaceAll(callA, `"id":"a"`, `"id":"a_2"`) + strings.ReplaceAll(gotA, `"a"`, `"a_2"`) + ask,
		Reason: "unique in the history"},
	{Name: "answers to the same function", Imports: []string{ask, oldCall, oldResult, oldCall, oldResult, oldCall, oldResult, ask}, Reason: "the old form, which has no ids"},
	{Name: "an answer to a function", Imports: []string{ask, `{"role":"assistant","function_call":{"name":"read","arguments":"{}"}}`, `{"role":"function","name":"read","content":"r"}`, ask}, Reason: "the old form"},

	// Empty content in each spelling.
	{Name: "answer with an empty text", Imports: []string{ask + `{"role":"assistant","content":""}`}, Want: ask, Reason: "nothing is said: a manager leaves it out"},
	{Name: "empty text beside a call", Imports: turn(`"content":"",`), Reason: "as it is"},
	{Name: "null beside a call", Imports: turn(`"content":null,`), Forms: asJSON, Reason: "as it is"},
	{Name: "empty part beside a call", Imports: turn(`"content":[{"type":"text","text":""}],`), Want: strings.Join(turn(``), ""), Reason: "no text in a list is empty: gateways pass it on to models that refuse it"},
	{Name: "empty part beside an image", Imports: []string{`{"role":"user","content":[{"type":"text","text":""},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`},
		Want: `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`, Reason: "the same"},
	{Name: "empty part beside another in a result", Imports: withResult(`,"content":[{"type":"text","text":""},{"type":"text","text":"x"}]`), Want: strings.Join(withResult(`,"content":[{"type":"text","text":"x"}]`), ""), Reason: "at every depth"},
	{Name: "blank text beside a call", Imports: turn(`"content":" ",`), Want: strings.Join(turn(``), ""), Reason: "a manager leaves out what is blank"},
	{Name: "neither content nor calls", Imports: []string{ask, `{"role":"assistant"}`, ask}, Want: ask + ask, Reason: "refused"},
	{Name: "no calls in a list", Imports: []string{ask, `{"role":"assistant","content":"a","tool_calls":[]}`, ask}, Forms: asJSON, Reason: "as it is"},
	{Name: "empty result", Imports: withResult(`,"content":""`), Reason: "accepted"},
	{Name: "result with an empty part", Imports: withResult(`,"content":[{"type":"text","text":""}]`), Want: strings.Join(withResult(`,"content":""`), ""), Reason: "an empty result is accepted"},
	{Name: "result without content", Imports: withResult(``), Forms: asJSON, Reason: "as it is"},
	{Name: "result with a null", Imports: withResult(`,"content":null`), Forms: asJSON, Reason: "as it is"},
	{Name: "blank result", Imports: withResult(`,"content":" "`), Want: strings.Join(withResult(`,"content":""`), ""), Reason: "a manager leaves out what is blank"},
	{Name: "empty question", Imports: []string{ask, said, `{"role":"user","content":""}`}, Want: ask + said, Reason: "nothing is said"},
	{Name: "a refusal", Imports: []string{ask, `{"role":"assistant","refusal":"No."}`, ask}, Reason: "as it is"},
	{Name: "call without arguments", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":""}}`), Reason: "as the model wrote it"},

	// Signatures and reasoning.
	{Name: "thought signature of a call", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}`), Forms: asJSON, Reason: "Gemini 3 demands it"},
	{Name: "thought signature and a list of arguments", Imports: turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{]"},"extra_content":{"google":{"thought_signature":"c2ln"}}}`),
		Want: strings.Join(turnOf(`{"id":"a","type":"function","function":{"name":"read","arguments":"{\"invalidJson\":\"{]\"}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}`), ""), Forms: asJSON, Reason: "of a call that is mended as well"},
	{Name: "reasoning", Imports: turn(`"reasoning_content":"Hm.",`), Forms: asJSON, Reason: "DeepSeek and Kimi want it"},
	{Name: "reasoning of OpenRouter", Imports: turn(`"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.encrypted","data":"ZW5j","index":0}],`), Forms: asJSON, Reason: "encrypted"},
	{Name: "reasoning details and a blank text", Imports: turn(`"content":[{"type":"text","text":" "},{"type":"text","text":"t"}],"reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln"}],`),
		Want: strings.Join(turn(`"content":[{"type":"text","text":"t"}],"reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln"}],`), ""), Forms: asJSON, Reason: "of a message that is mended as well"},
	{Name: "no reasoning details", Imports: turn(`"reasoning_details":[],"reasoning":null,`), Forms: asJSON, Reason: "as it is"},

	// Several of these together.
	{Name: "unknown member of an image", Imports: userOf(`{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","later":1}}`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a list's part in an answer", Imports: []string{ask, `{"role":"assistant","content":[{"type":"text","text":"a","later":1}]}`, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "empty list as question", Imports: []string{ask, said, `{"role":"user","content":[]}`, ask}, Want: ask + said + ask, Reason: "refused"},
	{Name: "blank part beside a text", Imports: userOf(`{"type":"text","text":" "},{"type":"text","text":"q"}`), Want: strings.Join(userOf(`{"type":"text","text":"q"}`), ""), Reason: "it says nothing"},
	{Name: "thought signature of the second call", Imports: []string{ask, `{"role":"assistant","tool_calls":[` + toolA + `,{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`, gotB, gotA, said}, Want: ask + `{"role":"assistant","tool_calls":[` + toolA + `,{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}` + gotA + gotB + said, Forms: asJSON, Reason: "with its call, results out of order"},
	{Name: "thought signature, and an id that is replaced", Imports: []string{ask, `{"role":"assistant","tool_calls":[{"id":"` + long + `","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`, `{"role":"tool","tool_call_id":"` + long + `","content":"r"}`, said}, Want: ask + `{"role":"assistant","tool_calls":[{"id":"` + hashed + `","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}{"role":"tool","tool_call_id":"` + hashed + `","content":"r"}` + said, Forms: asJSON, Reason: "with its call"},
}

var forms = []adaptertest.Form[message]{
	{Name: "typed", Read: func(raw json.RawMessage) (m message, err error) { return m, json.Unmarshal(raw, &m) }},
	{Name: asJSON, Read: func(raw json.RawMessage) (message, error) { return param.Override[message](raw), nil }},
}

// send returns a function that sends messages with the SDK and returns what the server got.
func send(t *testing.T) func(*testing.T, []message) []json.RawMessage {
	url, got := adaptertest.Sent(t, `{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`)
	return func(t *testing.T, values []message) []json.RawMessage {
		_, err := clientOf(url).Chat.Completions.New(t.Context(), sdk.ChatCompletionNewParams{Model: "m", Messages: values})
		require.NoError(t, err)
		return got(t, "messages")
	}
}

func TestCases(t *testing.T) { adaptertest.CheckCases(t, underTest, forms, send(t), cases) }

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) { adaptertest.CheckCodec(t, underTest, Codec(), forms, cases) }

// TestEmptyAnswersStay where no manager is asked.
func TestEmptyAnswersStay(t *testing.T) {
	for _, raw := range []string{`{"role":"assistant","content":""}`, `{"role":"assistant","content":[{"type":"text","text":""}]}`} {
		for _, form := range forms {
			own, err := form.Read(json.RawMessage(raw))
			require.NoError(t, err)
			assert.JSONEq(t, `[`+ask+`,`+raw+`,`+ask+`]`, jsonOf(t, Export(Import([]message{sdk.UserMessage("q"), own, sdk.UserMessage("q")}))))
		}
	}
}

// TestAnswers has what servers give and the SDK does not know: it is sent back.
func TestAnswers(t *testing.T) {
	const signed = `"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]`
	for _, tt := range []struct{ name, members, want string }{
		{"thought signature", `"content":"t",` + signed, ``},
		{"several calls", `"content":"t","tool_calls":[` + toolA + `,{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"},"later":1}]`, ``},
		{"reasoning details", `"content":"t","reasoning_details":[{"type":"reasoning.encrypted","data":"ZW5j"}]`, ``},
		{"reasoning beside a call", `"content":"t","reasoning_content":"Hm.","tool_calls":[` + toolA + `]`, ``},
		{"reasoning twice", `"content":"t","reasoning":"Hm.","reasoning_content":"Hm.","tool_calls":[` + toolA + `]`, `"content":"t","reasoning_content":"Hm.","tool_calls":[` + toolA + `]`},
		{"reasoning alone", `"content":"t","reasoning_content":"Hm."`, `"content":"t"`},
		{"a member", `"content":"t","later":{"x":[1]}`, ``},
		{"nulls", `"content":"t","later":null,"reasoning_content":null`, `"content":"t"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.members
			}
			client := clientOf(adaptertest.Answers(t, `{"id":"c","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",`+tt.members+`}}]}`))
			answer, err := Check(client.Chat.Completions.New(t.Context(), sdk.ChatCompletionNewParams{}))
			require.NoError(t, err)
			m := Response(answer)
			assert.JSONEq(t, `{"role":"assistant",`+want+`}`, jsonOf(t, Export([]winnow.Message{m})[0]))
			m.Source = nil // as if something of it was changed
			again := jsonOf(t, Export([]winnow.Message{m})[0])
			if strings.Contains(want, "c2ln") {
				assert.JSONEq(t, `{"role":"assistant",`+want+`}`, again)
				m.Parts[1].Source = nil
				assert.JSONEq(t, `{"role":"assistant",`+want+`}`, jsonOf(t, Export([]winnow.Message{m})[0]), "even if nothing of the call is left")
			}
			if strings.Contains(want, "ZW5j") {
				assert.JSONEq(t, `{"role":"assistant",`+want+`}`, again)
			}
		})
	}
}

// chunks are a stream in which the model thinks and calls two tools.
var chunks = []string{
	adaptertest.SSE("", `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"H","reasoning_details":[{"type":"reasoning.text","index":0,"text":"H","format":"f"}]}}]}`),
	adaptertest.SSE("", `{"id":"c","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"m.","reasoning_details":[{"type":"reasoning.text","index":0,"text":"m.","signature":"c2ln","format":"f"}]}}]}`),
	adaptertest.SSE("", `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}}]}`),
	adaptertest.SSE("", `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}`),
	adaptertest.SSE("", `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}},{"index":1,"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]}`),
	adaptertest.SSE("", `{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`),
	adaptertest.SSE("", `{"id":"c","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}`),
	"data: [DONE]\n\n",
}

func collectFrom(t *testing.T, url string) (winnow.Message, error) {
	t.Helper()
	seen := 0
	m, err := asMessage(Collect(clientOf(url).Chat.Completions.NewStreaming(t.Context(), sdk.ChatCompletionNewParams{}), func(sdk.ChatCompletionChunk) { seen++ }))
	assert.True(t, err != nil || seen == len(chunks)-1, "%d chunks", seen)
	return m, err
}

// TestStreams has streams that fail at each event, and a whole one.
func TestStreams(t *testing.T) {
	m, err := collectFrom(t, adaptertest.Streaming(t, false, chunks...))
	require.NoError(t, err)
	assert.JSONEq(t, `{"role":"assistant","reasoning_content":"Hm.","reasoning_details":[{"type":"reasoning.text","index":0,"text":"Hm.","signature":"c2ln","format":"f"}],
		"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},`+toolB+`]}`, jsonOf(t, Export([]winnow.Message{m})[0]))
	assert.Equal(t, "tool_calls", m.StopReason)
	assert.Equal(t, &winnow.Usage{Input: 10, Output: 5}, m.Usage)
	for _, failure := range []string{
		`{"error":{"message":"This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.","code":"context_length_exceeded"}}`,
		`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.","code":400}`,
	} {
		for n := range len(chunks) - 1 {
			_, err := collectFrom(t, adaptertest.Streaming(t, false, append(chunks[:n:n], adaptertest.SSE("", failure))...))
			assert.Equal(t, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 5000, Limit: 4096}, winnow.ClassifyError(err), "in the place of chunk %d: %s", n, failure)
		}
	}
	client := clientOf(adaptertest.Answers(t, strings.Join(chunks, ""))) // a stream that says that it is JSON
	answer, err := Collect(client.Chat.Completions.NewStreaming(t.Context(), sdk.ChatCompletionNewParams{}, KeepErrors()), nil)
	require.NoError(t, err)
	assert.Equal(t, m.Parts, Response(answer).Parts)
	for n := range 6 { // up to the reason why it ended
		_, err := collectFrom(t, adaptertest.Streaming(t, false, chunks[:n]...))
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d chunks", n)
		_, err = collectFrom(t, adaptertest.Streaming(t, true, chunks[:n]...))
		assert.Error(t, err, "a connection that breaks behind %d chunks", n)
	}
}

// TestErrorForms has what servers that speak the API in part refuse with.
func TestErrorForms(t *testing.T) {
	const said = `This model's maximum context length is 4096 tokens. However, you requested 5000 tokens`
	for _, tt := range []struct {
		name, body string
		status     int
		option     bool // the SDK loses it without the option
	}{
		{"OpenAI", `{"error":{"message":"` + said + `","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 400, false},
		{"SGLang", `{"object":"error","message":"` + said + `","type":"BadRequestError","param":null,"code":400}`, 400, false},
		{"Mistral", `{"object":"error","message":{"detail":"` + said + `"},"type":"invalid_request_error"}`, 422, false},
		{"FastAPI", `{"detail":"` + said + `"}`, 400, false},
		{"FastAPI, a list", `{"detail":[{"msg":"` + said + `"}]}`, 422, false},
		{"null", `{"error":null,"message":"` + said + `"}`, 400, false},
		{"plain", said, 400, false},
		{"MiniMax", `{"base_resp":{"status_code":2013,"status_msg":"` + said + `"},"choices":null}`, 400, false},
		{"Baidu", `{"error_code":336103,"error_msg":"` + said + `"}`, 400, false},
		{"LM Studio", `{"error":"` + said + `"}`, 400, true},
		{"a list", `{"error":["` + said + `"]}`, 400, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 5000, Limit: 4096}
			url, _ := adaptertest.Server(t, tt.status, tt.body)
			for _, options := range [][]option.RequestOption{nil, {KeepErrors()}} {
				client := clientOf(url, options...)
				_, err := client.Chat.Completions.New(t.Context(), sdk.ChatCompletionNewParams{})
				if options != nil || !tt.option {
					assert.Equal(t, want, winnow.ClassifyError(err))
					var typed *sdk.Error
					require.ErrorAs(t, err, &typed)
					assert.Equal(t, tt.status, typed.StatusCode)
				}
				stream := client.Chat.Completions.NewStreaming(t.Context(), sdk.ChatCompletionNewParams{})
				_, err = Collect(stream, nil)
				if options != nil || !tt.option {
					assert.Equal(t, want, winnow.ClassifyError(err), "streamed")
				}
			}
			client := clientOf(adaptertest.Answers(t, tt.body))
			if isTold(tt.body) {
				stream := client.Chat.Completions.NewStreaming(t.Context(), sdk.ChatCompletionNewParams{}, KeepErrors())
				_, err := Collect(stream, nil)
				assert.Equal(t, want, winnow.ClassifyError(err), "inside a 200, instead of a stream")
			}
			if _, err := Check(client.Chat.Completions.New(t.Context(), sdk.ChatCompletionNewParams{})); isTold(tt.body) {
				assert.Equal(t, want, winnow.ClassifyError(err), "inside a 200")
			}
		})
	}
}

// isTold reports whether a body with status 200 is told from an answer.
func isTold(body string) bool {
	return strings.Contains(body, `_code":`) || strings.HasPrefix(body, `{"error":{`) || strings.HasPrefix(body, `{"error":"`) || strings.HasPrefix(body, `{"object":"error"`)
}

// TestForms has the recorded sessions typed and as JSON.
func TestForms(t *testing.T) {
	adaptertest.CheckForms(t, underTest,
		adaptertest.Copying[message]{Name: "JSON", Copy: throughJSON},
		adaptertest.Copying[message]{Name: "read by the SDK", Copy: adaptertest.Reread[message]})
}

// TestMedia reads the pixels of images, the pages of files and the seconds of sounds.
func TestMedia(t *testing.T) {
	_, png := adaptertest.PNG(t)
	_, pdf := adaptertest.PDF()
	_, wav := adaptertest.WAV()
	for _, form := range forms {
		value, err := form.Read(json.RawMessage(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}},{"type":"file","file":{"filename":"f","file_data":"data:application/pdf;base64,` + pdf + `"}},
			{"type":"file","file":{"filename":"f","file_data":"` + pdf + `"}},{"type":"input_audio","input_audio":{"format":"wav","data":"` + wav + `"}}]}`))
		require.NoError(t, err)
		adaptertest.CheckMedia(t, Import([]message{value}), 1, 2, 1)
	}
}
