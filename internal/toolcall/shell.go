package toolcall

import (
	"iter"
	"slices"
	"strings"
	"unicode"
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

// Programs that write to the files that they are given, or to the last one, and those that run a text, which may write
// to any file that it names. A flag says it of others: sed -i, gofmt -w. Of some, a subcommand does: go fmt.
var (
	shellWriters = []string{"tee", "patch", "mv", "truncate", "rm", "ed", "ex", "vi", "vim", "nvim", "sponge",
		"apply_patch", "dd", "wget", "black", "isort", "rustfmt", "sd", "dos2unix", "unzip",
		"Set-Content", "Add-Content", "Out-File"}
	shellCopiers = []string{"cp", "install", "rsync", "ln"}
	gitWriters   = []string{"checkout", "restore", "mv", "rm", "stash", "apply", "reset"}
	formatters   = []string{"fmt", "format"}
	shellRunners = []string{"python", "python3", "node", "ruby", "perl", "php", "deno", "bun"}
	onlyLooking  = []string{"--check", "--check-only", "--diff", "--dry-run"}
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
	command = strings.ReplaceAll(command, ">|", ">")
	add := func(words ...string) {
		for _, word := range words {
			if word == "{}" || strings.HasPrefix(baseOf(strings.TrimLeft(word, `'"`)), "$") {
				paths = append(paths, namedIn(command)...) // a variable, or what was found: any that the command names
			}
			word = strings.Trim(word, "'\"`,;:()[]{}")
			if strings.Contains(word, "*.") || looksLikeFile(word) && !strings.HasPrefix(word, "/dev/") {
				paths = append(paths, word)
			}
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
			program := strings.Trim(baseOf(words[0]), `"'`)
			words = words[1:]
			last := words[len(words)-1]
			switch {
			case slices.Contains(shellRunners, program) && slices.ContainsFunc(words, givesText):
				return append(paths, namedIn(command)...)
			case program == "+++": // of a diff, for patch or git apply
				add(words[0])
			case slices.Contains(shellCopiers, program) && strings.Contains(baseOf(last), "."): // no folder
				add(last)
			case writes(program, words):
				add(words...)
				if strings.HasPrefix(strings.TrimSpace(segment), "xargs") {
					paths = append(paths, namedIn(command)...)
				}
			}
			if k := slices.IndexFunc(words, isOutput); k >= 0 && k+1 < len(words) {
				add(words[k+1])
			}
		}
	}
	return paths
}

// writes reports whether a program writes to the files that it is given, by its name, a flag or a subcommand.
func writes(program string, words []string) bool {
	switch {
	case slices.ContainsFunc(words, func(word string) bool { return slices.Contains(onlyLooking, word) }):
		return false
	case program == "git":
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(gitWriters, word) })
	case slices.Contains(shellWriters, program), slices.Contains(shellCopiers, program):
		return true
	}
	return slices.Contains(formatters, words[0]) || writesInPlace(program, words)
}

// isOutput reports whether the word behind a flag is what a program writes to: sort -o, curl -so.
func isOutput(word string) bool {
	return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "o")
}

// namedIn returns the files that a text names.
func namedIn(text string) []string {
	isNone := func(word string) bool { return !looksLikeFile(word) }
	return slices.DeleteFunc(strings.FieldsFunc(text, endsShellWord), isNone)
}

// shellWrappers run the program that is named behind them, and behind flags with and without values.
var shellWrappers = []string{"sudo", "doas", "env", "timeout", "nohup", "time", "nice", "xargs", "exec", "command",
	"sh", "bash", "zsh", "powershell", "pwsh", "docker", "podman", "kubectl", "ssh",
	"npx", "bunx", "uv", "poetry", "find", "then", "do", "else"}

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
		b.WriteString(command[:from])
		switch text := command[from:end]; {
		case !strings.ContainsFunc(text, dividesCommands):
			b.WriteString(text)
		case !strings.ContainsAny(text, " \t\n"): // a name with brackets
			b.WriteString(strings.Join(strings.FieldsFunc(text, dividesCommands), ""))
		}
		command = command[end:]
	}
	return b.String() + command
}

// givesText reports whether an argument of an interpreter says that the text it runs stands in the command.
func givesText(word string) bool {
	return slices.Contains([]string{"-", "-c", "-e", "-r", "eval"}, word) || strings.HasPrefix(word, "<<")
}

// inPlace is the short flag with which a program writes to the files that it reads.
var inPlace = map[string]string{
	"sed": "i", "gsed": "i", "perl": "i", "ruby": "i", "clang-format": "i", "yq": "i",
	"autopep8": "i", "yapf": "i", "comby": "i", "gofmt": "w", "goimports": "w", "gofumpt": "w", "shfmt": "w",
}

// writesInPlace reports whether a flag says that a program writes to the files that it reads.
func writesInPlace(program string, words []string) bool {
	flag := inPlace[program]
	return slices.ContainsFunc(words, func(word string) bool {
		if short, isFlag := strings.CutPrefix(word, "-"); isFlag && flag != "" && !strings.HasPrefix(short, "M") {
			if strings.Contains(strings.FieldsFunc("x"+short, isSign)[0], flag) { // -Ei, -i.bak
				return true
			}
		}
		return slices.Contains([]string{"inplace", "--output", "--write", "--fix"}, word) ||
			strings.HasPrefix(word, "--in-place")
	})
}

func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// endsShellWord reports whether r ends a name in a program's text.
func endsShellWord(r rune) bool { return strings.ContainsRune(" \t\n'\"`()[]{},;=", r) }

// dividesCommands reports whether r stands between commands.
func dividesCommands(r rune) bool { return strings.ContainsRune("|;&\n()", r) }

func looksLikeFile(word string) bool {
	return isPath(word) && !strings.HasPrefix(word, "-") && strings.ContainsAny(word, "./") &&
		!strings.ContainsAny(baseOf(word), ",*$<>")
}

func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
