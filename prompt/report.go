package prompt

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/count"
)

// Report says what fills the context window. The fields up to Tools have the reference's names in JSON. [NewReport]
// leaves the fields marked "the host's" empty.
type Report struct {
	Source        Source       `json:"source"`
	GeneratedAt   time.Time    `json:"generatedAt,omitzero"`   // the host's
	SessionID     string       `json:"sessionId,omitempty"`    // the host's
	SessionKey    string       `json:"sessionKey,omitempty"`   // the host's
	Provider      string       `json:"provider,omitempty"`     // the host's
	Model         string       `json:"model,omitempty"`        // the host's
	WorkspaceDir  string       `json:"workspaceDir,omitempty"` // the host's
	MaxFileChars  int          `json:"bootstrapMaxChars"`
	MaxTotalChars int          `json:"bootstrapTotalMaxChars"`
	Sandbox       *Sandbox     `json:"sandbox,omitempty"` // the host's
	SystemPrompt  PromptChars  `json:"systemPrompt"`
	Files         []FileReport `json:"injectedWorkspaceFiles"`
	Skills        SkillsReport `json:"skills"`
	Tools         ToolsReport  `json:"tools"`

	Tokens   TokenReport     `json:"tokens"`   // what fills the window
	Sections []SectionReport `json:"sections"` // the parts of the prompt, in its order
	History  []KindReport    `json:"history"`  // the messages of the request by kind; they add up to Tokens.History
	Largest  []MessageReport `json:"largest"`  // the ten largest messages
	Edits    []EditReport    `json:"edits"`    // edits by operation
	Cache    CacheReport     `json:"cache"`
	Cuts     []Cut           `json:"cuts,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`

	usage winnow.Usage
}

// Source says where the numbers of a report come from.
type Source string

const (
	FromRun      Source = "run"      // a request that was sent and billed
	FromEstimate Source = "estimate" // a request that has not been sent
)

// Sandbox describes the sandbox that the host runs tools in.
type Sandbox struct {
	Mode      string `json:"mode"`
	Sandboxed bool   `json:"sandboxed"`
}

// PromptChars is the length of the system prompt in characters. Context and NonContext add up to Chars.
type PromptChars struct {
	Chars      int `json:"chars"`
	Context    int `json:"projectContextChars"` // the files and the text around them
	NonContext int `json:"nonProjectContextChars"`
}

// FileReport says how much of a file is in the prompt.
type FileReport struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Missing   bool   `json:"missing"`
	Raw       int    `json:"rawChars"`
	Injected  int    `json:"injectedChars"`
	Truncated bool   `json:"truncated"`
	Tokens    int    `json:"tokens"`
}

// SkillsReport is the size of the list of skills.
type SkillsReport struct {
	Chars   int         `json:"promptChars"`
	Entries []SkillSize `json:"entries"`
}

// ToolsReport is the size of the list of tools and of their schemas.
type ToolsReport struct {
	ListChars   int        `json:"listChars"`
	SchemaChars int        `json:"schemaChars"`
	Entries     []ToolSize `json:"entries"`
}

// TokenReport says what fills the window, in tokens. Prompt, Schemas, History and Correction add up to Used.
type TokenReport struct {
	Window     int `json:"window"`
	Reserve    int `json:"reserve"` // kept free for the answer
	Used       int `json:"used"`
	Free       int `json:"free"` // room for more history; negative: the request does not fit
	Prompt     int `json:"prompt"`
	Schemas    int `json:"schemas"`
	History    int `json:"history"`
	Correction int `json:"correction"` // the provider's counts minus the estimates
}

// SectionReport is the size of one part of the prompt.
type SectionReport struct {
	Name   string   `json:"name"`
	Kind   PartKind `json:"kind"`
	Chars  int      `json:"chars"`
	Tokens int      `json:"tokens"`
}

// KindReport is the size of all messages of one kind: "user", "injected", "assistant", "thinking", "image", "summary",
// "system", "opaque", and for each tool "call NAME" and "result NAME".
type KindReport struct {
	Kind   string `json:"kind"`
	Count  int    `json:"count"` // parts
	Tokens int    `json:"tokens"`
}

// MessageReport is the size of one message.
type MessageReport struct {
	Index  int         `json:"index"` // in Request.Messages
	Role   winnow.Role `json:"role"`
	Tool   string      `json:"tool,omitempty"`
	Tokens int         `json:"tokens"`
}

