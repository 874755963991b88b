package genai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/winnowtest"
)

var underTest = winnowtest.Adapter[*sdk.Content]{Import: Import, Export: Export, Valid: valid, Copy: exactly}

// valid refuses what Gemini refuses.
var valid = adaptertest.Valid[*sdk.Content](adaptertest.ValidContents)

// exactly reads contents like a host that keeps the spelling of numbers.
func exactly(contents []*sdk.Content) ([]*sdk.Content, error) {
	b, err := json.Marshal(contents)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var out []*sdk.Content
	err = d.Decode(&out)
	return out, err
}

func TestConformance(t *testing.T) {
	winnowtest.Run(t, underTest, richValues()...)
	plain := underTest
	plain.Copy = nil // numbers become floats, and are written as before
	for _, v := range richValues() {
		assert.NoError(t, plain.CheckValues(v.Values))
	}
}

func user(parts ...*sdk.Part) *sdk.Content  { return sdk.NewContentFromParts(parts, sdk.RoleUser) }
func model(parts ...*sdk.Part) *sdk.Content { return sdk.NewContentFromParts(parts, sdk.RoleModel) }
func text(s string) *sdk.Part               { return sdk.NewPartFromText(s) }

func call(id, name string, args map[string]any) *sdk.Part {
	return &sdk.Part{FunctionCall: &sdk.FunctionCall{ID: id, Name: name, Args: args}}
}

func response(id, name string, r map[string]any) *sdk.Part {
	return &sdk.Part{FunctionResponse: &sdk.FunctionResponse{ID: id, Name: name, Response: r}}
}

func output(s string) map[string]any { return map[string]any{"output": s} }

// richValues hold what only the SDK's types do.
func richValues() []winnowtest.Values[*sdk.Content] {
	png := &sdk.Part{InlineData: &sdk.Blob{Data: []byte("hi"), MIMEType: "image/png", DisplayName: "a"}, PartMetadata: map[string]any{"mine": 1.0}}
	signed := call("", "read", map[string]any{"path": "x", "n": 3.0})
	signed.ThoughtSignature = []byte("signed")
	shot := response("", "shot", output("taken"))
	shot.FunctionResponse.Parts = []*sdk.FunctionResponsePart{{InlineData: &sdk.FunctionResponseBlob{MIMEType: "image/png", Data: []byte("hi")}}}
	long := strings.Repeat("found and found; ", 40)
	return []winnowtest.Values[*sdk.Content]{
		{Name: "all that the SDK has", Values: []*sdk.Content{
			user(text("Look."), png, &sdk.Part{FileData: &sdk.FileData{FileURI: "gs://x", MIMEType: "video/mp4"}, VideoMetadata: &sdk.VideoMetadata{}}),
			model(&sdk.Part{Text: "Hm.", Thought: true}, text("I look."), signed, call("", "shot", nil)),
			user(response("", "read", map[string]any{"lines": []any{long, 2.0}}), shot),
			model(&sdk.Part{ExecutableCode: &sdk.ExecutableCode{Code: "1+1", Language: "PYTHON"}}, &sdk.Part{CodeExecutionResult: &sdk.CodeExecutionResult{Outcome: "OUTCOME_OK", Output: "2"}}, &sdk.Part{Text: "Two.", ThoughtSignature: []byte("s")}, &sdk.Part{ThoughtSignature: []byte("alone")}),
		}},
		{Name: "no ids, and calls that repeat", Values: []*sdk.Content{
			user(text("q")), model(call("", "read", nil), call("", "read", nil)), user(response("", "read", output("x")), response("", "read", output("y"))),
			model(call("", "read", nil)), user(response("", "read", output(long))), model(text("a")), user(text("q")), model(text("a")),
		}},
		{Name: "ids and errors", Values: []*sdk.Content{
			user(text("q")), model(call("a", "read", nil), call("b", "exec", nil)),
			user(response("b", "exec", map[string]any{"error": "no such file"}), response("a", "read", map[string]any{"result": long}), text("And the tests?")),
			model(text("a")), {Parts: []*sdk.Part{text("no role")}},
		}},
		{Name: "the model first", Values: []*sdk.Content{model(text("Hello.")), user(text("q"))}},
	}
}

