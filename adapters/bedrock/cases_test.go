package bedrock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/winnowtest"
)

// The conversation of the cases: a question, a call, its result, an answer.
const (
	ask     = `{"role":"user","content":[{"text":"q"}]}`
	said    = `{"role":"assistant","content":[{"text":"a"}]}`
	toolA   = `{"toolUse":{"toolUseId":"a","name":"read","input":{"path":"x"}}}`
	toolB   = `{"toolUse":{"toolUseId":"b","name":"ls","input":{}}}`
	callA   = `{"role":"assistant","content":[` + toolA + `]}`
	callAB  = `{"role":"assistant","content":[` + toolA + `,` + toolB + `]}`
	resA    = `{"toolResult":{"toolUseId":"a","content":[{"text":"ra"}]}}`
	resB    = `{"toolResult":{"toolUseId":"b","content":[{"json":{"x":[1]}}]}}`
	gotA    = `{"role":"user","content":[` + resA + `]}`
	gotB    = `{"role":"user","content":[` + resB + `]}`
	gotAB   = `{"role":"user","content":[` + resA + `,` + resB + `]}`
	picture = `{"image":{"format":"png","source":{"bytes":"aGk="}}}`
	point   = `{"cachePoint":{"type":"default"}}`
	lost    = `{"text":"[attachment]"}` // the placeholder for a block that the SDK cannot send
	served  = `{"toolUse":{"toolUseId":"s","name":"web","input":{"q":"x"},"type":"server_tool_use"}},{"toolResult":{"toolUseId":"s","content":[{"text":"found"}],"type":"web_result"}}`

	half = `{"toolUse":{"toolUseId":"s","name":"web","input":{"q":"x"},"type":"server_tool_use"}}`

	missing = "[No result: the conversation has no result for this call. Whether it ran is not known.]"
)

func turn(before, after string) []string {
	return []string{ask, `{"role":"assistant","content":[` + before + toolA + after + `]}`, gotA, said}
}

func userOf(blocks string) []string {
	return []string{`{"role":"user","content":[` + blocks + `]}`, said}
}

func answerOf(blocks string) []string {
	return []string{ask, `{"role":"assistant","content":[` + blocks + `]}`, ask}
}

func withResult(members string) []string {
	return []string{ask, callA, `{"role":"user","content":[{"toolResult":{"toolUseId":"a"` + members + `}}]}`, said}
}

func user(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }

