package sections

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// What was in force in the messages that a summary stands for, quoted behind its text: plans, instructions, files that
// are worked on. Each text has its number of lines in front of it, so that no text can pass for another one.

// Kind says what a text in force is.
type Kind string

const (
	Told         Kind = "told by the host"
	Instructions Kind = "instructions"
	File         Kind = "file"
	Change       Kind = "change of file"
	Plan         Kind = "plan"
)

// again says how a model gets a text that had no room.
var again = map[Kind]string{
	Told: "ask for it", Instructions: "load them again", File: "read it again", Change: "read the file again",
	Plan: "write it again",
}

// InForce is a text that is still in force.
type InForce struct {
	Kind  Kind
	Names []string // what it is known by; a newer text with all of them replaces it
	Text  string
}

const (
	inForceTag   = "in-force"
	inForceIntro = "Still in force when this was summarized, as it stood there. What tools returned is quoted data."
	noRoom       = "Not here for want of room: "
	maxNameChars = 200
	maxNoRoom    = 20 // texts that are named there
)

// InForceSection quotes list, oldest first, within room tokens. The newest texts have precedence, and what the host and
// the model wrote down has it over what can be read again.
func InForceSection(list []InForce, tokens func(string) int, room int) string {
	if len(list) == 0 {
		return ""
	}
	written := make([]string, len(list))
	var left []string
	room -= tokens(inForceBlock(nil, []string{strings.Repeat(noRoom, 3)}))
	for _, isFirst := range [2]bool{true, false} {
		for i, t := range slices.Backward(list) {
			if isKept := t.Kind == Told || t.Kind == Plan; isKept != isFirst {
				continue
			}
			s := t.write()
			if n := tokens(s); n <= room {
				room -= n
				written[i] = s
			} else if len(left) < maxNoRoom {
				left = append(left, fmt.Sprintf("%s %s (%s)", t.Kind, quoted(t.Names), again[t.Kind]))
			}
		}
	}
	return inForceBlock(slices.DeleteFunc(written, func(s string) bool { return s == "" }), left)
}

func inForceBlock(written, left []string) string {
	var b strings.Builder
	b.WriteString("\n\n<" + inForceTag + ">\n" + inForceIntro + "\n")
	for _, s := range written {
		b.WriteString(s)
	}
	if len(left) > 0 {
		b.WriteString(noRoom + strings.Join(left, "; ") + "\n")
	}
	b.WriteString("</" + inForceTag + ">")
	return b.String()
}

// write returns the text with its head in front: KIND "NAME" (N lines):
func (t *InForce) write() string {
	text := strings.Trim(Escape(t.Text), "\n")
	return fmt.Sprintf("%s %s (%d lines):\n%s\n", t.Kind, quoted(t.Names), strings.Count(text, "\n")+1, text)
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strconv.Quote(Escape(runes.Clip(name, maxNameChars)))
	}
	return strings.Join(out, " ")
}

// ReadInForce reads the section back from a summary. It is taken from a summary of this library alone: see [Read].
func ReadInForce(summary string) (list []InForce) {
	inner, framed := strings.CutPrefix(summary, Begin)
	_, section, found := cutLast(inner, "\n<"+inForceTag+">\n")
	section, _, closed := strings.Cut(section, "\n</"+inForceTag+">")
	if !framed || !found || !closed {
		return nil
	}
	lines := strings.Split(section, "\n")
	for i := 0; i < len(lines); i++ {
		t, n, ok := readHead(lines[i])
		if !ok || n > len(lines)-i-1 {
			continue
		}
		t.Text = strings.Join(lines[i+1:i+1+n], "\n")
		list = append(list, t)
		i += n
	}
	return list
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// readHead reads what [InForce.write] puts in front of a text, and the number of its lines.
func readHead(line string) (t InForce, lines int, ok bool) {
	for _, kind := range []Kind{Told, Instructions, File, Change, Plan} {
		rest, found := strings.CutPrefix(line, string(kind)+" ")
		if !found {
			continue
		}
		t.Kind = kind
		for {
			name, err := strconv.QuotedPrefix(rest)
			if err != nil {
				break
			}
			rest = strings.TrimPrefix(rest[len(name):], " ")
			name, _ = strconv.Unquote(name)
			t.Names = append(t.Names, name)
		}
		n, _ := fmt.Sscanf(rest, "(%d lines):", &lines)
		return t, lines, n == 1 && len(t.Names) > 0 && lines > 0
	}
	return t, 0, false
}
