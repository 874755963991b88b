package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
	"github.com/winnowgo/winnow/session"
)

var (
	sections = []prompt.Section{
		{Name: "Identity", Text: "You are the assistant of a small shop.", Required: true},
		{Name: "Safety", Text: "## Safety\n\nAsk before you delete anything.", Required: true},
		{Name: "Date", Text: "It is Sunday, 22 November 2026.", Volatile: true},
	}
	files = []prompt.File{
		{Name: "AGENTS.md", Path: "/work/AGENTS.md", Text: "# Rules\n\n## Red Lines\n\nNo refunds above 100 €.\n"},
		{Name: "MEMORY.md", Path: "/work/MEMORY.md", Text: "# Memory\n\n## Suppliers\n\nBeans come on Tuesdays.\n"},
	}
	skills = []prompt.Skill{{Name: "stock-take", Description: "Counts the stock. Use it when asked for an inventory.", Location: "/work/skills/stock-take/SKILL.md", Body: "Count the shelves from left to right."}}
	tools  = []prompt.Tool{
		{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		{Name: "exec", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
	}
	request = &winnow.Request{
		Messages: []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "How many beans are left?"}}}},
		Counts:   []int{12}, Tokens: 312, Budget: 180_000,
	}
	usage = winnow.Usage{Input: 12, CacheRead: 300, Output: 20}
)

// assembled is the prompt that the other examples go on from.
func assembled() *prompt.Assembly {
	p, err := prompt.Assemble(prompt.Input{Sections: sections, Files: files, Skills: skills, Tools: tools}, &prompt.Options{Window: 200_000})
	if err != nil {
		panic(err)
	}
	return p
}

func Example() {
	show := func() error {
		// README
		p, err := prompt.Assemble(prompt.Input{
			Sections: sections,    // the host's texts, with modes and limits
			Files:    files,       // from prompt.ReadFiles(root, names...)
			Skills:   skills,      // from prompt.ReadSkills(root): name and description, the body on demand
			Tools:    tools,       // name, summary, schema
			Mode:     prompt.Full, // or Minimal, None: sub-agents
		}, &prompt.Options{Window: 200_000})
		if err != nil { // a required section does not fit; which, and by how much
			return err
		}
		m, err := winnow.New(200_000, &winnow.Options{Overhead: p.Tokens})
		if err != nil {
			return err
		}
		fmt.Println(prompt.NewReport(p, request, usage).List())
		// END
		_ = m
		return nil
	}
	if err := show(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 🧠 Context breakdown
	// Workspace: (none)
	// Bootstrap max/file: 20,000 chars
	// Bootstrap max/total: 150,000 chars
	// Sandbox: mode=unknown sandboxed=false
	// System prompt (run): 824 chars (~206 tok) (Project Context 156 chars (~39 tok))
	//
	// Injected workspace files:
	// - AGENTS.md: OK | raw 46 chars (~12 tok) | injected 46 chars (~12 tok)
	// - MEMORY.md: OK | raw 47 chars (~12 tok) | injected 47 chars (~12 tok)
	//
	// Skills list (system prompt text): 525 chars (~132 tok) (1 skills)
	// Skills: stock-take
	// Tool list (system prompt text): 57 chars (~15 tok)
	// Tool schemas (JSON): 117 chars (~30 tok) (counts toward context; not shown as text)
	// Tools: exec, read
	//
	// Session tokens (cached): 332 total / ctx=200000
	//
	// Tokens: 312 used (system prompt 238, tool schemas 59, history 12, correction 3)
	// Window: 200,000 = used + reserve 20,000 + free 179,688
	// - history, user: 12 tokens in 1
	// Cache: 0.0 % expected, 96.2 % read and 0.0 % written as billed
}

func ExampleAssemble() {
	p, err := prompt.Assemble(prompt.Input{Sections: sections, Files: files[:1]}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Text)
	// Output:
	// You are the assistant of a small shop.
	//
	// ## Safety
	//
	// Ask before you delete anything.
	//
	// # Project Context
	//
	// ## /work/AGENTS.md
	//
	// # Rules
	//
	// ## Red Lines
	//
	// No refunds above 100 €.
}

func ExampleAssembly_Message() {
	m := assembled().Message()
	for i, part := range m.Parts { // each ends where a cache marker belongs
		fmt.Printf("%d: … %q\n", i, part.Text[len(part.Text)-20:])
	}
	// Output:
	// 0: … "\n</available_skills>"
	// 1: … "ns come on Tuesdays."
}

func ExampleAssembly_Changes() {
	before := assembled()
	later := append([]prompt.Section(nil), sections...)
	later[2].Text = "It is Monday, 23 November 2026."
	after, err := prompt.Assemble(prompt.Input{Sections: later, Files: files, Skills: skills, Tools: tools}, &prompt.Options{Window: 200_000, Previous: before})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(before.Text == after.Text)
	fmt.Println(after.Changes(before).Parts[0].Text)
	fmt.Println(after.Changes(after))
	// Output:
	// true
	// [Context update from the host, not from the user. It replaces what was said of this before.]
	//
	// ## Date
	//
	// It is Monday, 23 November 2026.
	// <nil>
}

func ExampleConversation_Next() {
	m, err := winnow.New(200_000, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var c prompt.Conversation
	var history []winnow.Message
	if update := c.Next(assembled(), m.Cold()); update != nil {
		history = append(history, *update) // before the user's message
	}
	history = append(history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "How many beans are left?"}}})
	fmt.Println(len(history), "messages")
	fmt.Println(c.Next(assembled(), false)) // nothing differs
	// Output:
	// 2 messages
	// <nil>
}

