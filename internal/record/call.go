package record

import (
	"slices"
	"strings"
	"unicode/utf8"

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
type member struct{ key, text string }

// membersOf returns the arguments of a call as they are written into a line: first texts, then numbers.
func membersOf(arguments []byte) (texts, numbers []member) {
	jsontext.Members(arguments, func(key string, value []byte) {
		text, isText := jsontext.Decode(value)
		switch {
		case isText && strings.TrimSpace(text) != "":
			texts = append(texts, member{key, text})
		case len(value) > 0 && (value[0] == '{' || value[0] == '['):
			texts = append(texts, member{key, runes.OneLine(mem.String(value))})
		case !isText:
			numbers = append(numbers, member{key, mem.String(value)})
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
		about = w.patched(a.Patched)
	case strings.HasPrefix(w.files.State(l.tool, l.raw), toolcall.Plan):
		rest = openItems(l.raw)
	case a.File == "" && a.Command != "":
		rest = w.command(l) + w.rest(l, "", func(m member) bool { return strings.HasSuffix(m.key, "id") })
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
		}
		if rest = w.rest(l, about, func(member) bool { return true }); len(texts)+len(numbers) == 0 {
			rest = mem.String(l.raw)
		}
	}
	about = markup.Value(runes.OneLine(about[:runes.Head(about, 4*pathChars)]), pathChars)
	room := max(callChars-utf8.RuneCountInString(name+about), valueChars) // the tool alone tells little
	if a.Command != "" && a.File == "" || l.call.Edits {
		room = pathChars
	}
	rest = markup.Value(runes.OneLine(rest), room)
	text := strings.TrimRight(name+" "+strings.TrimLeft(about+" "+rest, " "), " ")
	w.notePath(a.File, text)
	for _, p := range a.Patched {
		w.notePath(p.File, text)
	}
	return text
}

// How much the line of an edit has of it. In the recorded sessions, cost and lines are the same with it as without.
const (
	changeChars = 100 // of the old text and of the new one, without what they have in common
	mostWritten = 3   // names, where that is longer

	tookBack = "(as it was before an edit above)"
)

// written returns what an edit wrote: where its two texts differ if that is short, or the first names that only the
// last of its texts has, or else the beginning of what differs. Names are looked for there first, and not among all
// others.
func (w *Writer) written(l *line) string {
	var texts []string
	jsontext.Members(l.raw, func(_ string, value []byte) {
		if text, ok := jsontext.Decode(value); ok && text != l.arguments.File && text != l.arguments.Command {
			texts = append(texts, text)
		}
	})
	last := len(texts) - 1
	switch {
	case last < 0:
		return ""
	case last == 1:
		if w.noteChange(l.arguments.File, texts[0], texts[1]) {
			return tookBack
		}
		if words := changed(texts[0], texts[1]); words != "" {
			return words
		}
	}
	names := w.names.OfEdit(texts[:last], texts[last], mostWritten)
	switch {
	case len(names) > 0:
		return "(" + strings.Join(names, ", ") + ")"
	case last == 1:
		return beginning(differing(texts[0], texts[1]))
	}
	return ""
}

// beginning returns the beginning of what an edit has changed, where that is long and names nothing new.
func beginning(before, after string) string {
	sign, text := "+ ", after
	if strings.TrimSpace(after) == "" {
		sign, text = "- ", before
	}
	if text = runes.OneLine(text[:runes.Head(text, 4*changeChars)]); text == "" {
		return ""
	}
	return "(" + sign + strings.TrimSpace(text[:runes.HeadWords(text, changeChars)]) + " …)"
}

// changed returns in which words two texts differ, or "" if these are too long.
func changed(before, after string) string {
	before, after = differing(before, after)
	before, after = runes.OneLine(before), runes.OneLine(after)
	if before == after || runes.AtLeast(before, changeChars+1) || runes.AtLeast(after, changeChars+1) {
		return ""
	}
	if before != "" {
		before = "- " + before
	}
	if after != "" {
		after = "+ " + after
	}
	return "(" + strings.TrimSpace(before+" "+after) + ")"
}

// differing returns what two texts have between the words with which both begin and those with which both end.
func differing(before, after string) (string, string) {
	n := commonStart(before, after)
	before, after = before[n:], after[n:]
	n = 0
	for most := min(len(before), len(after)); n < most && before[len(before)-1-n] == after[len(after)-1-n]; {
		n++
	}
	for !isBetweenWords(before, len(before)-n) || !isBetweenWords(after, len(after)-n) {
		n--
	}
	return before[:len(before)-n], after[:len(after)-n]
}

// commonStart returns the length of the words with which both texts begin.
func commonStart(a, b string) (n int) {
	for most := min(len(a), len(b)); n < most && a[n] == b[n]; {
		n++
	}
	for !isBetweenWords(a, n) || !isBetweenWords(b, n) {
		n--
	}
	return n
}

// isBetweenWords reports whether no word goes on at s[i]. It does not where s ends.
func isBetweenWords(s string, i int) bool {
	isSpace := func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
	return i == 0 || i == len(s) || isSpace(s[i-1]) || isSpace(s[i])
}

// openItems returns what is open of a plan: the plan is sent whole each time, and begins with what is done.
func openItems(arguments []byte) string {
	text, _ := toolcall.Unfinished(arguments)
	if k := strings.LastIndexByte(text, '('); k >= 0 {
		if n, ok := strings.CutSuffix(text[k+1:], " finished)"); ok {
			return n + " finished, " + text[:k]
		}
	}
	return text
}

// rest returns the arguments of l that tells reports, as key=value, without what the call is about and without what a
// call before said of the same tool.
func (w *Writer) rest(l *line, about string, tells func(member) bool) string {
	var b strings.Builder
	texts, numbers := membersOf(l.raw)
	most := valueChars
	if len(texts) == 1 { // it has the room alone
		most = callChars
	}
	for _, m := range append(texts, numbers...) {
		if m.text == about || !tells(m) {
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
		text := runes.OneLine(m.text[:runes.Head(m.text, 4*pathChars)])
		if isList := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["); !isList || most < callChars {
			text = runes.Clip(text, most)
			if !isList && strings.Contains(text, " ") {
				text = `"` + text + `"`
			}
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
		if l.tool == "" || l.arguments.Command != "" {
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

// command returns the command of l in about shellChars characters. Its files and substitutions stay. What goes first
// is what a here-document holds, then the middles of texts in quotes, redirections, and what the programs behind a pipe
// are told.
func (w *Writer) command(l *line) string {
	s := l.arguments.Command
	s = oneCommand(withoutDocuments(s[:min(len(s), mostCommandBytes)]))
	before := w.directory // it ends there: many hosts begin each command where the session began
	dir, rest := directoryOf(s)
	if w.directory = dir; dir != "" && dir == before {
		s = rest
	}
	back := ""
	if files := w.files.OfShell(l.tool, l.raw).Modified; len(files) > 0 && w.takesBack(s, files[len(files)-1]) {
		back = " " + tookBack
	}
	return shortCommand(s) + back
}

// shortCommand is [Writer.command] of one in a line.
func shortCommand(s string) string {
	if !runes.AtLeast(s, callChars+1) {
		return s
	}
	const place = "\x00" // of a substitution, which is one word until the others have been shortened
	s = strings.ReplaceAll(s, place, "")
	substitutions := substitutionsIn(s)
	for _, x := range slices.Backward(substitutions) {
		s = s[:x.from] + place + s[x.to:]
	}
	s = strings.NewReplacer(" 2>/dev/null", "", " 2>&1", "").Replace(s)
	if s = shortQuotes(s); runes.AtLeast(s, shellChars+1) {
		s = shortPipes(s)
	}
	s = runes.Clip(withoutLongWords(s, shellChars), pathChars)
	for _, x := range substitutions {
		s = strings.Replace(s, place, x.short(), 1)
	}
	return s
}

// directoryOf returns the change of directory that a command begins with, or "", and the rest of the command.
func directoryOf(command string) (dir, rest string) {
	if dir, rest, ok := strings.Cut(command, " && "); ok && strings.HasPrefix(dir, "cd ") {
		return dir, rest
	}
	return "", command
}

// withoutLongWords leaves of a command that is longer than most the programs and what may be a file or a URL, and of
// the other words the shortest.
func withoutLongWords(s string, most int) string {
	words, others := strings.Fields(s), []int{}
	for k, w := range words {
		isProgram := k == 0 || strings.Trim(words[k-1], "|&;") == ""
		if !isProgram && strings.Trim(w, "|&;<>") != "" && !strings.ContainsAny(w, `/\.`) {
			others = append(others, k)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return len(words[b]) - len(words[a]) })
	for k := 0; k < len(others) && len(s) > most; k++ {
		words[others[k]] = "…"
		s = strings.Join(slices.CompactFunc(slices.Clone(words), bothLeftOut), " ")
	}
	return s
}

// oneCommand returns a script in one line, with a semicolon where a line ends a command.
func oneCommand(s string) string {
	if !strings.Contains(strings.TrimSpace(s), "\n") {
		return runes.OneLine(s)
	}
	var b strings.Builder
	var quote byte
	for line := range strings.Lines(s) {
		for i := range len(line) {
			switch c := line[i]; {
			case i > 0 && line[i-1] == '\\':
			case c == quote:
				quote = 0
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			}
		}
		line = runes.OneLine(line)
		if rest, goesOn := strings.CutSuffix(line, "\\"); quote == 0 && !goesOn && endsCommand(line) {
			b.WriteString(line + "; ")
		} else {
			b.WriteString(rest + " ")
		}
	}
	return strings.TrimSuffix(strings.ReplaceAll(runes.OneLine(b.String()), " ;", ";"), ";")
}

// endsCommand reports whether a command ends where a line of a script ends: not behind an operator, and not where a
// here-document begins or is left out.
func endsCommand(line string) bool {
	isOpen := line == "" || strings.IndexByte("|&;({", line[len(line)-1]) >= 0
	return !isOpen && !strings.HasSuffix(line, " …") && !strings.Contains(line, "<<")
}

// mostCommandBytes is how much of a command is read for its line.
const mostCommandBytes = 32 << 10

// withoutDocuments returns a script with the first lines of its here-documents alone.
func withoutDocuments(s string) string {
	var b strings.Builder
	end, isFirst := "", false
	for line := range strings.Lines(s) {
		if end != "" {
			if strings.TrimSpace(line) == end {
				end = ""
			} else if line = runes.OneLine(line); isFirst && line != "" {
				b.WriteString(line[:runes.HeadWords(line, valueChars)] + " …\n")
				isFirst = false
			}
			continue
		}
		b.WriteString(line)
		if _, word, ok := strings.Cut(line, "<<"); ok {
			word = strings.TrimLeft(word, "-~ \t\\'\"")
			if n := strings.IndexFunc(word, func(r rune) bool { return !runes.IsLetterOrDigit(r) && r != '_' }); n > 0 {
				end, isFirst = word[:n], true
			}
		}
	}
	return b.String()
}

func bothLeftOut(a, b string) bool { return a == "…" && b == "…" }

// shortQuotes shortens the texts in quotes of a command in their middles: not a file or a URL, which is one word.
func shortQuotes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], `"'`)
		if n < 0 {
			n = len(s) - i
		}
		b.WriteString(s[i : i+n])
		if i += n; i == len(s) {
			break
		}
		end := strings.IndexByte(s[i+1:], s[i])
		if end < 0 {
			b.WriteString(s[i:])
			break
		}
		text := s[i+1 : i+1+end]
		if isName := strings.ContainsAny(text, "/") && !strings.ContainsAny(text, " |*()$"); !isName {
			text = runes.Clip(text, valueChars)
		}
		b.WriteString(s[i:i+1] + text + s[i:i+1])
		i += end + 2
	}
	return b.String()
}

// shortPipes leaves of what stands behind each pipe of a command the program.
func shortPipes(s string) string {
	var b strings.Builder
	var quote byte
	skips := false
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ';' || c == '&':
			skips = false
		case c == '|' && (strings.HasPrefix(s[i:], "||") || strings.HasSuffix(s[:i], "|")):
			skips = false
		case c == '|':
			program, _, _ := strings.Cut(strings.TrimLeft(s[i+1:], "| "), " ")
			b.WriteString("| " + program + " ")
			skips = true
		}
		if !skips {
			b.WriteByte(s[i])
		}
	}
	return runes.OneLine(b.String())
}

// patched returns how a line names the files of a patch.
func (w *Writer) patched(patches []toolcall.Patch) string {
	files := make([]string, len(patches))
	for k, p := range patches {
		files[k] = w.path(p.File)
	}
	return strings.Join(files, " ")
}

// path returns how a line names a file: by its path or, if the last element of the path was last used for the same
// file, by that element alone.
func (w *Writer) path(file string) string {
	if name := lastElement(file); name != "" && w.paths[name] == file {
		return name
	}
	return file
}

// notePath notes that the last element of a path stands for file from now on, if text, the line that names file, has
// all of it: a line that was cut may not.
func (w *Writer) notePath(file, text string) {
	name := lastElement(file)
	switch {
	case w.paths[name] == file:
	case !strings.Contains(text, file), strings.Contains(file, "…"): // … of a path that was too long
		delete(w.paths, name)
	default:
		if w.paths == nil {
			w.paths = map[string]string{}
		}
		w.paths[name] = file
	}
}

// lastElement returns what stands behind the last slash or backslash of a path.
func lastElement(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