var cases = []adaptertest.Case{
	{Name: "half of a pair of the service's", Imports: answerOf(`{"text":"a"},` + half), Want: strings.Join(answerOf(`{"text":"a"}`), ""), Reason: "the answer was cut"},
	{Name: "the other half", Imports: answerOf(`{"toolResult":{"toolUseId":"s","content":[{"text":"found"}]}},{"text":"a"}`), Want: strings.Join(answerOf(`{"text":"a"}`), ""), Reason: "its call was in an answer that is gone"},
	{Name: "the end of a request", Imports: []string{ask, `{"role":"assistant","content":[{"text":"a"},` + half + `]}`}, Reason: "the service may go on with it"},
	// Blocks that are carried, and what cannot be sent.
	{Name: "image", Imports: userOf(`{"image":{"format":"png","source":{"bytes":"aGk="}}}`), Reason: "as it is"},
	{Name: "document", Imports: userOf(`{"text":"q"},{"document":{"format":"pdf","name":"d","source":{"bytes":"aGk="}}}`), Reason: "as it is"},
	{Name: "cache point", Imports: userOf(`{"text":"q"},` + point), Reason: "as it is"},
	{Name: "cache point behind a result", Imports: []string{ask, callA, user(resA + `,` + point), said}, Reason: "as it is"},
	{Name: "cache point behind calls", Imports: turn(``, `,`+point), Reason: "as it is"},
	{Name: "unknown block before a call", Imports: turn(`{"future":{"x":1}},`, ``), Want: strings.Join(turn(lost+`,`, ``), ""), Reason: "the SDK cannot send it: it is named"},
	{Name: "unknown block behind a call", Imports: turn(``, `,{"future":{"x":1}}`), Want: strings.Join(turn(``, `,`+lost), ""), Reason: "the SDK cannot send it: it is named"},
	{Name: "unknown block between two calls", Imports: []string{ask, `{"role":"assistant","content":[` + toolA + `,{"future":{"x":1}},` + toolB + `]}`, gotAB, said},
		Want: ask + `{"role":"assistant","content":[` + toolA + `,` + lost + `,` + toolB + `]}` + gotAB + said, Reason: "in its place"},
	{Name: "unknown block alone", Imports: answerOf(`{"future":{"x":1}}`), Want: strings.Join(answerOf(lost), ""), Reason: "the SDK cannot send it: it is named"},
	{Name: "unknown block of a user", Imports: userOf(`{"text":"q"},{"future":{"x":1}}`), Want: strings.Join(userOf(`{"text":"q"},`+lost), ""), Reason: "the SDK cannot send it: it is named"},
	{Name: "unknown block beside a result", Imports: []string{ask, callA, user(resA + `,{"future":{"x":1}}`), said}, Want: ask + callA + user(resA+`,`+lost) + said, Reason: "the SDK cannot send it: it is named"},
	{Name: "unknown block in a result", Imports: withResult(`,"content":[{"future":{"x":1}},{"text":"t"}]`), Want: strings.Join(withResult(`,"content":[`+lost+`,{"text":"t"}]`), ""), Reason: "the SDK cannot send it: it is named"},
	{Name: "tool of the service", Imports: answerOf(served + `,{"text":"a"}`), Reason: "the service answered it"},
	{Name: "tool of the service, and a call", Imports: []string{ask, `{"role":"assistant","content":[` + served + `,` + toolA + `]}`, gotA, said}, Reason: "the host answers its own"},
	{Name: "tool of the service, and an id that is replaced", Imports: []string{ask, `{"role":"assistant","content":[` + served + `,` + strings.ReplaceAll(toolA, `"a"`, `"read:0"`) + `]}`, strings.ReplaceAll(gotA, `"a"`, `"read:0"`), said},
		Want: ask + `{"role":"assistant","content":[` + served + `,` + strings.ReplaceAll(toolA, `"a"`, `"call_2dddf05adcfc0532d64a31fd"`) + `]}` + strings.ReplaceAll(gotA, `"a"`, `"call_2dddf05adcfc0532d64a31fd"`) + said, Reason: "the rest stays"},
	{Name: "citations", Imports: answerOf(`{"citationsContent":{"content":[{"text":"a"}],"citations":[{"title":"T"}]}}`), Reason: "as they are"},
	{Name: "citations without a text", Imports: answerOf(`{"citationsContent":{"content":[{"text":" "}],"citations":[{"title":"T"}]}},{"text":"a"}`), Want: ask + said + ask, Reason: "blank"},
	{Name: "several texts", Imports: userOf(`{"text":"q"},{"text":"r"}`), Reason: "as they are"},

	// Turns.
	{Name: "two questions", Imports: []string{ask, ask, said}, Want: user(`{"text":"q"},{"text":"q"}`) + said, Reason: "roles take turns"},
	{Name: "two answers", Imports: []string{ask, said, said, ask}, Want: ask + `{"role":"assistant","content":[{"text":"a"},{"text":"a"}]}` + ask, Reason: "roles take turns"},
	{Name: "an answer and a call", Imports: []string{ask, said, callA, gotA}, Want: ask + `{"role":"assistant","content":[{"text":"a"},` + toolA + `]}` + gotA, Reason: "roles take turns"},
	{Name: "history begins with the assistant", Imports: []string{said + ask}, Reason: "the caller sends it so, and Claude takes it"},
	{Name: "nothing but an empty message behind the assistant", Imports: []string{said + user(``)}, Want: user(`{"text":"`+adapter.Opening+`"}`) + said, Reason: "as when the answer is imported alone"},
	{Name: "nothing but a blank message behind the assistant", Imports: []string{said + user(`{"text":" "}`)}, Want: user(`{"text":"`+adapter.Opening+`"}`) + said, Reason: "it is not sent"},
	{Name: "nothing but a second answer behind the assistant", Imports: []string{said + said}, Want: user(`{"text":"`+adapter.Opening+`"}`) + `{"role":"assistant","content":[{"text":"a"},{"text":"a"}]}`, Reason: "they are sent as one message"},
	{Name: "history begins with a result", Imports: []string{gotA, said, ask}, Want: user(`{"text":"`+adapter.Opening+`"}`) + said + ask, Reason: "a request begins with the user"},

	// Results.
	{Name: "result alone", Imports: []string{ask, callA, gotA}, Reason: "the usual loop"},
	{Name: "result alone, and an answer", Imports: []string{ask, callA, gotA, said, ask}, Reason: "the usual loop"},
	{Name: "results in one message", Imports: []string{ask, callAB, gotAB, said}, Reason: "as they are"},
	{Name: "results in two imports", Imports: []string{ask, callAB, gotA, gotB, said}, Want: ask + callAB + gotAB + said, Reason: "one message for all"},
	{Name: "results in two messages of one import", Imports: []string{ask, callAB, gotA + gotB, said}, Want: ask + callAB + gotAB + said, Reason: "one message for all"},
	{Name: "results out of order", Imports: []string{ask, callAB, gotB, gotA, said}, Want: ask + callAB + gotAB + said, Reason: "in the order of the calls"},
	{Name: "results out of order, in one message", Imports: []string{ask + callAB + user(resB+`,`+resA) + said}, Reason: "as the caller has them"},
	{Name: "all in one import", Imports: []string{ask + callAB + gotAB + said + ask}, Reason: "as read from a file"},
	{Name: "a word before the result", Imports: []string{ask, callA, ask, gotA, said}, Want: ask + callA + user(resA+`,{"text":"q"}`) + said, Reason: "results come first"},
	{Name: "a word before the result, in its message", Imports: []string{ask, callA, user(`{"text":"w"},` + resA), said}, Want: ask + callA + user(resA+`,{"text":"w"}`) + said, Reason: "results come first"},
	{Name: "a word behind the result", Imports: []string{ask, callA, user(resA + `,{"text":"w"}`), said}, Reason: "as it is"},
	{Name: "a question behind the result", Imports: []string{ask, callA, gotA, ask}, Want: ask + callA + user(resA+`,{"text":"q"}`), Reason: "roles take turns"},
	{Name: "result twice", Imports: []string{ask, callA, gotA, gotA, said}, Want: ask + callA + gotA + said, Reason: "the first counts"},
	{Name: "result missing", Imports: []string{ask, callAB, gotB, said}, Want: ask + callAB + user(`{"toolResult":{"toolUseId":"a","status":"error","content":[{"text":"`+missing+`"}]}},`+resB) + said, Reason: "an error stands in"},
	{Name: "result of nothing", Imports: []string{ask, said, gotA, ask}, Want: ask + said + ask, Reason: "it goes"},
	{Name: "result without an id", Imports: []string{ask, callA, strings.ReplaceAll(gotA, `"toolUseId":"a"`, `"toolUseId":""`), said}, Want: ask + callA + gotA + said, Reason: "it answers the open call"},
	{Name: "an id that is refused", Imports: []string{ask, strings.ReplaceAll(callA, `"a"`, `"read:0"`), strings.ReplaceAll(gotA, `"a"`, `"read:0"`), said},
		Want: ask + strings.ReplaceAll(callA+gotA, `"toolUseId":"a"`, `"toolUseId":"call_2dddf05adcfc0532d64a31fd"`) + said, Reason: "hashed, call and result alike"},
	{Name: "a long id", Imports: []string{ask, strings.ReplaceAll(callA, `"a"`, `"`+strings.Repeat("x", 65)+`"`), strings.ReplaceAll(gotA, `"a"`, `"`+strings.Repeat("x", 65)+`"`), said},
		Want: ask + strings.ReplaceAll(callA+gotA, `"toolUseId":"a"`, `"toolUseId":"call_9537c5fdf120482f7d58d25e"`) + said, Reason: "hashed, call and result alike"},
	{Name: "the same id in two turns", Imports: []string{ask, callA, gotA, callA, gotA, said},
		Want: ask + callA + gotA + strings.ReplaceAll(callA+gotA, `"toolUseId":"a"`, `"toolUseId":"a_2"`) + said, Reason: "unique in the history"},
	{Name: "an error", Imports: withResult(`,"status":"error","content":[{"text":"e"}]`), Reason: "as it is"},
	{Name: "a success", Imports: withResult(`,"status":"success","content":[{"text":"r"}]`), Reason: "as it is"},
	{Name: "JSON as result", Imports: withResult(`,"content":[{"json":{"b":1,"a":{"n":12345678901234567890}}}]`), Reason: "as it is"},
	{Name: "image as result", Imports: withResult(`,"content":[{"text":"r"},{"image":{"format":"png","source":{"bytes":"aGk="}}}]`), Reason: "as it is"},
	{Name: "image as result, and a cache point", Imports: []string{ask, callA, user(`{"toolResult":{"toolUseId":"a","content":[{"image":{"format":"png","source":{"bytes":"aGk="}}}]}},` + point), said}, Reason: "as it is"},

	// Empty content in each spelling.
	{Name: "result without content", Imports: withResult(``), Want: strings.Join(withResult(`,"content":[{"text":"`+noContent+`"}]`), ""), Reason: "the field is required"},
	{Name: "result with an empty list", Imports: withResult(`,"content":[]`), Want: strings.Join(withResult(`,"content":[{"text":"`+noContent+`"}]`), ""), Reason: "models refuse it"},
	{Name: "result with an empty text", Imports: withResult(`,"content":[{"text":""}]`), Want: strings.Join(withResult(`,"content":[{"text":"`+noContent+`"}]`), ""), Reason: "blank"},
	{Name: "result with a blank text", Imports: withResult(`,"content":[{"text":" "},{"text":"r"}]`), Want: strings.Join(withResult(`,"content":[{"text":"r"}]`), ""), Reason: "blank"},
	{Name: "no blocks", Imports: answerOf(``), Want: user(`{"text":"q"},{"text":"q"}`), Reason: "refused"},
	{Name: "empty text beside an image in a result", Imports: withResult(`,"content":[{"text":""},` + picture + `]`), Want: strings.Join(withResult(`,"content":[`+picture+`]`), ""), Reason: "blank"},
	{Name: "empty text", Imports: answerOf(`{"text":""}`), Want: user(`{"text":"q"},{"text":"q"}`), Reason: "blank"},
	{Name: "blank text", Imports: answerOf(`{"text":" \n"},{"text":"a"}`), Want: ask + said + ask, Reason: "blank"},
	{Name: "blank text beside a call", Imports: turn(`{"text":" "},`, ``), Want: strings.Join(turn(``, ``), ""), Reason: "blank"},
	{Name: "blank question", Imports: []string{ask, said, user(`{"text":" "}`)}, Want: ask + said, Reason: "blank"},
	{Name: "nothing but a cache point", Imports: []string{ask, said, user(point), ask}, Want: ask + said + user(point+`,{"text":"q"}`), Reason: "it stays in its place"},
	{Name: "call without arguments", Imports: []string{ask, `{"role":"assistant","content":[` + toolB + `]}`, gotB, said}, Reason: "an object"},

	// Reasoning.
	{Name: "signed reasoning", Imports: turn(`{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},`, ``), Reason: "byte for byte"},
	{Name: "encrypted reasoning", Imports: turn(`{"reasoningContent":{"redactedContent":"ZW5j"}},`, ``), Reason: "byte for byte"},
	{Name: "reasoning without a signature", Imports: turn(`{"reasoningContent":{"reasoningText":{"text":"Hm."}}},`, ``), Reason: "as the caller sends it"},
	{Name: "reasoning between calls", Imports: []string{ask, `{"role":"assistant","content":[` + toolA + `,{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},` + toolB + `]}`, gotAB, said}, Reason: "in its place"},
	{Name: "reasoning and an unknown block", Imports: turn(`{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},{"future":{}},`, ``), Want: strings.Join(turn(`{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},`+lost+`,`, ``), ""), Reason: "the signature stays"},
	{Name: "reasoning and an id that is replaced", Imports: []string{ask, `{"role":"assistant","content":[{"reasoningContent":{"redactedContent":"ZW5j"}},` + strings.ReplaceAll(toolA, `"a"`, `"read:0"`) + `]}`, strings.ReplaceAll(gotA, `"a"`, `"read:0"`), said},
		Want:   ask + `{"role":"assistant","content":[{"reasoningContent":{"redactedContent":"ZW5j"}},` + strings.ReplaceAll(toolA, `"a"`, `"call_2dddf05adcfc0532d64a31fd"`) + `]}` + strings.ReplaceAll(gotA, `"a"`, `"call_2dddf05adcfc0532d64a31fd"`) + said,
		Reason: "the reasoning stays"},
	{Name: "reasoning alone", Imports: answerOf(`{"reasoningContent":{"redactedContent":"ZW5j"}}`), Want: user(`{"text":"q"},{"text":"q"}`), Reason: "what it led to never came"},
}

