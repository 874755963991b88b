package prompt

import "github.com/winnowgo/winnow"

// Input is what a system prompt is made of. The order of Sections is the order of the prompt; files, skills and tools
// have an order of their own.
type Input struct {
	Sections []Section
	Files    []File
	Skills   []Skill
	Tools    []Tool
	Mode     Mode
}

// Assembly is a system prompt with its tools, its sizes and a record of what was cut. Treat its lists as read-only:
// later assemblies share them.
type Assembly struct {
	Mode Mode   `json:"mode"`
	Text string `json:"-"` // the system prompt

	// the same in parts; a provider's cache marker belongs at the end of each (two at most)
	Blocks     []string `json:"blocks"`
	Parts      []Part   `json:"parts"`           // what Text is made of, in its order, and behind that what is volatile
	Tools      []Tool   `json:"tools,omitempty"` // to send, by name
	Tokens     int      `json:"tokens"`          // of Text and of the tools' schemas: for winnow.Options.Overhead
	TextTokens int      `json:"textTokens"`      // of Text: the sum of its parts
	ToolTokens int      `json:"toolTokens"`      // of the schemas, as the provider is sent them
	MaxTokens  int      `json:"maxTokens"`       // what TextTokens fits into; the largest int where no window is known

	// of Text and tools: the same for the same bytes, on every machine
	Fingerprint string      `json:"fingerprint"`
	Cuts        []Cut       `json:"cuts,omitempty"`     // what was cut or left out, and why
	Warnings    []string    `json:"warnings,omitempty"` // for the host's log; without text of files
	ToolSizes   []ToolSize  `json:"toolSizes,omitempty"`
	SkillSizes  []SkillSize `json:"skillSizes,omitempty"`
	Limits      Limits      `json:"limits"`

	// What it was made of and with, to find out what changed.
	input   Input
	options Options
	pieces  []*piece
	given   given

	toolPrint string // fingerprint of Tools
}

// given is what was passed in, before defaults and the mode changed it.
type given struct {
	estimator winnow.Estimator
	tools     []Tool
	files     []File
}

// Limits are the budgets that an assembly kept to.
type Limits struct {
	FileChars  int `json:"fileChars"`
	TotalChars int `json:"totalChars"`
	Window     int `json:"window,omitempty"`
}

// PartKind says what a part of the prompt was made from.
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

	// as the prompt has it, without its heading; of a volatile part, as the message has it
	Text string `json:"text,omitempty"`

	// where it begins in Assembly.Text, in bytes, with its heading and the blank lines before it
	Start       int    `json:"start"`
	End         int    `json:"end"`      // where it ends there, in bytes
	Heading     int    `json:"heading"`  // bytes from Start to Text
	RawChars    int    `json:"rawChars"` // of the text before it was cut
	Chars       int    `json:"chars"`    // of Text
	Tokens      int    `json:"tokens"`   // from Start to End
	Fingerprint string `json:"fingerprint"`
	Volatile    bool   `json:"volatile,omitempty"`
	Missing     bool   `json:"missing,omitempty"` // there is no such file
	Cut         bool   `json:"cut,omitempty"`
}

// Cut says what was cut or left out of a prompt. A part of which nothing is shown has Kept 0.
type Cut struct {
	Name   string   `json:"name"`
	Kind   PartKind `json:"kind"`
	Path   string   `json:"path,omitempty"` // of a file
	Reason string   `json:"reason"`
	Chars  int      `json:"chars"`          // it had
	Kept   int      `json:"kept"`           // of these
	Left   []string `json:"left,omitempty"` // titles of the Markdown sections of which something is left out, or names

	Missing bool `json:"missing,omitempty"` // the line that says that there is no such file was left out
}

// Message returns the system prompt as a message, one part a block, for hosts that keep it in the history.
func (a *Assembly) Message() winnow.Message {
	m := winnow.Message{Role: winnow.RoleSystem, Parts: make([]winnow.Part, len(a.Blocks))}
	for i, b := range a.Blocks {
		m.Parts[i] = winnow.Part{Text: b}
	}
	return m
}
