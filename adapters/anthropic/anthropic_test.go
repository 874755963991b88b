package anthropic

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/winnowtest"
)

var underTest = winnowtest.Adapter[sdk.MessageParam]{Import: Import, Export: Export, Valid: valid, Copy: reread}

// reread returns messages as a host has them after reading its history from a file. The SDK decodes the inputs of calls
// into maps with float numbers; for numbers that no float can hold, the copy keeps the text.
func reread(messages []sdk.MessageParam) ([]sdk.MessageParam, error) {
	out, err := adaptertest.Reread(messages)
	for i := range out {
		for k := range out[i].Content {
			if call := out[i].Content[k].OfToolUse; call != nil {
				call.Input = exact(call.Input, messages[i].Content[k].OfToolUse.Input)
			}
		}
	}
	return out, err
}

func exact(decoded, original any) any {
	b, _ := json.Marshal(decoded)
	if string(adapter.Arguments(json.RawMessage(b))) != string(adapter.Arguments(original)) {
		return original
	}
	return decoded
}

func TestConformance(t *testing.T) { winnowtest.Run(t, underTest, richValues()...) }

func cached() sdk.CacheControlEphemeralParam {
	return sdk.CacheControlEphemeralParam{TTL: sdk.CacheControlEphemeralTTLTTL1h}
}

// richValues hold what only the SDK's types do.
func richValues() []winnowtest.Values[sdk.MessageParam] {
	read := sdk.ContentBlockParamUnion{OfToolUse: &sdk.ToolUseBlockParam{
		ID: "toolu_1", Name: "read", Input: map[string]any{"path": "a.go", "n": 3}, CacheControl: cached(), ToolsetName: sdk.String("files"),
	}}
	result := sdk.ToolResultBlockParam{
		ToolUseID: "toolu_1", CacheControl: cached(), ToolsetName: sdk.String("files"),
		Content: []sdk.ToolResultBlockParamContentUnion{
			{OfText: &sdk.TextBlockParam{Text: "package a", CacheControl: cached()}},
			{OfImage: &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{Data: "aGk=", MediaType: "image/png"}}}},
			{OfDocument: &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{OfText: &sdk.PlainTextSourceParam{Data: "z"}}}},
		},
	}
	result.SetExtraFields(map[string]any{"later": 1})
	cited := sdk.TextBlockParam{Text: "As it says.", Citations: []sdk.TextCitationParamUnion{
		{OfCharLocation: &sdk.CitationCharLocationParam{CitedText: "it", DocumentIndex: 0, StartCharIndex: 1, EndCharIndex: 2, DocumentTitle: sdk.String("d")}},
	}}
	user := sdk.NewUserMessage(sdk.NewTextBlock("Look."), sdk.NewDocumentBlock(sdk.PlainTextSourceParam{Data: "it"}), sdk.NewImageBlock(sdk.URLImageSourceParam{URL: "https://example.com/a.png"}))
	user.SetExtraFields(map[string]any{"mine": "kept"})
	assistant := sdk.NewAssistantMessage(
		sdk.NewThinkingBlock("c2ln", "Hm."), sdk.NewRedactedThinkingBlock("cmVk"), sdk.ContentBlockParamUnion{OfText: &cited},
		sdk.NewServerToolUseBlock("srvtoolu_1", map[string]any{"query": "q"}, "web_search"),
		sdk.NewWebSearchToolResultBlock([]sdk.WebSearchResultBlockParam{{Title: "t", URL: "https://example.com", EncryptedContent: "abc"}}, "srvtoolu_1"),
		read, sdk.NewToolUseBlock("toolu_2", json.RawMessage(`{"b":1,"a":2}`), "read"))
	results := sdk.NewUserMessage(sdk.ContentBlockParamUnion{OfToolResult: &result}, sdk.NewToolResultBlock("toolu_2", "no such file", true),
		sdk.ContentBlockParamUnion{OfText: &sdk.TextBlockParam{Text: "And the tests?", CacheControl: cached()}})
	results.SetExtraFields(map[string]any{"mine": 2})
	return []winnowtest.Values[sdk.MessageParam]{
		{Name: "all that the SDK has", Values: []sdk.MessageParam{user, assistant, results, sdk.NewAssistantMessage(sdk.NewTextBlock("Done."))}},
		{Name: "empty results", Values: []sdk.MessageParam{user,
			sdk.NewAssistantMessage(sdk.NewToolUseBlock("a", map[string]any{}, "exec"), sdk.NewToolUseBlock("b", map[string]any{}, "exec")),
			sdk.NewUserMessage(sdk.ContentBlockParamUnion{OfToolResult: &sdk.ToolResultBlockParam{ToolUseID: "a"}}, sdk.ContentBlockParamUnion{OfToolResult: &sdk.ToolResultBlockParam{ToolUseID: "b"}}),
		}},
	}
}