func TestCases(t *testing.T) {
	url, got := adaptertest.Sent(t, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{}}`)
	client := clientOf(url)
	forms := []adaptertest.Form[types.Message]{{Name: "typed", Read: read}, {Name: "read by the SDK", Read: func(raw json.RawMessage) (types.Message, error) {
		s, err := readStored(raw)
		return s.Message, err
	}}}
	adaptertest.CheckCases(t, underTest, forms, func(t *testing.T, values []types.Message) []json.RawMessage {
		_, err := client.Converse(t.Context(), &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: values})
		require.NoError(t, err)
		return got(t, "messages")
	}, cases)
}

// TestCodec: stored messages are exported with the same bytes, whether the SDK decoded them or a host made them.
func TestCodec(t *testing.T) {
	a := winnowtest.Adapter[stored]{Import: importStored, Export: exportStored}
	adaptertest.CheckCodec(t, a, Codec(), []adaptertest.Form[stored]{
		{Name: "stored", Read: readStored},
		{Name: "typed", Read: func(raw json.RawMessage) (stored, error) {
			m, err := read(raw)
			return stored{m}, err
		}},
	}, cases)
}

// A message is stored even if the SDK would refuse it, and nothing leaves the process.
func TestStoredMessageNeedNotBeValid(t *testing.T) {
	call := types.Message{Content: []types.ContentBlock{&types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{Name: aws.String("read")}}}}
	text, err := json.Marshal(stored{call})
	require.NoError(t, err)
	assert.JSONEq(t, `{"content":[{"toolUse":{"name":"read"}}]}`, string(text))
	_, err = readStored(json.RawMessage(`"no message"`))
	assert.Error(t, err)
}

// TestForms: the recorded sessions mean the same as a host makes them and as the SDK reads them.
func TestForms(t *testing.T) {
	adaptertest.CheckForms(t, underTest, adaptertest.Copying[types.Message]{Name: "read by the SDK", Copy: func(messages []types.Message) ([]types.Message, error) {
		out := make([]types.Message, len(messages))
		for i := range messages {
			text, err := json.Marshal(stored{messages[i]})
			if err != nil {
				return nil, err
			}
			s, err := readStored(text)
			if err != nil {
				return nil, err
			}
			out[i] = s.Message
		}
		return out, nil
	}})
}

// event is an event of a stream, in the SDK's encoding.
func event(t *testing.T, name, data string) string {
	t.Helper()
	b, err := encodeEvent(name, []byte(data))
	require.NoError(t, err)
	return string(b)
}

// encodeEvent encodes an event of a stream; one whose type ends in Exception is an error.
func encodeEvent(name string, data []byte) ([]byte, error) {
	kind, header := "event", ":event-type"
	if strings.HasSuffix(name, "Exception") {
		kind, header = "exception", ":exception-type"
	}
	var b bytes.Buffer
	m := eventstream.Message{Payload: data}
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	m.Headers.Set(header, eventstream.StringValue(name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	err := eventstream.NewEncoder().Encode(&b, m)
	return b.Bytes(), err
}

// streaming starts a server that writes events and ends the stream, or breaks the connection.
func streaming(t *testing.T, cut bool, events ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = io.WriteString(w, strings.Join(events, ""))
		if cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestStreams has streams that fail at each event, and a whole one.
func TestStreams(t *testing.T) {
	events := []string{
		event(t, "messageStart", `{"role":"assistant"}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"H"}}}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"m."}}}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`),
		event(t, "contentBlockStop", `{"contentBlockIndex":0}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"I look."}}`),
		event(t, "contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"a","name":"read"}}}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"path\":"}}}`),
		event(t, "contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"\"x\"}"}}}`),
		event(t, "messageStop", `{"stopReason":"tool_use"}`),
		event(t, "metadata", `{"usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15},"metrics":{"latencyMs":1}}`),
	}
	m, err := streamed(t.Context(), streaming(t, false, events...), nil)
	require.NoError(t, err)
	assert.Equal(t, []winnow.Part{
		{Kind: winnow.KindThinking, Text: "Hm.", Signature: "c2ln"}, {Text: "I look."},
		{Kind: winnow.KindToolCall, ID: "a", Name: "read", Arguments: json.RawMessage(`{"path":"x"}`)},
	}, adaptertest.Bare(m).Parts)
	assert.Equal(t, "tool_use", m.StopReason)
	assert.Equal(t, &winnow.Usage{Input: 10, Output: 5}, m.Usage)
	refused := event(t, "validationException", `{"message":"Input is too long for requested model."}`)
	for n := range events {
		_, err := streamed(t.Context(), streaming(t, false, append(events[:n:n], refused)...), nil)
		assert.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(err).Class, "in the place of event %d: %v", n, err)
		if n < len(events)-1 {
			_, err = streamed(t.Context(), streaming(t, false, events[:n]...), nil)
			assert.Error(t, err, "%d events", n)
			_, err = streamed(t.Context(), streaming(t, true, events[:n]...), nil)
			assert.Error(t, err, "a connection that breaks behind %d events", n)
		}
	}
}

