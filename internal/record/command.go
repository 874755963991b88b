package record

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/runes"
)

// The command of a shell in its line.

// command returns the command of l in about shellChars characters. Its files stay. What goes first is what a
// here-document holds, then the middles of texts in quotes, redirections, and what the programs behind a pipe are told.
func (w *Writer) command(l *line) string {
	s := l.arguments.Command
	s = oneCommand(withoutDocuments(s[:min(len(s), mostCommandBytes)]))
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
	if s = shortQuotes(s); runes.AtLeast(s, shellChars+1) {
		s = shortPipes(s)
	}
	return runes.Clip(withoutLongWords(s, shellChars), pathChars)
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

// withoutDocuments returns a script with one line of each of its here-documents: the first that says something.
func withoutDocuments(s string) string {
	var b strings.Builder
	end, shown := "", ""
	tell := func() {
		if shown != "" {
			b.WriteString(shown[:runes.HeadWords(shown, valueChars)] + " …\n")
		}
		end, shown = "", ""
	}
	for line := range strings.Lines(s) {
		if end != "" {
			if text := runes.OneLine(line); text == end {
				tell()
			} else if shown == "" || opens(shown) && !opens(text) {
				shown = text
			}
			continue
		}
		b.WriteString(line)
		if _, word, ok := strings.Cut(line, "<<"); ok {
			word = strings.TrimLeft(word, "-~ \t\\'\"")
			if n := strings.IndexFunc(word, func(r rune) bool { return !runes.IsLetterOrDigit(r) && r != '_' }); n > 0 {
				end = word[:n]
			}
		}
	}
	tell()
	return b.String()
}

// openers are the words with which lines of programs begin that only say what these are made of.
var openers = []string{"import", "from", "use", "using", "package", "require", "include", "#include", "set", "BEGIN;"}

// opens reports whether a line of a document says nothing of what the document does.
func opens(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	return !strings.ContainsFunc(line, runes.IsLetterOrDigit) || strings.HasPrefix(line, "#!") ||
		slices.Contains(openers, word) || strings.Contains(rest, "= require(")
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
			text = clip(text, valueChars)
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

// clip shortens a text in its middle, of which the files and URLs stay: a text in quotes may be a script.
func clip(text string, most int) string {
	short := runes.Clip(text, most)
	head, tail, isCut := strings.Cut(short, " … ")
	if !isCut || len(head)+len(tail) > len(text) {
		return short
	}
	for word := range strings.FieldsFuncSeq(text[len(head):len(text)-len(tail)], endsPlace) {
		isShown := strings.Contains(head, word) || strings.Contains(tail, word)
		if !isShown && isPlace(word) && len(head)+len(word) < pathChars {
			head += " … " + word
		}
	}
	return strings.TrimSuffix(head+" … "+tail, " … ")
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
