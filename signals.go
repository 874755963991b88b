package winnow

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Signs in the output of a tool that its reader must not miss.

// word is a run of ASCII letters in a text, with what is around it.
type word struct {
	text   string // as written
	before byte   // the byte in front; 0 at the beginning
	after  byte   // the byte behind; 0 at the end
	rest   string // all that comes behind
}

// words yields the runs of letters of s. An underscore or a digit beside letters makes them a name, which
// says nothing.
func words(s string) iter.Seq[word] {
	return func(yield func(word) bool) {
		for i := 0; i < len(s); {
			if !isLetter(s[i]) {
				i++
				continue
			}
			start := i
			for i < len(s) && isLetter(s[i]) {
				i++
			}
			w := word{text: s[start:i], rest: s[i:]}
			if start > 0 {
				w.before = s[start-1]
			}
			if i < len(s) {
				w.after = s[i]
			}
			if !isName(w.before) && !isName(w.after) && !yield(w) {
				return
			}
		}
	}
}

func isName(c byte) bool { return c == '_' || '0' <= c && c <= '9' }

// letterWords is a list of words in lower case, by their first letter.
type letterWords ['z' + 1][]string

func newLetterWords(words ...string) *letterWords {
	var l letterWords
	for _, w := range words {
		l[w[0]] = append(l[w[0]], w)
	}
	return &l
}

// means says that w is one of the list, in any case.
func (w word) means(list *letterWords) bool {
	for _, x := range list[w.text[0]|0x20] {
		if len(x) == len(w.text) && strings.EqualFold(x, w.text) {
			return true
		}
	}
	return false
}

// isException says that w is the name of an exception: ValueError, NullPointerException.
func (w word) isException() bool {
	return len(w.text) > len("Exception") && strings.HasSuffix(w.text, "Exception") || len(w.text) > len("Error") && strings.HasSuffix(w.text, "Error")
}

var (
	// endWords say that an end reports something: an error, or how it went.
	endWords = newLetterWords("error", "errors", "exception", "failed", "fail", "fails", "failure", "failures", "fatal", "panic", "traceback", "denied", "refused", "aborted", "killed", "timeout", "invalid", "undefined",
		"exit", "exited", "passed", "pass", "ok", "skipped", "total", "summary", "result", "results", "done", "finished", "completed", "complete", "elapsed", "success", "succeeded", "successful", "warning", "warnings")
	// reportWords begin a report when a colon, a bracket or a space and nothing of a program's text follows.
	reportWords = newLetterWords("error", "exception", "fatal", "panic", "failed", "fail", "failure")
)

// What Chinese and Japanese tools print in their place. An end reports something with any of them, a line an
// error where a colon follows.
var (
	endSigns    = []string{"错误", "失败", "异常", "成功", "完成", "通过", "退出", "エラー", "失敗", "完了"}
	reportSigns = []string{"错误：", "错误:", "失败：", "失败:", "异常：", "异常:", "エラー：", "エラー:", "失敗：", "失敗:"}
)

// reportsError says that a line reports an error: "error: …", "FAIL …", "panic: …", "ValueError: …",
// "Traceback (…", "exit status 1", "错误：…". A line of a program that only handles errors does not count.
func reportsError(line string) bool {
	for w := range words(line) {
		switch {
		case strings.EqualFold(w.text, "traceback"):
			return true
		case w.after == ':' && w.before != '"' && (w.before != '.' && w.means(reportWords) || w.isException()):
			return true
		case w.text == "ERROR" || w.text == "FATAL" || w.text == "FAIL" || w.text == "FAILED":
			return true
		case w.after == '[' && w.text == "error": // rustc: error[E0382]
			return true
		case w.after == ' ' && (w.text == "exit" || w.text == "exited") && reportsExit(w.rest):
			return true
		}
	}
	return !isASCII(line) && containsAny(line, reportSigns...)
}

// reportsExit says that what follows "exit" names a code other than 0: " code 1", "ed with status: 2".
func reportsExit(rest string) bool {
	rest = rest[:min(len(rest), 40)]
	at := strings.IndexAny(rest, "0123456789")
	if at < 0 || rest[at] == '0' {
		return false
	}
	switch strings.Trim(rest[:at], " :=") {
	case "code", "status", "with", "with code", "with status":
		return true
	}
	return false
}

// mayReport has the bytes at which mayReportAt looks closer.
var mayReport = [256]bool{':': true, 0x9A: true, '[': true, 'x': true, 'k': true, 'K': true, 'R': true, 'A': true}

// nextReport returns the index of a byte in the next line of s that may report an error, or -1. It is a quick
// look for reportsError: it may be wrong about a line, but it leaves none out.
func nextReport(s string) int {
	for i := 1; i < len(s); i++ {
		if mayReport[s[i]] && mayReportAt(s, i) {
			return i
		}
	}
	return -1
}

// mayReportAt says that a word that reports an error may end, or be, at index i of s, which is above 0.
func mayReportAt(s string, i int) bool {
	before := s[i-1]
	switch s[i] {
	case ':': // behind one of reportWords, or a name that ends in Error or Exception
		return strings.IndexByte("rnlcde", before|0x20) >= 0 || before >= utf8.RuneSelf
	case 0x9A: // the last byte of a wide colon
		return before == 0xBC
	case '[': // error[
		return before == 'r'
	case 'x': // exit, exited
		return before == 'e' && i+1 < len(s) && s[i+1] == 'i'
	case 'k', 'K': // traceback
		return before|0x20 == 'c'
	case 'R': // ERROR
		return before == 'R'
	default: // FATAL, FAIL, FAILED
		return before == 'F'
	}
}