// EditReport says how often one kind of edit was made, and how much it saved.
type EditReport struct {
	Op    winnow.Op `json:"op"`
	Count int       `json:"count"`
	Saved int       `json:"saved"` // tokens
}

// CacheReport says how much of the request is in the provider's cache.
type CacheReport struct {
	Expected float64 `json:"expected"` // expected share of the request, before it was sent
	Billed   float64 `json:"billed"`   // share billed as read from the cache; 0 without usage
	Written  float64 `json:"written"`  // share billed as written to the cache
	Prompt   int     `json:"prompt"`   // billed tokens; 0 without usage
}

// NewReport reports on the request r with the prompt a. u is what the provider billed for it, or zero if it was not
// sent. With a nil r the report covers only the prompt.
func NewReport(a *Assembly, r *winnow.Request, u winnow.Usage) *Report {
	out := &Report{
		Source: FromEstimate, MaxFileChars: a.Limits.FileChars, MaxTotalChars: a.Limits.TotalChars,
		Cuts: a.Cuts, Warnings: a.Warnings, usage: u,
		Files: []FileReport{}, History: []KindReport{}, Largest: []MessageReport{}, Edits: []EditReport{},
		Sections: []SectionReport{},
	}
	if u.Prompt() > 0 {
		out.Source = FromRun
	}
	out.addParts(a)
	out.addLists(a)
	out.Tokens = TokenReport{Window: a.Limits.Window, Prompt: a.TextTokens, Schemas: a.ToolTokens, Used: a.Tokens}
	if r != nil {
		out.addHistory(r)
		out.addEdits(r.Edits)
		out.addWindow(r, u)
	}
	return out
}

func (r *Report) addParts(a *Assembly) {
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.Volatile {
			continue
		}
		n := chars(a.Text[p.Start:p.End])
		r.SystemPrompt.Chars += n
		r.Sections = append(r.Sections, SectionReport{p.Name, p.Kind, n, p.Tokens})
		switch p.Kind {
		case PartContext:
			r.SystemPrompt.Context += n
		case PartSkills:
			r.Skills.Chars = p.Chars
		case PartTools:
			r.Tools.ListChars = p.Chars
		case PartFile:
			r.SystemPrompt.Context += n
			raw, injected := p.RawChars, p.Chars
			if p.Missing {
				raw, injected = 0, 0
			}
			r.Files = append(r.Files, FileReport{p.Name, p.Path, p.Missing, raw, injected, p.Cut, p.Tokens})
		}
	}
	r.SystemPrompt.NonContext = r.SystemPrompt.Chars - r.SystemPrompt.Context
	for i := range a.Cuts { // files that are left out
		c := &a.Cuts[i]
		isReported := func(f FileReport) bool { return f.Name == c.Name && f.Path == c.Path }
		if c.Kind != PartFile || slices.ContainsFunc(r.Files, isReported) {
			continue
		}
		f := FileReport{Name: c.Name, Path: c.Path, Missing: c.Missing, Truncated: !c.Missing}
		if !c.Missing {
			f.Raw = c.Chars
		}
		r.Files = append(r.Files, f)
	}
}

func (r *Report) addLists(a *Assembly) {
	r.Skills.Entries, r.Tools.Entries = append([]SkillSize{}, a.SkillSizes...), append([]ToolSize{}, a.ToolSizes...)
	for _, t := range a.ToolSizes {
		if t.Tokens > 0 {
			r.Tools.SchemaChars += t.SchemaChars
		}
	}
}

// largestMessages is how many messages a report lists.
const largestMessages = 10

func (r *Report) addHistory(q *winnow.Request) {
	kinds := make(map[kind]*KindReport)
	add := func(kind kind, tokens int) {
		k := kinds[kind]
		if k == nil {
			k = &KindReport{Kind: strings.TrimSpace(kind.what + " " + kind.tool)}
			kinds[kind] = k
		}
		k.Count++
		k.Tokens += tokens
	}
	for i := range q.Messages {
		if i >= len(q.Counts) {
			break // a request that the host made itself
		}
		m, n := &q.Messages[i], q.Counts[i]
		r.Tokens.History += n
		eachPart(m, n, add)
		r.Largest = append(r.Largest, MessageReport{i, m.Role, m.ToolName, n})
	}
	slices.SortStableFunc(r.Largest, func(a, b MessageReport) int { return cmp.Compare(b.Tokens, a.Tokens) })
	r.Largest = slices.Clone(r.Largest[:min(len(r.Largest), largestMessages)])
	for _, k := range kinds {
		r.History = append(r.History, *k)
	}
	slices.SortFunc(r.History, func(a, b KindReport) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Kind, b.Kind))
	})
}

