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

// How Claude Code delivers what a person writes while the agent works: among the elements behind the newest result, in
// one that begins with arrival, in front of an explanation. A tool whose output ends so is believed.
const (
	reminderBegins = "\n<system-reminder>\n"
	reminderEnds   = "\n</system-reminder>"
	arrival        = "The user sent a new message while you were working:\n"
	explanation    = "\n\nThis is how Claude Code surfaces messages"
)

// SaidIn returns what a person said in the result of a call of tool: the answer to what the tool asked, why the person
// refused the call, or what the person wrote meanwhile. A tool of a server writes its errors itself, so what it says of
// a refusal proves nothing.
func (t *Files) SaidIn(tool, result string, isError bool) (said string, ok bool) {
	result, reminders := Reminders(result)
	arrived, isAnswer := arrivedIn(reminders), t.asksPerson(tool)
	switch {
	case isAnswer:
		said = result
	case isError && baseName(tool) == askName(tool):
		said = refusal(result)
	}
	if arrived != "" {
		said = strings.TrimSpace(said + "\n\n" + arrived)
	}
	if runes.IsBlank(said) {
		return result, isAnswer
	}
	return said, true
}

// refusal returns what a person said with a refusal of a call, if result is one.
func refusal(result string) string {
	for _, r := range refusals {
		if strings.HasPrefix(result, r.begins) {
			_, said, _ := strings.Cut(result, r.behind)
			return strings.TrimSpace(said)
		}
	}
	return ""
}

// Reminders cuts the elements off that Claude Code puts behind a result, and returns what stands in them, in their
// order: what is left of a budget, what an agent that went on by itself reports, what a person wrote. The last lines of
// what the tool wrote are in front of them.
func Reminders(result string) (rest string, reminders []string) {
	text, ends := strings.CutSuffix(strings.TrimRight(result, "\n"), reminderEnds)
	for ends { // most results do not: nothing in them is looked for
		at := strings.LastIndex(text, reminderBegins)
		if at < 0 && !strings.HasPrefix(text, reminderBegins[1:]) { // it may be all of the result
			break
		}
		reminders = append(reminders, text[at+len(reminderBegins):])
		result = strings.TrimRight(text[:max(0, at)], "\n")
		text, ends = strings.CutSuffix(result, reminderEnds)
	}
	slices.Reverse(reminders)
	return result, reminders
}

// arrivedIn returns what a person wrote in reminders.
func arrivedIn(reminders []string) string {
	var arrived []string
	for _, text := range reminders {
		if words, isArrival := strings.CutPrefix(text, arrival); isArrival {
			if at := strings.LastIndex(words, explanation); at >= 0 {
				words = words[:at]
			}
			arrived = append(arrived, words)
		}
	}
	return strings.Join(arrived, "\n\n")
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
