package prompt

import "github.com/winnowgo/winnow"

// SilentReplies returns the section that tells the model how to say nothing, for [winnow.StripSilent] and
// [winnow.SilentFilter]. It stands in the full mode alone.
func SilentReplies(token winnow.SilentToken) Section {
	t := token.Text
	if t == "" {
		t = winnow.SilentReply
	}
	return Section{Name: "Silent Replies", Text: `## Silent Replies

When you have nothing to say to the user, answer with nothing but: ` + t + `
It is the whole message: no other text before or behind it, no Markdown around it, and never at the end of a real answer.`}
}
