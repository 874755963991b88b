package toolcall

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/runes"
)

// Tools through which a person answers, and calls that a person refused with a text: their results are a person's
// words.

// commonAsks are the tools that ask a person, as askName writes them: of Claude Code (with its plan, which a person
// approves or refuses), Copilot, Gemini CLI, Codex, Cline and Roo Code, opencode, Hermes, deer-flow, LangChain, Cursor
// and Manus. Their whole name is compared: what a server calls its tool proves nothing.
var commonAsks = []string{"askuserquestion", "exitplanmode", "askuser", "askquestions", "requestuserinput",
	"askfollowupquestion", "question", "clarify", "askclarification", "askhuman", "askquestion", "messageaskuser"}

// askName returns the name of a tool in lower case, without underscores and dashes.
func askName(tool string) string { return withoutDashes.Replace(fold(tool)) }

func askPatterns(names []string) (patterns []string) {
	for _, name := range names {
		if name = askName(name); name != "" {
			patterns = append(patterns, name)
		}
	}
	return patterns
}

// asksPerson reports whether a tool asks a person, so that its result is what the person said.
func (t *Files) asksPerson(tool string) bool {
	name := askName(tool)
	return slices.ContainsFunc(t.asks, func(pattern string) bool { return matchStar(pattern, name) })
}

// refusals are how an error begins that says that a person refused a call, and what stands in front of the person's
// words: of Claude Code and opencode.
var refusals = [...]struct{ begins, behind string }{
	{"The user doesn't want to proceed with this tool use.", "the user said:"},
	{"The user rejected permission to use this specific tool call", "with the following feedback:"},
}

// SaidIn returns what a person said in the result of a call of tool: the answer to what the tool asked, or why the
// person refused the call. A tool of a server writes its errors itself, so what it says of a refusal proves nothing.
func (t *Files) SaidIn(tool, result string, isError bool) (said string, ok bool) {
	if isError && baseName(tool) == askName(tool) {
		for _, r := range refusals {
			if !strings.HasPrefix(result, r.begins) {
				continue
			}
			if _, said, ok = strings.Cut(result, r.behind); ok && !runes.IsBlank(said) {
				return strings.TrimSpace(said), true
			}
		}
	}
	return result, t.asksPerson(tool)
}

// Question returns the texts in the arguments of a call in their order, in one line of at most `most` characters: what
// was asked, and what there was to choose.
func Question(arguments json.RawMessage, most int) string {
	var texts []string
	room := most
	addTexts(arguments, deepest, func(text string) {
		if text = runes.OneLine(text); text != "" && room > 0 {
			texts = append(texts, text)
			room -= utf8.RuneCountInString(text)
		}
	})
	s := strings.Join(texts, " / ")
	return s[:runes.HeadWords(s, most)]
}

// deepest is how deep in arguments a question lies at most.
const deepest = 8

// addTexts calls add for each text in a value of JSON, in their order.
func addTexts(value []byte, depth int, add func(text string)) {
	if text, isText := jsontext.Decode(value); isText {
		add(text)
	} else if depth > 0 {
		jsontext.Members(value, func(_ string, member []byte) { addTexts(member, depth-1, add) })
		jsontext.Elements(value, func(element []byte) { addTexts(element, depth-1, add) })
	}
}
