package responses

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// The conversation of the cases: a question, a call, its output, an answer.
const (
	ask   = `{"type":"message","role":"user","content":"q"}`
	said  = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]}`
	callA = `{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}`
	callB = `{"type":"function_call","call_id":"b","name":"ls","arguments":"{}"}`
	gotA  = `{"type":"function_call_output","call_id":"a","output":"ra"}`
	gotB  = `{"type":"function_call_output","call_id":"b","output":"rb"}`
	think = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"ZW5j"}`
)

const picture = `{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"}`

const asJSON = "JSON"

func userOf(content string) []string {
	return []string{`{"type":"message","role":"user","content":[` + content + `]}`, said, ask}
}

func answerOf(content string) []string {
	return []string{ask, `{"type":"message","role":"assistant","content":` + content + `}`, ask}
}

func withOutput(output string) []string {
	return []string{ask, callA, `{"type":"function_call_output","call_id":"a"` + output + `}`, said, ask}
}

const (
	long   = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" // 65
	hashed = "call_9537c5fdf120482f7d58d25e"
)

var cases = []adaptertest.Case{
	// What the SDK does not know.
	{Name: "a later output with an image", Imports: []string{ask, callA, gotA, said, `{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"done"},` + picture + `]}`, said, ask},
		Want: ask + callA + gotA + said + `{"type":"message","role":"user","content":[{"type":"input_text","text":"[A later result of read, call a:]"},{"type":"input_text","text":"done"},` + picture + `]}` + said + ask, Reason: "it is shown where it stands"},
	{Name: "unknown item", Imports: []string{ask, `{"type":"future","id":"f","x":[1]}`, said, ask}, Forms: asJSON, Reason: "carried in its place"},
	{Name: "unknown item before a call", Imports: []string{ask, `{"type":"future","x":1}` + callA, gotA, ask}, Forms: asJSON, Reason: "beside what the model calls"},
	{Name: "unknown item behind a call", Imports: []string{ask, callA + `{"type":"future","x":1}`, gotA, ask}, Forms: asJSON, Reason: "beside what the model calls"},
	{Name: "unknown part of a user", Imports: userOf(`{"type":"input_text","text":"q"},{"type":"input_audio","input_audio":{"data":"aGk="}}`), Reason: "in its place"},
	{Name: "unknown part alone", Imports: userOf(`{"type":"future","x":1}`), Reason: "in its role"},
	{Name: "unknown part of an answer", Imports: answerOf(`[{"type":"output_text","text":"a","annotations":[]},{"type":"output_audio","data":"aGk="}]`), Reason: "in its place"},
	{Name: "unknown part of an answer alone", Imports: answerOf(`[{"type":"future","x":1}]`), Reason: "in its role"},
	{Name: "unknown part of an output", Imports: withOutput(`,"output":[{"type":"input_text","text":"r"},{"type":"future","x":1}]`), Reason: "in its place"},
	{Name: "unknown member of a message", Imports: []string{`{"type":"message","role":"user","content":"q","later":1}`, said, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of an answer", Imports: []string{ask, `{"type":"message","role":"assistant","id":"msg_1","phase":"commentary","content":[{"type":"output_text","text":"a","logprobs":[],"later":1}]}`, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a part", Imports: userOf(`{"type":"input_text","text":"q","later":1}`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a call", Imports: []string{ask, `{"type":"function_call","id":"fc_1","call_id":"a","name":"read","arguments":"{}","later":{"x":1}}`, gotA, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of an output", Imports: withOutput(`,"output":[{"type":"input_text","text":"r","later":1}],"later":2`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of reasoning", Imports: []string{ask, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"ZW5j","later":1}` + callA, gotA, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "members of a call whose id is replaced", Imports: []string{ask, `{"type":"function_call","call_id":"` + long + `","name":"read","arguments":"{}","later":1}`, `{"type":"function_call_output","call_id":"` + long + `","output":"r","later":2}`, ask},
		Want:  ask + `{"type":"function_call","call_id":"` + hashed + `","name":"read","arguments":"{}","later":1}{"type":"function_call_output","call_id":"` + hashed + `","output":"r","later":2}` + ask,
		Forms: asJSON, Reason: "the rest stays"},
	{Name: "unknown role", Imports: []string{`{"type":"message","role":"critic","content":"c"}`, ask, said, ask}, Forms: asJSON, Reason: "as it is"},
	{Name: "no type", Imports: []string{`{"role":"user","content":"q"}`, `{"role":"assistant","content":"a"}`, `{"role":"user","content":"q"}`}, Forms: asJSON, Reason: "it may be left out"},
	{Name: "known parts", Imports: userOf(`{"type":"input_text","text":"q"},{"type":"input_image","detail":"low","image_url":"data:image/png;base64,aGk="},{"type":"input_file","file_data":"data:application/pdf;base64,aGk="}`), Reason: "as they are"},
	{Name: "the API's own tools", Imports: []string{ask, `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}` + said, ask}, Reason: "as they are"},
	{Name: "an approval", Imports: []string{ask, `{"type":"mcp_approval_request","id":"r","name":"x","arguments":"{}","server_label":"l"}`, `{"type":"mcp_approval_response","approval_request_id":"r","approve":true}`, `{"type":"mcp_call","id":"m","name":"x","arguments":"{}","server_label":"l","output":"o"}` + said, ask}, Reason: "the request and what the host says"},
	{Name: "a request for an approval", Imports: []string{ask, `{"type":"mcp_approval_request","id":"r","name":"x","arguments":"{}","server_label":"l"}`}, Reason: "the host will answer it"},
	{Name: "a request without an approval", Imports: []string{ask, said + `{"type":"mcp_approval_request","id":"r","name":"x","arguments":"{}","server_label":"l"}`, ask}, Want: ask + said + ask, Reason: "half of a pair is not sent"},
	{Name: "an approval without its request", Imports: []string{ask, said, `{"type":"mcp_approval_response","approval_request_id":"r","approve":true}`, ask}, Want: ask + said + ask, Reason: "the request is gone"},
	{Name: "a program that calls", Imports: []string{ask, `{"type":"program","id":"p","call_id":"pc","code":"c","fingerprint":"f"}` + callA, gotA, `{"type":"program_output","id":"po","call_id":"pc","result":"r","status":"completed"}` + said, ask}, Forms: asJSON, Reason: "its output comes behind the results that it asked for"},
	{Name: "a program that was stopped", Imports: []string{ask, `{"type":"program","id":"p","call_id":"pc","code":"c","fingerprint":"f"}` + callA, gotA, ask}, Want: ask + callA + gotA + ask, Forms: asJSON, Reason: "half of a pair is not sent"},
	{Name: "a search for tools", Imports: []string{ask, `{"type":"tool_search_call","arguments":{}}{"type":"tool_search_output","tools":[]}` + said, ask}, Forms: asJSON, Reason: "by their order, if the API gives no id"},
	{Name: "a call over MCP", Imports: []string{ask, `{"type":"mcp_call","id":"m","name":"x","arguments":"{}","server_label":"l","output":"o"}` + said, ask}, Reason: "its output is in it"},
	{Name: "a custom call", Imports: []string{ask, `{"type":"custom_tool_call","call_id":"a","name":"sql","input":"select 1"}`, `{"type":"custom_tool_call_output","call_id":"a","output":"r"}`, ask}, Reason: "as it is"},
	{Name: "a compaction of the API", Imports: []string{`{"type":"compaction","encrypted_content":"ZW5j"}`, ask}, Reason: "as it is"},

	// Outputs.
	{Name: "output alone", Imports: []string{ask, callA, gotA}, Reason: "the usual loop"},
	{Name: "outputs in two imports", Imports: []string{ask, callA + callB, gotA, gotB, ask}, Reason: "one item each"},
	{Name: "outputs in one import", Imports: []string{ask, callA + callB, gotA + gotB, ask}, Reason: "one item each"},
	{Name: "outputs out of order", Imports: []string{ask, callA + callB, gotB, gotA, ask}, Want: ask + callA + callB + gotA + gotB + ask, Reason: "in the order of the calls"},
	{Name: "all in one import", Imports: []string{ask + callA + gotA + said + ask}, Reason: "as read from a file"},
	{Name: "calls and outputs in turn", Imports: []string{ask + callA + gotA + callB + gotB + said}, Reason: "one step behind the other"},
	{Name: "a word between", Imports: []string{ask, callA, ask, gotA}, Want: ask + callA + gotA + ask, Reason: "an output follows its call"},
	{Name: "output twice", Imports: []string{ask, callA, gotA, gotA, ask}, Want: ask + callA + gotA + ask, Reason: "the first counts"},
	{Name: "output missing", Imports: []string{ask, callA + callB, gotB, ask}, Want: ask + callA + callB + `{"type":"function_call_output","call_id":"a","output":"[No result: the conversation has no result for this call. Whether it ran is not known.]"}` + gotB + ask, Reason: "one stands in"},
	{Name: "output of nothing", Imports: []string{ask, said, gotA, ask}, Want: ask + said + ask, Reason: "it goes"},
	{Name: "history begins with an output", Imports: []string{gotA, said, ask}, Want: said + ask, Reason: "accepted"},
	{Name: "output without an id", Imports: []string{ask, callA, `{"type":"function_call_output","call_id":"","output":"ra"}`, ask}, Want: ask + callA + gotA + ask, Reason: "it answers the open call"},
	{Name: "the same id in two turns", Imports: []string{ask, callA, gotA, callA, gotA, ask},
		Want: ask + callA + gotA + strings.ReplaceAll(callA+gotA, `"call_id":"a"`, `"call_id":"a_2"`) + ask, Reason: "unique in the request"},
	{Name: "output with an image", Imports: withOutput(`,"output":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,aGk="}]`), Reason: "as it is"},
	{Name: "an answer beside calls", Imports: []string{ask, said + callA, gotA, ask}, Reason: "one message of the model"},

	// Empty content in each spelling.
	{Name: "empty output", Imports: withOutput(`,"output":""`), Reason: "accepted"},
	{Name: "empty list as output", Imports: withOutput(`,"output":[]`), Reason: "as it is"},
	{Name: "output with an empty text", Imports: withOutput(`,"output":[{"type":"input_text","text":""}]`), Want: strings.Join(withOutput(`,"output":""`), ""), Reason: "no text in a list is empty: gateways pass it on to models that refuse it"},
	{Name: "output with an empty text beside another", Imports: withOutput(`,"output":[{"type":"input_text","text":""},{"type":"input_text","text":"x"}]`), Want: strings.Join(withOutput(`,"output":[{"type":"input_text","text":"x"}]`), ""), Reason: "at every depth"},
	{Name: "empty text beside an image", Imports: []string{`{"type":"message","role":"user","content":[{"type":"input_text","text":""},{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"}]}`},
		Want: `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"}]}`, Reason: "at every depth"},
	{Name: "blank output", Imports: withOutput(`,"output":" "`), Want: strings.Join(withOutput(`,"output":""`), ""), Reason: "a manager leaves out what is blank"},
	{Name: "empty answer", Imports: answerOf(`""`), Want: ask + ask, Reason: "nothing is said: a manager leaves it out"},
	{Name: "answer with an empty text", Imports: answerOf(`[{"type":"output_text","text":"","annotations":[]}]`), Want: ask + ask, Reason: "nothing is said: a manager leaves it out"},
	{Name: "empty list as answer", Imports: answerOf(`[]`), Want: ask + ask, Reason: "refused"},
	{Name: "empty answer beside a call", Imports: []string{ask, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"","annotations":[]}]}` + callA, gotA, ask}, Reason: "as the model gave it"},
	{Name: "empty question", Imports: []string{ask, said, `{"type":"message","role":"user","content":""}`}, Want: ask + said, Reason: "nothing is said"},
	{Name: "a refusal", Imports: answerOf(`[{"type":"refusal","refusal":"No."}]`), Reason: "as it is"},
	{Name: "call without arguments", Imports: []string{ask, `{"type":"function_call","call_id":"a","name":"read","arguments":""}`, gotA, ask}, Reason: "as the model wrote it"},

	// Reasoning.
	{Name: "encrypted reasoning and a call", Imports: []string{ask, think + callA, gotA, ask}, Reason: "with the item that it led to"},
	{Name: "encrypted reasoning and an answer", Imports: []string{ask, think + said, ask}, Reason: "with the item that it led to"},
	{Name: "reasoning twice", Imports: []string{ask, think + callA + gotA + strings.ReplaceAll(think, "rs_1", "rs_2") + said, ask}, Reason: "each with its own"},
	{Name: "reasoning with a text", Imports: []string{ask, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"c"}]}` + callA, gotA, ask}, Reason: "as it is"},
	{Name: "reasoning that the server keeps", Imports: []string{ask, `{"type":"reasoning","id":"rs_1","summary":[]}` + callA, gotA, ask}, Reason: "as it is"},
	{Name: "reasoning alone", Imports: []string{ask, think, ask}, Want: ask + ask, Reason: "what it led to never came"},
	{Name: "reasoning and an id that is replaced", Imports: []string{ask, think + `{"type":"function_call","call_id":"` + long + `","name":"read","arguments":"{}"}`, `{"type":"function_call_output","call_id":"` + long + `","output":"r"}`, ask},
		Want:   ask + think + `{"type":"function_call","call_id":"` + hashed + `","name":"read","arguments":"{}"}{"type":"function_call_output","call_id":"` + hashed + `","output":"r"}` + ask,
		Reason: "it stays with its call"},

	// Several of these together.
	{Name: "unknown member of an image", Imports: userOf(`{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto","later":1}`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown item between calls", Imports: []string{ask, callA + `{"type":"future","x":1}` + callB, gotA + gotB, ask}, Forms: asJSON, Reason: "in its place"},
	{Name: "unknown item between outputs", Imports: []string{ask, callA + callB, gotA + `{"type":"future","x":1}` + gotB, ask}, Want: ask + callA + callB + gotA + gotB + `{"type":"future","x":1}` + ask, Forms: asJSON, Reason: "outputs follow their calls"},
	{Name: "outputs in two imports, out of order", Imports: []string{ask, callA + callB, gotB, gotA, said}, Want: ask + callA + callB + gotA + gotB + said, Reason: "in the order of the calls"},
	{Name: "encrypted reasoning and two calls, outputs out of order", Imports: []string{ask, think + callA + callB, gotB, gotA, ask}, Want: ask + think + callA + callB + gotA + gotB + ask, Reason: "the reasoning stays in front"},
}

var forms = []adaptertest.Form[Item]{
	{Name: "typed", Read: func(raw json.RawMessage) (m Item, err error) { return m, json.Unmarshal(raw, &m) }},
	{Name: asJSON, Read: func(r json.RawMessage) (Item, error) { return raw(string(r)), nil }},
}

// send returns a function that sends items with the SDK and returns what the server got.
func send(t *testing.T) func(*testing.T, []Item) []json.RawMessage {
	url, got := adaptertest.Sent(t, `{"id":"r","status":"completed","output":[]}`)
	return func(t *testing.T, values []Item) []json.RawMessage {
		_, err := clientOf(url).Responses.New(t.Context(), input(values))
		require.NoError(t, err)
		return got(t, "input")
	}
}

func TestCases(t *testing.T) { adaptertest.CheckCases(t, underTest, forms, send(t), cases) }

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) { adaptertest.CheckCodec(t, underTest, Codec(), forms, cases) }

// TestEmptyAnswersStay where no manager is asked.
func TestEmptyAnswersStay(t *testing.T) {
	for _, content := range []string{`""`, `[{"type":"output_text","text":"","annotations":[]}]`} {
		for _, form := range forms {
			own, err := form.Read(json.RawMessage(`{"type":"message","role":"assistant","content":` + content + `}`))
			require.NoError(t, err)
			assert.JSONEq(t, `[`+ask+`,{"type":"message","role":"assistant","content":`+content+`},`+ask+`]`, jsonOf(t, Export(Import([]Item{raw(ask), own, raw(ask)}))))
		}
	}
}

// TestTextsThatTheSDKReads count: 200 KB of answers fill a window.
func TestTextsThatTheSDKReads(t *testing.T) {
	long := strings.Repeat("word ", 40_000)
	for _, form := range forms {
		item, err := form.Read(json.RawMessage(strings.ReplaceAll(said, `"a"`, `"`+long+`"`)))
		require.NoError(t, err)
		history := Import([]Item{item})
		assert.Equal(t, long, history[0].Parts[0].Text, form.Name)
		assert.Greater(t, winnow.CharsPerToken(4).Estimate(history[0]), 49_000, form.Name)
	}
}

// TestAnswers has what the API gives and the SDK does not know: it is sent back.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct{ name, output string }{
		{"an item", `{"type":"future","id":"f","x":[1]},` + said},
		{"an item alone", `{"type":"future","id":"f","x":[1]}`},
		{"members", `{"type":"message","role":"assistant","id":"msg_1","status":"completed","later":1,"content":[{"type":"output_text","text":"a","annotations":[],"later":2}]}`},
		{"a part", `{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_audio","data":"aGk="}]}`},
		{"members of a call", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"ZW5j","later":1},{"type":"function_call","id":"fc_1","call_id":"a","name":"read","arguments":"{}","later":2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := clientOf(adaptertest.Answers(t, `{"id":"r","status":"completed","output":[`+tt.output+`]}`))
			answer, err := Check(client.Responses.New(t.Context(), sdk.ResponseNewParams{}))
			require.NoError(t, err)
			assert.JSONEq(t, `[`+tt.output+`]`, jsonOf(t, Export(Response(answer))))
		})
	}
}

