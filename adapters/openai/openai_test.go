package openai

//lint:file-ignore SA1019 transcripts hold deprecated fields

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/winnowtest"
)

type message = sdk.ChatCompletionMessageParamUnion

var underTest = winnowtest.Adapter[message]{Import: Import, Export: Export, Valid: valid}

func TestConformance(t *testing.T) {
	winnowtest.Run(t, underTest, richValues()...)
	keeping := underTest
	keeping.Copy = throughJSON
	for _, v := range unknownValues() {
		t.Run(v.Name, func(t *testing.T) { assert.NoError(t, keeping.CheckValues(v.Values)) })
	}
	unchecked := underTest
	unchecked.Valid = nil // the local provider does not know them
	for _, v := range rareValues() {
		t.Run(v.Name, func(t *testing.T) { assert.NoError(t, unchecked.CheckValues(v.Values)) })
	}
}

var throughJSON = adaptertest.Given(param.Override[message])

func call(id, name, arguments string) sdk.ChatCompletionMessageToolCallUnionParam {
	return sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
		ID: id, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: name, Arguments: arguments},
	}}
}

func calls(c ...sdk.ChatCompletionMessageToolCallUnionParam) message {
	return message{OfAssistant: &sdk.ChatCompletionAssistantMessageParam{ToolCalls: c}}
}

// richValues hold what only the SDK's types do.
func richValues() []winnowtest.Values[message] {
	user := sdk.UserMessage([]sdk.ChatCompletionContentPartUnionParam{
		sdk.TextContentPart("Look."),
		sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,aGk=", Detail: "low"}),
		sdk.InputAudioContentPart(sdk.ChatCompletionContentPartInputAudioInputAudioParam{Data: "aGk=", Format: "wav"}),
		sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{FileData: sdk.String("data:application/pdf;base64,aGk="), Filename: sdk.String("a.pdf")}),
	})
	user.OfUser.Name = sdk.String("ann")
	assistant := calls(call("a", "read", `{"path": "x", "n": 1}`), call("b", "read", `{"path":"y"}`))
	assistant.OfAssistant.Content.OfArrayOfContentParts = []sdk.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion{
		{OfText: &sdk.ChatCompletionContentPartTextParam{Text: "I look."}}, {OfRefusal: &sdk.ChatCompletionContentPartRefusalParam{Refusal: "Not there."}},
	}
	assistant.OfAssistant.Name = sdk.String("bot")
	return []winnowtest.Values[message]{{Name: "all that the SDK has", Values: []message{
		sdk.DeveloperMessage("Be careful."), user, assistant,
		sdk.ToolMessage([]sdk.ChatCompletionContentPartTextParam{{Text: "x"}, {Text: "y"}}, "a"), sdk.ToolMessage("", "b"),
		sdk.AssistantMessage("Not there."), sdk.UserMessage("Why?"), sdk.SystemMessage("Be brief."), sdk.UserMessage("Go on."), sdk.AssistantMessage("Yes."),
	}}}
}

// rareValues hold what few use.
func rareValues() []winnowtest.Values[message] {
	custom := calls(sdk.ChatCompletionMessageToolCallUnionParam{OfCustom: &sdk.ChatCompletionMessageCustomToolCallParam{ID: "c", Custom: sdk.ChatCompletionMessageCustomToolCallCustomParam{Name: "sql", Input: "select \"x\""}}})
	refused := message{OfAssistant: &sdk.ChatCompletionAssistantMessageParam{Refusal: sdk.String("No.")}}
	spoken := message{OfAssistant: &sdk.ChatCompletionAssistantMessageParam{Audio: sdk.ChatCompletionAssistantMessageParamAudio{ID: "audio_1"}}}
	function := message{OfAssistant: &sdk.ChatCompletionAssistantMessageParam{}}
	function.OfAssistant.FunctionCall = sdk.ChatCompletionAssistantMessageParamFunctionCall{Name: "read", Arguments: "{}"}
	long := strings.Repeat("found and found; ", 40)
	return []winnowtest.Values[message]{
		{Name: "custom calls, refusals, speech", Values: []message{
			sdk.UserMessage("q"), custom, sdk.ToolMessage(long, "c"), refused, sdk.UserMessage("Why?"), spoken, sdk.UserMessage("Go on."),
		}},
		{Name: "functions", Values: []message{
			sdk.UserMessage("q"), function, sdk.ChatCompletionMessageParamOfFunction(long, "read"),
			function, sdk.ChatCompletionMessageParamOfFunction("found again", "read"), sdk.AssistantMessage("a"),
		}},
	}
}

