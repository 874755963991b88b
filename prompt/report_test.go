package prompt_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/prompt"
)

// A report agrees with a search in the text about files; its parts add up to the whole.
func TestReportIsWhatIsInTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 7))
	for range times.Of(1_000) {
		in, o := randomInput(r), randomOptions(r)
		a, err := prompt.Assemble(in, o)
		if err != nil {
			continue
		}
		q := prompt.NewReport(a, nil, winnow.Usage{})
		require.Equal(t, utf8.RuneCountInString(a.Text), q.SystemPrompt.Chars)
		require.Equal(t, q.SystemPrompt.Chars, q.SystemPrompt.Context+q.SystemPrompt.NonContext)
		chars, tokens := 0, 0
		for _, s := range q.Sections {
			chars, tokens = chars+s.Chars, tokens+s.Tokens
		}
		require.Equal(t, q.SystemPrompt.Chars, chars)
		require.Equal(t, q.Tokens.Prompt, tokens)
		for _, f := range q.Files {
			checkFileReport(t, in, a, f)
		}
	}
}

// checkFileReport finds the file in the text by its heading.
func checkFileReport(t *testing.T, in prompt.Input, a *prompt.Assembly, f prompt.FileReport) {
	if f.Missing {
		require.Zero(t, f.Raw+f.Injected)
		return
	}
	raw := ""
	for _, file := range in.Files {
		if file.Name == f.Name {
			raw = strings.TrimRight(file.Text, " \n\t\u2028")
		}
	}
	if f.Path != "" {
		require.Equal(t, utf8.RuneCountInString(raw), f.Raw)
	}
	_, after, found := strings.Cut("\n\n"+a.Text, "\n\n## "+f.Path+"\n\n")
	if f.Path == "" || !found {
		require.Zero(t, f.Injected)
		return
	}
	injected := after[:len(string([]rune(after)[:f.Injected]))]
	rest := strings.TrimPrefix(after, injected)
	require.True(t, rest == "" || strings.HasPrefix(rest, "\n\n## "), "the next file follows")
	require.Equal(t, f.Truncated, injected != raw, "from what was assembled, not from lengths")
}

// reported is a request with messages of all kinds, after a few edits.
func reported(t *testing.T) (*prompt.Assembly, *winnow.Request) {
	p := assembled()
	m, err := winnow.New(200_000, &winnow.Options{Overhead: p.Tokens}) // calls, thinking and results stay
	require.NoError(t, err)
	text := func(role winnow.Role, s string) winnow.Message {
		return winnow.Message{Role: role, Parts: []winnow.Part{{Text: s}}}
	}
	injected := text(winnow.RoleUser, "[Context update]")
	injected.Injected = true
	history := []winnow.Message{text(winnow.RoleSystem, "Be careful."), injected, text(winnow.RoleUser, "Look at this.")}
	history[2].Parts = append(history[2].Parts, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 50_000})
	var output strings.Builder
	for i := range 4_000 { // no two lines are alike
		fmt.Fprintf(&output, "a line of output %d\n", i*7_919%9_973)
	}
	for range 12 {
		history = append(history, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
			{Kind: winnow.KindThinking, Text: "I should look first."}, {Text: "I look."}, {Kind: winnow.KindToolCall, ID: "call", Name: "exec", Arguments: []byte(`{"command":"ls -l /"}`)},
		}}, winnow.Message{Role: winnow.RoleTool, ToolCallID: "call", ToolName: "exec", Parts: []winnow.Part{{Text: output.String()}}})
	}
	history = append(history, text(winnow.RoleUser, "So?"))
	r, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	return p, r
}

func TestReportOfARequest(t *testing.T) {
	p, r := reported(t)
	u := winnow.Usage{Input: 1_000, CacheRead: 6_000, CacheWrite: 3_000, Output: 50}
	q := prompt.NewReport(p, r, u)
	assert.Equal(t, prompt.FromRun, q.Source)
	tokens := q.Tokens
	assert.Equal(t, tokens.Used, tokens.Prompt+tokens.Schemas+tokens.History+tokens.Correction, "the parts are the whole")
	assert.Equal(t, tokens.Window, tokens.Used+tokens.Reserve+tokens.Free)
	kinds, sum := map[string]int{}, 0
	for _, k := range q.History {
		kinds[k.Kind] = k.Tokens
		sum += k.Tokens
		assert.Positive(t, k.Tokens, k.Kind)
	}
	assert.Equal(t, tokens.History, sum)
	for _, kind := range []string{"system", "injected", "user", "image", "thinking", "assistant", "call exec", "result exec"} {
		assert.Contains(t, kinds, kind)
	}
	assert.Greater(t, kinds["result exec"], kinds["call exec"])
	require.Len(t, q.Largest, min(10, len(r.Messages)))
	for i := range q.Largest[1:] {
		assert.GreaterOrEqual(t, q.Largest[i].Tokens, q.Largest[i+1].Tokens)
	}
	assert.Equal(t, "exec", q.Largest[0].Tool)
	require.NotEmpty(t, q.Edits)
	saved := 0
	for _, e := range r.Edits {
		saved += e.Before - e.After
	}
	for _, e := range q.Edits {
		saved -= e.Saved
	}
	assert.Zero(t, saved)
	assert.Equal(t, prompt.CacheReport{Expected: 0, Billed: 0.6, Written: 0.3, Prompt: 10_000}, q.Cache)
	assert.Contains(t, q.List(), "Session tokens (cached): 10,050 total / ctx=200000")
	assert.Contains(t, prompt.NewReport(p, r, winnow.Usage{}).List(), "System prompt (estimate)")
}