// TestUsageSays: the usage has what the API left out of the reasoning, and why it missed its cache.
func TestUsageSays(t *testing.T) {
	client := clientOf(adaptertest.Answers(t, `{"id":"r","status":"completed","output":[`+said+`],"usage":{"input_tokens":10,"output_tokens":5},`+
		`"input_transformations":[{"reason":"prefix_mismatch"},{"reason":"expired"}],"prompt_cache_diagnostics":{"reason":"model_changed"}}`))
	answer, err := Check(client.Responses.New(t.Context(), sdk.ResponseNewParams{}))
	require.NoError(t, err)
	want := &winnow.Usage{Input: 10, Output: 5, ThinkingDropped: 1, CacheMiss: "model_changed"}
	assert.Equal(t, want, Response(answer)[0].Usage)
}

// events are a stream in which the model thinks and calls a tool.
var events = []string{
	adaptertest.SSE("response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress","output":[]}}`),
	adaptertest.SSE("response.output_item.done", `{"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":`+think+`}`),
	adaptertest.SSE("response.function_call_arguments.delta", `{"type":"response.function_call_arguments.delta","sequence_number":2,"item_id":"fc_1","output_index":1,"delta":"{}"}`),
	adaptertest.SSE("response.output_item.done", `{"type":"response.output_item.done","sequence_number":3,"output_index":1,"item":`+callA+`}`),
	adaptertest.SSE("response.completed", `{"type":"response.completed","sequence_number":4,"response":{"id":"r","status":"completed","output":[`+think+`,`+callA+`],"usage":{"input_tokens":10,"output_tokens":5}}}`),
}

func collectFrom(t *testing.T, url string) ([]winnow.Message, error) {
	t.Helper()
	seen := 0
	answer, err := Collect(clientOf(url).Responses.NewStreaming(t.Context(), sdk.ResponseNewParams{}), func(sdk.ResponseStreamEventUnion) { seen++ })
	if err != nil {
		return nil, err
	}
	assert.Equal(t, len(events), seen)
	return Response(answer), nil
}

const tooLong = "Your input exceeds the context window of this model. Please adjust your input and try again."

// TestStreams has streams that fail at each event, and whole ones.
func TestStreams(t *testing.T) {
	incomplete := adaptertest.SSE("response.incomplete", `{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`+think+`,`+callA+`]}}`)
	bare := adaptertest.SSE("response.completed", `{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}`)
	for _, last := range []string{events[4], incomplete, bare} {
		messages, err := collectFrom(t, adaptertest.Streaming(t, false, append(events[:4:4], last)...))
		require.NoError(t, err)
		assert.JSONEq(t, `[`+think+`,`+callA+`]`, jsonOf(t, Export(messages)), last)
	}
	for _, failed := range []string{
		adaptertest.SSE("error", `{"type":"error","code":"context_length_exceeded","message":"`+tooLong+`","param":null,"sequence_number":9}`),
		adaptertest.SSE("error", `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"`+tooLong+`","param":"input"},"sequence_number":9}`),
		adaptertest.SSE("response.failed", `{"type":"response.failed","sequence_number":9,"response":{"id":"r","status":"failed","output":[],"error":{"code":"context_length_exceeded","message":"`+tooLong+`"}}}`),
	} {
		for n := range events {
			_, err := collectFrom(t, adaptertest.Streaming(t, false, append(events[:n:n], failed)...))
			assert.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(err).Class, "in the place of event %d: %v", n, err)
		}
	}
	for n := range events {
		_, err := collectFrom(t, adaptertest.Streaming(t, false, events[:n]...))
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d events", n)
		_, err = collectFrom(t, adaptertest.Streaming(t, true, events[:n]...))
		assert.Error(t, err, "a connection that breaks behind %d events", n)
	}
}

// TestFailedAnswers has failures with status 200.
func TestFailedAnswers(t *testing.T) {
	for _, tt := range []struct {
		body string
		want winnow.ErrorClass
	}{
		{`{"id":"r","status":"failed","output":[],"error":{"code":"context_length_exceeded","message":"` + tooLong + `"}}`, winnow.ErrorOverflow},
		{`{"id":"r","status":"failed","output":[],"error":{"code":"rate_limit_exceeded","message":"Rate limit reached"}}`, winnow.ErrorRateLimit},
		{`{"id":"r","status":"failed","output":[]}`, winnow.ErrorOther},
		{`{"error":{"code":"context_length_exceeded","message":"` + tooLong + `"}}`, winnow.ErrorOverflow},
		{`{"object":"error","message":"` + tooLong + `"}`, winnow.ErrorOverflow},
	} {
		client := clientOf(adaptertest.Answers(t, tt.body))
		_, err := Check(client.Responses.New(t.Context(), sdk.ResponseNewParams{}))
		require.Error(t, err, tt.body)
		assert.Equal(t, tt.want, winnow.ClassifyError(err).Class, tt.body)
	}
	for _, body := range []string{`{"id":"r","status":"completed","output":[]}`, `{"id":"r","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, `{"id":"r","status":"cancelled","output":[]}`} {
		client := clientOf(adaptertest.Answers(t, body))
		_, err := Check(client.Responses.New(t.Context(), sdk.ResponseNewParams{}))
		assert.NoError(t, err, body)
	}
}