// unknownValues hold fields that the SDK does not know.
func unknownValues() []winnowtest.Values[message] {
	thinking := calls(call("a", "read", "{}"))
	thinking.OfAssistant.SetExtraFields(map[string]any{"reasoning_content": "Hm.", "later": 1})
	return []winnowtest.Values[message]{{Name: "unknown fields", Values: []message{
		sdk.UserMessage("q"), thinking, sdk.ToolMessage("x", "a"),
		param.Override[message](json.RawMessage(`{"role":"assistant","content":"I look.","reasoning":"So.","tool_calls":[{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]}`)),
		param.Override[message](json.RawMessage(`{"role":"tool","tool_call_id":"b","content":"y"}`)),
		{OfUser: override(sdk.ChatCompletionUserMessageParam{}, `{"role":"user","content":[{"type":"text","text":"And?"}]}`)},
	}}}
}

func override(_ sdk.ChatCompletionUserMessageParam, raw string) *sdk.ChatCompletionUserMessageParam {
	u := param.Override[sdk.ChatCompletionUserMessageParam](json.RawMessage(raw))
	return &u
}

func TestUnknownFieldsAreRead(t *testing.T) {
	messages := append(unknownValues()[0].Values, param.Override[message](json.RawMessage(`{"role":"future","content":1}`)))
	imported := Import(messages)
	require.Len(t, imported, 7)
	assert.Equal(t, winnow.Part{Kind: winnow.KindThinking, Text: "Hm.", MediaType: "reasoning_content"}, adaptertest.Bare(imported[1]).Parts[0])
	assert.Equal(t, winnow.Part{Kind: winnow.KindThinking, Text: "So.", MediaType: "reasoning"}, adaptertest.Bare(imported[3]).Parts[0])
	assert.Equal(t, "I look.", imported[3].Parts[1].Text)
	assert.Equal(t, "read", imported[4].ToolName)
	assert.Equal(t, "And?", imported[5].Parts[0].Text)
	assert.Equal(t, winnow.KindOpaque, imported[6].Parts[0].Kind)
	imported[1].Source = nil // as if it was changed
	assert.JSONEq(t, `{"role":"assistant","reasoning_content":"Hm.","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`, jsonOf(t, Export(imported)[1]), "reasoning goes where it came from")
}

var jsonOf = adaptertest.JSON

