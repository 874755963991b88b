package record

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/runes"
)

// The command of a shell in its line.

// command returns the command of l in about shellChars characters. Its files stay. What goes first is what a
// here-document holds, then the middles of texts in quotes, redirections, and long words.
func (w *Writer) command(l *line) string {
	s := l.arguments.Command
	s = oneCommand(w.withoutDocuments(s[:min(len(s), mostCommandBytes)]))
	before := w.directory // it ends there: many hosts begin each command where the session began
	dir, rest := directoryOf(s)
	if w.directory = dir; dir != "" && dir == before {
		s = rest
	}
	return shortCommand(s)
}

// shortCommand is [Writer.command] of one in a line.
func shortCommand(s string) string {
	if !runes.AtLeast(s, callChars+1) {
		return s
	}
	s = strings.NewReplacer(" 2>/dev/null", "", " 2>&1", "").Replace(s)
	return runes.Clip(withoutLongWords(shortQuotes(s), shellChars), pathChars)
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
	words, others := strings.Split(s, " "), []int{}
	for k, w := range words {
		isProgram := k == 0 || strings.Trim(words[k-1], "|&;") == ""
		isShort := len(w) <= len("…")+1 // git -C dir grep
		if !isProgram && !isShort && strings.Trim(w, "|&;<>") != "" && !strings.ContainsAny(w, `/\.`) {
			others = append(others, k)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return len(words[b]) - len(words[a]) })
	for k := 0; k < len(others) && len(s) > most; k++ {
		words[others[k]] = "…" + words[others[k]][len(strings.TrimRight(words[others[k]], ";")):]
		s = strings.Join(slices.CompactFunc(slices.Clone(words), bothLeftOut), " ")
	}
	return s
}

// oneCommand returns a script in one line, with a semicolon where a line ends a command.
func oneCommand(s string) string {
	if s = strings.TrimSpace(s); !strings.Contains(s, "\n") {
		return s // blanks in its quotes may be what it writes
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
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if rest, goesOn := strings.CutSuffix(line, "\\"); quote == 0 && !goesOn && endsCommand(line) {
			b.WriteString(line + "; ")
		} else {
			b.WriteString(strings.TrimSpace(rest) + " ")
		}
	}
	return strings.TrimSuffix(strings.ReplaceAll(strings.TrimSpace(b.String()), " ;", ";"), ";")
}

// endsCommand reports whether a command ends where a line of a script ends: not behind an operator, and not where a
// here-document begins or is left out.
func endsCommand(line string) bool {
	isOpen := line == "" || strings.IndexByte("|&;({", line[len(line)-1]) >= 0
	return !isOpen && !strings.HasSuffix(line, " …") && !strings.Contains(line, "<<")
}

// mostCommandBytes is how much of a command is read for its line.
const mostCommandBytes = 32 << 10

// withoutDocuments returns a script with one line of each of its here-documents: the first that says something, and not
// what another one of the record says. Of a document that is no text of a file, such as a program, the files and URLs
// stay.
func (w *Writer) withoutDocuments(s string) string {
	var b strings.Builder
	end, shown, isFile := "", "", false
	from, at := 0, 0 // where the document begins, and the next line
	tell := func(to int) {
		if shown != "" {
			if w.shown == nil {
				w.shown = map[string]bool{}
			}
			w.shown[shown] = true
			head := shown[:runes.HeadWords(shown, valueChars)]
			if !isFile {
				head = withPlaces(head, s[from:to], "")
			}
			b.WriteString(head + " …\n")
		}
		end, shown = "", ""
	}
	for line := range strings.Lines(s) {
		start := at
		at += len(line)
		if end != "" {
			if text := runes.OneLine(line); text == end {
				tell(start)
			} else if w.says(text) > w.says(shown) {
				shown = text
			}
			continue
		}
		b.WriteString(line)
		if before, word, ok := strings.Cut(line, "<<"); ok {
			isFile = strings.Contains(before+word, ">")
			word = strings.TrimLeft(word, "-~ \t\\'\"")
			if n := strings.IndexFunc(word, func(r rune) bool { return !runes.IsLetterOrDigit(r) && r != '_' }); n > 0 {
				end, from = word[:n], at
			}
		}
	}
	tell(at)
	return b.String()
}