// TestRecoversFromFailedAnswers continues after an overflow with status 200.
func TestRecoversFromFailedAnswers(t *testing.T) {
	refused := clientOf(adaptertest.Answers(t, `{"id":"r","status":"failed","output":[],"error":{"code":"context_length_exceeded","message":"`+tooLong+`"}}`))
	good := clientOf(adaptertest.Answers(t, `{"id":"r","status":"completed","output":[`+said+`]}`))
	history := Import([]Item{raw(ask), raw(callA), raw(strings.ReplaceAll(gotA, `"ra"`, `"`+strings.Repeat("word ", 20_000)+`"`)), raw(said), raw(ask)})
	m, err := winnow.New(200_000, nil)
	require.NoError(t, err)
	calls := 0
	answer, _, err := winnow.Do(t.Context(), m, history, func(ctx context.Context, messages []winnow.Message) (*sdk.Response, error) {
		client := refused
		if calls++; calls > 1 {
			client = good
		}
		return Check(client.Responses.New(ctx, input(Export(messages))))
	})
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
	assert.Equal(t, "completed", Response(answer)[0].StopReason)
}

// TestForms has the recorded sessions typed and as JSON.
func TestForms(t *testing.T) {
	adaptertest.CheckForms(t, underTest,
		adaptertest.Copying[Item]{Name: "JSON", Copy: throughJSON},
		adaptertest.Copying[Item]{Name: "read by the SDK", Copy: adaptertest.Reread[Item]},
		adaptertest.Copying[Item]{Name: "as an answer has it", Copy: answered})
}

