package record

import (
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// The line of a call has what one needs to do it again, in the order in which one misses it: the tool; the file, URL or
// pattern that it is about, whole; what it was asked, shortened in its middle; numbers. What all calls of a tool in the
// record have in common stands in the first of them alone.

// How many characters of a call stay.
const (
	callChars  = 120 // of the tool and of what it was asked
	shellChars = 160 // of a command that is longer: its files, mostly
	pathChars  = 280 // of what the call is about: a path of the longest identifier fits into it
	valueChars = 60  // of one text that it was asked, and of one text in quotes in a long command

	fewestAlike = 3 // calls of a tool whose arguments are compared
)

// member is an argument of a call.
type member struct {
	key, text string
	isText    bool
}

// membersOf returns the arguments of a call as they are written into a line: first texts, then numbers.
func membersOf(arguments []byte) (texts, numbers []member) {
	jsontext.Members(arguments, func(key string, value []byte) {
		text, isText := jsontext.Decode(value)
		switch {
		case isText && strings.TrimSpace(text) != "":
			texts = append(texts, member{key, text, true})
		case len(value) > 0 && (value[0] == '{' || value[0] == '['):
			texts = append(texts, member{key, runes.OneLine(mem.String(value)), false})
		case !isText:
			numbers = append(numbers, member{key, mem.String(value), false})
		}
	})
	return texts, numbers
}

// tell returns the text of the line of a call. The lines in front of it have been told already.
func (w *Writer) tell(l *line) string {
	name := markup.Value(runes.OneLine(l.tool), callChars)
	a, about, rest := &l.arguments, "", ""
	switch {
	case len(a.Patched) > 0:
		if about = w.patched(a.Patched); !toolcall.Writes(l.tool) {
			about = "apply_patch " + about
		}
		before, after, _ := sidesOf(a.Patch)
		rest = change(before, after)
	case strings.HasPrefix(w.files.State(l.tool, l.raw), toolcall.Plan):
		plan, _ := toolcall.Unfinished(l.raw) // it is sent whole each time, and begins with what is done
		rest = markup.Value(runes.OneLine(plan), callChars)
	case a.File == "" && a.Command != "":
		rest = w.command(l) + w.rest(l, a.Command, func(m member) bool {
			return strings.HasSuffix(m.key, "id") || m.isText && !strings.Contains(m.text, " ")
		})
	case l.call.Edits: // what it wrote is in the file
		about = w.path(a.File)
		if a.Command != "" {
			about = markup.Value(runes.OneLine(a.Command), valueChars) + " " + about
		}
		rest = w.written(l)
	case a.File != "":
		if about = w.path(a.File); a.Command != "" {
			about = runes.Clip(runes.OneLine(a.Command), callChars) + " " + about
		} else if a.Pattern != "" {
			about += " for " + a.Pattern
		}
		rest = w.rest(l, a.File, func(m member) bool { return m.text != a.Pattern && m.text != a.Command })
	default:
		texts, numbers := membersOf(l.raw)
		for _, m := range texts {
			if strings.Contains(m.text, "://") && !strings.ContainsAny(m.text, " \n") || m.text == a.Pattern {
				about = m.text
				break
			}
			if strings.HasPrefix(m.text, `["`) && isPlace(m.text) { // several files
				about = m.text
			}
		}
		if rest = w.rest(l, about, func(member) bool { return true }); len(texts)+len(numbers) == 0 {
			rest = markup.Value(runes.OneLine(mem.String(l.raw)), callChars)
		}
	}
	about = markup.Value(runes.OneLine(about[:runes.Head(about, 4*pathChars)]), pathChars)
	rest = markup.Value(rest, pathChars)
	text := strings.TrimRight(name+" "+strings.TrimLeft(about+" "+strings.TrimLeft(rest, " "), " "), " ")
	w.notePath(a.File, text)
	for _, p := range a.Patched {
		w.notePath(p.File, text)
	}
	return text
}

// rest returns the arguments of l that tells reports, as key=value, without what the call is about and without what a
// call before said of the same tool.
func (w *Writer) rest(l *line, about string, tells func(member) bool) string {
	texts, numbers := membersOf(l.raw)
	var told []member
	short, long := 0, 0 // characters of those that stay whole, and how many others there are
	for _, m := range append(texts, numbers...) {
		if m.text == about || m.text == l.arguments.Command || !tells(m) {
			continue
		}
		c := w.common[l.tool+"\x00"+m.key]
		if c.calls >= fewestAlike && c.isSame && !l.call.Shows {
			if c.isTold {
				continue
			}
			c.isTold = true
			w.common[l.tool+"\x00"+m.key] = c
		}
		m.text = runes.OneLine(m.text[:runes.Head(m.text, 4*pathChars)])
		if len(m.text) > valueChars {
			long++
		} else {
			short += len(m.key+m.text) + 2
		}
		told = append(told, m)
	}
	most := max(valueChars/2, min(callChars, (callChars-len(l.tool+about)-short)/max(1, long)))
	var b strings.Builder
	for _, m := range told {
		text := m.text
		if len(text) > valueChars {
			text = clip(text, most)
		}
		if m.isText && strings.Contains(text, " ") {
			text = `"` + text + `"`
		}
		b.WriteString(" " + m.key + "=" + text)
	}
	return b.String()
}

// commonValue is what calls of one tool say in one argument.
type commonValue struct {
	text           string
	calls          int
	isSame, isTold bool
}

// compare notes what the calls of the record have in common.
func (w *Writer) compare() {
	w.common = map[string]commonValue{}
	for k := range w.lines {
		l := &w.lines[k]
		if l.tool == "" {
			continue
		}
		texts, numbers := membersOf(l.raw)
		for _, m := range append(texts, numbers...) {
			key := l.tool + "\x00" + m.key
			c := w.common[key]
			c.isSame = c.calls == 0 || c.isSame && c.text == m.text
			c.text, c.calls = m.text, c.calls+1
			w.common[key] = c
		}
	}
}

// patched returns how a line names the files of a patch, and what it did to those that it did not just change.
func (w *Writer) patched(patches []toolcall.Patch) string {
	files := make([]string, len(patches))
	for k, p := range patches {
		if files[k] = w.path(p.File); p.Action != "edited" {
			files[k] = p.Action + " " + files[k]
		}
	}
	return strings.Join(files, ", ") // what was done to one is not done to the next
}

// path returns how a line names a file: by its path or, if the last element of the path was used for that file and no
// other, by that element alone.
func (w *Writer) path(file string) string {
	if name := lastElement(file); name != "" && w.paths[name] == file {
		return name
	}
	return file
}

// notePath notes that the last element of a path stands for file from now on, if text, the line that names file, has
// all of it: a line that was cut may not. One that stands for several files stands for none.
func (w *Writer) notePath(file, text string) {
	name := lastElement(file)
	switch before, isNamed := w.paths[name]; {
	case before == file:
	case isNamed:
		w.paths[name] = ""
	case strings.Contains(text, file) && !strings.Contains(file, "…"): // … of a path that was too long
		if w.paths == nil {
			w.paths = map[string]string{}
		}
		w.paths[name] = file
	}
}

// lastElement returns what stands behind the last slash or backslash of a path.
func lastElement(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