// The reference's members, with its names.
func TestReportJSONHasTheReferencesMembers(t *testing.T) {
	p, r := reported(t)
	q := prompt.NewReport(p, r, winnow.Usage{Input: 10})
	q.GeneratedAt, q.SessionID, q.SessionKey, q.Provider, q.Model, q.WorkspaceDir = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "id", "key", "p", "m", "/w"
	q.Sandbox = &prompt.Sandbox{Mode: "all", Sandboxed: true}
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(q.JSON()), &got))
	has := func(path string) {
		var at any = got
		for _, name := range strings.Split(path, ".") {
			if list, ok := at.([]any); ok {
				require.NotEmpty(t, list, path)
				at = list[0]
			}
			m, ok := at.(map[string]any)
			require.True(t, ok, path)
			require.Contains(t, m, name, path)
			at = m[name]
		}
	}
	for group, names := range map[string]string{
		"report":                        "source generatedAt sessionId sessionKey provider model workspaceDir bootstrapMaxChars bootstrapTotalMaxChars sandbox systemPrompt injectedWorkspaceFiles skills tools",
		"report.sandbox":                "mode sandboxed",
		"report.systemPrompt":           "chars projectContextChars nonProjectContextChars",
		"report.injectedWorkspaceFiles": "name path missing rawChars injectedChars truncated",
		"report.skills":                 "promptChars entries",
		"report.skills.entries":         "name blockChars",
		"report.tools":                  "listChars schemaChars entries",
		"report.tools.entries":          "name summaryChars schemaChars propertiesCount",
		"session":                       "totalTokens inputTokens outputTokens contextTokens",
	} {
		for _, name := range strings.Fields(names) {
			has(group + "." + name)
		}
	}
	assert.Contains(t, q.List(), "Sandbox: mode=all sandboxed=true")
	late := *q
	late.GeneratedAt = time.Date(99_999, 1, 1, 0, 0, 0, 0, time.UTC)
	assert.NotContains(t, late.JSON(), "generatedAt", "a year that JSON cannot say")
	var back struct{ Report prompt.Report }
	require.NoError(t, json.Unmarshal([]byte(q.JSON()), &back), "a session can keep it")
	assert.Equal(t, q.Tokens, back.Report.Tokens)
}

// The lines of the reference in their order.
func TestReportDetail(t *testing.T) {
	in := prompt.Input{Tools: manyTools(40), Mode: prompt.Full}
	for i := range 35 {
		in.Skills = append(in.Skills, prompt.Skill{Name: "s-" + strings.Repeat("x", i+1), Description: strings.Repeat("d", i+1), Location: "/k"})
	}
	detail := prompt.NewReport(assemble(t, in), nil, winnow.Usage{}).Detail()
	at := 0
	for _, s := range []string{
		"🧠 Context breakdown (detailed)\n", "Workspace: ", "Bootstrap max/file: 20,000 chars\n", "Bootstrap max/total: 150,000 chars\n", "Sandbox: ",
		"System prompt (estimate): ", "Injected workspace files:\n", "Skills list (system prompt text): ", "(35 skills)\n", "Skills: ", "… (+15 more)\n",
		"Top skills (prompt entry size):\n- s-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: ", "… (+5 more skills)\n",
		"Tool list (system prompt text): ", "Tool schemas (JSON): ", "(counts toward context; not shown as text)\n", "Tools: ", "… (+10 more)\n",
		"Top tools (schema size):\n", "… (+10 more tools)\n", "Top tools (summary text size):\n", "… (+10 more tools)\n", "Tools (param count):\n- service_000_operation: 8 params\n", "… (+10 more tools)\n",
		"Session tokens (cached): unknown / ctx=200000\n",
	} {
		i := strings.Index(detail[at:], s)
		require.GreaterOrEqual(t, i, 0, "%q is missing, or out of its order", s)
		at += i + len(s)
	}
}

// Every file that a warning counts has a cause.
func TestReportWarningNamesTheCause(t *testing.T) {
	a, err := prompt.Assemble(prompt.Input{Files: []prompt.File{{Name: "A\n.md", Text: "text"}}}, &prompt.Options{HeadTail: true})
	require.NoError(t, err)
	list := prompt.NewReport(a, nil, winnow.Usage{}).List()
	require.Contains(t, list, "Causes: 1 file(s) have no path.")
	require.Contains(t, list, "- A.md: TRUNCATED")
}