// What the SDK does not know is given as JSON, by it or by the caller.
func TestOverridesAreRead(t *testing.T) {
	messages := []sdk.MessageParam{
		param.Override[sdk.MessageParam](json.RawMessage(`{"role":"user","content":"Look.","mine":1}`)),
		sdk.NewAssistantMessage(
			param.Override[sdk.ContentBlockParamUnion](json.RawMessage(`{"type":"future","x":[1]}`)),
			param.Override[sdk.ContentBlockParamUnion](json.RawMessage(`{"type":"tool_use","id":"a","name":"read","input":{"path":"x"},"later":1}`))),
		param.Override[sdk.MessageParam](json.RawMessage(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found"},{"type":"text","text":"And?"}]}`)),
		param.Override[sdk.MessageParam](json.RawMessage(`{"role":"user","content":[{"type":"future"}]}`)),
	}
	imported := Import(messages)
	require.Len(t, imported, 5)
	assert.Equal(t, "Look.", imported[0].Parts[0].Text)
	assert.Equal(t, winnow.KindOpaque, imported[1].Parts[0].Kind)
	assert.Equal(t, `{"path":"x"}`, string(imported[1].Parts[1].Arguments))
	assert.Equal(t, winnow.Message{Role: winnow.RoleTool, ToolCallID: "a", ToolName: "read", Parts: []winnow.Part{{Text: "found"}}}, adaptertest.Bare(imported[2]))
	assert.Equal(t, winnow.KindOpaque, imported[4].Parts[0].Kind)
	assert.Equal(t, jsonOf(t, messages), jsonOf(t, Export(imported)))
	imported[3] = winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "changed"}}}
	assert.JSONEq(t, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found"}]},
		{"role":"user","content":[{"type":"text","text":"changed"}]}]`, jsonOf(t, Export(imported)[2:4]))
}

var jsonOf = adaptertest.JSON

// TestRules has what the caller may send and the API refuses, and what becomes of it.
func TestRules(t *testing.T) {
	q := `{"role":"user","content":[{"type":"text","text":"q"}]}`
	call := func(ids ...string) string {
		blocks := ""
		for i, id := range ids {
			if i > 0 {
				blocks += ","
			}
			blocks += `{"type":"tool_use","id":"` + id + `","name":"read","input":{},"cache_control":{"type":"ephemeral"}}`
		}
		return `{"role":"assistant","content":[` + blocks + `]}`
	}
	result := func(id string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":[{"type":"text","text":"x"}],"cache_control":{"type":"ephemeral"}}`
	}
	const hashed = "call_2dddf05adcfc0532d64a31fd"
	for _, tt := range []struct{ name, in, want, reason string }{
		{"results behind text", `[` + q + `,` + call("a") + `,{"role":"user","content":[{"type":"text","text":"t"},` + result("a") + `]}]`,
			`[` + q + `,` + call("a") + `,{"role":"user","content":[` + result("a") + `,{"type":"text","text":"t"}]}]`, "results come first"},
		{"results in two messages", `[` + q + `,` + call("a", "b") + `,{"role":"user","content":[` + result("a") + `]},{"role":"user","content":[` + result("b") + `]},` + q + `]`,
			`[` + q + `,` + call("a", "b") + `,{"role":"user","content":[` + result("a") + `,` + result("b") + `]},` + q + `]`, "results of one turn are in one message"},
		{"text between results", `[` + q + `,` + call("a", "b") + `,{"role":"user","content":[` + result("a") + `]},` + q + `,{"role":"user","content":[` + result("b") + `]}]`,
			`[` + q + `,` + call("a", "b") + `,{"role":"user","content":[` + result("a") + `,` + result("b") + `]},` + q + `]`, "and what the user says follows"},
		{"blank text", `[{"role":"user","content":[{"type":"text","text":" \n","cache_control":{"type":"ephemeral"}},{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}]`,
			`[{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}]`, "no text is blank"},
		{"blank message", `[` + q + `,{"role":"user","content":[{"type":"text","text":""}]},{"role":"assistant","content":[]},` + q + `]`, `[` + q + `,` + q + `]`, "and no message empty"},
		{"empty list", `[` + q + `,` + call("a") + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[]}]}]`,
			`[` + q + `,` + call("a") + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`, "content may be left out, an empty list may not be sent"},
		{"image in an error", `[` + q + `,` + call("a") + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"image","source":{"type":"url","url":"u"}}]}]}]`,
			`[` + q + `,` + call("a") + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"[image]"}]},{"type":"image","source":{"type":"url","url":"u"}}]}]`, "an error holds text only"},
		{"foreign id", `[` + q + `,` + call("read:0") + `,{"role":"user","content":[` + result("read:0") + `]}]`,
			`[` + q + `,` + call(hashed) + `,{"role":"user","content":[` + result(hashed) + `]}]`, "hashed, call and result alike, and the markers stay"},
		{"reused id", `[` + q + `,` + call("a") + `,{"role":"user","content":[` + result("a") + `]},` + call("a") + `,{"role":"user","content":[` + result("a") + `]}]`,
			`[` + q + `,` + call("a") + `,{"role":"user","content":[` + result("a") + `]},` + call("call_ab111f21ecf8211a3f5696b6") + `,{"role":"user","content":[` + result("call_ab111f21ecf8211a3f5696b6") + `]}]`, "unique in the request; the first use keeps it"},
		{"space at the end", `[` + q + `,{"role":"assistant","content":[{"type":"text","text":"I \n"}]}]`,
			`[` + q + `,{"role":"assistant","content":[{"type":"text","text":"I"}]}]`, "the model is to go on"},
		{"assistant first", `[{"role":"assistant","content":[{"type":"text","text":"a"}]},` + q + `]`, `[{"role":"assistant","content":[{"type":"text","text":"a"}]},` + q + `]`, "the caller sends it so, and Claude takes it"},
		{"system in the middle", `[` + q + `,{"role":"system","content":[{"type":"text","text":"s"}]},` + q + `]`, `[` + q + `,{"role":"system","content":[{"type":"text","text":"s"}]},` + q + `]`, "the newest models take it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in []sdk.MessageParam
			require.NoError(t, json.Unmarshal([]byte(tt.in), &in))
			before := jsonOf(t, in)
			assert.JSONEq(t, tt.want, jsonOf(t, Export(Import(in))), tt.reason)
			assert.Equal(t, before, jsonOf(t, in), "the caller's values are as they were")
		})
	}
}

