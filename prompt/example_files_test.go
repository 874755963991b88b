package prompt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

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

func ExampleLoader_Release() {
	l := prompt.NewLoader(skills, nil)
	if _, err := l.Load("stock-take"); err != nil {
		fmt.Println(err)
		return
	}
	over, err := l.Release("stock-take")
	fmt.Println(over.Parts[0].Text, err)
	// Output: [Released, and no longer in force: stock-take] <nil>
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
