// Package judge compares what a model did: two next steps, a step with what stands no longer in the request, an answer
// with what code knows. It asks no model.
package judge

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Act is one thing that a model wants to do, in a form in which two ways to write the same are equal.
type Act struct {
	Does  string `json:"does"`  // reads, changes, runs, searches; or the name of the tool
	About string `json:"about"` // a file, a command, a pattern, or all arguments
}

// Step is what a model does next. Without acts it answers the person.
type Step []Act

// What an act does.
const (
	reads    = "reads"
	changes  = "changes"
	runs     = "runs"
	searches = "searches for"
)

// StepOf returns what an answer does next. Calls of the recall tool are none: they are answered, and what comes after
// them is the step.
func StepOf(answer *winnow.Message) (step Step) {
	for _, p := range answer.Parts {
		if p.Kind == winnow.KindToolCall && p.Name != winnow.RecallTool().Name {
			step = append(step, ActsOf(p.Name, p.Arguments)...)
		}
	}
	return step
}

// ActsOf returns what a call does: for each file that it works on, or one.
func ActsOf(tool string, arguments json.RawMessage) (acts []Act) {
	use, args := toolcall.Common.OfShell(tool, arguments), toolcall.Common.Arguments(arguments)
	if args.Command != "" { // what a shell may have written is no more than a guess
		use.Modified = toolcall.Common.Of(tool, arguments).Modified
	}
	switch {
	case len(use.Modified) > 0:
		acts = of(changes, use.Modified)
	case len(use.Read) > 0:
		acts = of(reads, use.Read)
	case args.Command != "":
		acts = []Act{{runs, command(args.Command)}}
	case args.Pattern != "":
		acts = []Act{{searches, plain(args.Pattern)}}
	default:
		acts = []Act{{tool, allTexts(arguments)}}
	}
	return acts
}

func of(does string, files []string) (acts []Act) {
	for _, f := range files {
		if act := (Act{does, path.Clean(strings.ReplaceAll(f, `\`, "/"))}); !slices.Contains(acts, act) {
			acts = append(acts, act)
		}
	}
	return acts
}

// Same reports whether two steps are the same next step: the first act of one is an act of the other, in either order,
// because models differ in how much they do at once. Two answers to the person are the same.
func (s Step) Same(other Step) bool {
	if len(s) == 0 || len(other) == 0 {
		return len(s) == len(other)
	}
	return other.has(s[0]) || s.has(other[0])
}

func (s Step) has(act Act) bool { return slices.ContainsFunc(s, act.Same) }

// Same reports whether two acts are the same. A file may be named by its whole path or by the end of it.
func (a Act) Same(b Act) bool {
	if a.Does != b.Does {
		return false
	}
	if a.Does != reads && a.Does != changes {
		return a.About == b.About
	}
	long, short := a.About, b.About
	if len(long) < len(short) {
		long, short = short, long
	}
	return long == short || strings.HasSuffix(long, "/"+short)
}

// String says in words what a step is.
func (s Step) String() string {
	if len(s) == 0 {
		return "answers the person"
	}
	var said []string
	for _, a := range s {
		said = append(said, strings.TrimSpace(a.Does+" "+a.About))
	}
	return strings.Join(said, "; ")
}

// command returns the program and the operands of the first command that does something: without a change of the
// directory in front, options, redirections and what its output goes through.
func command(script string) string {
	for _, divider := range []string{"\n", ";", "&&", "||"} { // the first line, and of it the first command
		for part := range strings.SplitSeq(script, divider) {
			if part = strings.TrimSpace(part); part != "" && !strings.HasPrefix(part, "cd ") {
				script = part
				break
			}
		}
	}
	script, _, _ = strings.Cut(script, "|")
	var words []string
	for word := range strings.FieldsSeq(script) {
		word = strings.Trim(word, `'"`)
		if word != "" && !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "<>") {
			words = append(words, strings.TrimPrefix(word, "./"))
		}
	}
	if len(words) == 0 {
		return plain(script)
	}
	return strings.Join(words, " ")
}

// allTexts joins the values of arguments, by their names.
func allTexts(arguments json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(arguments, &members) != nil {
		return plain(string(arguments))
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, ok := members[name].(string)
		if !ok {
			b, _ := json.Marshal(members[name])
			text = string(b)
		}
		texts = append(texts, plain(text))
	}
	return strings.Join(texts, " ")
}
