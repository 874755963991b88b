package genai

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// The conversation of the cases: a question, a call, its response, an answer. Calls have no ids unless they say so.
const (
	ask    = `{"role":"user","parts":[{"text":"q"}]}`
	said   = `{"role":"model","parts":[{"text":"a"}]}`
	callA  = `{"role":"model","parts":[` + toolA + `]}`
	callAB = `{"role":"model","parts":[` + toolA + `,` + toolB + `]}`
	toolA  = `{"functionCall":{"name":"read","args":{"path":"x"}}}`
	toolB  = `{"functionCall":{"name":"ls"}}`
	gotA   = `{"role":"user","parts":[` + resA + `]}`
	gotB   = `{"role":"user","parts":[` + resB + `]}`
	gotAB  = `{"role":"user","parts":[` + resA + `,` + resB + `]}`
	resA   = `{"functionResponse":{"name":"read","response":{"lines":["ra"],"n":1}}}`
	resB   = `{"functionResponse":{"name":"ls","response":{"output":"rb"}}}`
)

// turn is a question, a content with a call and these parts around it, its response and a question.
func turn(before, after string) []string {
	return []string{ask, `{"role":"model","parts":[` + before + toolA + after + `]}`, gotA, ask}
}

func userOf(parts string) []string {
	return []string{`{"role":"user","parts":[` + parts + `]}`, said, ask}
}

func answerOf(parts string) []string {
	return []string{ask, `{"role":"model","parts":[` + parts + `]}`, ask}
}

func withResponse(response string) []string {
	return []string{ask, callA, `{"role":"user","parts":[{"functionResponse":{"name":"read"` + response + `}}]}`, said, ask}
}

// withIDs gives the calls and the responses of a text ids.
func withIDs(s string) string {
	s = strings.ReplaceAll(s, `"name":"read"`, `"id":"a","name":"read"`)
	return strings.ReplaceAll(s, `"name":"ls"`, `"id":"b","name":"ls"`)
}

