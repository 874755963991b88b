package excerpt

import (
	"iter"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// word is a run of ASCII letters in a text, with what stands around it.
type word struct {
	text   string // as written
	before byte   // the byte in front; 0 at the beginning
	after  byte   // the byte behind; 0 at the end
	rest   string // all that comes behind
}

// words yields the runs of letters of s. It leaves out letters beside an underscore or a digit: they are part of a
// name, which reports nothing.
func words(s string) iter.Seq[word] {
	return func(yield func(word) bool) {
		for i := 0; i < len(s); {
			if !runes.IsLetter(s[i]) {
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
	for end < len(s) && runes.IsLetter(s[end]) {
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
func isName(c byte) bool { return c == '_' || runes.IsDigit(c) }

// isException reports whether w is the name of an exception: ValueError, NullPointerException.
func (w word) isException() bool {
	for _, suffix := range [...]string{"Exception", "Error"} {
		if len(w.text) > len(suffix) && strings.HasSuffix(w.text, suffix) {
			return true
		}
	}
	return false
}

// beginsReport reports whether w, with a colon behind it, begins a report: "error:", "ValueError:". Two colons join the
// names of code.
func (w word) beginsReport() bool {
	if strings.HasPrefix(w.rest, "::") {
		return false
	}
	return w.before != '"' && (w.before != '.' && reportWords.Has(w.text) || w.isException())
}

var (
	// endWords show that the end of a text reports something: an error, or how it went.
	endWords = prose.NewList([]string{"error", "errors", "exception", "failed", "fail", "fails", "failure",
		"failures", "fatal", "panic", "traceback", "denied", "refused", "aborted", "killed", "timeout", "invalid",
		"undefined", "exit", "exited", "passed", "pass", "ok", "skipped", "total", "summary", "result", "results",
		"done", "finished", "completed", "complete", "elapsed", "success", "succeeded", "successful", "warning",
		"warnings"}, nil)
	// reportWords begin a report when a colon follows.
	reportWords = prose.NewList([]string{"error", "exception", "fatal", "panic", "failed", "fail", "failure"}, nil)
)

// What Chinese, Japanese, Korean, Russian and Arabic tools print in place of these words. An end with any of endSigns
// reports something, and a line with any of reportSigns, which end in a colon, reports an error.
var (
	endSigns = []string{"错误", "失败", "异常", "成功", "完成", "通过", "退出", "錯誤", "異常", "エラー", "失敗", "完了", "오류", "실패", "성공",
		"완료", "Ошибка", "ошибка", "успешно", "خطأ", "فشل"}
	reportSigns = []string{"错误：", "错误:", "失败：", "失败:", "异常：", "异常:", "錯誤：", "錯誤:", "異常：", "異常:", "エラー：", "エラー:", "失敗：",
		"失敗:", "오류:", "실패:", "Ошибка:", "ошибка:", "خطأ:"}
)

// reportsError reports whether a line reports an error: "error: …", "FAIL …", "panic: …", "ValueError: …",
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
	return !runes.Only(text) && slices.ContainsFunc(signs, func(sign string) bool {
		return strings.Contains(text, sign)
	})
}

// reportsExit reports whether rest, which follows "exit" or "exited", names a code other than 0: " code 1", " with
// status: 2".
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
