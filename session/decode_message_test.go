package session

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// fill gives every field a value that is written.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 2, 3, 4, 5, 6, 700, time.FixedZone("", 3600))))
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":[1,-2.5e3,null,"}]\n"]}`))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i))
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case v.Kind() == reflect.String:
		v.SetString("née \"x\"\n\u2028<b>&\x01\t😀\\")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	default:
		v.SetInt(-120)
	}
}

// messagesAsWritten are messages in each shape that this module writes.
func messagesAsWritten() []winnow.Message {
	var full winnow.Message
	fill(reflect.ValueOf(&full).Elem())
	messages := []winnow.Message{{}, full, {Role: winnow.RoleTool, Parts: []winnow.Part{}, IsError: true}}
	// Each field alone: the members before and after it may be missing.
	for i := range reflect.TypeFor[winnow.Message]().NumField() {
		m := winnow.Message{Role: winnow.RoleAssistant}
		reflect.ValueOf(&m).Elem().Field(i).Set(reflect.ValueOf(full).Field(i))
		messages = append(messages, m)
	}
	for i := range reflect.TypeFor[winnow.Part]().NumField() {
		var p winnow.Part
		reflect.ValueOf(&p).Elem().Field(i).Set(reflect.ValueOf(full.Parts[0]).Field(i))
		messages = append(messages, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{p, {}}})
	}
	for _, kind := range []winnow.Kind{winnow.KindThinking, winnow.KindImage, winnow.KindToolCall, winnow.KindOpaque} {
		messages = append(messages, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: kind}}})
	}
	return messages
}

// TestReadMessageAsWritten: every field of a message is read in one pass. A field that is new to the struct fails here
// until the reader knows it.
func TestReadMessageAsWritten(t *testing.T) {
	var x encoder
	for _, m := range messagesAsWritten() {
		text, err := x.marshal(&m)
		require.NoError(t, err)
		require.NotNil(t, readMessage(text), "%s", text)
		isReadAsJSON(t, text)
	}
}

// otherForms are messages that package json accepts or refuses differently from a reader of one form.
var otherForms = []struct{ text, why string }{
	{``, "nothing"},
	{`null`, "no object"},
	{`{"role":"user","parts":[]} `, "white space"},
	{`{"role": "user","parts":[]}`, "white space within"},
	{`{"parts":[],"role":"user"}`, "another order"},
	{`{"role":"user"}`, "no parts"},
	{`{"role":"user","parts":[],"role":"tool"}`, "a member twice"},
	{`{"role":"user","parts":[null]}`, "an empty part"},
	{`{"role":"user","parts":[{},]}`, "a comma too many"},
	{`{"role":"user","parts":[{,"text":"x"}]}`, "a comma before the first member"},
	{`{"role":"user","parts":[{"Text":"x"}]}`, "names of another case"},
	{`{"role":"user","parts":[{"text":null}]}`, "null for a string"},
	{`{"role":"user","parts":[{"bytes":1.0}]}`, "a number that is not whole"},
	{`{"role":"user","parts":[{"bytes":01}]}`, "a number that is not JSON"},
	{`{"role":"user","parts":[{"bytes":9223372036854775807}]}`, "a long number"},
	{`{"role":"user","parts":[{"text":"\ud83d\ude00\ud83d"}]}`, "pairs, and half of one"},
	{"{\"role\":\"user\",\"parts\":[{\"text\":\"\xff\"}]}", "invalid UTF-8"},
	{`{"role":"user","parts":[],"isError":false}`, "what is not written"},
	{`{"role":"user","parts":[],"time":"2026-02-03"}`, "no time"},
	{`{"role":"user","parts":[],"new":1}`, "a member of a later version"},
	{`{"role":"user","parts":[{"arguments":{"a" : 1}}]}`, "white space in arguments"},
	{`{"role":"user","parts":[{"arguments":1 }]}`, "white space behind arguments"},
	{`{"role":"user","parts":[{"arguments":null}],"details":null}`, "null for any value"},
	{`{"role":"user","parts":[{"arguments":` + strings.Repeat("[", 9_998) + strings.Repeat("]", 9_998) + `}]}`, "too deep"},
}

// isReadAsJSON fails unless readMessage leaves text to package json, or reads the same into separate memory.
func isReadAsJSON(t *testing.T, text []byte) {
	t.Helper()
	buffer := bytes.Clone(text)
	got := readMessage(buffer)
	clear(buffer)
	if got == nil {
		return
	}
	var want winnow.Message
	require.NoError(t, json.Unmarshal(text, &want), "%s", text)
	require.Equal(t, &want, got, "%s", text)
}

func TestReadMessageOfOtherForms(t *testing.T) {
	for _, c := range otherForms {
		t.Run(c.why, func(t *testing.T) { isReadAsJSON(t, []byte(c.text)) })
	}
}

// FuzzReadMessage: what is read in one pass is what package json reads, and shares no memory with the text.
func FuzzReadMessage(f *testing.F) {
	var x encoder
	for _, m := range messagesAsWritten() {
		text, err := x.marshal(&m)
		require.NoError(f, err)
		f.Add(bytes.Clone(text))
	}
	for _, c := range otherForms {
		f.Add([]byte(c.text))
	}
	f.Fuzz(isReadAsJSON)
}

// TestDecodeBare: entries that are read without package json say what it says of them.
func TestDecodeBare(t *testing.T) {
	const message = `"message":{"role":"user","parts":[{"text":"née"}]}`
	for _, c := range []struct{ kind, body, why string }{
		{"state", `"delta":{"a":[1,2]}`, "as it is written"},
		{"state", `"delta":"AAEC"`, "bytes that are not JSON"},
		{"state", `"delta":null`, "null"},
		{"state", `"delta":{"a":1},"model":"m"`, "something else too"},
		{"state", `"delta":{"a":1} `, "white space"},
		{"message", message, "nothing but the message"},
		{"message", `"model":"m",` + message, "who answered"},
		{"message", `"source":{"codec":"c\n","data":{"a":"}"}},` + message, "what a codec keeps"},
		{"message", `"model":"m","source":{"codec":"c","data":null},` + message, "both"},
		{"message", `"source":{"codec":"c"},` + message, "a source without data"},
		{"message", `"source":{"data":1,"codec":"c"},` + message, "another order"},
		{"message", `"source":{"codec":"c","data":1,"data":2},` + message, "data twice"},
		{"message", `"source":null,` + message, "no source"},
		{"message", `"source":{"codec":"c","data":1},"exact":[{"part":0,"text":"/w=="}],` + message, "exact bytes"},
	} {
		head := `{"seq":7,"id":"e7","parentId":"e6","type":"` + c.kind + `","time":"2026-02-03T04:05:06Z",`
		line, reason := parseLine(bytes.TrimSuffix(appendSum([]byte(head+c.body), 0), []byte("\n")))
		require.Empty(t, reason, c.why)
		want := &Entry{}
		require.NoError(t, json.Unmarshal(line.data, (*entryBody)(want)), c.why)
		require.NoError(t, want.restoreExact(), c.why)
		got, err := line.decode()
		require.NoError(t, err, c.why)
		assert.Equal(t, want, got, c.why)
	}
}