var cases = []adaptertest.Case{
	// Kinds of parts that are carried.
	{Name: "a file", Imports: userOf(`{"text":"q"},{"fileData":{"fileUri":"gs://x","mimeType":"video/mp4"},"videoMetadata":{"startOffset":"1s"}}`), Reason: "as it is"},
	{Name: "an image", Imports: userOf(`{"inlineData":{"data":"aGk=","mimeType":"image/png"},"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}}`), Reason: "as it is"},
	{Name: "code beside a call", Imports: turn(`{"executableCode":{"code":"1+1","language":"PYTHON"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}},`, ``), Reason: "it stays in its content"},
	{Name: "another response", Imports: []string{ask + callA + `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"pending"},"willContinue":true}}]}` + said + `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"done"},"willContinue":false}}]}` + said + ask},
		Want: ask + callA + `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"pending"},"willContinue":true}}]}` + said + `{"role":"user","parts":[{"text":"[A later result of read:]"},{"text":"done"}]}` + said + ask, Reason: "it is shown where it stands, also without ids"},
	{Name: "another response before an answer", Imports: []string{ask + callA + `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"pending"},"willContinue":true}}]}` + `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"done"}}}]}` + said + ask},
		Want: ask + callA + `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"done"}}}]}` + said + ask, Reason: "in the place of the first, which the model has not seen"},
	{Name: "code without its result", Imports: []string{`{"role":"user","parts":[{"text":"q"}]}`, `{"role":"model","parts":[{"text":"a"},{"executableCode":{"code":"1+1","language":"PYTHON"}}]}`, `{"role":"user","parts":[{"text":"q"}]}`},
		Want: `{"role":"user","parts":[{"text":"q"}]}{"role":"model","parts":[{"text":"a"}]}{"role":"user","parts":[{"text":"q"}]}`, Reason: "the answer was cut: half of a pair is not sent"},
	{Name: "a result without its tool", Imports: []string{`{"role":"user","parts":[{"text":"q"}]}`, `{"role":"model","parts":[{"toolResponse":{"id":"t","toolType":"GOOGLE_SEARCH_WEB"}},{"text":"a"}]}`, `{"role":"user","parts":[{"text":"q"}]}`},
		Want: `{"role":"user","parts":[{"text":"q"}]}{"role":"model","parts":[{"text":"a"}]}{"role":"user","parts":[{"text":"q"}]}`, Reason: "its call was in an answer that is gone"},
	{Name: "tools of the API", Imports: turn(`{"toolCall":{"id":"t","toolType":"GOOGLE_SEARCH_WEB"}},{"toolResponse":{"id":"t","toolType":"GOOGLE_SEARCH_WEB"}},`, `,{"executableCode":{"id":"c","code":"1+1","language":"PYTHON"}},{"codeExecutionResult":{"id":"c","outcome":"OUTCOME_OK","output":"2"}},{"codeExecutionResult":{"id":"c","outcome":"OUTCOME_OK","output":"3"}}`), Reason: "both halves stay, and a second result of the same code"},
	{Name: "code behind a call", Imports: turn(``, `,{"executableCode":{"code":"1+1","language":"PYTHON"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}}`), Reason: "in its place"},
	{Name: "the server's own tool", Imports: turn(`{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","id":"s"}},{"toolResponse":{"toolType":"GOOGLE_SEARCH_WEB","id":"s","response":{"x":1}}},`, ``), Reason: "it stays in its content"},
	{Name: "a transcript", Imports: answerOf(`{"audioTranscription":{"text":"t"}}`), Reason: "it is data"},
	{Name: "metadata of a part", Imports: userOf(`{"text":"q","partMetadata":{"mine":1}}`), Reason: "as it is"},
	{Name: "metadata of a call", Imports: []string{ask, `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}},"partMetadata":{"mine":1}}]}`, gotA, ask}, Reason: "as it is"},
	{Name: "metadata of a response", Imports: []string{ask, callA, `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"x":1}},"partMetadata":{"mine":1}}]}`, ask}, Reason: "as it is, though it gets its call's id and loses it again"},
	{Name: "an image in a response", Imports: withResponse(`,"response":{"output":"o"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]`), Reason: "as it is"},
	{Name: "scheduling of a response", Imports: withResponse(`,"response":{"output":"o"},"scheduling":"SILENT","willContinue":false`), Reason: "as it is"},
	{Name: "no role", Imports: []string{`{"parts":[{"text":"q"}]}`, said, ask}, Reason: "the user's"},

	// Responses without ids.
	{Name: "response alone", Imports: []string{ask, callA, gotA}, Reason: "the usual loop"},
	{Name: "response alone, and an answer", Imports: []string{ask, callA, gotA, said, ask}, Reason: "the usual loop"},
	{Name: "two steps", Imports: []string{ask, callA, gotA, `{"role":"model","parts":[` + toolB + `]}`, gotB, said}, Reason: "each has its own"},
	{Name: "the same call again", Imports: []string{ask, callA, gotA, callA, gotA, said, ask}, Reason: "calls that read the same"},
	{Name: "the same call three times", Imports: []string{ask, callA, gotA, said, ask, callA, gotA, callA, gotA, said}, Reason: "calls that read the same"},
	{Name: "the same call twice in a content", Imports: []string{ask, `{"role":"model","parts":[` + toolA + `,` + toolA + `]}`, `{"role":"user","parts":[` + resA + `,` + resA + `]}`, said}, Reason: "by order"},
	{Name: "responses in one content", Imports: []string{ask, callAB, gotAB, ask}, Reason: "as they are"},
	{Name: "responses in two imports", Imports: []string{ask, callAB, gotA, gotB, ask}, Want: ask + callAB + gotAB + ask, Reason: "one content, as many as calls"},
	{Name: "responses in two contents of one import", Imports: []string{ask, callAB, gotA + gotB, ask}, Want: ask + callAB + gotAB + ask, Reason: "one content, as many as calls"},
	{Name: "responses out of order", Imports: []string{ask, callAB, gotB, gotA, ask}, Want: ask + callAB + gotAB + ask, Reason: "by name"},
	{Name: "responses out of order, in one content", Imports: []string{ask, callAB, `{"role":"user","parts":[` + resB + `,` + resA + `]}`, ask}, Want: ask + callAB + gotAB + ask, Reason: "by name"},
	{Name: "response of another name", Imports: []string{ask, callA, strings.ReplaceAll(gotA, "read", "files.read"), ask}, Want: ask + callA + gotA + ask, Reason: "by order, with the name of its call"},
	{Name: "response without a name", Imports: []string{ask, callAB, strings.ReplaceAll(gotA, `"name":"read",`, ``), gotB, ask}, Want: ask + callAB + gotAB + ask, Reason: "it goes to what is left"},
	{Name: "all in one import", Imports: []string{ask + callAB + gotAB + said + ask}, Reason: "as read from a file"},
	{Name: "a word before the response", Imports: []string{ask, callA, ask, gotA}, Want: ask + callA + gotA + ask, Reason: "responses come first"},
	{Name: "a word beside the response", Imports: []string{ask, callA, `{"role":"user","parts":[` + resA + `,{"text":"w"}]}`, said}, Want: ask + callA + `{"role":"user","parts":[` + resA + `,{"text":"w"}]}` + said, Reason: "in its content"},
	{Name: "response twice", Imports: []string{ask, callA, gotA, gotA, ask}, Want: ask + callA + gotA + ask, Reason: "as many as calls"},
	{Name: "response missing", Imports: []string{ask, callAB, gotB, ask}, Want: ask + callAB + `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"error":"[No result: the conversation has no result for this call. Whether it ran is not known.]"}}},` + resB + `]}` + ask, Reason: "an error stands in"},
	{Name: "response of nothing", Imports: []string{ask, said, gotA, ask}, Want: ask + said + ask, Reason: "it goes"},
	{Name: "history begins with a response", Imports: []string{gotA, said, ask}, Want: `{"role":"user","parts":[{"text":"` + adapter.Opening + `"}]}` + said + ask, Reason: "a request begins with the user"},
	{Name: "history begins with the model", Imports: []string{said + ask}, Reason: "the caller sends it so"},
	{Name: "an error", Imports: withResponse(`,"response":{"error":"no such file"}`), Reason: "as it is"},

	// Responses with ids.
	{Name: "ids", Imports: []string{ask, withIDs(callAB), withIDs(gotA), withIDs(gotB), ask}, Want: ask + withIDs(callAB+gotAB) + ask, Reason: "by their ids"},
	{Name: "ids, out of order", Imports: []string{ask, withIDs(callAB), withIDs(gotB), withIDs(gotA), ask}, Want: ask + withIDs(callAB+gotAB) + ask, Reason: "by their ids"},
	{Name: "a response without the id of its call", Imports: []string{ask, withIDs(callAB), gotB, gotA, ask}, Want: ask + withIDs(callAB+gotAB) + ask, Reason: "by name, and it gets the id"},
	{Name: "an id that is refused", Imports: []string{ask, strings.ReplaceAll(withIDs(callA), `"id":"a"`, `"id":"read:0"`), strings.ReplaceAll(withIDs(gotA), `"id":"a"`, `"id":"read:0"`), ask},
		Want: ask + strings.ReplaceAll(withIDs(callA+gotA), `"id":"a"`, `"id":"call_2dddf05adcfc0532d64a31fd"`) + ask, Reason: "hashed, call and response alike, and the rest stays"},
	{Name: "the same id in two turns", Imports: []string{ask, withIDs(callA), withIDs(gotA), withIDs(callA), withIDs(gotA), ask},
		Want: ask + withIDs(callA+gotA) + strings.ReplaceAll(withIDs(callA+gotA), `"id":"a"`, `"id":"a_2"`) + ask, Reason: "unique in the history"},

	// Empty content in each spelling.
	{Name: "no parts", Imports: []string{ask, `{"role":"model"}`, ask}, Want: ask + ask, Reason: "refused"},
	{Name: "empty list of parts", Imports: answerOf(``), Want: ask + ask, Reason: "refused"},
	{Name: "empty part", Imports: answerOf(`{}`), Want: ask + ask, Reason: "refused"},
	{Name: "empty text", Imports: answerOf(`{"text":""}`), Want: ask + ask, Reason: "refused"},
	{Name: "empty text beside a call", Imports: turn(`{"text":""},`, ``), Want: strings.Join(turn(``, ``), ""), Reason: "refused"},
	{Name: "blank text beside a call", Imports: turn(`{"text":" "},`, ``), Want: strings.Join(turn(``, ``), ""), Reason: "a manager leaves out what is blank"},
	{Name: "empty thought beside a call", Imports: turn(`{"text":"","thought":true},`, ``), Want: strings.Join(turn(``, ``), ""), Reason: "there is nothing in it"},
	{Name: "empty response", Imports: withResponse(`,"response":{}`), Want: strings.Join(withResponse(`,"response":{"output":""}`), ""), Reason: "the SDK leaves out an empty object"},
	{Name: "no response", Imports: withResponse(``), Want: strings.Join(withResponse(`,"response":{"output":""}`), ""), Reason: "it must be there"},
	{Name: "response with an empty text", Imports: withResponse(`,"response":{"output":""}`), Reason: "as it is"},
	{Name: "response with a null", Imports: withResponse(`,"response":{"output":null}`), Reason: "as it is"},
	{Name: "call without arguments", Imports: []string{ask, `{"role":"model","parts":[{"functionCall":{"name":"read"}}]}`, gotA, ask}, Reason: "as it is"},

	// Thought signatures.
	{Name: "signature of a call", Imports: []string{ask, `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2ln"}]}`, gotA, ask}, Reason: "byte for byte"},
	{Name: "signature of the first of two calls", Imports: []string{ask, `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2ln"},` + toolB + `]}`, gotA, gotB, ask},
		Want: ask + `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2ln"},` + toolB + `]}` + gotAB + ask, Reason: "byte for byte"},
	{Name: "signature of a repeated call", Imports: []string{ask, callA, gotA, `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2ln"}]}`, gotA, ask}, Reason: "byte for byte"},
	{Name: "signature of a repeated call, the same", Imports: []string{ask, strings.ReplaceAll(callA, `}}]`, `},"thoughtSignature":"c2ln"}]`), gotA, strings.ReplaceAll(callA, `}}]`, `},"thoughtSignature":"c2ln"}]`), gotA, ask}, Reason: "byte for byte"},
	{Name: "signature of a text", Imports: answerOf(`{"text":"a","thoughtSignature":"c2ln"}`), Reason: "byte for byte"},
	{Name: "signature alone", Imports: answerOf(`{"text":"a"},{"thoughtSignature":"c2ln"}`), Reason: "it is data"},
	{Name: "signature of an empty text", Imports: answerOf(`{"text":"a"},{"text":"","thoughtSignature":"c2ln"}`), Want: ask + `{"role":"model","parts":[{"text":"a"},{"thoughtSignature":"c2ln"}]}` + ask, Reason: "the SDK leaves out an empty text"},
	{Name: "thought beside a call", Imports: turn(`{"text":"Hm.","thought":true},`, ``), Reason: "as it is"},

	// Several of these together.
	{Name: "responses out of order, in two imports, of calls with signatures", Imports: []string{`{"role":"user","parts":[{"text":"q"}]}`, `{"role":"model","parts":[{"functionCall":{"name":"read"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"ls"},"thoughtSignature":"c2ln"}]}`,
		`{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"l"}}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"r"}}}]}`},
		Want:   `{"role":"user","parts":[{"text":"q"}]}{"role":"model","parts":[{"functionCall":{"name":"read"},"thoughtSignature":"c2ln"},{"functionCall":{"name":"ls"},"thoughtSignature":"c2ln"}]}{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"r"}}},{"functionResponse":{"name":"ls","response":{"output":"l"}}}]}`,
		Reason: "in the order of the calls"},
	{Name: "signature of code", Imports: []string{`{"role":"user","parts":[{"text":"q"}]}`, `{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"},"thoughtSignature":"c2ln"},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"},"thoughtSignature":"c2ln"},{"text":"a"}]}`, `{"role":"user","parts":[{"text":"q"}]}`}, Reason: "as it is"},
	{Name: "blank question", Imports: []string{`{"role":"user","parts":[{"text":"q"}]}`, `{"role":"model","parts":[{"text":"a"}]}`, `{"role":"user","parts":[{"text":" "}]}`}, Want: `{"role":"user","parts":[{"text":"q"}]}{"role":"model","parts":[{"text":"a"}]}`, Reason: "it says nothing"},
}