var jsonOf = adaptertest.JSON

// TestRules has what the caller may send and the API refuses, and what becomes of it.
func TestRules(t *testing.T) {
	const hashed = "call_2dddf05adcfc0532d64a31fd" // of read:0
	q, x := user(text("q")), output("x")
	opened := user(text(adapter.Opening))
	for _, tt := range []struct {
		name     string
		in, want []*sdk.Content
		reason   string
	}{
		{"responses in two contents", []*sdk.Content{q, model(call("a", "r", nil), call("b", "r", nil)), user(response("a", "r", x)), user(response("b", "r", x)), q},
			[]*sdk.Content{q, model(call("a", "r", nil), call("b", "r", nil)), user(response("a", "r", x), response("b", "r", x)), q}, "one content with as many responses as calls"},
		{"text before responses", []*sdk.Content{q, model(call("a", "r", nil)), q, user(response("a", "r", x))},
			[]*sdk.Content{q, model(call("a", "r", nil)), user(response("a", "r", x)), q}, "responses follow their calls"},
		{"two contents of the model", []*sdk.Content{q, model(text("I look.")), model(call("a", "r", nil)), user(response("a", "r", x))},
			[]*sdk.Content{q, model(text("I look."), call("a", "r", nil)), user(response("a", "r", x))}, "calls follow the user"},
		{"three contents of the model", []*sdk.Content{q, model(text("I")), model(text("look.")), model(call("a", "r", nil)), user(response("a", "r", x))},
			[]*sdk.Content{q, model(text("I"), text("look."), call("a", "r", nil)), user(response("a", "r", x))}, "calls follow the user, all of the model's before them too"},
		{"the model first, and calls", []*sdk.Content{model(text("I look.")), model(call("a", "r", nil)), user(response("a", "r", x))},
			[]*sdk.Content{opened, model(text("I look."), call("a", "r", nil)), user(response("a", "r", x))}, "calls follow the user"},
		{"neighbours without calls", []*sdk.Content{q, model(text("I")), model(text("look.")), q, q}, []*sdk.Content{q, model(text("I")), model(text("look.")), q, q}, "accepted"},
		{"calls first", []*sdk.Content{model(call("a", "r", nil)), user(response("a", "r", x))},
			[]*sdk.Content{opened, model(call("a", "r", nil)), user(response("a", "r", x))}, "calls follow the user"},
		{"empty parts", []*sdk.Content{user(text(""), text("q"), nil), model(text(""))}, []*sdk.Content{q}, "a part has data, a content parts"},
		{"nothing", []*sdk.Content{nil, q, {Role: "user"}}, []*sdk.Content{q}, "and a list contents"},
		{"a signature alone", []*sdk.Content{q, model(&sdk.Part{ThoughtSignature: []byte("s")})}, []*sdk.Content{q, model(&sdk.Part{ThoughtSignature: []byte("s")})}, "it is data"},
		{"foreign id", []*sdk.Content{q, model(call("read:0", "r", nil)), user(response("read:0", "r", x))},
			[]*sdk.Content{q, model(call(hashed, "r", nil)), user(response(hashed, "r", x))}, "hashed, call and response alike"},
		{"another name", []*sdk.Content{q, model(call("a", "r", nil)), user(response("a", "files.r", x))},
			[]*sdk.Content{q, model(call("a", "r", nil)), user(response("a", "r", x))}, "a response has the name of its call"},
		{"a response without an id", []*sdk.Content{q, model(call("", "r", nil), call("", "s", nil)), user(response("", "s", x), response("", "r", x))},
			[]*sdk.Content{q, model(call("", "r", nil), call("", "s", nil)), user(response("", "s", x), response("", "r", x))}, "paired by name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := jsonOf(t, tt.in)
			assert.Equal(t, jsonOf(t, tt.want), jsonOf(t, Export(Import(tt.in))), tt.reason)
			assert.Equal(t, before, jsonOf(t, tt.in), "the caller's values are as they were")
		})
	}
}