func ExampleConversation_Sending() {
	var c prompt.Conversation
	c.Next(assembled(), true)
	edited := append([]prompt.File(nil), files...)
	edited[1].Text = "# Memory\n\n## Suppliers\n\nBeans come on Fridays.\n"
	p, err := prompt.Assemble(prompt.Input{Sections: sections, Files: edited, Skills: skills, Tools: tools}, &prompt.Options{Window: 200_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Next(p, false).Parts[0].Text)
	fmt.Println("the system prompt has it:", strings.Contains(c.Sending(&winnow.Request{}).Text, "Fridays"))
	fmt.Println("behind a compaction:", strings.Contains(c.Sending(&winnow.Request{Compaction: &winnow.Compaction{}}).Text, "Fridays"))
	// Output:
	// [Context update from the host, not from the user. It replaces what was said of this before.]
	//
	// ## /work/MEMORY.md (changed)
	//
	// ## Suppliers
	// No longer:
	// Beans come on Tuesdays.
	// Now:
	// Beans come on Fridays.
	// the system prompt has it: false
	// behind a compaction: true
}

func ExampleConversation_json() {
	c := prompt.Conversation{}
	c.Next(assembled(), true)
	saved, err := json.Marshal(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	var restored prompt.Conversation
	err = json.Unmarshal(saved, &restored)
	fmt.Println(restored.Sent.Text == c.Sent.Text, restored.Next(assembled(), false), err)
	// Output: true <nil> <nil>
}

func ExampleAssembly_MarshalJSON() {
	data, err := json.Marshal(assembled())
	fmt.Println(strings.Count(string(data), "Beans come on Tuesdays."), err) // each text once
	// Output: 1 <nil>
}

func ExampleAssembly_UnmarshalJSON() {
	data, err := json.Marshal(assembled())
	if err != nil {
		fmt.Println(err)
		return
	}
	var p prompt.Assembly
	err = json.Unmarshal(data, &p)
	fmt.Println(p.Text == assembled().Text, err)
	// Output: true <nil>
}

// inWorkspace calls f with a workspace that has one file and one skill.
func inWorkspace(f func(root *os.Root)) {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			panic(err)
		}
	}
	write("AGENTS.md", "# Rules\n")
	write("stock-take/SKILL.md", "---\nname: stock-take\ndescription: Counts the stock.\n---\nCount the shelves.\n")
	write("broken/SKILL.md", "---\nname: [\n---\n")
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	f(root)
}

func ExampleReadFiles() {
	inWorkspace(func(root *os.Root) {
		for _, f := range prompt.ReadFiles(root, "AGENTS.md", "TOOLS.md", "../secrets.md") {
			fmt.Printf("%s: %q, missing: %t, problem: %q\n", f.Name, f.Text, f.Missing, f.Problem)
		}
	})
	// Output:
	// AGENTS.md: "# Rules\n", missing: false, problem: ""
	// TOOLS.md: "", missing: true, problem: ""
	// secrets.md: "", missing: false, problem: "path escapes from parent"
}