var forms = []adaptertest.Form[*sdk.Content]{{Name: "typed", Read: func(raw json.RawMessage) (c *sdk.Content, err error) { return c, json.Unmarshal(raw, &c) }}}

// send returns a function that sends contents with the SDK and returns what the server got.
func send(t *testing.T) func(*testing.T, []*sdk.Content) []json.RawMessage {
	url, got := adaptertest.Sent(t, `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}]}`)
	return func(t *testing.T, values []*sdk.Content) []json.RawMessage {
		require.NoError(t, valid(answeredContents(values)))
		_, err := clientOf(url).Models.GenerateContent(t.Context(), "m", values, nil)
		require.NoError(t, err)
		return got(t, "contents")
	}
}

func TestCases(t *testing.T) { adaptertest.CheckCases(t, underTest, forms, send(t), cases) }

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) { adaptertest.CheckCodec(t, underTest, Codec(), forms, cases) }

// answeredContents answers the calls that wait at the end, as a host does before it sends them.
func answeredContents(contents []*sdk.Content) []*sdk.Content {
	if len(contents) == 0 || contents[len(contents)-1].Role != sdk.RoleModel {
		return contents
	}
	answers := &sdk.Content{Role: sdk.RoleUser}
	for _, p := range contents[len(contents)-1].Parts {
		if p.FunctionCall != nil {
			answers.Parts = append(answers.Parts, response(p.FunctionCall.ID, p.FunctionCall.Name, output("x")))
		}
	}
	if answers.Parts == nil {
		return contents
	}
	return append(contents[:len(contents):len(contents)], answers)
}