// TestSiblingsStay changes one of three pieces of a message.
func TestSiblingsStay(t *testing.T) {
	messages := richValues()[0].Values
	imported := Import(messages)
	require.Len(t, imported, 6)
	cut := imported[2]
	cut.Parts, cut.Source = []winnow.Part{{Text: "cut"}}, nil
	imported[2] = cut
	out := Export(imported)
	require.Len(t, out, 4)
	for _, i := range []int{0, 1, 3} {
		assert.Equal(t, jsonOf(t, messages[i]), jsonOf(t, out[i]))
	}
	assert.Equal(t, jsonOf(t, messages[2].Content[1:]), jsonOf(t, out[2].Content[1:]), "the others of the message are the caller's")
	assert.JSONEq(t, `{"type":"tool_result","tool_use_id":"toolu_1","toolset_name":"files","content":[{"type":"text","text":"cut"}]}`, jsonOf(t, out[2].Content[0]))
}

// TestSearchResults are carried, in messages and in results.
func TestSearchResults(t *testing.T) {
	found := sdk.SearchResultBlockParam{Source: "x", Title: "y", Content: []sdk.TextBlockParam{{Text: "z"}}}
	messages := []sdk.MessageParam{
		sdk.NewUserMessage(sdk.ContentBlockParamUnion{OfSearchResult: &found}),
		sdk.NewAssistantMessage(sdk.NewToolUseBlock("a", map[string]any{}, "search")),
		sdk.NewUserMessage(sdk.ContentBlockParamUnion{OfToolResult: &sdk.ToolResultBlockParam{ToolUseID: "a", Content: []sdk.ToolResultBlockParamContentUnion{{OfSearchResult: &found}}}}),
	}
	imported := Import(messages)
	require.Len(t, imported, 3)
	for _, i := range []int{0, 2} {
		assert.Equal(t, winnow.KindOpaque, imported[i].Parts[0].Kind)
		assert.Equal(t, len(jsonOf(t, found)), imported[i].Parts[0].Bytes)
	}
	assert.Equal(t, jsonOf(t, messages), jsonOf(t, Export(imported)))
}