func ExampleFileNames() {
	fmt.Println(prompt.FileNames(prompt.WorkspaceFiles))
	fmt.Println(prompt.FileNames(prompt.SubagentFiles))
	// Output:
	// [AGENTS.md SOUL.md TOOLS.md IDENTITY.md USER.md HEARTBEAT.md MEMORY.md]
	// [AGENTS.md TOOLS.md SOUL.md IDENTITY.md USER.md]
}

func ExampleReadSkills() {
	inWorkspace(func(root *os.Root) {
		skills, problems := prompt.ReadSkills(root)
		for _, s := range skills {
			fmt.Println(s.Name+":", s.Description)
		}
		for _, p := range problems {
			fmt.Println(strings.TrimPrefix(p.String(), root.Name()))
		}
	})
	// Output:
	// stock-take: Counts the stock.
	// /broken/SKILL.md: its front matter is not what the specification wants, near its line 1
}

func ExampleProblem_String() {
	fmt.Println(prompt.Problem{Path: "skills/x/SKILL.md", Reason: "it has no description"})
	// Output: skills/x/SKILL.md: it has no description
}

func ExampleParseSkill() {
	s, body, err := prompt.ParseSkill("---\nname: stock-take\ndescription: Counts the stock.\n---\nCount the shelves.\n")
	fmt.Printf("%s, %q, %v\n", s.Name, body, err)
	_, _, err = prompt.ParseSkill("---\nname: Stock Take\ndescription: Counts the stock.\n---\n")
	fmt.Println(err)
	// Output:
	// stock-take, "Count the shelves.\n", <nil>
	// its name has other characters than a–z, 0–9 and single hyphens between them
}

func ExampleLoader_Load() {
	l := prompt.NewLoader(skills, tools)
	loaded, err := l.Load("stock-take")
	fmt.Println(loaded.Message.Parts[0].Text, err)
	_, err = l.Load("no-such-skill")
	fmt.Println(errors.Is(err, prompt.ErrUnknown))
	// Output:
	// [Skill loaded: stock-take]
	//
	// Count the shelves from left to right. <nil>
	// true
}

