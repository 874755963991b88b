package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/winnowtest"
)

var underTest = winnowtest.Adapter[Item]{Import: Import, Export: Export, Valid: valid, Copy: throughJSON}

// valid refuses what the Responses API refuses.
var valid = adaptertest.Valid[Item](adaptertest.ValidItems)

// throughJSON gives items as JSON, as a host does that stores them: the SDK's own decoder drops ids.
var throughJSON = adaptertest.Given(param.Override[Item])

func raw(s string) Item { return param.Override[Item](json.RawMessage(s)) }

func raws(items ...string) []Item {
	out := make([]Item, len(items))
	for i, s := range items {
		out[i] = raw(s)
	}
	return out
}

func TestConformance(t *testing.T) { winnowtest.Run(t, underTest, richValues()...) }

const (
	question = `{"role":"user","content":"q"}`
	answer   = `{"type":"message","role":"assistant","content":"a"}`
)

// richValues hold what only the API's items do.
func richValues() []winnowtest.Values[Item] {
	typed := []Item{
		sdk.ResponseInputItemParamOfMessage("Be careful.", sdk.EasyInputMessageRoleDeveloper),
		sdk.ResponseInputItemParamOfInputMessage(sdk.ResponseInputMessageContentListParam{
			sdk.ResponseInputContentParamOfInputText("Look."),
			{OfInputImage: &sdk.ResponseInputImageParam{Detail: "low", ImageURL: param.NewOpt("data:image/png;base64,aGk=")}},
			{OfInputFile: &sdk.ResponseInputFileParam{FileData: param.NewOpt("data:application/pdf;base64,aGk=")}},
		}, "user"),
		sdk.ResponseInputItemParamOfReasoning("rs_1", []sdk.ResponseReasoningItemSummaryParam{{Text: "Hm."}, {Text: "So."}}),
		{OfOutputMessage: &sdk.ResponseOutputMessageParam{ID: "msg_1 of rs_1", Status: "completed", Phase: "commentary", Content: []sdk.ResponseOutputMessageContentUnionParam{
			{OfOutputText: &sdk.ResponseOutputTextParam{Text: "I look."}}, {OfRefusal: &sdk.ResponseOutputRefusalParam{Refusal: "Not there."}},
		}}},
		{OfFunctionCall: &sdk.ResponseFunctionToolCallParam{ID: param.NewOpt("fc_1 of rs_1"), CallID: "a", Name: "read", Arguments: `{"path": "x"}`, Namespace: param.NewOpt("files")}},
		{OfCustomToolCall: &sdk.ResponseCustomToolCallParam{CallID: "b", Name: "sql", Input: `select "x"`}},
		{OfFunctionCallOutput: &sdk.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt("a"), Output: sdk.ResponseInputItemFunctionCallOutputOutputUnionParam{
			OfResponseFunctionCallOutputItemArray: sdk.ResponseFunctionCallOutputItemListParam{
				sdk.ResponseFunctionCallOutputItemParamOfInputText(strings.Repeat("found and found; ", 40)),
				{OfInputImage: &sdk.ResponseInputImageContentParam{ImageURL: param.NewOpt("data:image/png;base64,aGk=")}},
			},
		}}},
		{OfCustomToolCallOutput: &sdk.ResponseCustomToolCallOutputParam{CallID: "b", Output: sdk.ResponseCustomToolCallOutputOutputUnionParam{OfString: param.NewOpt(strings.Repeat("one row; ", 100))}}},
		sdk.ResponseInputItemParamOfMessage("Done.", sdk.EasyInputMessageRoleAssistant),
	}
	return []winnowtest.Values[Item]{
		{Name: "typed", Values: typed},
		{Name: "as the API gives it", Values: raws(
			`{"type":"compaction","encrypted_content":"abc"}`, question,
			`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"abc","later":1}`,
			`{"type":"message","id":"msg_1 of rs_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"I look.","annotations":[{"type":"url_citation","url":"u","title":"t","start_index":0,"end_index":1}],"logprobs":[]}]}`,
			`{"type":"function_call","id":"fc_1 of rs_1","call_id":"a","name":"read","arguments":"{\"path\": \"x\"}","status":"completed"}`,
			`{"type":"function_call_output","call_id":"a","output":"`+strings.Repeat("found and found; ", 40)+`"}`,
			`{"type":"reasoning","id":"rs_2","summary":[]}`,
			`{"type":"function_call","id":"fc_2 of rs_2","call_id":"b","name":"read","arguments":"{}"}`,
			`{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}`,
			`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`, answer)},
		{Name: "tools of the API", Values: raws(question,
			`{"type":"shell_call","call_id":"a","action":{"commands":["ls"]},"status":"completed"}`,
			`{"type":"computer_call","id":"cu_1","call_id":"b","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"}`,
			`{"type":"local_shell_call","id":"lsh_1","call_id":"c","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"}`,
			`{"type":"shell_call_output","call_id":"a","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`,
			`{"type":"computer_call_output","call_id":"b","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,aGk="}}`,
			`{"type":"local_shell_call_output","id":"c","output":"{}"}`,
			answer, question, answer, question)},
		{Name: "unknown items", Values: raws(question, `{"type":"future","x":[1]}`, answer, `{"type":"configuration_update","model":"x"}`, question)},
	}
}

