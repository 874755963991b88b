package toolcall

import (
	"slices"
	"strings"
)

// comparers exit with 1 to give an answer: two files differ, a condition does not hold. So do those in greps.
var comparers = []string{"cmp", "diff", "colordiff", "test", "[", "[[", "pgrep"}

// compares reports whether the exit code 1 of a command is an answer. The last program of a pipeline decides, and what
// stands in front of a semicolon does not count. What stands in front of && or || may have failed instead, unless it
// only changes the directory or prints something. showsMatches says that some program of the command searches: it may
// stand in a script or a loop that is not taken apart here.
func compares(command string, showsMatches bool) bool {
	rest, joint, last := cutLast(strings.TrimRight(command, " \n;"))
	for n := 0; n < mostCuts && joint == "&&" && isOneOfPrograms(last, "echo", "printf", "true"); n++ {
		rest, joint, last = cutLast(rest)
	}
	if !answers(last) {
		isWhole := joint == "" || joint == "|" || isOneOfPrograms(last, "done", "fi", "esac", "}", ")")
		return isWhole && (showsMatches || strings.Contains(command, "diff "))
	}
	for n := 0; n < mostCuts && joint == "|"; n++ {
		rest, joint, _ = cutLast(rest)
	}
	return joint != "&&" || isOneOfPrograms(rest, "cd") && !strings.ContainsAny(rest, "|;&\n")
}

// mostCuts is how many programs are cut from the end of a command, each of which takes a look at all of it: a pipeline
// that somebody writes has fewer.
const mostCuts = 16

// answers reports whether a command is one program that compares or searches.
func answers(command string) bool {
	if isOneOfPrograms(command, "git") {
		return strings.Contains(command, " diff ") || strings.Contains(command, " grep ")
	}
	return isOneOfPrograms(command, comparers...) || isOneOfPrograms(command, greps...)
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
		case c == '\\' && quote != '\'':
			i++ // also past the end of a line that goes on in the next one
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