// answered gives the texts of the model as the API gives them: as output_text.
func answered(items []Item) ([]Item, error) {
	out, err := throughJSON(items)
	for i := range out {
		m := Import(items[i : i+1])[0]
		if m.Role != winnow.RoleAssistant || m.Parts[0].Kind != winnow.KindText {
			continue
		}
		var content []map[string]any
		for k := range m.Parts {
			content = append(content, map[string]any{"type": "output_text", "text": m.Parts[k].Text, "annotations": []any{}})
		}
		b, err := json.Marshal(map[string]any{"type": "message", "role": "assistant", "content": content})
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &out[i]); err != nil { // by the SDK's decoder
			return nil, err
		}
	}
	return out, err
}

// TestMedia reads the pixels of images and the pages of files, in messages and in outputs.
func TestMedia(t *testing.T) {
	_, png := adaptertest.PNG(t)
	_, pdf := adaptertest.PDF()
	media := `{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,` + png + `"},{"type":"input_file","filename":"f","file_data":"data:application/pdf;base64,` + pdf + `"}`
	for _, form := range forms {
		items := make([]Item, 2)
		for i, r := range []string{`{"type":"message","role":"user","content":[` + media + `]}`, `{"type":"function_call_output","call_id":"a","output":[` + media + `]}`} {
			var err error
			items[i], err = form.Read(json.RawMessage(r))
			require.NoError(t, err)
		}
		adaptertest.CheckMedia(t, Import(items), 2, 2, 0)
	}
}

// TestExportMarked: a breakpoint stands behind what winnow has made, and the caller's own items are as they were.
func TestExportMarked(t *testing.T) {
	var items []Item
	for _, raw := range []string{ask, said, ask} {
		items = append(items, param.Override[Item](json.RawMessage(raw)))
	}
	history := Import(items)
	history[1] = winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "R"}}}
	got, err := json.Marshal(ExportMarked(history))
	require.NoError(t, err)
	assert.JSONEq(t, `[`+ask+`,{"type":"message","role":"user","content":[{"type":"input_text","text":"R",`+
		`"prompt_cache_breakpoint":{"mode":"explicit"}}]},`+ask+`]`, string(got))
}
