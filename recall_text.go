package winnow

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/recall"
)

// What an answer of recall shows of a message: its texts and its calls, in lines, and behind them the model's thinking
// as far as it is text. Details are not shown, because they are the host's. A part without a text is only named.

// shownText returns what an answer of recall shows of m. Most results are one text, which is not copied.
func shownText(m *Message) string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == KindText {
		return m.Parts[0].Text
	}
	var b strings.Builder
	// Thoughts come last, so that they do not move the lines of the texts.
	for _, isThought := range [2]bool{false, true} {
		for i := range m.Parts {
			p := &m.Parts[i]
			if isThinking(*p) != isThought || isThought && p.Text == "" {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			writeShown(&b, p)
		}
	}
	return b.String()
}

// writeShown writes p to b as the model reads it in an answer of recall.
func writeShown(b *strings.Builder, p *Part) {
	switch p.Kind {
	case KindText:
		b.WriteString(p.Text)
	case KindThinking:
		b.WriteString("thinking: " + p.Text)
	case KindToolCall:
		b.WriteString("call of " + markup.Attribute(p.Name) + ": ")
		recall.WriteArguments(b, p.Arguments)
	case KindImage:
		fmt.Fprintf(b, "[an image, %d×%d pixels: not text, so it is not quoted]", p.Width, p.Height)
	default:
		fmt.Fprintf(b, "[%s, %d bytes: not text, so it is not shown]", markup.Attribute(p.MediaType), p.Bytes)
	}
}

// showsAll reports whether sent, which is sent in the place of m, shows all that m does. Thinking does not count.
func showsAll(sent, m *Message) bool {
	shown, all := shownParts(sent), shownParts(m)
	return len(shown) >= len(all) && slices.EqualFunc(shown[:len(all)], all, showsSame)
}

// shownParts returns the parts of m in which a model reads something, without its thinking.
func shownParts(m *Message) (parts []*Part) {
	for i := range m.Parts {
		if p := &m.Parts[i]; !isThinking(*p) && !isEmptyPart(p, true) {
			parts = append(parts, p)
		}
	}
	return parts
}

// showsSame reports whether a model reads the same in a and b. A signature or the size of an image makes no difference.
func showsSame(a, b *Part) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Name == b.Name && bytes.Equal(a.Arguments, b.Arguments)
}

// originOf says where m comes from: who wrote it or, if it is a result, of which tool and whether the call failed.
func originOf(m *Message, tool string) string {
	switch {
	case m.Role == RoleTool && m.IsError && tool != "":
		return "result of " + markup.Attribute(tool) + ", which failed"
	case m.Role == RoleTool && m.IsError:
		return "a result that failed"
	case m.Role == RoleTool && tool != "":
		return "result of " + markup.Attribute(tool)
	case m.Role == RoleTool:
		return "a result"
	case m.Summary:
		return "an earlier summary"
	case m.Role == RoleUser && m.Injected:
		return "the host"
	case m.Role == RoleAssistant:
		return "you"
	}
	return string(m.Role)
}
