package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// maxCommand is the longest operating system command, in bytes. Titles are short, and links are URLs.
const maxCommand = 4_096

// withoutEscapes leaves out ANSI escape sequences. They colour a text, move a cursor or set a title. A link (OSC 8)
// stays, because its target stands nowhere else.
func withoutEscapes(s string) string {
	if strings.IndexByte(s, escape[0]) < 0 {
		return s
	}
	return sequence.Get().ReplaceAllStringFunc(s, func(found string) string {
		switch {
		case len(found) > maxCommand: // a text
			return strings.ReplaceAll(found, escape, "")
		case strings.HasPrefix(found, "\x1b]8;"):
			return found
		}
		return ""
	})
}

const escape = "\x1b"

// sequence matches an escape sequence: parameters, intermediate bytes and a final one (ECMA-48, 5.4); an operating
// system command, which ends with ESC \ or with a bell; a character set; save, restore, modes of the keyboard, line up,
// reset. Of one that is not known it matches the escape byte alone, which nobody sees.
var sequence = prose.NewPattern(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x00-\x1f]*(?:\a|\x1b\\)|[()][AB0]|[78=>Mc])?`)