func ExampleNewLoader() {
	l := prompt.NewLoader(skills, nil)
	_, err := winnow.New(200_000, &winnow.Options{Compact: &winnow.CompactOptions{Rules: l.Rules}})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleLoader_Rules() {
	l := prompt.NewLoader(skills, nil)
	fmt.Printf("%q\n", l.Rules())
	if _, err := l.Load("stock-take"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(l.Rules())
	// Output:
	// ""
	// ## Loaded skills and tools
	//
	// Loaded earlier in this conversation; load one again by its name before using it: stock-take.
}

func ExampleLoader_Resume() {
	loaded, err := prompt.NewLoader(skills, nil).Load("stock-take")
	if err != nil {
		fmt.Println(err)
		return
	}
	l := prompt.NewLoader(skills, nil) // in another process
	l.Resume([]winnow.Message{loaded.Message})
	fmt.Println(strings.HasSuffix(l.Rules(), "stock-take."))
	// Output: true
}

func ExampleOnDemandTools() {
	all := append(prompt.OnDemandTools(), tools...)
	p, err := prompt.Assemble(prompt.Input{Tools: all}, &prompt.Options{OnDemand: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(p.Tools), "schemas are sent")
	fmt.Println(p.Text)
	// Output:
	// 2 schemas are sent
	// ## Tooling
	//
	// - call_tool: call a tool that was loaded
	// - load_tool: read the parameters of a tool
	//
	// More tools, loaded on demand: read the parameters of one with load_tool, then call it with call_tool.
	// exec, read
}

func ExampleToolRatio() {
	p := assembled()
	m, err := winnow.New(200_000, &winnow.Options{Overhead: p.Tokens})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := m.Prepare(context.Background(), request.Messages)
	if err != nil {
		fmt.Println(err)
		return
	}
	billed := winnow.Usage{Input: p.TextTokens + first.Counts[0] + 2*p.ToolTokens} // the schemas cost twice the estimate
	fmt.Println(prompt.ToolRatio(p, first, billed))
	// Output: 2
}

func ExampleNewReport() {
	r := prompt.NewReport(assembled(), request, winnow.Usage{})
	r.Provider, r.Model, r.WorkspaceDir = "anthropic", "claude-opus-4-6", "/work" // what the host knows
	fmt.Println(r.Source, r.Tokens.Free)
	// Output: estimate 179688
}

func ExampleReport_List() {
	fmt.Println(strings.SplitN(prompt.NewReport(assembled(), nil, winnow.Usage{}).List(), "\n", 2)[0])
	// Output: 🧠 Context breakdown
}

func ExampleReport_Detail() {
	_, sizes, _ := strings.Cut(prompt.NewReport(assembled(), request, usage).Detail(), "Sections of the system prompt:\n")
	fmt.Println(sizes)
	// Output:
	// - Identity (section): 38 chars, 11 tokens
	// - Safety (section): 44 chars, 12 tokens
	// - Tooling (tools): 59 chars, 20 tokens
	// - Skills (skills): 527 chars, 141 tokens
	// - Project Context (context): 19 chars, 5 tokens
	// - AGENTS.md (file): 68 chars, 27 tokens
	// - MEMORY.md (file): 69 chars, 22 tokens
	//
	// Largest messages:
	// - #0 user: 12 tokens
}

func ExampleReport_JSON() {
	var report struct {
		Session map[string]int `json:"session"`
	}
	err := json.Unmarshal([]byte(prompt.NewReport(assembled(), request, usage).JSON()), &report)
	fmt.Println(report.Session, err)
	// Output: map[contextTokens:200000 inputTokens:12 outputTokens:20 totalTokens:332] <nil>
}

func ExampleReport_Save() {
	ctx := context.Background()
	store := session.NewMemory(nil)
	defer store.Close()
	conversation, err := store.Open(ctx, "agent:main:main")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = conversation.Append(ctx, session.User("How many beans are left?"))
	err = errors.Join(err, conversation.Close(), prompt.NewReport(assembled(), request, usage).Save(ctx, store, "agent:main:main"))
	var saved prompt.Report
	err = errors.Join(err, store.Entries(ctx, "agent:main:main", func(e *session.Entry) error { // the newest counts
		if e.Name != prompt.ReportEntry {
			return nil
		}
		return json.Unmarshal(e.Data, &saved)
	}))
	fmt.Println(saved.Source, saved.Tokens.Used, err)
	// Output: run 312 <nil>
}

func ExampleReport_Text() {
	r := prompt.NewReport(assembled(), request, usage)
	fmt.Println(r.Text("what?"))
	// Output:
	// /context: what fills the context window
	// /context list: a short breakdown
	// /context detail: sizes by file, skill and tool
	// /context json: for machines
}

func ExampleSilentReplies() {
	s := prompt.SilentReplies(winnow.SilentToken{Text: "HEARTBEAT_OK"})
	fmt.Println(s.Name, strings.Contains(s.Text, "HEARTBEAT_OK"))
	// Output: Silent Replies true
}

func ExampleSilentHint() {
	fmt.Println(prompt.SilentHint("Write down what has to survive.", winnow.SilentToken{}))
	fmt.Println(prompt.SilentHint("Write it down, then answer NO_REPLY.", winnow.SilentToken{}))
	// Output:
	// Write down what has to survive.
	//
	// If no user-visible reply is needed, start with NO_REPLY.
	// Write it down, then answer NO_REPLY.
}

func ExampleTooLargeError() {
	_, err := prompt.Assemble(prompt.Input{Sections: sections}, &prompt.Options{MaxTokens: 12})
	fmt.Println(err)
	var tooLarge *prompt.TooLargeError
	fmt.Println(errors.As(err, &tooLarge), tooLarge.Section)
	// Output:
	// prompt: the required section "Safety" does not fit: 23 tokens, 11 above the limit of 12
	// true Safety
}

func ExampleTooLargeError_Error() {
	fmt.Println((&prompt.TooLargeError{Section: "Rules", Unit: "characters", Need: 120, Limit: 100}).Error())
	// Output: prompt: the required section "Rules" does not fit: 120 characters, 20 above the limit of 100
}

func ExampleTooLargeError_Unwrap() {
	fmt.Println(errors.Is(&prompt.TooLargeError{}, prompt.ErrTooLarge))
	// Output: true
}
