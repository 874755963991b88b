package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

var (
	sections = []prompt.Section{
		{Name: "Identity", Text: "You are the assistant of a small shop.", Required: true},
		{Name: "Safety", Text: "## Safety\n\nAsk before you delete anything.", Required: true},
		{Name: "Date", Text: "It is Sunday, 22 November 2026.", Volatile: true},
	}
	files = []prompt.File{
		{Name: "AGENTS.md", Path: "/repo/AGENTS.md", Text: "# Rules\n\n## Red Lines\n\nNo refunds above 100 €.\n"},
		{Name: "MEMORY.md", Path: "/repo/MEMORY.md", Text: "# Memory\n\n## Suppliers\n\nBeans come on Tuesdays.\n"},
	}
	skills = []prompt.Skill{{Name: "stock-take", Description: "Counts the stock. Use it when asked for an inventory.", Location: "/repo/skills/stock-take/SKILL.md", Body: "Count the shelves from left to right."}}
	tools  = []prompt.Tool{
		{Tool: winnow.Tool{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
		{Tool: winnow.Tool{Name: "exec", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)}},
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
	// ## /repo/AGENTS.md
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
	after, err := prompt.Assemble(prompt.Input{Sections: later, Files: files, Skills: skills, Tools: tools}, &prompt.Options{Window: 200_000})
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
	// ## /repo/MEMORY.md (changed)
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