func TestImport(t *testing.T) {
	history := Import(richValues()[1].Values)
	for i := range history {
		history[i] = adaptertest.Bare(history[i])
	}
	require.Len(t, history, 7)
	assert.Equal(t, winnow.Message{Role: winnow.RoleUser, Injected: true, Pinned: true, Parts: []winnow.Part{{Kind: winnow.KindOpaque, MediaType: winnow.MediaCompaction, Signature: "abc", Bytes: len(`{"type":"compaction","encrypted_content":"abc"}`)}}}, history[0])
	assert.Equal(t, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
		{Kind: winnow.KindThinking, ID: "rs_1", Text: "Hm.", Signature: "abc"},
		{Text: "I look."},
		{Kind: winnow.KindToolCall, ID: "a", Name: "read", Arguments: json.RawMessage(`{"path": "x"}`)},
	}}, history[2])
	assert.Equal(t, "rs_2", history[4].Parts[0].Signature, "reasoning that the server keeps is not empty")
	assert.Equal(t, winnow.Message{Role: winnow.RoleTool, ToolCallID: "b", ToolName: "read", Parts: []winnow.Part{
		{Text: "x"}, {Kind: winnow.KindImage, MediaType: "image/png", Bytes: len("data:image/png;base64,aGk=")},
	}}, history[5])
	assert.Equal(t, winnow.KindOpaque, history[6].Parts[0].Kind)
	assert.Equal(t, "a", history[6].Parts[1].Text)
}

var jsonOf = adaptertest.JSON

// TestRules checks what is sent if items that the API ties together were changed.
func TestRules(t *testing.T) {
	const (
		thought = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"}`
		more    = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"def"}`
		said    = `{"type":"message","id":"msg_1 of rs_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]}`
		plain   = `{"type":"message","role":"assistant","content":"I look."}`
		called  = `{"type":"function_call","id":"fc_1 of rs_1","call_id":"a","name":"read","arguments":"{}"}`
		bare    = `{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}`
		result  = `{"type":"function_call_output","call_id":"a","output":"x"}`
		shell   = `{"type":"shell_call","call_id":"s","action":{"commands":["ls"]}}`
		listed  = `{"type":"shell_call_output","call_id":"s","output":[]}`
	)
	long := strings.Repeat("x", 65)
	const hashed = "call_9537c5fdf120482f7d58d25e"
	dropPart := func(message, part int) func([]winnow.Message) {
		return func(h []winnow.Message) {
			m := &h[message]
			m.Parts = append(append([]winnow.Part{}, m.Parts[:part]...), m.Parts[part+1:]...)
			m.Source = nil
		}
	}
	for _, tt := range []struct {
		name   string
		in     []string
		change func(h []winnow.Message)
		want   []string
		reason string
	}{
		{"the follower is gone", []string{question, thought, said, called, result}, dropPart(1, 1), []string{question, bare, result}, "reasoning goes with it, and what is left may not name it"},
		{"the follower of reasoning in two items is gone", []string{question, thought, more, said, called, result}, dropPart(1, 2), []string{question, bare, result}, "the first item leads to the second, which has no follower"},
		{"the second item of reasoning is gone", []string{question, thought, more, called, result}, dropPart(1, 1), []string{question, bare, result}, "the first has no follower either"},
		{"the first item of reasoning is gone", []string{question, thought, more, called, result}, dropPart(1, 0), []string{question, more, called, result}, "the second has its follower"},
		{"the reasoning is gone", []string{question, thought, said, called, result}, dropPart(1, 0), []string{question, plain, bare, result}, "the items behind it may not name it"},
		{"what stands behind is gone", []string{question, thought, said, called}, dropPart(1, 2), []string{question, thought, said}, "reasoning and its follower stay"},
		{"a later one is gone", []string{question, thought, called, result, answer, `{"type":"message","role":"assistant","content":"b"}`}, dropPart(3, 1), []string{question, thought, called, result, answer}, "others are not touched"},
		{"an own kind of output is made", []string{question, shell, listed, answer}, func(h []winnow.Message) {
			h[2].Source, h[2].Parts = nil, []winnow.Part{{Text: "cut"}}
		}, []string{question, answer}, "it cannot be made: both go"},
		{"a waiting call", []string{question, shell}, func([]winnow.Message) {}, []string{question, shell}, "the host is about to answer"},
		{"a long id", []string{question, strings.Replace(called, `"a"`, `"`+long+`"`, 1), strings.Replace(result, `"a"`, `"`+long+`"`, 1)}, func([]winnow.Message) {},
			[]string{question, strings.Replace(called, `"a"`, `"`+hashed+`"`, 1), strings.Replace(result, `"a"`, `"`+hashed+`"`, 1)}, "hashed, call and output alike, and the rest stays"},
		{"blank texts", []string{question, answer}, func(h []winnow.Message) {
			h[0].Source, h[0].Parts = nil, []winnow.Part{{Text: " "}}
		}, []string{answer}, "no message is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			history := Import(raws(tt.in...))
			tt.change(history)
			assert.JSONEq(t, "["+strings.Join(tt.want, ",")+"]", jsonOf(t, Export(history)), tt.reason)
		})
	}
}