// TestUsualLoop is what the SDK's users write: the question, the answers and the responses are imported apart.
func TestUsualLoop(t *testing.T) {
	url, got := adaptertest.Sent(t, `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"x"}}}]},"finishReason":"STOP"}]}`)
	client := clientOf(url)
	m, err := winnow.New(100_000, nil)
	require.NoError(t, err)
	history := Import([]*sdk.Content{user(text("q"))})
	want := ask
	for range 5 { // the model calls the same each time
		answer, request, err := winnow.Do(t.Context(), m, history, func(ctx context.Context, messages []winnow.Message) (*sdk.GenerateContentResponse, error) {
			contents := Export(messages)
			require.NoError(t, valid(contents))
			return Check(client.Models.GenerateContent(ctx, "m", contents, nil))
		})
		require.NoError(t, err)
		var sent []string
		for _, raw := range got(t, "contents") {
			sent = append(sent, string(raw))
		}
		assert.JSONEq(t, "["+strings.ReplaceAll(want, "}{", "},{")+"]", "["+strings.Join(sent, ",")+"]")
		assert.Len(t, request.Messages, len(history), "nothing is dropped")
		history = append(history, Response(answer))
		history = append(history, Import([]*sdk.Content{user(response("", "read", map[string]any{"lines": []any{"ra"}, "n": 1}))})...)
		want += callA + gotA
	}
}

