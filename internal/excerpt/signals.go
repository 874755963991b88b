package excerpt

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/internal/ascii"
)

// word is a run of ASCII letters in a text, with what is around it.
type word struct {
	text   string // as written
	before byte   // the byte in front; 0 at the beginning
	after  byte   // the byte behind; 0 at the end
	rest   string // all that comes behind
}

// words yields the runs of letters of s. Letters beside an underscore or a digit are part of a name, which reports
// nothing, and are left out.
func words(s string) iter.Seq[word] {
	return func(yield func(word) bool) {
		for i := 0; i < len(s); {
			if !ascii.IsLetter(s[i]) {
				i++
				continue
			}
			w := lettersAt(s, i)
			i += len(w.text)
			if !isName(w.before) && !isName(w.after) && !yield(w) {
				return
			}
		}
	}
}

// lettersAt returns the run of letters of s that begins at index start.
func lettersAt(s string, start int) word {
	end := start
	for end < len(s) && ascii.IsLetter(s[end]) {
		end++
	}
	w := word{text: s[start:end], rest: s[end:]}
	if start > 0 {
		w.before = s[start-1]
	}
	if end < len(s) {
		w.after = s[end]
	}
	return w
}

// isName reports whether c, beside letters, makes them part of a name.
func isName(c byte) bool { return c == '_' || ascii.IsDigit(c) }

// letterWords is a list of words in lower case, of two letters or more, found by the first.
type letterWords struct {
	once     sync.Once
	words    []string
	byLetter ['z' + 1][]string
	begins   [256]uint32 // see next
}

func (l *letterWords) of(letter byte) []string {
	l.once.Do(l.index)
	return l.byLetter[letter]
}

func (l *letterWords) index() {
	for _, w := range l.words {
		l.byLetter[w[0]] = append(l.byLetter[w[0]], w)
		group := uint32(1) << (w[0] % 8)
		for _, second := range [...]byte{w[1], w[1] - 'a' + 'A'} {
			l.begins[second] |= group
		}
		for _, first := range [...]byte{w[0], w[0] - 'a' + 'A'} {
			l.begins[first] |= group << 8
		}
	}
	for c := range 256 {
		if !ascii.IsLetter(byte(c)) {
			l.begins[c] |= 0xFF << 16
		}
	}
}

// in reports whether s holds a word of the list.
func (l *letterWords) in(s string) bool {
	l.once.Do(l.index)
	for i := l.next(s, 0); i >= 0; i = l.next(s, i+1) {
		if w := lettersAt(s, i); !isName(w.before) && !isName(w.after) && w.means(l) {
			return true
		}
	}
	return false
}

// next returns where, from index i of s on, a word begins that may be one of the list, or -1. It leaves none out. The
// list is split into eight groups by the first letter. For three bytes in a row, the tables in begins have the bit of a
// group in common if the first byte is no letter, the second begins a word of the group, and the third follows it in a
// word of the group. Most texts are read that way without looking at a word.
func (l *letterWords) next(s string, i int) int {
	const before = 0xFF << 16 // the beginning of a text counts as no letter
	last, this := uint32(before), uint32(before)
	if i > 0 {
		last = l.begins[s[i-1]]
	}
	if i < len(s) {
		this = l.begins[s[i]]
	}
	for i++; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		b0, b1, b2, b3 := l.begins[w[0]], l.begins[w[1]], l.begins[w[2]], l.begins[w[3]]
		b4, b5, b6, b7 := l.begins[w[4]], l.begins[w[5]], l.begins[w[6]], l.begins[w[7]]
		found := last>>16&(this>>8)&b0 | this>>16&(b0>>8)&b1 | b0>>16&(b1>>8)&b2 | b1>>16&(b2>>8)&b3 |
			b2>>16&(b3>>8)&b4 | b3>>16&(b4>>8)&b5 | b4>>16&(b5>>8)&b6 | b5>>16&(b6>>8)&b7
		if found&0xFF != 0 {
			break // in one of these
		}
		last, this = b6, b7
	}
	for ; i < len(s); i++ {
		third := l.begins[s[i]]
		if last>>16&(this>>8)&third&0xFF != 0 {
			return i - 1
		}
		last, this = this, third
	}
	return -1
}

// means reports whether w is in the list, in any case.
func (w word) means(list *letterWords) bool {
	for _, x := range list.of(w.text[0] | 0x20) {
		if len(x) == len(w.text) && strings.EqualFold(x, w.text) {
			return true
		}
	}
	return false
}

// isException reports whether w is the name of an exception: ValueError, NullPointerException.
func (w word) isException() bool {
	for _, suffix := range [...]string{"Exception", "Error"} {
		if len(w.text) > len(suffix) && strings.HasSuffix(w.text, suffix) {
			return true
		}
	}
	return false
}

// beginsReport reports whether w, with a colon behind it, begins a report: "error:", "ValueError:".
func (w word) beginsReport() bool {
	return w.before != '"' && (w.before != '.' && w.means(&reportWords) || w.isException())
}

var (
	// endWords show that the end of a text reports something: an error, or how it went.
	endWords = letterWords{words: []string{"error", "errors", "exception", "failed", "fail", "fails", "failure",
		"failures", "fatal", "panic", "traceback", "denied", "refused", "aborted", "killed", "timeout", "invalid",
		"undefined", "exit", "exited", "passed", "pass", "ok", "skipped", "total", "summary", "result", "results",
		"done", "finished", "completed", "complete", "elapsed", "success", "succeeded", "successful", "warning",
		"warnings"}}
	// reportWords begin a report when a colon follows.
	reportWords = letterWords{words: []string{"error", "exception", "fatal", "panic", "failed", "fail", "failure"}}
)

// What Chinese, Japanese and Korean tools print in their place. An end reports something with any of them, a line an
// error where a colon follows.
var (
	endSigns = []string{"错误", "失败", "异常", "成功", "完成", "通过", "退出", "錯誤", "異常", "エラー", "失敗", "完了", "오류", "실패", "성공",
		"완료"}
	reportSigns = []string{"错误：", "错误:", "失败：", "失败:", "异常：", "异常:", "錯誤：", "錯誤:", "異常：", "異常:", "エラー：", "エラー:", "失敗：",
		"失敗:", "오류:", "실패:"}
)

// reportsError reports whether a line tells of an error: "error: …", "FAIL …", "panic: …", "ValueError: …",
// "Traceback (…", "exit status 1", "错误：…". A line of a program that only handles errors does not count.
func reportsError(line string) bool {
	for w := range words(line) {
		switch {
		case w.text == "Traceback" || w.text == "traceback":
			return true
		case w.after == ':' && w.beginsReport():
			return true
		case w.text == "ERROR" || w.text == "FATAL" || w.text == "FAIL" || w.text == "FAILED":
			return true
		case w.after == '[' && w.text == "error": // rustc: error[E0382]
			return true
		case w.after == ' ' && (w.text == "exit" || w.text == "exited") && reportsExit(w.rest):
			return true
		}
	}
	return hasSign(line, reportSigns)
}

// hasSign reports whether one of the signs, none of which is ASCII, stands in a text.
func hasSign(text string, signs []string) bool {
	return !ascii.Only(text) && slices.ContainsFunc(signs, func(sign string) bool {
		return strings.Contains(text, sign)
	})
}

// reportsExit reports whether what follows "exit" names a code other than 0: " code 1", "ed with status: 2".
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

// ReportsError reports whether a line tells of an error, as far as its words say.
func ReportsError(line string) bool { return reportsError(line) }
