package toolcall

import (
	"iter"
	"slices"
	"strings"
)

// shellReaders are the commands with which agents look at files.
var shellReaders = []string{"cat", "sed", "nl", "head", "tail", "less", "bat", "awk"}

// How far a script is looked through, in bytes: agents read a file with a short command, and may write it with a long
// one.
const (
	shellLook   = 1_000
	shellWrites = 32 << 10
)

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

// Programs that write to the files that they are given, and those that run a text, which may write to any file that it
// names. A flag says it of others: sed -i, gofmt -w. Of git, a subcommand does.
var (
	shellWriters = []string{"tee", "patch", "cp", "mv", "truncate", "rm", "install", "rsync", "ln", "ed", "ex",
		"sponge", "apply_patch", "dd", "wget", "black", "isort", "rustfmt",
		"Set-Content", "Add-Content", "Out-File"}
	gitWriters   = []string{"checkout", "restore", "mv", "rm"}
	shellRunners = []string{"python", "python3", "node", "ruby", "perl", "php", "deno", "bun"}
)

// writtenByShell returns the files that a command may have written, as far as that can be told: what its output goes
// to, what a program that writes is given, and what stands in a text that an interpreter runs. Texts in quotes are read
// like the rest, because they may be a script, and then left out: what stands in them may look like the end of a
// command.
func writtenByShell(command string) []string {
	command = command[:min(len(command), shellWrites)]
	paths := writtenBy(command)
	if bare := withoutTexts(command); bare != command {
		paths = append(paths, writtenBy(bare)...)
	}
	return paths
}

// WritesFile reports whether a command seems to write to a file that lasts, or to apply a patch.
func WritesFile(command string) bool {
	lasts := func(file string) bool { return !strings.HasPrefix(file, "/tmp/") }
	return slices.ContainsFunc(writtenByShell(command), lasts)
}

func writtenBy(command string) (paths []string) {
	add := func(word string) {
		if word = strings.Trim(word, "'\"`,;:()[]{}"); looksLikeFile(word) && !strings.HasPrefix(word, "/dev/") {
			paths = append(paths, word)
		}
	}
	for segment := range strings.FieldsFuncSeq(command, dividesCommands) {
		for _, to := range strings.Split(segment, ">")[1:] {
			if words := strings.Fields(to); len(words) > 0 {
				add(words[0])
			}
		}
		for words := range programsIn(segment) {
			if len(words) < 2 {
				break
			}
			program := strings.Trim(words[0][strings.LastIndexByte(words[0], '/')+1:], `"'`)
			switch {
			case slices.Contains(shellRunners, program) && slices.ContainsFunc(words[1:], givesText):
				for _, word := range strings.FieldsFunc(command, endsShellWord) {
					add(word)
				}
				return paths
			case program == "+++": // of a diff, for patch or git apply
				add(words[1])
			case program == "git" && slices.Contains(gitWriters, words[1]),
				slices.Contains(shellWriters, program), writesInPlace(program, words[1:]):
				for _, word := range words[1:] {
					add(word)
				}
			}
		}
	}
	return paths
}

// shellWrappers run the program that is named behind them, and behind flags with and without values.
var shellWrappers = []string{"sudo", "doas", "env", "timeout", "nohup", "time", "nice", "xargs", "exec", "command",
	"sh", "bash", "zsh", "powershell", "pwsh", "docker", "podman", "kubectl", "ssh",
	"npx", "bunx", "find", "then", "do", "else"}

// programsIn yields the words of a command from its program on. Where the first word only sets a variable or runs
// another program, it yields them from each later word on, too.
func programsIn(command string) iter.Seq[[]string] {
	words := strings.Fields(command)
	return func(yield func([]string) bool) {
		isWrapped := true
		for k := 0; k < len(words) && isWrapped && yield(words[k:]); k++ {
			isWrapped = k > 0 || strings.Contains(words[0], "=") || slices.Contains(shellWrappers, words[0])
		}
	}
}

// withoutTexts returns a command without the texts in quotes that seem to end a command.
func withoutTexts(command string) string {
	var b strings.Builder
	for {
		from := strings.IndexAny(command, `"'`)
		if from < 0 {
			break
		}
		n := strings.IndexByte(command[from+1:], command[from])
		if n < 0 {
			break
		}
		end := from + 1 + n + 1
		if text := command[from:end]; strings.ContainsFunc(text, dividesCommands) {
			b.WriteString(command[:from])
		} else {
			b.WriteString(command[:end])
		}
		command = command[end:]
	}
	return b.String() + command
}

// givesText reports whether an argument of an interpreter says that the text it runs stands in the command.
func givesText(word string) bool {
	return word == "-" || word == "-c" || word == "-e" || strings.HasPrefix(word, "<<")
}

// writesInPlace reports whether a flag says that a program writes to the files that it reads.
func writesInPlace(program string, words []string) bool {
	flag := map[string]string{
		"sed": "-i", "gsed": "-i", "awk": "-i", "gawk": "-i", "clang-format": "-i",
		"perl": "-i", "ruby": "-i", "gofmt": "-w", "goimports": "-w", "gofumpt": "-w",
	}[program]
	return slices.ContainsFunc(words, func(word string) bool {
		short, isFlag := strings.CutPrefix(word, "-")
		if isFlag && program == "curl" && !strings.HasPrefix(short, "-") && strings.HasSuffix(short, "o") {
			return true
		}
		isLong := word == "--output" || word == "--write" || word == "--fix" || strings.HasPrefix(word, "--in-place")
		return isLong || flag != "" && strings.HasPrefix(word, flag)
	})
}

// endsShellWord reports whether r ends a name in a program's text.
func endsShellWord(r rune) bool { return strings.ContainsRune(" \t\n'\"`()[]{},;=", r) }

// dividesCommands reports whether r stands between commands.
func dividesCommands(r rune) bool { return strings.ContainsRune("|;&\n()", r) }

func looksLikeFile(word string) bool {
	return isPath(word) && !strings.HasPrefix(word, "-") && strings.ContainsAny(word, "./") &&
		!strings.ContainsAny(word, ",*$<>")
}
