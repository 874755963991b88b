package openclaw

import (
	"strings"

	"github.com/winnowgo/winnow/prompt"
)

// SilentReply is the token with which a model says that it has nothing to tell the user.
const SilentReply = "NO_REPLY"

// SilentToken is a token for silent replies and the form in which it counts: exactly as written, with white space
// around it, and at the end of a text after white space or *. If Loose, as in later versions of the reference, it
// counts in any case (of ASCII letters), repeated, and with punctuation around it: "**no_reply**."
type SilentToken struct {
	Text  string // "" means SilentReply
	Loose bool
}

// text is the token as it is written.
func (t SilentToken) text() string {
	if t.Text == "" {
		return SilentReply
	}
	return t.Text
}

// IsSilent reports whether there is nothing to show: text is only the token, or begins with it on a line of its own
// ("NO_REPLY\n\nSaved 3 facts.") or with a new word right behind it ("NO_REPLYSaved"). The token may be written as
// {"action":"NO_REPLY"}, and a <think> block may stand in front. A text that only mentions it is not silent.
func IsSilent(text string, token SilentToken) bool {
	return token.lead(text[afterThoughts(text):], true) == leadSilent || token.isAlone(text)
}

// StripSilent returns "" for a text that [IsSilent], and any other text without a trailing token, trimmed. Text that
// does not end in the token is returned unchanged.
func StripSilent(text string, token SilentToken) string {
	if IsSilent(text, token) {
		return ""
	}
	return token.strip(text)
}

// SilentReplies returns the section that tells the model how to reply with nothing, for [StripSilent] and
// [SilentFilter]. Only the mode [prompt.Full] shows it.
func SilentReplies(token SilentToken) prompt.Section {
	return prompt.Section{Name: "Silent Replies", Text: `## Silent Replies

When you have nothing to say to the user, answer with nothing but: ` + token.text() + `
It is the whole message: no other text before or behind it, no Markdown around it, and never at the end of a real answer.`}
}

// SilentHint adds the reference's line to the text of a housekeeping turn, which tells the model how to reply with
// nothing. A text that already names the token is returned unchanged.
func SilentHint(text string, token SilentToken) string {
	t := token.text()
	if strings.Contains(text, t) {
		return text
	}
	return text + "\n\nIf no user-visible reply is needed, start with " + t + "."
}
