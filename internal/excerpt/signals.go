package excerpt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// endWords show that the end of a text reports something: an error, or how it went. endParts are what Chinese,
// Japanese, Korean, Russian and Arabic tools print in their place; they are found within a word too.
var (
	endWords = []string{"error", "errors", "exception", "failed", "fail", "fails", "failure", "failures", "fatal",
		"panic", "traceback", "denied", "refused", "aborted", "killed", "timeout", "invalid", "undefined", "exit",
		"exited", "passed", "pass", "ok", "skipped", "total", "summary", "result", "results", "done", "finished",
		"completed", "complete", "elapsed", "success", "succeeded", "successful", "warning", "warnings"}
	endParts = []string{"错误", "失败", "异常", "成功", "完成", "通过", "退出", "錯誤", "異常", "エラー", "失敗", "完了", "오류",
		"실패", "성공", "완료", "ошибка", "успешно", "خطأ", "فشل"}
	lineEnds = strings.NewReplacer(`\n`, " ", `\t`, " ") // as JSON writes them
)

// saysHow reports whether the end of a text has one of these words or parts.
func saysHow(end string) bool {
	end = lineEnds.Replace(strings.ToLower(end))
	isBetween := func(r rune) bool {
		return r >= utf8.RuneSelf || r != '_' && !runes.IsLetter(byte(r)) && !runes.IsDigit(byte(r))
	}
	for word := range strings.FieldsFuncSeq(end, isBetween) {
		if slices.Contains(endWords, word) {
			return true
		}
	}
	return slices.ContainsFunc(endParts, func(part string) bool { return strings.Contains(end, part) })
}

const (
	// reportWords begin a report when a colon follows.
	reportWords = `(?i:error|exception|fatal|panic|failed|failure|fail)`
	// exitCode is a code other than 0 behind "exit": " code 1", " with status: 2".
	exitCode = `[ :=]+(code|status|with( code| status)?)[ :=]*[1-9]`
)

// reportPattern matches what reports an error in a line: "error: …", "FAIL …", "panic: …", "ValueError: …",
// "Traceback (…", "exit status 1", "error[E0382]" of rustc, "错误：…". A line of a program that only handles errors does
// not match: two colons join the names of code, and a point stands in front of a method, a quote in front of a field.
var reportPattern = prose.NewPattern(`\b([Tt]raceback|ERROR|FATAL|FAIL(ED)?)\b|\berror\[|\bexit(ed)?` + exitCode +
	`|(^|[^\w".])` + reportWords + `:($|[^:])|(^|[^\w"])[A-Za-z]+(Error|Exception):($|[^:])` +
	`|(错误|失败|异常|錯誤|異常|エラー|失敗)[:：]|(오류|실패|[Оо]шибка|خطأ):`)

// reportParts are texts of which one is in all that reportPattern matches, and none in most other lines.
var reportParts = strings.Fields("rror: RROR rror[ xception: XCEPTION: atal: FATAL anic: PANIC: ail: ailed: " +
	"ailure: FAIL raceback exit 错误 失败 异常 錯誤 異常 エラー 失敗 오류 실패 шибка: خطأ")

// reportsError reports whether a line reports an error.
func reportsError(line string) bool {
	line = line[:min(len(line), 2048)] // longer ones are data, and the pattern reads 3 MB/s
	has := func(part string) bool { return strings.Contains(line, part) }
	return slices.ContainsFunc(reportParts, has) && reportPattern.Get().MatchString(line)
}
