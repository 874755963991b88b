package winnow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// everyField is a history in which each field of the data model is set once.
func everyField() []winnow.Message {
	return list(
		winnow.Message{ID: "s", Role: winnow.RoleSystem, Parts: []winnow.Part{textPart("Be kind & <brief>.")}, Pinned: true},
		winnow.Message{ID: "c", Role: winnow.RoleUser, Summary: true, Parts: []winnow.Part{textPart("So far: 上下文 👩🏽‍💻")}},
		winnow.Message{ID: "h", Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{
			textPart("See the picture."),
			{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 4096, Tokens: 800},
			{Kind: winnow.KindOpaque, MediaType: "application/pdf", Bytes: 99},
		}, Time: time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)},
		winnow.Message{ID: "a", Role: winnow.RoleAssistant, StopReason: "toolUse", Parts: []winnow.Part{
			thinkPart("The file tells.", "c2lnbmF0dXJl"),
			{Kind: winnow.KindToolCall, ID: "call_1", Name: "read", Arguments: json.RawMessage(`{"path":"a<b>.go","n":12345678901234567890}`)},
		}, Usage: &winnow.Usage{Input: 10, CacheRead: 20, CacheWrite: 30, Output: 40}},
		winnow.Message{ID: "t", Role: winnow.RoleTool, ToolCallID: "call_1", ToolName: "read", IsError: true, Parts: []winnow.Part{textPart("no such file\n")}, Details: json.RawMessage(`{"exitCode":2}`)},
	)
}

func TestMessageJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, winnow.WriteMessages(&b, everyField()))
	golden(t, "every-field.jsonl", b.String())

	back, err := winnow.ReadMessages(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(everyField(), back), "lossless")
	var again bytes.Buffer
	require.NoError(t, winnow.WriteMessages(&again, back))
	assert.Equal(t, b.String(), again.String(), "stable")
}

func TestMessageSourceIsNotWritten(t *testing.T) {
	m := userSays("hi")
	m.Source, m.Parts[0].Source = "the host's own", 7
	b, err := json.Marshal(m)
	require.NoError(t, err)
	assert.Equal(t, `{"role":"user","parts":[{"text":"hi"}]}`, string(b))
}

func TestReadMessages(t *testing.T) {
	hi := list(userSays("hi"))
	two := list(userSays("hi"), modelSays("ho"))
	const user, model = `{"role":"user","parts":[{"text":"hi"}]}`, `{"role":"assistant","parts":[{"text":"ho"}]}`
	for _, tt := range []struct {
		name, text string
		want       []winnow.Message
		reason     string
	}{
		{"nothing", "", nil, "no message is not an error"},
		{"blank lines", "\n \n\t\r\n", nil, "white space is between messages"},
		{"lines", user + "\n" + model + "\n", two, "JSON Lines"},
		{"no newline at the end", user + "\n" + model, two, "an editor may have cut it"},
		{"Windows", user + "\r\n" + model + "\r\n", two, "CR is white space"},
		{"one line", user + " " + model, two, "any white space separates"},
		{"array", "[" + user + "," + model + "]", two, "an export of a whole session"},
		{"empty array", " [ ] \n", nil, "a session without messages"},
		{"pretty-printed array", "[\n  {\n    \"role\": \"user\",\n    \"parts\": [\n      {\"text\": \"hi\"}\n    ]\n  }\n]\n", hi, "jq and editors write it so"},
		{"pretty-printed object", "{\n  \"role\": \"user\",\n  \"parts\": [{\"text\": \"hi\"}]\n}\n", hi, "a message need not be a line"},
		{"byte order mark", "\ufeff" + user, hi, "Windows tools put one"},
		{"byte order mark and array", "\ufeff [" + user + "]", hi, "before an array too"},
		{"unknown fields", `{"role":"user","hostKind":"meta","parts":[{"text":"hi","cache_control":{"type":"ephemeral"}}],"model":{"a":[1]}}`, hi, "what the library does not know is not its business"},
		{"text kind", `{"role":"user","parts":[{"kind":"text","text":"hi"}]}`, hi, "some hosts spell it out; it is the zero kind"},
		{"content", `{"role":"user","content":"hi","parts":[]}`, list(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{}}), "the shortcut of chat APIs is an unknown field"},
		{"null parts", `{"role":"user","parts":null}`, list(winnow.Message{Role: winnow.RoleUser}), "nil is written as null"},
		{"arguments as they are", `{"role":"assistant","parts":[{"kind":"toolCall","arguments":{"b":1, "a":2}}]}`, list(modelSends(winnow.Part{Kind: winnow.KindToolCall, Arguments: json.RawMessage(`{"b":1, "a":2}`)})), "order and white space are the model's"},
		{"lone surrogate", `{"role":"user","parts":[{"text":"\ud83d"}]}`, list(userSays("\ufffd")), "no other character can stand for it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := winnow.ReadMessages(strings.NewReader(tt.text))
			require.NoError(t, err, tt.reason)
			assert.Empty(t, cmp.Diff(tt.want, got), tt.reason)
		})
	}
}

