package inspect

import (
	"fmt"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// How much of a text is shown before and after an edit, in bytes.
const (
	shownText   = 480
	shownBefore = 80 // of the common part
)

// textsOf returns the texts of a request's messages, by the ids that replay gave them.
func textsOf(messages []winnow.Message) map[string]string {
	texts := make(map[string]string, len(messages))
	for i := range messages {
		if m := &messages[i]; m.ID != "" {
			texts[m.ID] = wholeText(m)
		}
	}
	return texts
}

// wholeText returns the text of a message including its thinking, and names content that is not text.
func wholeText(m *winnow.Message) string {
	text := ""
	for _, p := range m.Parts {
		switch p.Kind {
		case winnow.KindText:
			text += p.Text
		case winnow.KindThinking:
			text += "[thinking] " + p.Text + "\n"
		case winnow.KindToolCall:
			text += "\n" + p.Name + " " + string(p.Arguments)
		default:
			text += fmt.Sprintf("[%s]", p.Kind)
		}
	}
	return text
}

// difference returns both texts from shortly before where they begin to differ.
func difference(was, is string) (string, string) {
	n := 0
	for n < len(was) && n < len(is) && was[n] == is[n] {
		n++
	}
	from := max(0, n-shownBefore)
	return piece(was, from), piece(is, from)
}

// piece returns up to shownText bytes of a text, without split characters, and with the number of characters that are
// left out.
func piece(s string, from int) string {
	if s == "" {
		return ""
	}
	from = boundary(s, min(from, len(s)))
	to := boundary(s, min(len(s), from+shownText))
	out := printable(s[from:to])
	if from > 0 {
		out = "… " + out
	}
	if to < len(s) {
		out += fmt.Sprintf(" … %s more", recording.Count(utf8.RuneCountInString(s[to:]), "character"))
	}
	return out
}

// boundary returns the beginning of the character at i.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
