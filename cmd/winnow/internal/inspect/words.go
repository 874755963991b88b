package inspect

import (
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// excerptColumns is how much of a message is shown, in columns.
const excerptColumns = 70

// words describes message i of history with the beginning of its text, because an edit holds no text of the
// conversation.
func words(history []winnow.Message, i int) string {
	if i < 0 || i >= len(history) {
		return ""
	}
	m := &history[i]
	who := string(m.Role)
	if m.Role == winnow.RoleTool {
		who = "result of " + m.ToolName
	}
	if slices.ContainsFunc(m.Parts, isHidden) {
		who += ", with reasoning that only the provider can read"
	}
	if text := excerpt(allText(m)); text != "" {
		who += ": " + text
	}
	return Plain(who)
}

// isHidden reports whether a part is thinking of which the file has only the provider's seal.
func isHidden(p winnow.Part) bool {
	return p.Kind == winnow.KindThinking && strings.TrimSpace(p.Text) == "" && p.Signature != ""
}

// excerpt returns the beginning of a text, in one line.
func excerpt(text string) string {
	return recording.Clip(recording.OneLine(Plain(text[:min(len(text), 8*excerptColumns)])), excerptColumns)
}

// printable is plain for a text of several lines.
func printable(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Plain removes control sequences of terminals, and split characters.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