// TestStreamedBlocks: besides text, reasoning and calls, a stream holds the same as a whole answer.
func TestStreamedBlocks(t *testing.T) {
	url, got := adaptertest.Sent(t, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{}}`)
	start := func(i int, s string) string {
		return event(t, "contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":%s}`, i, s))
	}
	delta := func(i int, s string) string {
		return event(t, "contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":%s}`, i, s))
	}
	value, err := read(json.RawMessage(ask))
	require.NoError(t, err)
	question := Import([]types.Message{value})
	m, err := streamed(t.Context(), streaming(t, false,
		event(t, "messageStart", `{"role":"assistant"}`),
		start(0, `{"toolUse":{"toolUseId":"s","name":"web","type":"server_tool_use"}}`), delta(0, `{"toolUse":{"input":"{\"q\":\"x\"}"}}`),
		start(1, `{"toolResult":{"toolUseId":"s","type":"web_result"}}`), delta(1, `{"toolResult":[{"text":"fou"}]}`), delta(1, `{"toolResult":[{"text":"nd"}]}`),
		delta(2, `{"text":"See "}`), delta(2, `{"text":"there."}`), delta(2, `{"citation":{"title":"T","sourceContent":[{"text":"there"}]}}`),
		start(3, `{"future":{}}`), delta(3, `{"future":{"x":1}}`),
		start(4, `{"image":{"format":"png"}}`), delta(4, `{"image":{"source":{"bytes":"aGk="}}}`), delta(4, `{"image":{"source":{"bytes":"aGk="}}}`),
		event(t, "messageStop", `{"stopReason":"end_turn"}`),
	), question)
	require.NoError(t, err)
	_, err = whole(t.Context(), url, append(question, m))
	require.NoError(t, err)
	assert.JSONEq(t, `{"role":"assistant","content":[`+served+`,
		{"citationsContent":{"content":[{"text":"See there."}],"citations":[{"title":"T","sourceContent":[{"text":"there"}]}]}},
		`+lost+`,{"image":{"format":"png","source":{"bytes":"aGloaQ=="}}}]}`, string(got(t, "messages")[1]))
}

// TestMedia reads the pixels of images, the pages of documents and the seconds of sounds and videos, in messages and in
// results.
func TestMedia(t *testing.T) {
	png, _ := adaptertest.PNG(t)
	pdf, _ := adaptertest.PDF()
	wav, _ := adaptertest.WAV()
	image := types.ImageBlock{Format: types.ImageFormatPng, Source: &types.ImageSourceMemberBytes{Value: png}}
	document := types.DocumentBlock{Format: types.DocumentFormatPdf, Name: aws.String("d"), Source: &types.DocumentSourceMemberBytes{Value: pdf}}
	video := types.VideoBlock{Format: types.VideoFormatMp4, Source: &types.VideoSourceMemberBytes{Value: wav}}
	history := Import([]types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{
		&types.ContentBlockMemberImage{Value: image}, &types.ContentBlockMemberDocument{Value: document}, &types.ContentBlockMemberVideo{Value: video},
		&types.ContentBlockMemberAudio{Value: types.AudioBlock{Format: types.AudioFormatWav, Source: &types.AudioSourceMemberBytes{Value: wav}}},
		&types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{ToolUseId: aws.String("a"), Content: []types.ToolResultContentBlock{
			&types.ToolResultContentBlockMemberImage{Value: image}, &types.ToolResultContentBlockMemberDocument{Value: document}, &types.ToolResultContentBlockMemberVideo{Value: video},
		}}},
	}}})
	adaptertest.CheckMedia(t, history, 2, 2, 3)
}

// TestEmptyTextsWithin: no text in a document or a search result is blank, and images beside it stay.
func TestEmptyTextsWithin(t *testing.T) {
	url, got := adaptertest.Sent(t, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{}}`)
	search := func(texts ...string) types.SearchResultBlock {
		b := types.SearchResultBlock{Source: aws.String("s"), Title: aws.String("t")}
		for _, text := range texts {
			b.Content = append(b.Content, types.SearchResultContentBlock{Text: aws.String(text)})
		}
		return b
	}
	document := types.DocumentBlock{Name: aws.String("d"), Source: &types.DocumentSourceMemberContent{Value: []types.DocumentContentBlock{
		&types.DocumentContentBlockMemberText{Value: ""}, &types.DocumentContentBlockMemberText{Value: "page"},
	}}}
	call, err := read(json.RawMessage(callA))
	require.NoError(t, err)
	m, err := winnow.New(200_000, nil)
	require.NoError(t, err)
	request, err := m.Prepare(t.Context(), Import([]types.Message{
		{Role: "user", Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "q"}, &types.ContentBlockMemberSearchResult{Value: search(" ")}, &types.ContentBlockMemberDocument{Value: document}}},
		call,
		{Role: "user", Content: []types.ContentBlock{&types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{ToolUseId: aws.String("a"), Content: []types.ToolResultContentBlock{
			&types.ToolResultContentBlockMemberSearchResult{Value: search("", "hit")}, &types.ToolResultContentBlockMemberDocument{Value: document},
		}}}}},
	}))
	require.NoError(t, err)
	_, err = clientOf(url).Converse(t.Context(), &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: Export(request.Messages)})
	require.NoError(t, err)
	sent := got(t, "messages")
	const page = `{"document":{"name":"d","source":{"content":[{"text":"page"}]}}}`
	assert.JSONEq(t, user(`{"text":"q"},{"searchResult":{"source":"s","title":"t","content":[{"text":"`+adapter.Empty+`"}]}},`+page), string(sent[0]))
	assert.JSONEq(t, user(`{"toolResult":{"toolUseId":"a","content":[{"searchResult":{"source":"s","title":"t","content":[{"text":"hit"}]}},`+page+`]}}`), string(sent[2]))
}