// chunks are a stream in which the model thinks, says something and calls a tool.
var chunks = []string{
	adaptertest.SSE("", `{"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"text":"H","thought":true}]}}]}`),
	adaptertest.SSE("", `{"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"text":"m.","thought":true}]}}]}`),
	adaptertest.SSE("", `{"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"text":"I "}]}}]}`),
	adaptertest.SSE("", `{"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"text":"look."},{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2ln"}]}}]}`),
	adaptertest.SSE("", `{"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"c2lu"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5}}`),
}

func collectFrom(t *testing.T, url string) (winnow.Message, error) {
	t.Helper()
	seen := 0
	m, err := asMessage(Collect(clientOf(url).Models.GenerateContentStream(t.Context(), "m", []*sdk.Content{user(text("q"))}, nil), func(*sdk.GenerateContentResponse) { seen++ }))
	assert.True(t, err != nil || seen == len(chunks), "%d chunks", seen)
	return m, err
}

// TestStreams has streams that fail at each event, and a whole one.
func TestStreams(t *testing.T) {
	m, err := collectFrom(t, adaptertest.Streaming(t, false, chunks...))
	require.NoError(t, err)
	assert.JSONEq(t, `{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"I look."},{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2ln"},{"thoughtSignature":"c2lu"}]}`,
		jsonOf(t, Export([]winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}, m})[1]))
	assert.Equal(t, "STOP", m.StopReason)
	assert.Equal(t, "r", m.ID)
	assert.Equal(t, &winnow.Usage{Input: 10, Output: 5}, m.Usage)
	const overflow = `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`
	for n := range chunks {
		for _, failed := range []string{adaptertest.SSE("", overflow), overflow + "\n"} {
			_, err := collectFrom(t, adaptertest.Streaming(t, false, append(chunks[:n:n], failed)...))
			assert.Equal(t, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 1200000, Limit: 1048576}, winnow.ClassifyError(err), "in the place of chunk %d", n)
		}
		_, err := collectFrom(t, adaptertest.Streaming(t, false, chunks[:n]...))
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d chunks", n)
		_, err = collectFrom(t, adaptertest.Streaming(t, true, chunks[:n]...))
		assert.Error(t, err, "a connection that breaks behind %d chunks", n)
	}
	blocked, err := Collect(clientOf(adaptertest.Streaming(t, false, adaptertest.SSE("", `{"promptFeedback":{"blockReason":"SAFETY"}}`))).
		Models.GenerateContentStream(t.Context(), "m", []*sdk.Content{user(text("q"))}, nil), nil)
	require.NoError(t, err)
	assert.Equal(t, "SAFETY", Response(blocked).StopReason)
}