// TestTypedItems are changed like those that are given as JSON.
func TestTypedItems(t *testing.T) {
	long := strings.Repeat("x", 65)
	items := []Item{
		sdk.ResponseInputItemParamOfMessage("q", sdk.EasyInputMessageRoleUser),
		sdk.ResponseInputItemParamOfReasoning("rs_1", nil),
		sdk.ResponseInputItemParamOfOutputMessage([]sdk.ResponseOutputMessageContentUnionParam{{OfOutputText: &sdk.ResponseOutputTextParam{Text: "I look."}}}, "msg_1 of rs_1", "completed"),
		{OfFunctionCall: &sdk.ResponseFunctionToolCallParam{ID: param.NewOpt("fc_1 of rs_1"), CallID: long, Name: "read", Arguments: "{}", Namespace: param.NewOpt("files")}},
		{OfFunctionCallOutput: &sdk.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(long), Status: "completed", Output: sdk.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: param.NewOpt("x")}}},
	}
	history := Import(items)
	out := Export(history)
	require.NoError(t, valid(out))
	require.Len(t, out, 5)
	const hashed = "call_9537c5fdf120482f7d58d25e"
	assert.JSONEq(t, strings.Replace(jsonOf(t, items[3]), long, hashed, 1), jsonOf(t, out[3]))
	assert.JSONEq(t, strings.Replace(jsonOf(t, items[4]), long, hashed, 1), jsonOf(t, out[4]))
	history[1].Parts, history[1].Source = history[1].Parts[1:], nil
	out = Export(history)
	require.NoError(t, valid(out))
	assert.Equal(t, `{"content":"I look.","role":"assistant","type":"message"}`, jsonOf(t, out[1]))
	assert.JSONEq(t, `{"type":"function_call","call_id":"`+hashed+`","name":"read","arguments":"{}","namespace":"files"}`, jsonOf(t, out[2]))
	assert.Equal(t, long, items[3].OfFunctionCall.CallID, "the caller's values are as they were")
}

func TestCorpus(t *testing.T) { adaptertest.CheckCorpus(t, underTest) }

func TestOrder(t *testing.T) { adaptertest.CheckOrder(t, underTest, nil) }

func FuzzAdapter(f *testing.F) { adaptertest.Fuzz(f, underTest) }

// Chat Completions had calls of functions before it had calls of tools. They have no item of this API, and are calls
// of functions all the same.
func TestFunctionCallsOfChatStay(t *testing.T) {
	out := Export([]winnow.Message{
		{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Read it."}}},
		{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "a", Name: "read", MediaType: "function_call"}}},
		{Role: winnow.RoleTool, ToolCallID: "a", Parts: []winnow.Part{{Text: "It says 42."}}},
	})
	require.Len(t, out, 3)
	assert.Equal(t, "read", out[1].OfFunctionCall.Name)
	assert.Equal(t, "It says 42.", out[2].OfFunctionCallOutput.Output.OfString.Value)
}