// TestMarkCache sets cache points where the next request continues, and does not modify the history.
func TestMarkCache(t *testing.T) {
	marked := func(s string) string { return strings.TrimSuffix(s, "]}") + "," + point + "]}" }
	url, got := adaptertest.Sent(t, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{}}`)
	for _, tt := range []struct {
		name, want, newest string // what MarkRequest and MarkCache make of it; newest "": the same
		in                 []string
	}{
		{"a question", marked(ask), "", []string{ask}},
		{"a step", ask + said + marked(ask) + callA + marked(gotA), "", []string{ask, said, ask, callA, gotA}},
		{"marked already", marked(ask) + said + marked(ask), "", []string{ask, said, marked(ask)}},
		{"one that the caller set", marked(ask) + said + marked(ask) + said + marked(ask), ask + said + marked(ask) + said + marked(ask), []string{marked(ask), said, ask, said, ask}},
		{"four that the caller set", ask + said + marked(ask) + marked(said) + marked(ask) + said + marked(ask), ask + said + ask + said + marked(ask) + said + marked(ask), []string{marked(ask), marked(said), marked(ask), marked(said), ask, said, ask}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values := make([]types.Message, len(tt.in))
			for i, raw := range tt.in {
				var err error
				values[i], err = read(json.RawMessage(raw))
				require.NoError(t, err)
			}
			sent := func(input *bedrockruntime.ConverseInput) string {
				input.ModelId = aws.String("m")
				_, err := clientOf(url).Converse(t.Context(), input)
				require.NoError(t, err)
				var sent []string
				for _, raw := range got(t, "messages") {
					sent = append(sent, string(raw))
				}
				return "[" + strings.Join(sent, ",") + "]"
			}
			for range 2 { // the second time from the same history
				input := &bedrockruntime.ConverseInput{Messages: values}
				MarkRequest(input, "")
				assert.JSONEq(t, "["+strings.ReplaceAll(tt.want, "}{", "},{")+"]", sent(input))
				newest := cmp.Or(tt.newest, tt.want)
				assert.JSONEq(t, "["+strings.ReplaceAll(newest, "}{", "},{")+"]", sent(&bedrockruntime.ConverseInput{Messages: MarkCache(values, "")}))
			}
		})
	}
	assert.Empty(t, MarkCache(nil, ""))
}

// TestCachePointsAreAccepted marks requests whose callers marked tools, system prompt and messages, for five minutes or
// an hour. No request that is sent has too many, or an hour behind five minutes.
func TestCachePointsAreAccepted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		w.Header().Set("Content-Type", "application/json")
		if err := validCachePoints(body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]string{"__type": "ValidationException", "message": err.Error() + string(body)})
			return
		}
		_, _ = io.WriteString(w, `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{}}`)
	}))
	defer server.Close()
	client := clientOf(server.URL)
	lifetimes := []types.CacheTTL{"", types.CacheTTLFiveMinutes, types.CacheTTLOneHour}
	at := func(n int) types.CachePointBlock {
		return types.CachePointBlock{Type: types.CachePointTypeDefault, Ttl: lifetimes[n%len(lifetimes)]}
	}
	for seed := range 3 * 4 * 5 * 3 * 3 {
		ownTools, system, own, hours, ttl := seed%3, seed/3%4, seed/12%5, seed/60%3, lifetimes[seed/180]
		input := &bedrockruntime.ConverseInput{ModelId: aws.String("m"), ToolConfig: &types.ToolConfiguration{}}
		for i := range 2 {
			input.ToolConfig.Tools = append(input.ToolConfig.Tools, tools.Tools[0])
			if i < ownTools {
				input.ToolConfig.Tools = append(input.ToolConfig.Tools, &types.ToolMemberCachePoint{Value: at(hours * i)})
			}
		}
		for i := range system {
			input.System = append(input.System, &types.SystemContentBlockMemberText{Value: "Be careful."}, &types.SystemContentBlockMemberCachePoint{Value: at(hours + i)})
		}
		for i := range 5 {
			q := types.Message{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "q"}}}
			if i < own {
				q.Content = append(q.Content, &types.ContentBlockMemberCachePoint{Value: at(hours + 2*i)})
			}
			input.Messages = append(input.Messages, q, types.Message{Role: types.ConversationRoleAssistant, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "a"}}})
		}
		input.Messages = input.Messages[:len(input.Messages)-1]
		alone := *input
		MarkRequest(input, ttl)
		_, err := client.Converse(t.Context(), input)
		require.NoError(t, err)
		last := input.Messages[len(input.Messages)-1].Content
		assert.NotNil(t, pointOf(last[len(last)-1]), "the end")
		if alone.Messages = MarkCache(alone.Messages, ""); hours == 0 && ownTools+system <= 2 { // what MarkCache leaves room for
			_, err = client.Converse(t.Context(), &alone)
			require.NoError(t, err)
		}
	}
}