// says tells how much a line of a document says, from 0 on.
func (w *Writer) says(line string) int {
	switch {
	case line == "":
		return 0
	case isBlank(line):
		return 1
	case opens(line):
		return 2
	case w.shown[line]:
		return 3
	}
	return 4
}

// opens reports whether a line of a document says nothing of what the document does: it has up to four words, computes
// nothing, and is neither a remark nor a sentence. So programs begin: import re, from a import b, set -e.
func opens(line string) bool {
	isIn := func(signs string, i int) bool { return strings.IndexByte(signs, line[i]) >= 0 }
	if isBlank(line) || strings.HasPrefix(line, "#!") {
		return true
	}
	last, words := len(line)-1, 0
	for word := range strings.FieldsSeq(line) {
		if !isBlank(word) && !strings.HasSuffix(word, ",") {
			words++
		}
	}
	isRemark := !runes.IsLetter(line[0]) && !isIn(`"'`, 0) && (line[0] != '#' || !runes.IsLetter(line[1]))
	computes := strings.ContainsAny(line[:last], "=(") || strings.Contains(line, ": ")
	return !isRemark && words < 5 && !computes && !isIn(".:!?", last)
}

func bothLeftOut(a, b string) bool { return a == "…" && b == "…" }

// shortQuotes shortens the texts in quotes of a command in their middles, by what the command is too long, each to at
// least valueChars: not a file or a URL, which is one word.
func shortQuotes(s string) string {
	room, long := shellChars, 0
	parts := quoted(s)
	isLong := func(k int) bool { // each second part stands in quotes
		isFile := strings.Contains(parts[k], "/") && !strings.ContainsAny(parts[k], " |*()$")
		return k%2 == 1 && len(parts[k]) > valueChars && !isFile
	}
	for k, part := range parts {
		if isLong(k) {
			long++
		} else {
			room -= len(part)
		}
	}
	for k := range parts {
		if isLong(k) {
			parts[k] = clip(parts[k], max(valueChars, room/long))
		}
	}
	return strings.Join(parts, "")
}

// quoted returns the parts of a command: what stands in front of a text in quotes, with the quote, the text, what
// follows, and so on.
func quoted(s string) (parts []string) {
	for from := 0; ; from = 1 { // behind the quote that ends the text before
		n := strings.IndexAny(s[from:], `"'`)
		if n < 0 {
			return append(parts, s)
		}
		begin := from + n + 1
		end := strings.IndexByte(s[begin:], s[begin-1])
		if end < 0 {
			return append(parts, s)
		}
		parts = append(parts, s[:begin], s[begin:begin+end])
		s = s[begin+end:]
	}
}

// clip shortens a text in its middle, of which the files and URLs stay: a text in quotes may be a script.
func clip(text string, most int) string {
	short := runes.Clip(text, most)
	head, tail, isCut := strings.Cut(short, " … ")
	if !isCut || len(head)+len(tail) > len(text) {
		return short
	}
	head = withPlaces(head, text[len(head):len(text)-len(tail)], tail)
	return strings.TrimSpace(head + " … " + tail)
}

// withPlaces returns head and behind it the files and URLs in text that neither head nor tail has, as many as fit.
func withPlaces(head, text, tail string) string {
	for word := range strings.FieldsFuncSeq(text, endsPlace) {
		isShown := strings.Contains(head, word) || strings.Contains(tail, word)
		isElementEnd := strings.LastIndexByte(word, '/') == 0 // </p>
		if !isShown && !isElementEnd && isPlace(word) && len(head)+len(word) < pathChars {
			head += " … " + word
		}
	}
	return head
}

func endsPlace(r rune) bool { return strings.ContainsRune(" \t\n'\"`()[]{},;=|<>&", r) }

// isPlace reports whether a word of a script is a file or a URL.
func isPlace(word string) bool {
	isPath := false
	identifier.Scan(word, func(_ string, kind identifier.Kind) {
		isPath = isPath || kind == identifier.Path || kind == identifier.URL
	})
	isPath = isPath || strings.Contains(word, `:\`) || strings.HasPrefix(word, `.\`)
	return isPath && !strings.ContainsAny(word, "*$^")
}
