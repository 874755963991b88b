package sections

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
)

// What people said, word for word, as the first part of a summary, and what came of it. Each text has its number of
// lines in front of it, so that no text can pass for another one. The bytes of an item follow from its message and
// from what stood around it alone: the beginning of the section stays the same from one summary to the next.

const (
	saidTag   = "people-said"
	saidIntro = "What people said, word for word, oldest first. An agent line is the end of what was answered to it."

	answerChars = 160 // the end of an answer is one line
	shortChars  = 80  // a text of no more says little without the one that it answers
)

// AskedChars is how much is quoted of a question, in front of what answers it: "B2." means nothing without what the
// agent had listed.
const AskedChars = 300

// saying is one item of the section.
type saying struct {
	kind sayingKind
	head string // what stands in front of the number of lines
	text string
	note string // how to recall the message
}

type sayingKind string

const (
	byPerson sayingKind = "person"
	byAnswer sayingKind = "answer"
	byAgent  sayingKind = "agent: "
	openHere sayingKind = "(Here stands the open request: a message of its own, as long as it is sent.)"
)

// Dialogue is what people said in the messages that a summary stands for, oldest first.
type Dialogue struct {
	list  []saying
	left  int  // older messages, which are left out
	open  int  // one more than the index of the open request, which has no text here; 0: none
	stays bool // that request is still a message
}

// Person adds what a person said, who may have a name. note says how to recall it.
func (d *Dialogue) Person(when time.Time, name, text, note string) {
	s := saying{byPerson, byWhom(byPerson, when, name), saidText(text), note}
	if d.open > 0 && !d.stays { // it was open when an earlier summary was written
		d.list[d.open-1], d.open = s, 0
		return
	}
	d.list = append(d.list, s)
}

// Answer adds what a person, who may have a name, answered through a tool to a question.
func (d *Dialogue) Answer(when time.Time, name, question, text, note string) {
	head := byWhom(byAnswer, when, name)
	if question != "" {
		head += ", to " + quoted([]string{secret.Mask(question)})
	}
	d.list = append(d.list, saying{byAnswer, head, saidText(text), note})
}

// Open marks the place of the open request, which is a message of its own beside the summary.
func (d *Dialogue) Open() {
	d.mark()
	d.stays = true
}

func (d *Dialogue) mark() {
	if d.open == 0 {
		d.list = append(d.list, saying{kind: openHere})
		d.open = len(d.list)
	}
}

// Agent adds the end of what the agent answered; next is what a person said to that.
func (d *Dialogue) Agent(text, next string) {
	most := answerChars
	if IsShort(next) {
		most = AskedChars
	}
	text = runes.OneLine(secret.Mask(strings.ToValidUTF8(text, "\uFFFD")))
	switch start := runes.TailWords(text, most); {
	case text == "":
		text = "(no text before the next message)"
	case start > 0:
		text = "… " + strings.TrimSpace(text[start:])
	}
	d.list = append(d.list, saying{kind: byAgent, text: markup.Escape(text)})
}

// IsShort reports whether a text says little without the one that it answers.
func IsShort(text string) bool {
	return !runes.AtLeast(strings.TrimSpace(text[ownWords(text):]), shortChars+1)
}

// ownWords returns where in text the words begin that stand behind elements, escaped or not: agents put what they know
// of the world in front of what a person typed, each in an element of its own.
func ownWords(text string) int {
	const tagChars = 60 // of the longest name, with its attributes
	rest := strings.TrimSpace(text)
	for {
		tag, isTag := strings.CutPrefix(rest, "<")
		if !isTag {
			tag, isTag = strings.CutPrefix(rest, "&lt;")
		}
		name, _, _ := strings.Cut(tag[:min(len(tag), tagChars)], ">")
		name, _, _ = strings.Cut(name, " ")
		end := "/" + name + ">"
		at := strings.Index(tag, end)
		switch {
		case rest == "":
			return 0
		case !isTag || name == "" || at < 0:
			return len(strings.TrimRightFunc(text, unicode.IsSpace)) - len(rest)
		}
		rest = strings.TrimSpace(tag[at+len(end):])
	}
}

// EndsOpen reports whether nothing says yet what came of the newest message.
func (d *Dialogue) EndsOpen() bool {
	return len(d.list) > 0 && d.list[len(d.list)-1].kind != byAgent
}

