package toolcall

import (
	"slices"
	"strings"
)

// shellReaders are the commands with which agents look at files.
var shellReaders = []string{"cat", "sed", "nl", "head", "tail", "less", "bat", "awk"}

// shellLook is how far a script is looked through: agents read a file with a short command.
const shellLook = 1_000

// shownByShell returns the files that a command shows, as far as that can be told.
func shownByShell(command string) (paths []string) {
	command = command[:min(len(command), shellLook)]
	for segment := range strings.FieldsFuncSeq(command, dividesCommands) {
		words := strings.Fields(segment)
		if len(words) < 2 || !slices.Contains(shellReaders, words[0]) {
			continue
		}
		for _, word := range words[1:] {
			if word = strings.Trim(word, `'"`); looksLikeFile(word) {
				paths = append(paths, word)
			}
		}
	}
	return paths
}

// dividesCommands reports whether r stands between commands.
func dividesCommands(r rune) bool { return strings.ContainsRune("|;&\n()", r) }

func looksLikeFile(word string) bool {
	return isPath(word) && !strings.HasPrefix(word, "-") && strings.ContainsAny(word, "./") &&
		!strings.ContainsAny(word, ",*$<>")
}
