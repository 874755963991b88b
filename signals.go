package winnow

import (
	"iter"
	"strings"
	"sync"
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

// letterWords is a list of words in lower case, found by their first letter.
type letterWords struct {
	once     sync.Once
	words    []string
	byLetter ['z' + 1][]string
}

func (l *letterWords) of(letter byte) []string {
	l.once.Do(func() {
		for _, w := range l.words {
			l.byLetter[w[0]] = append(l.byLetter[w[0]], w)
		}
	})
	return l.byLetter[letter]
}

// means says that w is one of the list, in any case.
func (w word) means(list *letterWords) bool {
	for _, x := range list.of(w.text[0] | 0x20) {
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
	endWords = letterWords{words: []string{"error", "errors", "exception", "failed", "fail", "fails", "failure", "failures", "fatal", "panic", "traceback", "denied", "refused", "aborted", "killed", "timeout", "invalid", "undefined",
		"exit", "exited", "passed", "pass", "ok", "skipped", "total", "summary", "result", "results", "done", "finished", "completed", "complete", "elapsed", "success", "succeeded", "successful", "warning", "warnings"}}
	// reportWords begin a report when a colon, a bracket or a space and nothing of a program's text follows.
	reportWords = letterWords{words: []string{"error", "exception", "fatal", "panic", "failed", "fail", "failure"}}
)

// What Chinese, Japanese and Korean tools print in their place. An end reports something with any of them, a line an
// error where a colon follows.
var (
	endSigns    = []string{"错误", "失败", "异常", "成功", "完成", "通过", "退出", "錯誤", "異常", "エラー", "失敗", "完了", "오류", "실패", "성공", "완료"}
	reportSigns = []string{"错误：", "错误:", "失败：", "失败:", "异常：", "异常:", "錯誤：", "錯誤:", "異常：", "異常:", "エラー：", "エラー:", "失敗：", "失敗:", "오류:", "실패:"}
)

// reportsError says that a line reports an error: "error: …", "FAIL …", "panic: …", "ValueError: …",
// "Traceback (…", "exit status 1", "错误：…". A line of a program that only handles errors does not count.
func reportsError(line string) bool {
	for w := range words(line) {
		switch {
		case strings.EqualFold(w.text, "traceback"):
			return true
		case w.after == ':' && w.before != '"' && (w.before != '.' && w.means(&reportWords) || w.isException()):
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

// reportPairs are pairs of bytes that a line which reports an error has: any of the first before any of the second.
var reportPairs = [...]struct{ first, second string }{
	{"rnlcdeRNLCDE误败誤敗常ー류패", ":"}, // behind one of reportWords, a name that ends in Error or Exception, or one of reportSigns
	{"\xbc", "\x9a"}, // the end of a wide colon
	{"r", "["},       // error[
	{"x", "i"},       // exit, exited
	{"cC", "kK"},     // traceback
	{"R", "R"},       // ERROR
	{"F", "A"},       // FATAL, FAIL, FAILED
}

// pairBits says for each byte in which of reportPairs it is: in the upper half as a first, in the lower as a second.
var pairBits = func() (t [256]uint16) {
	for bit, p := range reportPairs {
		for i := range len(p.first) {
			t[p.first[i]] |= 1 << (8 + bit)
		}
		for i := range len(p.second) {
			t[p.second[i]] |= 1 << bit
		}
	}
	return t
}()

// nextReport returns the index of a byte in the next line of s that may report an error, or -1. It is a quick
// look for reportsError: it may be wrong about a line, but it leaves none out.
func nextReport(s string) int {
	if s == "" {
		return -1
	}
	last := pairBits[s[0]]
	i := 1
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		b0, b1, b2, b3 := pairBits[w[0]], pairBits[w[1]], pairBits[w[2]], pairBits[w[3]]
		b4, b5, b6, b7 := pairBits[w[4]], pairBits[w[5]], pairBits[w[6]], pairBits[w[7]]
		if last>>8&b0|b0>>8&b1|b1>>8&b2|b2>>8&b3|b3>>8&b4|b4>>8&b5|b5>>8&b6|b6>>8&b7 != 0 {
			break // one of these
		}
		last = b7
	}
	for ; i < len(s); i++ {
		next := pairBits[s[i]]
		if last>>8&next != 0 {
			return i
		}
		last = next
	}
	return -1
}