// byWhom returns the head of what a person said, with the day and the time as the host's clock showed them.
func byWhom(kind sayingKind, when time.Time, name string) string {
	head := string(kind)
	if !when.IsZero() {
		head += when.Format(", 2006-01-02 15:04")
	}
	if name = runes.OneLine(name); name != "" {
		head += ", " + quoted([]string{name})
	}
	return head
}

// saidText returns a text as the section has it: with its own line ends, and without markup of the frame.
func saidText(s string) string {
	parts := strings.Split(strings.ToValidUTF8(s, "\uFFFD"), "\r")
	for i := range parts {
		parts[i] = markup.Escape(parts[i])
	}
	return strings.Join(parts, "\r")
}

func (s *saying) write() string {
	switch s.kind {
	case openHere:
		return string(openHere) + "\n"
	case byAgent:
		return string(byAgent) + s.text + "\n"
	}
	return fmt.Sprintf("%s (%d lines):\n%s\n", s.head, strings.Count(s.text, "\n")+1, s.text)
}

func (s *saying) isOfPerson() bool { return s.kind == byPerson || s.kind == byAnswer }

// Words are the texts that a summary quotes whole.
type Words struct {
	texts   map[string]bool
	longest int // in bytes
}

// WordsIn returns what people said that a summary quotes whole, in its frame or not.
func WordsIn(summary string) Words {
	var d Dialogue
	d.Read(summary)
	words := Words{texts: map[string]bool{}}
	for i := range d.list {
		if s := &d.list[i]; s.isOfPerson() {
			words.texts[s.text], words.longest = true, max(words.longest, len(s.text))
		}
	}
	return words
}

// Have reports whether text is among them. One that is much longer, though control characters are left out, need not be
// read.
func (w Words) Have(text string) bool { return len(text) <= 2*w.longest && w.texts[saidText(text)] }

// Read adds what an earlier summary quotes, in its frame or as [Compaction.Summary] has it. The host may have dropped
// the messages.
func (d *Dialogue) Read(summary string) {
	d.Take(strings.TrimPrefix(summary, Begin))
}

// Take adds what a section at the beginning of text quotes, and returns the rest of text.
func (d *Dialogue) Take(text string) (rest string) {
	rest, found := strings.CutPrefix(text, "<"+saidTag+">\n")
	rest = strings.TrimPrefix(rest, saidIntro+"\n")
	first := len(d.list)
	for found {
		var line string
		line, rest, found = strings.Cut(rest, "\n")
		lines, at := 0, strings.LastIndex(line, " (")
		switch n, _ := fmt.Sscanf(line, leftOut, &lines); {
		case line == "</"+saidTag+">":
			return strings.TrimLeft(rest, "\n")
		case n == 1:
			d.left += lines
		case line == string(openHere):
			// What the host kept of the last request may have the open one in front of the summary.
			if n := len(d.list); n == 0 || n > first || d.list[n-1].kind != byPerson {
				d.mark()
			}
		case strings.HasPrefix(line, string(byAgent)):
			d.list = append(d.list, saying{kind: byAgent, text: strings.TrimPrefix(line, string(byAgent))})
		default:
			if _, err := fmt.Sscanf(line[max(0, at):], " (%d lines):", &lines); at < 0 || err != nil || lines < 1 {
				return text
			}
			end := nthLine(rest, lines)
			s := saying{head: line[:at], kind: byAnswer, text: rest[:max(0, end-1)]}
			if strings.HasPrefix(line, string(byPerson)) {
				s.kind = byPerson
			}
			d.list, rest = append(d.list, s), rest[end:]
		}
	}
	return text
}

// nthLine returns where line n of s begins, from 0, or len(s).
func nthLine(s string, n int) (at int) {
	for ; n > 0; n-- {
		k := strings.IndexByte(s[at:], '\n')
		if k < 0 {
			return len(s)
		}
		at += k + 1
	}
	return at
}

const leftOut = "(%d older messages of people have no room here.)"

func (d *Dialogue) write() string {
	if len(d.list) == 0 && d.left == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<" + saidTag + ">\n")
	if len(d.list) > 0 {
		b.WriteString(saidIntro + "\n")
	}
	if d.left > 0 {
		fmt.Fprintf(&b, leftOut+"\n", d.left)
	}
	for i := range d.list {
		b.WriteString(d.list[i].write())
	}
	b.WriteString("</" + saidTag + ">\n\n")
	return b.String()
}