func TestReadMessagesErrors(t *testing.T) {
	const good = `{"role":"user","parts":[{"text":"hi"}]}` + "\n"
	for _, tt := range []struct {
		name, text string
		line       string
		names      string // the field, or what is wrong
		read       int    // messages before it
		reason     string
	}{
		{"not JSON", good + "hello\n", "line 2:", "invalid character", 1, "a log line between messages"},
		{"truncated", good + `{"role":"user","pa`, "line 2:", "ends in the middle", 1, "the writer was killed"},
		{"truncated after lines", good + "{\n\"role\":\"user\",\n\"parts\":[", "line 4:", "ends in the middle", 1, "the line is where the text ends"},
		{"type of a field", good + good + `{"role":"user","parts":"hi"}`, "line 3:", "parts", 2, "a string for a list"},
		{"type deep inside", good + `{"role":"user","parts":[{"text":7}]}`, "line 2:", "parts.text", 1, "the path of the field"},
		{"usage", `{"role":"assistant","parts":[],"usage":{"input":"many"}}`, "line 1:", "usage.input", 0, "the path of the field"},
		{"time", good + `{"role":"user","parts":[],"time":"yesterday"}`, "line 2:", "time: ", 1, "an error of another package names the field too"},
		{"time of another type", good + `{"role":"user","parts":[],"time":123}`, "line 2:", "time: ", 1, "seconds are not read"},
		{"pretty-printed", "[\n  {\n    \"role\": \"user\",\n    \"parts\": [\n      {\n        \"text\": false\n      }\n    ]\n  }\n]", "line 6:", "parts.text", 0, "the line inside the message"},
		{"second of an array", "[\n" + strings.TrimSpace(good) + ",\n{\"role\": 5}\n]", "line 3:", "role", 1, "a comma and a newline come before it"},
		{"no role", good + `{"parts":[{"text":"hi"}]}`, "line 2:", `role is empty`, 1, "nobody could say who wrote it"},
		{"null", good + "null\n", "line 2:", `role is empty`, 1, "null is not a message"},
		{"unknown role", good + `{"role":"developer","parts":[]}`, "line 2:", `invalid message 1: role is "developer"`, 1, "the host has to map it"},
		{"unknown kind", good + `{"role":"user","parts":[{"text":"x"},{"kind":"video","bytes":3}]}`, "line 2:", `parts[1].kind is "video"`, 1, "no adapter could send it; KindOpaque is for what only the host reads"},
		{"number", good + "\n\n42\n", "line 4:", "message: want", 1, "no object; empty lines count"},
		{"array without end", "[" + good, "line 2:", "ends in the middle", 1, "the writer was killed"},
		{"comma missing", "[" + good + good + "]", "line 2:", "", 1, "two values without a comma"},
		{"behind the array", "[" + good + "]\nmore", "line 3:", "", 1, "text that nobody would read is not dropped in silence"},
		{"bad escape", good + `{"role":"user","parts":[{"text":"\x"}]}`, "line 2:", "invalid character", 1, "no escape of JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := winnow.ReadMessages(strings.NewReader(tt.text))
			require.Error(t, err, tt.reason)
			assert.Contains(t, err.Error(), tt.line, tt.reason)
			assert.Contains(t, err.Error(), tt.names, tt.reason)
			assert.Contains(t, err.Error(), "winnow: reading messages: ")
			assert.Len(t, got, tt.read, "the messages before it")
		})
	}
}

func TestReadMessagesReaderFails(t *testing.T) {
	broken := errors.New("connection reset")
	_, err := winnow.ReadMessages(io.MultiReader(strings.NewReader(`{"role":"user"`), iotest.ErrReader(broken)))
	assert.ErrorIs(t, err, broken)
}

func TestWriteMessages(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, winnow.WriteMessages(&b, nil))
	assert.Empty(t, b.String(), "no messages, no text")

	m := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "a\xffb <&>"}}}
	require.NoError(t, winnow.WriteMessages(&b, list(m)))
	assert.Equal(t, `{"role":"user","parts":[{"text":"a\ufffdb <&>"}]}`+"\n", b.String(), "the text kind is not written; invalid UTF-8 is U+FFFD; HTML is not escaped")

	bad := modelSends(winnow.Part{Kind: winnow.KindToolCall, Arguments: json.RawMessage(`{"path":`)})
	err := winnow.WriteMessages(io.Discard, list(m, bad))
	require.Error(t, err, "arguments that are not JSON cannot be written")
	assert.Contains(t, err.Error(), "message 1")

	assert.ErrorIs(t, winnow.WriteMessages(failingWriter{}, list(m)), io.ErrClosedPipe)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestUsagePrompt(t *testing.T) {
	for _, tt := range []struct {
		usage  winnow.Usage
		want   int
		reason string
	}{
		{winnow.Usage{}, 0, "nothing billed"},
		{winnow.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000}, 321, "the answer is not part of the prompt"},
		{winnow.Usage{Input: -5, CacheRead: 7, CacheWrite: -1}, 7, "a negative count is a host's mistake"},
		{winnow.Usage{Input: math.MaxInt, CacheRead: 1}, math.MaxInt, "a sum does not wrap"},
		{winnow.Usage{Input: math.MaxInt, CacheRead: math.MaxInt, CacheWrite: math.MaxInt}, math.MaxInt, "not even twice"},
	} {
		assert.Equal(t, tt.want, tt.usage.Prompt(), "%+v: %s", tt.usage, tt.reason)
	}
}