// imageWeight is the weight of an image relative to text in the same message, in bytes: about 1 200 tokens.
const imageWeight = 4_800

// eachPart divides the tokens of a message among its parts in proportion to their lengths. The shares add up to tokens.
func eachPart(m *winnow.Message, tokens int, add func(kind kind, tokens int)) {
	if m.Summary || len(m.Parts) <= 1 {
		var only *winnow.Part
		if len(m.Parts) == 1 {
			only = &m.Parts[0]
		}
		add(kindOf(m, only), tokens)
		return
	}
	whole := 0
	for i := range m.Parts {
		whole += weightOf(&m.Parts[i])
	}
	for i := range m.Parts {
		n, w := tokens, weightOf(&m.Parts[i])
		if i < len(m.Parts)-1 {
			n = int(float64(tokens) / float64(whole) * float64(w))
		}
		add(kindOf(m, &m.Parts[i]), n)
		tokens, whole = tokens-n, whole-w
	}
}

func weightOf(p *winnow.Part) int {
	if p.Kind == winnow.KindImage {
		return imageWeight
	}
	return 1 + len(p.Text) + len(p.Name) + len(p.Arguments) + len(p.Signature)
}

// kind is the key by which messages are counted.
type kind struct{ what, tool string }

// kindOf returns the kind of a part. p is nil for a message without parts.
func kindOf(m *winnow.Message, p *winnow.Part) kind {
	switch {
	case m.Summary:
		return kind{what: "summary"}
	case p != nil && p.Kind == winnow.KindImage:
		return kind{what: "image"}
	case p != nil && p.Kind == winnow.KindThinking:
		return kind{what: "thinking"}
	case p != nil && p.Kind == winnow.KindToolCall:
		return kind{"call", p.Name}
	case p != nil && p.Kind == winnow.KindOpaque:
		return kind{what: "opaque"}
	case m.Role == winnow.RoleTool:
		return kind{"result", m.ToolName}
	case m.Role == winnow.RoleUser && m.Injected:
		return kind{what: "injected"}
	}
	return kind{what: string(m.Role)}
}

func (r *Report) addEdits(edits []winnow.Edit) {
	for i := range edits {
		e := &edits[i]
		k := slices.IndexFunc(r.Edits, func(x EditReport) bool { return x.Op == e.Op })
		if k < 0 {
			k = len(r.Edits)
			r.Edits = append(r.Edits, EditReport{Op: e.Op})
		}
		r.Edits[k].Count++
		r.Edits[k].Saved += e.Before - e.After
	}
}

func (r *Report) addWindow(q *winnow.Request, u winnow.Usage) {
	t := &r.Tokens
	t.Used = q.Tokens
	t.Correction = q.Tokens - t.Prompt - t.Schemas - t.History
	t.Free = q.Budget - q.Tokens
	t.Reserve = max(0, t.Window-q.Budget)
	r.Cache.Expected = share(q.Cached, q.Tokens)
	if r.Cache.Prompt = u.Prompt(); r.Cache.Prompt > 0 {
		r.Cache.Billed = share(u.CacheRead, u.Prompt())
		r.Cache.Written = share(u.CacheWrite, u.Prompt())
	}
}

// share returns n / whole, rounded to a thousandth.
func share(n, whole int) float64 {
	if whole <= 0 {
		return 0
	}
	return math.Round(1_000*float64(n)/float64(whole)) / 1_000
}

// sessionReport is the session in a report, with the reference's names.
type sessionReport struct {
	Total   int `json:"totalTokens"`
	Input   int `json:"inputTokens"`
	Output  int `json:"outputTokens"`
	Context int `json:"contextTokens"`
}

func (r *Report) session() sessionReport {
	return sessionReport{count.Add(r.usage.Prompt(), max(0, r.usage.Output)), r.usage.Input, r.usage.Output,
		r.Tokens.Window}
}

// JSON returns the report in the reference's form, {"report": …, "session": …}, indented, or "" if the host set a time
// that JSON cannot hold.
func (r *Report) JSON() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(struct {
		Report  *Report       `json:"report"`
		Session sessionReport `json:"session"`
	}{r, r.session()}) // an error writes nothing
	return strings.TrimRight(b.String(), "\n")
}
