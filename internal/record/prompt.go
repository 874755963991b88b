package record

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Some hosts write a prompt behind what a command has written: the open file, the directory, "bash-$". It says nothing
// of the command.

// What is taken for a prompt: a line at the end of most results of a record's commands, whatever program they ran, and
// lines above it of which that holds up to a colon.
const (
	mostPromptLines = 3
	mostPromptLine  = 200 // bytes
	fewestPrompts   = 3   // results that end so
)

// findPrompt finds the lines of the prompt, the last one first.
func (w *Writer) findPrompt() {
	for depth := range mostPromptLines {
		programs := map[string]map[string]bool{} // by the last line of their results
		counts, results := map[string]int{}, 0
		for k := range w.lines {
			l := &w.lines[k]
			if !l.isAnswered || !l.call.Runs {
				continue
			}
			results++
			last := lastLine(w.withoutPrompt(l.result))
			shape := shapeOf(last, depth)
			if shape == "" || l.call.ExitCode(last) != "" {
				continue
			}
			if programs[shape] == nil {
				programs[shape] = map[string]bool{}
			}
			programs[shape][programOf(l.arguments.Command)] = true
			counts[shape]++
		}
		found := ""
		for shape, n := range counts {
			if n >= fewestPrompts && 2*n > results && len(programs[shape]) > 1 {
				found = shape
			}
		}
		if found == "" {
			return
		}
		w.prompt = append(w.prompt, found)
	}
}

// withoutPrompt returns the text of a result without the prompt.
func (w *Writer) withoutPrompt(text string) string {
	for depth, shape := range w.prompt {
		if last := lastLine(text); shapeOf(last, depth) == shape {
			text = strings.TrimRight(strings.TrimSuffix(text, last), " \t\r\n")
		}
	}
	return text
}

// lastLine returns the last line of a text that ends in none that is empty.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// shapeOf returns what a line of the prompt has in common with others in its place, without digits, or "" if the line
// is long. depth is how many lines of the prompt stand below it.
func shapeOf(line string, depth int) string {
	if len(line) > mostPromptLine {
		return ""
	}
	if depth > 0 {
		line, _, _ = strings.Cut(line, ":")
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, line)
}

// programOf returns the first word of a command, behind a change of directory.
func programOf(command string) string {
	_, command = directoryOf(command)
	program, _, _ := strings.Cut(runes.OneLine(command[:runes.Head(command, callChars)]), " ")
	return program
}