func TestSystem(t *testing.T) {
	blocks := []sdk.TextBlockParam{{Text: "You are careful.", CacheControl: cached()}, {Text: "And brief."}}
	history := append(ImportSystem(blocks), Import([]sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("q"))})...)
	history = append(history, winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "Mind the tests."}, {Text: " "}}})
	assert.Equal(t, jsonOf(t, append(blocks, sdk.TextBlockParam{Text: "Mind the tests."})), jsonOf(t, ExportSystem(history)))
	assert.Len(t, Export(history), 1)
	assert.Nil(t, ImportSystem(nil))
}

func TestCorpus(t *testing.T) { adaptertest.CheckCorpus(t, underTest) }

func FuzzAdapter(f *testing.F) { adaptertest.Fuzz(f, underTest) }

func TestOrder(t *testing.T) {
	adaptertest.CheckOrder(t, underTest, func(messages []sdk.MessageParam) (out []sdk.MessageParam) {
		for _, m := range messages {
			if n := len(out); n > 0 && out[n-1].Role == m.Role && m.Role == sdk.MessageParamRoleUser {
				out[n-1].Content = slices.Concat(out[n-1].Content, m.Content)
			} else {
				out = append(out, m)
			}
		}
		return out
	})
}

// TestNothingIsBuiltAnew: a message moves only to a result that it stood beside, and any other one is sent as it is.
func TestNothingIsBuiltAnew(t *testing.T) {
	text, result := sdk.NewTextBlock, sdk.NewToolResultBlock
	calls := func(ids ...string) sdk.MessageParam {
		var blocks []sdk.ContentBlockParamUnion
		for _, id := range ids {
			blocks = append(blocks, sdk.NewToolUseBlock(id, map[string]any{}, "read"))
		}
		return sdk.NewAssistantMessage(blocks...)
	}
	history := Import([]sdk.MessageParam{
		sdk.NewUserMessage(text("FIRST")), calls("a"), sdk.NewUserMessage(result("a", "x", false), text("LATER")),
		calls("b"), sdk.NewUserMessage(result("b", "y", false)), calls("c", "d"),
		sdk.NewUserMessage(result("c", "z", false), text("beside")), sdk.NewUserMessage(result("d", "z", false)),
		calls("e"), sdk.NewUserMessage(result("e", "z", false), text("END")),
	})
	record := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "a record"}}}
	first, later, b, c, beside, d, e, end := 0, 3, 5, 7, 8, 9, 11, 12
	edited := history[e]
	edited.Source, edited.Parts = nil, []winnow.Part{{Text: "cut"}}
	for _, tt := range []struct {
		reason   string
		messages []winnow.Message
		want     string // the texts of each message
	}{
		{"its result is gone", list(history[first], record, history[later]), "FIRST|a record|LATER"},
		{"and another result is there", list(history[4], history[b], history[later]), "calls|y|LATER"},
		{"and it stands behind a record", list(history[4], history[b], record, history[later]), "calls|y|a record|LATER"},
		{"results of two messages are joined", list(history[6], history[c], history[d], history[beside]), "calls|z,z,beside"},
		{"but nothing passes a record", list(history[6], history[c], history[d], record, history[beside]), "calls|z,z|a record|beside"},
		{"its result was cut", list(history[10], edited, history[end]), "calls|cut,END"},
	} {
		var got []string
		for _, m := range Export(tt.messages) {
			var texts []string
			for _, b := range m.Content {
				switch {
				case b.OfToolResult != nil:
					texts = append(texts, b.OfToolResult.Content[0].OfText.Text)
				case b.OfText != nil && b.OfText.Text != adapter.Opening:
					texts = append(texts, b.OfText.Text)
				}
			}
			if m.Role == sdk.MessageParamRoleAssistant {
				texts = []string{"calls"}
			}
			if texts != nil {
				got = append(got, strings.Join(texts, ","))
			}
		}
		assert.Equal(t, tt.want, strings.Join(got, "|"), tt.reason)
	}
}

func list(messages ...winnow.Message) []winnow.Message { return messages }
