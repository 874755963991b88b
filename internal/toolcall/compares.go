package toolcall

import (
	"slices"
	"strings"
)

// comparers exit with 1 to give an answer: two files differ, a condition does not hold. So do those in greps.
var comparers = []string{"cmp", "diff", "colordiff", "test", "[", "[[", "pgrep"}

// compares reports whether the exit code 1 of a command is an answer, which is so of the last program of a pipeline.
// What && or || joins it with could have failed too, unless that only changes the directory or prints something.
// showsMatches says that some program of the command searches.
func compares(command string, showsMatches bool) bool {
	if strings.Contains(command, "diff ") {
		return true
	}
	rest, joint, last := cutLast(strings.TrimRight(command, " \n;"))
	for joint == "&&" && isOneOfPrograms(last, "echo", "printf", "true") {
		rest, joint, last = cutLast(rest)
	}
	if !isOneOfPrograms(last, comparers...) && !isOneOfPrograms(last, greps...) {
		return showsMatches && joint != "&&" && joint != "||"
	}
	for joint == "|" {
		rest, joint, _ = cutLast(rest)
	}
	return joint != "&&" || isOneOfPrograms(rest, "cd") && !strings.ContainsAny(rest, "|;&\n")
}

// isOneOfPrograms reports whether a command begins with one of the programs.
func isOneOfPrograms(command string, programs ...string) bool {
	words := strings.Fields(command)
	for len(words) > 0 && isPrefix(words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && slices.Contains(programs, words[0])
}

// cutLast returns the last program of a command, what stands in front of it, and what joins them.
func cutLast(command string) (rest, joint, last string) {
	quote, start, end := byte(0), 0, 0
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("|;\n&", c) < 0 || isRedirection(command, i):
		default:
			end = i
			for i+1 < len(command) && command[i+1] == c {
				i++
			}
			start = i + 1
		}
	}
	return command[:end], command[end:start], command[start:]
}

// isRedirection reports whether the sign at i belongs to a redirection: 2>&1, &>log.
func isRedirection(command string, i int) bool {
	if command[i] != '&' {
		return false
	}
	return i > 0 && strings.IndexByte("<>", command[i-1]) >= 0 || strings.HasPrefix(command[i:], "&>")
}