// TestRules has what the caller may send and the API refuses, and what becomes of it.
func TestRules(t *testing.T) {
	q := `{"role":"user","content":"q"}`
	long := strings.Repeat("x", 41)
	callOf := func(ids ...string) string {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = `{"id":"` + id + `","type":"function","function":{"name":"read","arguments":"{}"}}`
		}
		return `{"role":"assistant","content":"c","name":"n","tool_calls":[` + strings.Join(list, ",") + `]}`
	}
	result := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"x"}` }
	const hashed = "call_3164596df4fdd018b2c567ec"
	for _, tt := range []struct{ name, in, want, reason string }{
		{"results behind a question", q + callOf("a", "b") + result("a") + q + result("b"), q + callOf("a", "b") + result("a") + result("b") + q, "tool messages come first"},
		{"results behind a system message", q + callOf("a") + `{"role":"system","content":"s"}` + result("a"), q + callOf("a") + result("a") + `{"role":"system","content":"s"}`, "nothing may stand between"},
		{"long id", q + callOf(long) + result(long), q + callOf(hashed) + result(hashed), "hashed, call and result alike, and the rest stays"},
		{"foreign characters", q + callOf("read:0|x") + result("read:0|x"), q + callOf("read:0|x") + result("read:0|x"), "accepted"},
		{"reused id", q + callOf("a") + result("a") + callOf("a") + result("a"), q + callOf("a") + result("a") + callOf("a") + result("a"), "accepted across messages"},
		{"nothing said", q + `{"role":"assistant"}` + q, q + q, "content may be left out only with calls"},
		{"empty text", q + `{"role":"assistant","content":"a"}{"role":"user","content":" "}`, q + `{"role":"assistant","content":"a"}{"role":"user","content":" "}`, "accepted"},
		{"assistant first and last", `{"role":"assistant","content":"a"}` + q + `{"role":"assistant","content":"a "}`, `{"role":"assistant","content":"a"}` + q + `{"role":"assistant","content":"a "}`, "accepted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, want := "["+strings.ReplaceAll(tt.in, "}{", "},{")+"]", "["+strings.ReplaceAll(tt.want, "}{", "},{")+"]"
			var messages []message
			require.NoError(t, json.Unmarshal([]byte(in), &messages))
			before := jsonOf(t, messages)
			assert.JSONEq(t, want, jsonOf(t, Export(Import(messages))), tt.reason)
			assert.Equal(t, before, jsonOf(t, messages), "the caller's values are as they were")
		})
	}
}

// TestImagesOfResults follow the results, in a message of the user.
func TestImagesOfResults(t *testing.T) {
	image := sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,aGk="})
	history := Import([]message{sdk.UserMessage("q"), calls(call("a", "shot", "{}"), call("b", "shot", "{}"))})
	for _, id := range []string{"a", "b"} {
		history = append(history, winnow.Message{Role: winnow.RoleTool, ToolCallID: id, Parts: []winnow.Part{
			{Text: "taken"}, {Kind: winnow.KindImage, MediaType: "image/png", Bytes: 4, Source: &image},
		}})
	}
	out := Export(history)
	require.NoError(t, valid(out))
	require.Len(t, out, 5)
	assert.Equal(t, `{"content":[{"text":"taken","type":"text"},{"text":"[image: image/png, 4 bytes]","type":"text"}],"tool_call_id":"a","role":"tool"}`, jsonOf(t, out[2]))
	assert.Equal(t, jsonOf(t, sdk.UserMessage([]sdk.ChatCompletionContentPartUnionParam{image, image})), jsonOf(t, out[4]))
}

// TestChangedMessagesKeepTheirParts as far as these were not changed.
func TestChangedMessagesKeepTheirParts(t *testing.T) {
	messages := richValues()[0].Values
	out := Export(withoutSource(messages))
	require.NoError(t, valid(out))
	assert.Equal(t, jsonOf(t, messages[1].OfUser.Content), jsonOf(t, out[1].OfUser.Content))
	assert.Equal(t, jsonOf(t, messages[2].OfAssistant.ToolCalls), jsonOf(t, out[2].OfAssistant.ToolCalls))
	assert.Equal(t, jsonOf(t, messages[2].OfAssistant.Content), jsonOf(t, out[2].OfAssistant.Content))
	for _, v := range rareValues() {
		assert.Equal(t, jsonOf(t, v.Values), jsonOf(t, Export(withoutSource(v.Values))), v.Name)
	}
}

// withoutSource is what the library makes of messages that it changes and whose parts it leaves.
func withoutSource(messages []message) []winnow.Message {
	history := Import(messages)
	for i := range history {
		history[i].Source = nil
	}
	return history
}

var alternatingUnderTest = winnowtest.Adapter[message]{Import: Import, Export: Rules{Alternate: true}.Export, Valid: validFor(provider.VendorVLLM)}

func TestCorpus(t *testing.T) {
	adaptertest.CheckCorpus(t, underTest)
	t.Run("alternating", func(t *testing.T) { adaptertest.CheckCorpus(t, alternatingUnderTest) })
}

func TestOrder(t *testing.T) {
	adaptertest.CheckOrder(t, underTest, nil)
	t.Run("alternating", func(t *testing.T) { adaptertest.CheckOrder(t, alternatingUnderTest, nil) })
}

func FuzzAdapter(f *testing.F) { adaptertest.Fuzz(f, underTest) }

// A result that was imported by another adapter is a string, which every server takes, and not a list of parts.
func TestResultOfAnotherAdapterIsString(t *testing.T) {
	of := new(int) // a value of another SDK
	out := Export([]winnow.Message{
		{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Read it."}}},
		{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "a", Name: "read", Source: of}}},
		{Role: winnow.RoleTool, ToolCallID: "a", Parts: []winnow.Part{{Text: "It says 42.", Source: of}}},
	})
	assert.Equal(t, "It says 42.", out[2].OfTool.Content.OfString.Value)
}

// The name of a person outlives the caller's value, as in a session that was read again.
func TestSpeaker(t *testing.T) {
	in := sdk.UserMessage("Hi.")
	in.OfUser.Name = param.NewOpt("Zoë")
	m := Import([]message{in})[0]
	assert.Equal(t, "Zoë", m.Speaker)
	m.Source = nil
	assert.Equal(t, jsonOf(t, in), jsonOf(t, Export([]winnow.Message{m})[0]))
	m.Speaker = "Ann Lee"
	assert.Equal(t, "Ann_Lee", Export([]winnow.Message{m})[0].OfUser.Name.Value, "the API takes no blank")
}
