package judge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func call(tool, arguments string) winnow.Part {
	return winnow.Part{Kind: winnow.KindToolCall, ID: tool + arguments, Name: tool, Arguments: json.RawMessage(arguments)}
}

func answer(parts ...winnow.Part) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: parts}
}

func TestSame(t *testing.T) {
	says := winnow.Part{Text: "Done."}
	for _, tt := range []struct {
		a, b []winnow.Part
		want bool
		why  string
	}{
		{[]winnow.Part{says}, []winnow.Part{{Text: "All is done."}}, true, "two answers to the person"},
		{[]winnow.Part{says}, []winnow.Part{says, call("read", `{"path":"a.go"}`)}, false, "an answer, and work"},
		{[]winnow.Part{call("read", `{"path":"a.go","limit":10}`)}, []winnow.Part{call("Read", `{"file_path":"/src/a.go"}`)}, true,
			"the same file, by another name of the tool and by its whole path"},
		{[]winnow.Part{call("read", `{"path":"src/a.go"}`)}, []winnow.Part{call("bash", `{"command":"sed -n 1,80p src/a.go"}`)}, true, "a shell shows it"},
		{[]winnow.Part{call("read", `{"path":"ba.go"}`)}, []winnow.Part{call("read", `{"path":"a.go"}`)}, false, "only the end of a name"},
		{[]winnow.Part{call("read", `{"path":"a.go"}`)}, []winnow.Part{call("edit", `{"path":"a.go","old":"x"}`)}, false, "to change it is something else"},
		{[]winnow.Part{call("bash", `{"command":"cd /src && go test ./x -run Foo 2>&1 | tail -20"}`)},
			[]winnow.Part{call("bash", `{"command":"go test -v ./x Foo"}`)}, true, "options, where it runs and what shows it do not matter"},
		{[]winnow.Part{call("bash", `{"command":"go test ./x"}`)}, []winnow.Part{call("bash", `{"command":"go test ./y"}`)}, false, "another operand"},
		{[]winnow.Part{call("grep", `{"pattern":"func Foo","path":"a"}`)}, []winnow.Part{call("grep", `{"pattern":"func  foo("}`)}, true, "the same query"},
		{[]winnow.Part{call("read", `{"path":"a.go"}`), call("read", `{"path":"b.go"}`)}, []winnow.Part{call("read", `{"path":"b.go"}`)}, true,
			"one does more at once"},
		{[]winnow.Part{call("bash", `{"command":"grep -i foo a.go | tail -3"}`)}, []winnow.Part{call("bash", `{"command":"grep foo a.go"}`)}, true, "a search, though -i may mean that it writes"},
		{[]winnow.Part{call("recall", `{"handle":"1"}`)}, []winnow.Part{says}, true, "a recall is no step"},
		{[]winnow.Part{call("lookup", `{"id":7,"deep":true}`)}, []winnow.Part{call("lookup", `{"deep":true,"id":7}`)}, true, "a tool that nobody knows"},
		{[]winnow.Part{call("lookup", `{"id":7}`)}, []winnow.Part{call("lookup", `{"id":8}`)}, false, "with another argument"},
		{[]winnow.Part{call("exec", `"*** Begin Patch\n*** Update File: a.go\n"`)}, []winnow.Part{call("apply_patch", `{"input":"*** Update File: x/a.go\n"}`)},
			true, "a patch"},
	} {
		a, b := answer(tt.a...), answer(tt.b...)
		assert.Equal(t, tt.want, StepOf(&a).Same(StepOf(&b)), "%s: %v, %v", tt.why, StepOf(&a), StepOf(&b))
		assert.Equal(t, tt.want, StepOf(&b).Same(StepOf(&a)), "%s, the other way round", tt.why)
	}
}

func TestAgain(t *testing.T) {
	result := func(call winnow.Part, text string) winnow.Message {
		return winnow.Message{Role: winnow.RoleTool, ToolCallID: call.ID, Parts: []winnow.Part{{Text: text}}}
	}
	a, b, c := call("read", `{"path":"a.go"}`), call("read", `{"path":"b.go"}`), call("read", `{"path":"./b.go","x":1}`)
	edit := call("edit", `{"path":"d.go"}`)
	history := []winnow.Message{
		{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "go"}}}, answer(a), result(a, "package a"), answer(b), result(b, "package b"),
		answer(edit), result(edit, "ok"), answer(c), result(c, "package b, again"),
	}
	edits := []winnow.Edit{{Op: winnow.OpFold, Index: 2}, {Op: winnow.OpFold, Index: 4}, {Op: winnow.OpFold, Index: 6}, {Op: winnow.OpMinify, Index: 8}}
	out := LeftOut(history, edits)
	for _, tt := range []struct {
		does winnow.Part
		want string
		why  string
	}{
		{a, "package a", "a record stands for it"},
		{b, "", "a newer result shows it whole"},
		{edit, "", "a change asks for nothing"},
		{call("read", `{"path":"new.go"}`), "", "it never was there"},
	} {
		does := answer(tt.does)
		again := StepOf(&does).Again(out)
		if tt.want == "" {
			assert.Nil(t, again, tt.why)
		} else if assert.NotNil(t, again, tt.why) {
			assert.Equal(t, tt.want, again.Text, tt.why)
		}
	}
}

func TestRight(t *testing.T) {
	for _, tt := range []struct {
		probe  Probe
		answer string
		want   bool
		why    string
	}{
		{Probe{Want: []string{"cmd/x/main.go"}, IsFile: true}, "It was `main.go`.", true, "a file by its name"},
		{Probe{Want: []string{"cmd/x/main.go"}, IsFile: true}, "domain.go", false, "the end of another name"},
		{Probe{Want: []string{"Run the tests, please"}}, "“run the TESTS\nplease!”", true, "only the words matter"},
		{Probe{Want: []string{"exit 2", "no such file"}}, "It said: no such file", true, "any of them"},
		{Probe{Want: []string{"直す"}}, "答え: 直す", true, "any script"},
		{Probe{Want: []string{"..."}}, "...", false, "what has no word proves nothing"},
		{Probe{Want: []string{"a"}}, "", false, "no answer"},
	} {
		assert.Equal(t, tt.want, tt.probe.Right(tt.answer), tt.why)
	}
}
