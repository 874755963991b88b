package prompt

import "github.com/winnowgo/winnow"

// Input is the content of a system prompt. Sections keep their order in the prompt; files, skills and tools are sorted.
type Input struct {
	Sections []Section
	Files    []File
	Skills   []Skill
	Tools    []Tool
	Mode     Mode
}

// Assembly is a system prompt with its tools, its sizes and its cuts. Treat its lists as read-only.
type Assembly struct {
	Mode Mode   `json:"mode"`
	Text string `json:"-"` // the system prompt

	// the same in parts; a provider's cache marker belongs at the end of each (two at most)
	Blocks     []string `json:"blocks"`
	Parts      []Part   `json:"parts"`           // the parts of Text in order, then the volatile parts
	Tools      []Tool   `json:"tools,omitempty"` // tools to send, by name
	Tokens     int      `json:"tokens"`          // Text and the tools' schemas, for winnow.Options.Overhead
	TextTokens int      `json:"textTokens"`      // Text: the sum of its parts
	ToolTokens int      `json:"toolTokens"`      // the schemas in the form that the provider gets
	MaxTokens  int      `json:"maxTokens"`       // limit of TextTokens; the largest int if no window is known

	// identifies Text and tools: equal for equal bytes, on every machine
	Fingerprint string      `json:"fingerprint"`
	Cuts        []Cut       `json:"cuts,omitempty"`     // what was cut or left out, and why
	Warnings    []string    `json:"warnings,omitempty"` // for the host's log, without text from files
	ToolSizes   []ToolSize  `json:"toolSizes,omitempty"`
	SkillSizes  []SkillSize `json:"skillSizes,omitempty"`
	Limits      Limits      `json:"limits"`

	toolPrint string // fingerprint of Tools
}

// Limits are the budgets of an assembly.
type Limits struct {
	FileChars  int `json:"fileChars"`
	TotalChars int `json:"totalChars"`
	Window     int `json:"window,omitempty"`
}

// PartKind is the origin of a part of the prompt.
type PartKind string

const (
	PartSection PartKind = "section" // a section of the host
	PartTools   PartKind = "tools"   // the list of tools
	PartSkills  PartKind = "skills"  // the list of skills
	PartContext PartKind = "context" // the line above the files
	PartFile    PartKind = "file"    // a file of the workspace
)

// Part is one part of a prompt: a section, a file or a list.
type Part struct {
	Name string   `json:"name"`
	Kind PartKind `json:"kind"`
	Path string   `json:"path,omitempty"` // of a file

	// the text in the prompt, without its heading; for a volatile part, the text in the message
	Text string `json:"text,omitempty"`

	// offset in Assembly.Text, in bytes, including its heading and the blank lines before it
	Start       int    `json:"start"`
	End         int    `json:"end"`      // end in Assembly.Text, in bytes
	Heading     int    `json:"heading"`  // bytes from Start to Text
	RawChars    int    `json:"rawChars"` // length before the cut
	Chars       int    `json:"chars"`    // of Text
	Tokens      int    `json:"tokens"`   // from Start to End
	Fingerprint string `json:"fingerprint"`
	Volatile    bool   `json:"volatile,omitempty"`
	Missing     bool   `json:"missing,omitempty"` // the file does not exist
	Cut         bool   `json:"cut,omitempty"`
}

// Cut says what was cut or left out of a prompt. If nothing of a part is shown, Kept is 0.
type Cut struct {
	Name   string   `json:"name"`
	Kind   PartKind `json:"kind"`
	Path   string   `json:"path,omitempty"` // of a file
	Reason string   `json:"reason"`
	Chars  int      `json:"chars"`          // before the cut
	Kept   int      `json:"kept"`           // that are shown
	Left   []string `json:"left,omitempty"` // titles of Markdown sections that are not whole, at most 100, or names
	More   int      `json:"more,omitempty"` // how many sections are not whole besides those

	Missing bool `json:"missing,omitempty"` // the line about a missing file was left out
}

// Message returns the system prompt as a message with one part per block, for hosts that keep it in the history.
func (a *Assembly) Message() winnow.Message {
	m := winnow.Message{Role: winnow.RoleSystem, Parts: make([]winnow.Part, len(a.Blocks))}
	for i, b := range a.Blocks {
		m.Parts[i] = winnow.Part{Text: b}
	}
	return m
}
