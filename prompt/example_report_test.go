package prompt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

func ExampleNewReport() {
	r := prompt.NewReport(assembled(), request, winnow.Usage{})
	r.Provider, r.Model, r.WorkspaceDir = "anthropic", "claude-opus-4-6", "/repo" // what the host knows
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

func ExampleReport_Text() {
	r := prompt.NewReport(assembled(), request, usage)
	fmt.Println(r.Text("what?"))
	// Output:
	// /context: what fills the context window
	// /context list: a short breakdown
	// /context detail: sizes by file, skill and tool
	// /context json: for machines
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
