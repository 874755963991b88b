package toolcall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/runes"
)

// How the result of a call says that the call failed. Some hosts do not mark such a result as an error.

// refusalChars is how much of a result is searched for words that say whether the call worked.
const refusalChars = 160

// Refusal returns the beginning of text, the result of a call that changes or shows a file, if it says that the call
// did not do so. Otherwise it returns "".
func Refusal(text string) string {
	if fault := Fault(text); fault != "" {
		return fault
	}
	text = strings.TrimLeft(text, " \t\r\n")
	text = text[:runes.Head(text, refusalChars)]
	line, _, _ := strings.Cut(withoutWarning(text), "\n")
	if strings.HasPrefix(line, "{") || !isErrorTag(line) && !refuses(line) {
		return ""
	}
	return text
}

// withoutWarning returns text without the sentence that it begins with, if that is a warning and not all of the text:
// "Warning: no newline at the end; file saved".
func withoutWarning(text string) string {
	end := len(text)
	for _, mark := range [...]string{"\n", ". ", ";", "；", "。"} {
		if at := strings.Index(text[:end], mark); at >= 0 {
			end = at
		}
	}
	if end == len(text) {
		return text
	}
	first := ""
	for first = range strings.FieldsFuncSeq(text[:end], dividesWords) {
		break
	}
	if _, size := utf8.DecodeRuneInString(text[end:]); sayingOf(plainWord(first)) == saysWarning {
		if rest := strings.TrimLeft(text[end+size:], " \t\r\n"); rest != "" {
			return rest
		}
	}
	return text
}

// isErrorTag reports whether a line begins with a tag such as <error>, <tool_use_error> or <error_details>.
func isErrorTag(line string) bool {
	name, _, ok := strings.Cut(strings.TrimPrefix(line, "<"), ">")
	if name = strings.ToLower(name); !ok || !strings.HasPrefix(line, "<") {
		return false
	}
	return strings.HasSuffix(name, "error") || strings.HasPrefix(name, "error_")
}

// refuses reports whether a line says that nothing was done. The first word that says so or says the opposite decides:
// "Replaced 1 occurrence of 'not found'".
func refuses(line string) bool {
	done, doubtful := false, false
	words := append(plainWords(line), "")
	for n := 0; n+1 < len(words); n++ {
		word, next := words[n], words[n+1]
		says := sayingOf(word)
		switch {
		case strings.ContainsAny(word, `/\._=`): // a name
		case says == saysNone && namesTrouble(next):
			n++
		case isDiagnosis(words, n):
		case says == saysNone && !done && isEdit(next):
			return true
		case done && word == "0" && sayingOf(words[n-1]) == saysDone: // replaced 0 occurrences
			return next != "bytes" && next != "characters" // an empty file was written
		case done:
		case says == saysNo, says == saysFault, says == saysNone && n == 0 && word != "0":
			return !lacksFile(words, n) || !saysCreated(words[n+1:])
		case says == saysDone:
			if next == "since" { // the file was modified since it was read
				return true
			}
			done = true
		case says == saysMaybeNot, word == "out" && next == "of": // range, memory
			doubtful = true
		}
	}
	return doubtful && !done
}

// isEdit reports whether a word means what an editor does to a file: it "made no changes".
func isEdit(word string) bool { return word == "changes" || word == "edits" || word == "replacements" }

// isDiagnosis reports whether word n means the errors that a compiler or a linter finds in a file that was changed:
// "this file has errors", "LSP errors detected".
func isDiagnosis(words []string, n int) bool {
	if words[n] != "errors" {
		return false
	}
	if next := words[n+1]; next == "detected" || next == "found" {
		return true
	}
	before := max(0, n-1)
	if before > 0 && strings.Trim(words[before], "0123456789") == "" {
		before--
	}
	switch words[before] {
	case "has", "have", "contains", "lsp", "lint", "linter", "linting", "type", "compiler", "diagnostic":
		return true
	}
	return false
}

// lacksFile reports whether word n, which says that something is not there, says it of a file: "file not found".
func lacksFile(words []string, n int) bool {
	word, next := words[n], words[n+1]
	if word == "no" {
		return next == "such" && n+2 < len(words) && words[n+2] == "file"
	}
	if strings.Contains(word, "不存在") {
		return strings.Contains(word, "文件") || n > 0
	}
	isAbsent := strings.HasPrefix(next, "exist") || next == "found" || word == "missing"
	return isAbsent && slices.ContainsFunc(words[:n], func(s string) bool {
		return s == "file" || s == "path" || strings.ContainsAny(s, `/\.`)
	})
}

// saysCreated reports whether words say that a file was created, before another one says the opposite.
func saysCreated(words []string) bool {
	for n, word := range words {
		switch says := sayingOf(word); {
		case says == saysDone && (word == "created" || word == "wrote" || strings.Contains(word, "创建")):
			return n == 0 || words[n-1] != "be"
		case says == saysNo, says == saysNone, says == saysFault:
			return false
		}
	}
	return false
}

// namesTrouble reports whether a word names an error or a warning: "no errors" is no error.
func namesTrouble(word string) bool {
	says := sayingOf(word)
	return says == saysFault || says == saysWarning
}

// plainWords returns the words of line in lower case, without the signs around them.
func plainWords(line string) []string {
	words := strings.FieldsFunc(line, dividesWords)
	for n, word := range words {
		words[n] = plainWord(word)
	}
	return words
}

// plainWord returns a word in lower case, without the signs around it.
func plainWord(word string) string {
	if n := len(word); n > 0 && (ascii.IsPunct(word[0]) || ascii.IsPunct(word[n-1])) {
		word = strings.Trim(word, ".,:;!?()[]'*")
	}
	return strings.ToLower(strings.ReplaceAll(word, "’", "'"))
}

// dividesWords reports whether r stands between words.
func dividesWords(r rune) bool {
	switch r {
	case ' ', '\t', '<', '>', '"', '`', '：', '；', '，', '。', '！':
		return true
	}
	return false
}
