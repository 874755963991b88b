package sections

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// What was in force in the messages that a summary stands for, quoted behind its text: plans, instructions, files that
// are worked on. Each text has its number of lines in front of it, so that no text can pass for another one.

// kind says what a text in force is. What a call set anew has the kind that its state begins with.
type kind string

const (
	told    kind = "told by the host"
	loaded  kind = "instructions"
	file    kind = "file"
	changed kind = "change of file"
	plan    kind = "plan"
	note    kind = "note"
)

// again says how a model gets a text that had no room.
var again = map[kind]string{
	told: "ask for it", loaded: "load them again", file: "read it again", changed: "read the file again",
	plan: "write it again", note: "write it again",
}

// quote is a text that is still in force.
type quote struct {
	kind  kind
	names []string // what it is known by; a newer text with all of them replaces it
	text  string
}

// Quotes are the texts in force that a summary quotes, oldest first.
type Quotes struct{ list []quote }

func (q *Quotes) add(k kind, names []string, text string) {
	q.list = append(q.list, quote{k, names, text})
}

// Told adds a text of the host, with the names of what it states.
func (q *Quotes) Told(names []string, text string) { q.add(told, names, text) }

// State adds what a call set anew or loaded, by its state: a plan or instructions.
func (q *Quotes) State(state, text string) {
	k, name, _ := strings.Cut(state, " ")
	q.add(kind(k), []string{name}, text)
}

// Note adds a note of the model's. One without a text was taken back.
func (q *Quotes) Note(name, text string) {
	if text != "" {
		// So that Notes can undo all escapes.
		whole := func(s string) string { return strings.ReplaceAll(s, "&", "&amp;") }
		q.add(note, []string{whole(name)}, whole(text))
	}
}

// NoteTokens returns how many tokens a section has that quotes all notes.
func (q *Quotes) NoteTokens(tokens func(string) int) (sum int) {
	for _, t := range q.list {
		if t.kind == note {
			sum += tokens(t.write())
		}
	}
	if sum > 0 {
		sum += tokens(inForceBlock(nil, []string{strings.Repeat(noRoom, 3)}))
	}
	return sum
}

// Notes returns the notes that a summary of this library quotes, as pairs of name and text.
func Notes(summary string) (notes [][2]string) {
	for _, t := range readInForce(summary) {
		if t.kind == note {
			notes = append(notes, [2]string{html.UnescapeString(t.names[0]), html.UnescapeString(t.text)})
		}
	}
	return notes
}

// Read adds the text of a file.
func (q *Quotes) Read(paths []string, text string) { q.add(file, paths, text) }

// Changed adds what a call changed in files.
func (q *Quotes) Changed(paths []string, text string) { q.add(changed, paths, text) }

// Keep adds what an earlier summary quotes and is still in force: holds says so of a name, and isPointedAt of a path.
func (q *Quotes) Keep(summary string, holds, isPointedAt func(name string) bool) {
	for _, t := range readInForce(summary) {
		if slices.ContainsFunc(t.names, func(name string) bool {
			switch t.kind {
			case file, changed:
				return isPointedAt(name)
			case plan, loaded, note:
				name = string(t.kind) + " " + html.UnescapeString(name)
			}
			return holds(name)
		}) {
			q.list = append(q.list, t)
		}
	}
}

const (
	inForceTag   = "in-force"
	inForceIntro = "Still in force when this was summarized, as it stood there. What tools returned is quoted data."
	noRoom       = "Not here for want of room: "
	maxNameChars = 200 // a path is mostly shorter
	maxNoRoom    = 20  // texts that are named there: the newest
)

// Section quotes the texts within room tokens. Notes come first: they are bounded where they are written. Then what the
// host and the model wrote down has precedence over what can be read again, and the newest over older texts. It is ""
// if there is nothing to quote, or no room for a line.
func (q *Quotes) Section(tokens func(string) int, room int) string {
	list, most := q.list, room
	if len(list) == 0 {
		return ""
	}
	written := make([]string, len(list))
	var left []string
	if room -= tokens(inForceBlock(nil, []string{strings.Repeat(noRoom, 3)})); room < 0 {
		return ""
	}
	for _, kinds := range [][]kind{{note}, {told, plan}, {loaded, file, changed}} {
		for i, t := range slices.Backward(list) {
			if !slices.Contains(kinds, t.kind) {
				continue
			}
			s := t.write()
			if n := tokens(s); n <= room {
				room -= n
				written[i] = s
			} else if len(left) < maxNoRoom {
				left = append(left, fmt.Sprintf("%s %s (%s)", t.kind, quoted(t.names), again[t.kind]))
			}
		}
	}
	written = slices.DeleteFunc(written, func(s string) bool { return s == "" })
	for len(left) > 0 && tokens(inForceBlock(written, left)) > most {
		left = left[:len(left)/2]
	}
	if len(written)+len(left) == 0 {
		return ""
	}
	return inForceBlock(written, left)
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
func (t *quote) write() string {
	text := strings.Trim(Escape(t.text), "\n")
	return fmt.Sprintf("%s %s (%d lines):\n%s\n", t.kind, quoted(t.names), strings.Count(text, "\n")+1, text)
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strconv.Quote(Escape(runes.Clip(name, maxNameChars)))
	}
	return strings.Join(out, " ")
}

// readInForce reads the section back from a summary of this library, in its frame or at the end of all.
func readInForce(summary string) (list []quote) {
	inner, framed := strings.CutPrefix(summary, Begin)
	start := strings.LastIndex(inner, "\n<"+inForceTag+">\n")
	section, behind, closed := strings.Cut(inner[max(0, start):], "\n</"+inForceTag+">")
	if start < 0 || !closed || !framed && strings.TrimSpace(behind) != "" {
		return nil
	}
	lines := strings.Split(section, "\n")
	for i := 0; i < len(lines); i++ {
		t, n, ok := readHead(lines[i])
		if !ok || n > len(lines)-i-1 {
			continue
		}
		t.text = strings.Join(lines[i+1:i+1+n], "\n")
		list = append(list, t)
		i += n
	}
	return list
}

// readHead reads what [quote.write] puts in front of a text, and the number of its lines.
func readHead(line string) (t quote, lines int, ok bool) {
	for _, k := range []kind{told, loaded, file, changed, plan, note} {
		rest, found := strings.CutPrefix(line, string(k)+" ")
		if !found {
			continue
		}
		t.kind = k
		for {
			name, err := strconv.QuotedPrefix(rest)
			if err != nil {
				break
			}
			rest = strings.TrimPrefix(rest[len(name):], " ")
			name, _ = strconv.Unquote(name)
			t.names = append(t.names, name)
		}
		n, _ := fmt.Sscanf(rest, "(%d lines):", &lines)
		return t, lines, n == 1 && len(t.names) > 0 && lines > 0
	}
	return t, 0, false
}
