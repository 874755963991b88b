package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow"
)

// ErrUnknown is wrapped by the error for a name that no skill or tool has.
var ErrUnknown = errors.New("prompt: there is no skill or tool of this name")

// Loader loads skills and tools by name for one conversation. It is safe for concurrent use.
type Loader struct {
	skills map[string]*Skill
	tools  map[string]*Tool

	mu     sync.Mutex
	loaded []string // names in the order of loading
}

// NewLoader returns a loader for skills and for tools on demand.
func NewLoader(skills []Skill, tools []Tool) *Loader {
	l := &Loader{skills: make(map[string]*Skill, len(skills)), tools: make(map[string]*Tool, len(tools))}
	for i := len(skills) - 1; i >= 0; i-- { // the first skill with a name counts
		l.skills[skills[i].Name] = &skills[i]
	}
	for i := len(tools) - 1; i >= 0; i-- {
		l.tools[tools[i].Name] = &tools[i]
	}
	return l
}

// Loaded is a loaded skill or tool.
type Loaded struct {
	Name    string
	Body    string         // the text of the skill; description and schema of the tool
	Message winnow.Message // to append to the history, if the body is not a tool result
}

const (
	loadedSkill = "[Skill loaded: "
	loadedTool  = "[Tool loaded: "
	released    = "[Released, and no longer in force: "
)

// inForce is the name under which what was loaded is in force: the one of winnow's for the result of a skill tool, so
// that the newer of the two replaces the other.
func inForce(name string) []string { return []string{"instructions " + strings.ToLower(name)} }

// Load returns the skill or the tool with that name. The error wraps [ErrUnknown] if there is none, or says why the
// file can no longer be read.
func (l *Loader) Load(name string) (Loaded, error) {
	begin, body := loadedSkill, ""
	if s := l.skills[name]; s != nil {
		text, err := s.body()
		if err != nil {
			return Loaded{}, err
		}
		body = text
	} else if t := l.tools[name]; t != nil {
		begin, body = loadedTool, string(FormJSON.write(t))
	} else {
		return Loaded{}, fmt.Errorf("%w: %q", ErrUnknown, cleanName(name))
	}
	l.remember(name)
	text := begin + name + "]\n\n" + body
	return Loaded{name, body, winnow.Message{Role: winnow.RoleUser, Injected: true, InForce: inForce(name),
		Parts: []winnow.Part{{Text: text}}}}, nil
}

// Release says that a loaded skill or tool is no longer needed, so that its text may go, and returns the message to
// append to the history. The error wraps [ErrUnknown] if nothing of that name is loaded.
func (l *Loader) Release(name string) (winnow.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.loaded, name)
	if i < 0 {
		return winnow.Message{}, fmt.Errorf("%w: %q is not loaded", ErrUnknown, cleanName(name))
	}
	l.loaded = slices.Delete(l.loaded, i, i+1)
	return winnow.Message{Role: winnow.RoleUser, Injected: true, InForce: inForce(name),
		Parts: []winnow.Part{{Text: released + name + "]"}}}, nil
}

func (l *Loader) remember(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.loaded, name) {
		l.loaded = append(l.loaded, name)
	}
}

// Resume finds in a history what was loaded. Call it after a restart.
func (l *Loader) Resume(history []winnow.Message) {
	for i := range history {
		m := &history[i]
		if m.Role != winnow.RoleUser || !m.Injected || len(m.Parts) == 0 {
			continue
		}
		line := lineAt(m.Parts[0].Text, 0)
		if name, isReleased := strings.CutPrefix(strings.TrimRight(line, "]\r\n"), released); isReleased {
			l.mu.Lock()
			l.loaded = slices.DeleteFunc(l.loaded, func(s string) bool { return s == name })
			l.mu.Unlock()
		}
		for _, begin := range []string{loadedSkill, loadedTool} {
			name, isLoaded := strings.CutPrefix(strings.TrimRight(line, "]\r\n"), begin)
			if isLoaded && (l.skills[name] != nil || l.tools[name] != nil) {
				l.remember(name)
			}
		}
	}
}

// Rules names what was loaded, for [winnow.CompactOptions.Rules], so that the model can load it again if a summary has
// no room to quote it. It is "" if nothing was loaded.
func (l *Loader) Rules() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.loaded) == 0 {
		return ""
	}
	return "## Loaded skills and tools\n\nLoaded earlier in this conversation; load one again by its name before " +
		"using it: " +
		strings.Join(l.loaded, ", ") + "."
}
