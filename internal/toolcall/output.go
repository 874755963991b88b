package toolcall

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
)

// Output says what the result of a call is made of.
type Output uint8

const (
	// Report is what a program or a service says: a build, a test, an API.
	Report Output = iota
	// Content is text of a file, which an edit may quote byte for byte.
	Content
	// Matches are lines of files, each behind its path.
	Matches
)

// searches are the tools that show lines of files, besides those that have grep in their name.
var searches = []string{"rg", "ripgrep", "searchfiles", "searchfilecontent", "searchdir", "findinfiles"}

// Output judges the result of a call by its tool and its arguments. What may be a file is taken for one: a call that
// names a file, and a command in which a program occurs that shows files.
func (t *Files) Output(tool string, arguments json.RawMessage) Output {
	name := baseName(tool)
	switch {
	case name == "":
		return Content
	case strings.Contains(name, "grep") || slices.Contains(searches, name):
		return Matches
	case slices.Contains(t.read, name):
		return Content
	}
	if bytes.Contains(arguments, []byte("*** ")) { // a patch
		return Content
	}
	var command []byte
	namesFile := false
	jsontext.Members(arguments, func(key string, value []byte) {
		namesFile = namesFile || slices.Contains(t.paths, key) && len(value) > len(`""`)
		if (key == "code" || slices.Contains(commandKeys, key)) && len(value) > len(command) {
			command = value
		}
	})
	if namesFile {
		return Content
	}
	if bytes.IndexByte(command, '\\') >= 0 { // else the text between the quotes is what the shell is given
		return commandOutput(commandText(command))
	}
	return commandOutput(mem.String(command))
}

// Programs that show files, keys or rows of a database: somebody may need them byte for byte. A filter does that only
// where it does not read what another program wrote.
var (
	showers = []string{"cat", "bat", "batcat", "tac", "nl", "less", "more", "type", "gc", "get-content", "jq", "yq",
		"diff", "colordiff", "delta", "xmllint", "strings", "od", "xxd", "hexdump", "view", "show", "log", "blame",
		"cat-file", "zcat", "xzcat", "bzcat", "zless", "unzip", "base64", "openssl", "gpg", "sqlite3", "psql", "mysql"}
	filters = []string{"head", "tail", "sed", "awk", "gawk", "mawk", "cut", "perl", "sort", "fold", "tr", "uniq",
		"paste", "join", "column", "comm", "rev", "expand", "iconv"}
	greps = []string{"grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "findstr", "select-string"}
)

// commandOutput judges what a shell command prints. It reads no quotes, so that it sees the command in sh -c '…' and in
// ssh host '…' too. A word of a text that the command writes is read as well: at worst, its output is taken for a file.
func commandOutput(command string) Output {
	output := Report
	isPiped := false // the command reads another one's output
	for i := 0; i < len(command); {
		n := strings.IndexFunc(command[i:], endsWord)
		if n < 0 {
			n = len(command) - i
		}
		word := strings.ToLower(command[i : i+n])
		word = word[strings.LastIndexAny(word, `/\`)+1:]
		switch {
		case slices.Contains(showers, word), !isPiped && slices.Contains(filters, word):
			return Content
		case !isPiped && slices.Contains(greps, word):
			output = Matches
		case word == "xargs": // it runs the program that is named behind it
			isPiped = false
		}
		if i += n; i == len(command) {
			break
		}
		switch c := command[i]; c {
		case '|':
			isPiped = !strings.HasPrefix(command[i:], "||") && !strings.HasSuffix(command[:i], "|")
		case '\n', ';', '&', '(', '{', '`', '\'', '"':
			isPiped = false
		}
		i++
	}
	return output
}

// endsWord reports whether r stands between words of a command.
func endsWord(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}`'\"<>$,[]", r) }