// TestPairing pairs responses without ids with calls of the same name, or with any.
func TestPairing(t *testing.T) {
	history := Import([]*sdk.Content{
		user(text("q")), model(call("", "r", nil), call("", "s", nil), call("", "t", nil)),
		user(response("", "s", output("1")), response("", "renamed", output("2")), response("", "t", output("3"))),
	})
	for i, want := range []string{"2", "1", "3"} { // in the order of the calls
		assert.Equal(t, history[1].Parts[i].ID, history[2+i].ToolCallID)
		assert.Equal(t, want, history[2+i].Parts[0].Text)
	}
}

// TestChanged checks what is sent for a content that was partly changed.
func TestChanged(t *testing.T) {
	values := richValues()[0].Values
	history := Import(values)
	require.Len(t, history, 5)
	history[2].Parts, history[2].Source = []winnow.Part{{Text: "cut"}}, nil
	history[3].Parts, history[3].Source = append([]winnow.Part{{Text: "seen"}}, history[3].Parts[1:]...), nil
	out := Export(history)
	require.NoError(t, valid(out))
	assert.Equal(t, jsonOf(t, values[1]), jsonOf(t, out[1]))
	assert.JSONEq(t, `{"role":"user","parts":[
		{"functionResponse":{"name":"read","response":{"output":"cut"}}},
		{"functionResponse":{"name":"shot","response":{"output":"seen"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}}]}`, jsonOf(t, out[2]))
	history[1] = adaptertest.Bare(history[1]) // as if it was read from a file
	assert.JSONEq(t, `{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"read","args":{"path":"x","n":3}},"thoughtSignature":"c2lnbmVk"},{"functionCall":{"name":"shot"}}]}`,
		jsonOf(t, Export(history)[1]), "signatures stay, and made ids are not sent")
}

// TestImagesOfResults follow the responses: not every model takes them there.
func TestImagesOfResults(t *testing.T) {
	png := sdk.NewPartFromBytes([]byte("hi"), "image/png")
	history := Import([]*sdk.Content{user(text("q")), model(call("a", "shot", nil))})
	history = append(history, winnow.Message{Role: winnow.RoleTool, ToolCallID: "a", Parts: []winnow.Part{{Text: "taken"}, {Kind: winnow.KindImage, MediaType: "image/png", Bytes: 4, Source: png}}})
	out := Export(history)
	require.NoError(t, valid(out))
	require.Len(t, out, 4)
	assert.Equal(t, map[string]any{"output": "taken\n[image: image/png, 4 bytes]"}, out[2].Parts[0].FunctionResponse.Response)
	assert.Equal(t, []*sdk.Part{png}, out[3].Parts)
}

func TestSystem(t *testing.T) {
	instruction := sdk.NewContentFromText("You are careful.", sdk.RoleUser)
	history := append(ImportSystem(instruction), Import([]*sdk.Content{user(text("q"))})...)
	assert.Same(t, instruction, ExportSystem(history))
	assert.Len(t, Export(history), 1)
	history = append(history, winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "Mind the tests."}, {Text: " "}}})
	assert.Equal(t, `{"parts":[{"text":"You are careful."},{"text":"Mind the tests."}]}`, jsonOf(t, ExportSystem(history)))
	assert.Nil(t, ImportSystem(nil))
	assert.Nil(t, ExportSystem(nil))
}

func TestCorpus(t *testing.T) { adaptertest.CheckCorpus(t, underTest) }

func TestOrder(t *testing.T) {
	adaptertest.CheckOrder(t, underTest, func(contents []*sdk.Content) (out []*sdk.Content) {
		for _, c := range contents {
			if n := len(out); n > 0 && out[n-1].Role == c.Role && c.Role == sdk.RoleUser {
				out[n-1] = &sdk.Content{Role: c.Role, Parts: slices.Concat(out[n-1].Parts, c.Parts)}
			} else {
				out = append(out, c)
			}
		}
		return out
	})
}

func FuzzAdapter(f *testing.F) { adaptertest.Fuzz(f, underTest) }
