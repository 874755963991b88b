package secret

import (
	"slices"
	"strings"
)

// A flag is a name, so --password x needs no list. The short ones of programs are one.
var (
	attached = map[string][]string{ // the credential stands behind the letter without a blank
		"-p": {"mysql", "mariadb", "sshpass", "7z"},
		"-u": {"curl"},
	}
	short = map[string][]string{ // it is the next word
		"-a": {"redis-cli"},
		"-P": {"sqlcmd", "bcp", "zip", "unzip"},
		"-w": {"ldap"},
		"-k": {"openssl"},
		"-b": {"curl"},
		"-p": {"sshpass"},
	}
	userFlags = []string{"-u", "--user", "--auth", "--proxy-user", "-U"} // user:password
)

const mostCommand = 400 // bytes of a command in front of a flag

// flagValue returns the value of the flag that begins at s[i]: --password x, the password of curl's -u, and the short
// flags of programs.
func flagValue(s string, i int) (from, to int) {
	if i > 0 && s[i-1] != ' ' {
		return 0, 0
	}
	end := spanOf(s, i, func(c byte) bool { return inWord[c] || c == '-' })
	flag := s[i:end]
	if len(flag) < 2 {
		return 0, 0
	}
	letter, command := flag[:2], ""
	if attached[letter] != nil || short[flag] != nil {
		command = commandOf(s[:i])
	}
	isOfUser := letter == "-p" && looksRandom(flag[2:], 4) && namesUser(command)
	if isOfUser || len(flag) > 2 && runs(command, attached[letter]) {
		from, to = word(s, i+2)
		if letter == "-u" {
			return userValue(s, from, to)
		}
		return credentialIn(s, from, to)
	}
	if end == len(s) || s[end] != ' ' && s[end] != '=' {
		return 0, 0
	}
	next := end + 1
	if here := strings.TrimLeft(s[next:], " "); strings.HasPrefix(here, "<<<") {
		next = len(s) - len(here) + len("<<<")
	}
	from, to = word(s, next)
	switch value := s[from:to]; {
	case slices.Contains(userFlags, flag):
		return userValue(s, from, to)
	case s[end] == '=':
		return 0, 0 // see namedValue
	case flag == "-b" && !strings.Contains(value, "="): // a file
	case runs(command, short[flag]), flag == "-p" && namesUser(command):
		if !isNumber(value) && !strings.ContainsAny(value, ":/") {
			return credentialIn(s, from, to)
		}
	case nameAt(flag) == strong, strings.HasSuffix(flag, "-stdin") && next > end+1:
		if !strings.Contains(value, "/") || isRandomKey(value) {
			return credentialIn(s, from, to)
		}
	}
	return 0, 0
}

// word returns the ends of the next word of a shell behind s[i], or of what stands in quotes.
func word(s string, i int) (from, to int) {
	from = spanOf(s, i, func(c byte) bool { return c == ' ' })
	open := spanOf(s, from, func(c byte) bool { return c == '\\' })
	if open < len(s) && (s[open] == '\'' || s[open] == '"') {
		if end := closing(s, open, open > from); end > 0 {
			return open + 1, end
		}
		from = open + 1
	}
	return from, spanOf(s, from, func(c byte) bool { return strings.IndexByte(" \t\r\n\\'\"`|;", c) < 0 })
}

// credentialIn returns the ends of a word if it is a credential and neither a reference nor the next flag.
func credentialIn(s string, from, to int) (int, int) {
	if from >= to || refers(s[from:to]) || s[from] == '-' {
		return 0, 0
	}
	return from, to
}

// userValue returns the password in user:password.
func userValue(s string, from, to int) (int, int) {
	user, password, ok := strings.Cut(s[from:to], ":")
	if !ok {
		if user, password, ok = strings.Cut(s[from:to], "%"); !ok {
			return 0, 0
		}
	}
	if strings.HasPrefix(password, "//") || refers(password) || isNumber(password) {
		return 0, 0
	}
	return from + len(user) + 1, to
}

// commandOf returns the last command of s: what stands behind the last |, ; or & in its last line.
func commandOf(s string) string {
	s = s[max(0, len(s)-mostCommand):]
	return strings.TrimRight(s[strings.LastIndexAny(s, "\n|;&")+1:], " ")
}

// runs reports whether one of the programs is called in a command.
func runs(command string, programs []string) bool {
	for w := range strings.FieldsSeq(command) {
		w = w[strings.LastIndexAny(w, `/"'(`)+1:]
		for _, p := range programs {
			if strings.HasPrefix(w, p) {
				return true
			}
		}
	}
	return false
}

// namesUser reports whether a -p behind a command is of a password and not of a port: docker login -u me.
func namesUser(command string) bool {
	names := strings.Contains(command, " -u ") || strings.Contains(command, " --username ")
	return names && !runs(command, attached["-p"])
}

// piped returns the word that a command in front of the | at s[i] writes into one that reads a password: echo x |
// docker login --password-stdin. What stands in front of done is written already.
func piped(s string, i, done int) (from, to int) {
	if s[i] != '|' {
		return 0, 0
	}
	reader, _, _ := strings.Cut(s[i+1:], "\n")
	reader, _, _ = strings.Cut(reader, "|")
	if !asksPassword(reader) {
		return 0, 0
	}
	text := strings.TrimRight(s[max(0, i-mostCommand):i], " ")
	writer := commandOf(text)
	n := strings.LastIndex(writer, " ") + 1
	if first := strings.IndexAny(writer, `'"`); first > 0 && !runs(writer, []string{"printf"}) {
		n = first
	}
	at := max(0, i-mostCommand) + len(text) - len(writer) + n
	if n == 0 || at < done || !runs(writer[:n], []string{"echo", "printf"}) {
		return 0, 0
	}
	if from, to = word(s, at); strings.Contains(reader, "chpasswd") {
		return userValue(s, from, to)
	}
	return credentialIn(s, from, to)
}

// asksPassword reports whether a command reads a credential from its input.
func asksPassword(command string) bool {
	return slices.ContainsFunc([]string{"-stdin", "sudo -S", "passwd", "--with-token", "secret put", "secret set"},
		func(part string) bool { return strings.Contains(command, part) })
}

// hereDocument returns what the << at s[i] gives to a command that reads a credential: <<< x, or the lines up to a
// mark.
func hereDocument(s string, i int) (from, to int) {
	if !strings.HasPrefix(s[i:], "<<") || !asksPassword(commandOf(s[:i])) {
		return 0, 0
	}
	if strings.HasPrefix(s[i:], "<<<") {
		from, to = word(s, i+len("<<<"))
		return credentialIn(s, from, to)
	}
	end := strings.Trim(firstLine(s[i+2:]), "-'\" ")
	from = afterBreak(s, i+2+len(firstLine(s[i+2:])))
	n := strings.Index(s[from:], end)
	if end == "" || n < 1 {
		return 0, 0
	}
	body := strings.TrimSuffix(strings.TrimSuffix(s[from:from+n], "\n"), `\n`)
	return from, from + len(body)
}