// TestErrorsInsideOf200 has gateways that answer so. Of the body the SDK keeps nothing.
func TestErrorsInsideOf200(t *testing.T) {
	url, _ := adaptertest.Server(t, 200, `{"error":{"code":400,"message":"no"}}`)
	_, err := Check(clientOf(url).Models.GenerateContent(t.Context(), "m", []*sdk.Content{user(text("q"))}, nil))
	assert.Error(t, err)
	url, _ = adaptertest.Server(t, 200, `{"promptFeedback":{"blockReason":"SAFETY"}}`)
	_, err = Check(clientOf(url).Models.GenerateContent(t.Context(), "m", []*sdk.Content{user(text("q"))}, nil))
	assert.NoError(t, err)
}

// TestForms uses the recorded sessions directly, and read from a file.
func TestForms(t *testing.T) {
	adaptertest.CheckForms(t, underTest,
		adaptertest.Copying[*sdk.Content]{Name: "JSON", Copy: exactly})
}

// TestMedia reads the pixels of images, the pages of documents and the seconds of sounds, in contents and in responses.
func TestMedia(t *testing.T) {
	png, _ := adaptertest.PNG(t)
	pdf, _ := adaptertest.PDF()
	wav, _ := adaptertest.WAV()
	scan := response("", "scan", output("taken"))
	for kind, data := range map[string][]byte{"application/pdf": pdf, "image/png": png} {
		scan.FunctionResponse.Parts = append(scan.FunctionResponse.Parts, &sdk.FunctionResponsePart{InlineData: &sdk.FunctionResponseBlob{MIMEType: kind, Data: data}})
	}
	question := user(sdk.NewPartFromBytes(png, "image/png"), sdk.NewPartFromBytes(pdf, "application/pdf"), sdk.NewPartFromBytes(wav, "audio/wav"))
	adaptertest.CheckMedia(t, Import([]*sdk.Content{question, model(call("", "scan", nil)), user(scan)}), 2, 2, 1)
}

// TestCounter counts with the API's endpoint, once for the same content.
func TestCounter(t *testing.T) {
	url, body := adaptertest.Server(t, 200, `{"totalTokens":700}`)
	c := NewCounter(clientOf(url), "m", nil)
	history := Import([]*sdk.Content{user(text("q"))})
	for range 2 {
		n, err := c.Count(t.Context(), history)
		require.NoError(t, err)
		assert.Equal(t, 700, n)
	}
	require.NotNil(t, *body)
	*body = nil
	_, err := c.Count(t.Context(), history)
	require.NoError(t, err)
	assert.Nil(t, *body, "nobody is asked again")
}
