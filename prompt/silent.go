package prompt

import (
	"strings"

	"github.com/winnowgo/winnow"
)

// SilentReplies returns the section that tells the model how to reply with nothing, for [winnow.StripSilent] and
// [winnow.SilentFilter]. Only the mode Full shows it.
func SilentReplies(token winnow.SilentToken) Section {
	t := silentText(token)
	return Section{Name: "Silent Replies", Text: `## Silent Replies

When you have nothing to say to the user, answer with nothing but: ` + t + `
It is the whole message: no other text before or behind it, no Markdown around it, and never at the end of a real answer.`}
}

// SilentHint adds a line to the text of a housekeeping turn, such as a memory flush, that tells the model how to reply
// with nothing. If the text already names the token, it is returned unchanged. The line is the reference's.
func SilentHint(text string, token winnow.SilentToken) string {
	t := silentText(token)
	if strings.Contains(text, t) {
		return text
	}
	return text + "\n\nIf no user-visible reply is needed, start with " + t + "."
}

func silentText(token winnow.SilentToken) string {
	if token.Text == "" {
		return winnow.SilentReply
	}
	return token.Text
}
