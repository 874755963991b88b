package prompt_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

// What the model gets when it needs it: instructions of folders, and tools.

// monorepo makes a workspace with rules in a folder.
func monorepo() *os.Root {
	dir, err := os.MkdirTemp("", "winnow-*")
	if err != nil {
		panic(err)
	}
	os.Mkdir(filepath.Join(dir, "web"), 0o700)
	os.WriteFile(filepath.Join(dir, "web", "AGENTS.md"), []byte("Use tabs."), 0o600)
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	return root
}

func ExampleNewFolders() {
	root := monorepo()
	defer os.RemoveAll(root.Name())
	folders := prompt.NewFolders(root)

	// A tool has read web/form.ts. Its result is in the history already.
	for _, m := range folders.Touch("web/form.ts") {
		fmt.Println(m.Parts[0].Text)
	}
	fmt.Println(len(folders.Touch("web/table.ts")), "more")
	// Output:
	// [Instructions of a folder, from the host: web/AGENTS.md. They count for what is in web/, before those of the folders above.]
	//
	// Use tabs.
	// 0 more
}

func ExampleFolders_Touch() {
	root := monorepo()
	defer os.RemoveAll(root.Name())
	folders := prompt.NewFolders(root)
	var history []winnow.Message
	history = append(history, folders.Touch("web/form.ts", "main.go")...)
	fmt.Println(len(history), history[0].InForce)
	// Output: 1 [folder web/AGENTS.md]
}

func ExampleFolders_Resume() {
	root := monorepo()
	defer os.RemoveAll(root.Name())
	history := prompt.NewFolders(root).Touch("web/form.ts")
	folders := prompt.NewFolders(root) // in another process
	folders.Resume(history)
	fmt.Println(folders.Told(), len(folders.Touch("web/form.ts")))
	// Output: [web/AGENTS.md] 0
}

func ExampleFolders_Sending() {
	root := monorepo()
	defer os.RemoveAll(root.Name())
	folders := prompt.NewFolders(root)
	folders.Touch("web/form.ts")
	folders.Sending(&winnow.Request{Compaction: &winnow.Compaction{}}) // a summary stands for the instructions
	fmt.Println(len(folders.Touch("web/form.ts")), "again")
	// Output: 1 again
}

func ExampleFolders_Told() {
	root := monorepo()
	defer os.RemoveAll(root.Name())
	fmt.Println(prompt.NewFolders(root).Told())
	// Output: []
}

func ExampleFolderFiles() {
	root := monorepo()
	defer os.RemoveAll(root.Name())
	for _, f := range prompt.FolderFiles(root, "web/forms/new.ts") {
		fmt.Println(f.Path, f.Text)
	}
	// Output: web/AGENTS.md Use tabs.
}

func ExampleToolUse_Choose() {
	var use prompt.ToolUse // stored by the host
	for range 20 {
		use.Add(calls("exec"))
	}
	chosen, err := use.Choose(tools, nil)
	for _, t := range chosen {
		fmt.Println(t.Name, t.Always)
	}
	fmt.Println(err)
	// Output:
	// read false
	// exec true
	// <nil>
}

func ExampleToolUse_Add() {
	var use prompt.ToolUse
	use.Add(calls("exec", "exec", "read"))
	fmt.Println(use.Conversations, use.Used)
	// Output: 1 map[exec:1 read:1]
}

func ExampleLoader_Find() {
	l := prompt.NewLoader(skills, tools)
	fmt.Println(l.Find("show me a file"))
	// Output: [read]
}
