package excerpt

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/winnowgo/winnow/internal/runes"
)

func TestReportsError(t *testing.T) {
	for _, tt := range []struct {
		line   string
		want   bool
		reason string
	}{
		{"error: cannot find module", true, "a compiler"},
		{"main.go:12:3: error: expected ';'", true, "behind a place"},
		{"Error: ENOENT", true, "in any case"},
		{"ValueError: no such key", true, "a Python exception"},
		{"java.lang.NullPointerException: null", true, "a Java exception"},
		{"json.decoder.JSONDecodeError: Expecting value", true, "with its package"},
		{"log.Error: print(s)", false, "a method"},
		{"error[E0382]: borrow of moved value", true, "rustc"},
		{"panic: runtime error", true, "Go"},
		{"fatal: not a git repository", true, "git"},
		{"Traceback (most recent call last):", true, "Python"},
		{"--- FAIL: TestTotal (0.00s)", true, "a Go test"},
		{"FAILED tests/test_cart.py::test_total", true, "pytest"},
		{"2026-01-02 ERROR worker stopped", true, "a log level"},
		{"exit status 2", true, "Go"},
		{"Process exited with code 137", true, "a container"},
		{"exit code: 1", true, "a shell tool"},
		{"错误：找不到文件", true, "Chinese, wide colon"},
		{"失败: 连接超时", true, "Chinese, narrow colon"},
		{"錯誤：找不到檔案", true, "traditional Chinese"},
		{"エラー：ファイルがありません", true, "Japanese"},
		{"오류: 파일을 찾을 수 없습니다", true, "Korean"},
		{"exit status 0", false, "that is success"},
		{"exited with code 0", false, "that is success"},
		{"if err != nil { return errors.New(s) }", false, "a program that handles errors"},
		{"func handleError(err error) {", false, "a name of a program"},
		{"the tests failed yesterday", false, "a sentence"},
		{"error_count: 0", false, "a name"},
		{`"error": null`, false, "a field"},
		{"FAIL_FAST=1", false, "a name"},
		{"exit the building at gate 5", false, "no code of a program"},
		{"没有错误", false, "no colon: a sentence"},
		{"", false, "nothing"},
	} {
		assert.Equal(t, tt.want, reportsError(tt.line), "%q: %s", tt.line, tt.reason)
	}
}

func TestTailMatters(t *testing.T) {
	filler := strings.Repeat("some line of prose that means little\n", 100)
	for _, tt := range []struct {
		end    string
		want   bool
		reason string
	}{
		{"", false, "prose"},
		{"exit status 1\n", true, "an exit code"},
		{"12 passed, 1 failed in 3.2s\n", true, "a test verdict"},
		{"Total: 42 rows\n", true, "a closing summary"},
		{"panic: out of range\n", true, "an error"},
		{"warning: unused variable\n", true, "a warning"},
		{"  ]\n}\n", true, "the end of a structure holds counts and cursors"},
		{"构建完成，用时 48 秒\n", true, "a verdict in Chinese"},
		{"ビルドに失敗しました\n", true, "a verdict in Japanese"},
		{"빌드 실패\n", true, "a verdict in Korean"},
		{"error_log_path and total_2\n", false, "names"},
		{"panic: out of range\n" + filler, false, "too far from the end"},
	} {
		assert.Equal(t, tt.want, tailMattersOf(filler+tt.end), "%.40q: %s", tt.end, tt.reason)
	}
}

func TestExcerpt(t *testing.T) {
	prose := strings.Repeat("prose that means little, line after line\n", 300)
	for _, tt := range []struct {
		name    string
		text    string
		has     []string
		hasNot  []string
		reason  string
		tailEnd string
	}{
		{"head only", "first line\n" + prose, []string{"first line\n"}, []string{gap}, "the end says nothing", ""},
		{"head and tail", "first line\n" + prose + "exit status 3\n", []string{"first line\n", gap}, nil, "the end reports", "exit status 3\n"},
		{"error in the middle", "first line\n" + prose + "error: no space left\n" + prose, []string{"first line\n", "error: no space left\n", "lines with errors"}, nil, "it would be lost", ""},
		{"all three", "first line\n" + prose + "error: no space left\n" + prose + "2 failed\n", []string{"first line\n", "error: no space left\n"}, nil, "head, error and tail", "2 failed\n"},
		{"many errors", prose + manyErrors(200) + prose, []string{"error: number 0\n", "error: number 9\n"}, []string{"error: number 100\n"}, "the first are the cause", ""},
		{"the same error", prose + strings.Repeat("error: again\n", 50) + prose, []string{"error: again\n"}, []string{"error: again\nerror: again\n"}, "one is enough", ""},
		{"a long line", prose + "error: " + strings.Repeat("y", 5000) + "\n" + prose, []string{"error: yyy", "…\n"}, []string{strings.Repeat("y", 300)}, "its beginning says what it is", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const keep = 3000
			got, kept := excerptOf(tt.text, keep)
			assert.LessOrEqual(t, utf8.RuneCountInString(got), keep, "never more than the room")
			assert.Greater(t, utf8.RuneCountInString(got), keep/2, "and the room is used")
			assert.LessOrEqual(t, kept, utf8.RuneCountInString(got))
			for _, s := range tt.has {
				assert.Contains(t, got, s, tt.reason)
			}
			for _, s := range tt.hasNot {
				assert.NotContains(t, got, s, tt.reason)
			}
			assert.True(t, strings.HasSuffix(got, tt.tailEnd), tt.reason)
		})
	}
}

func manyErrors(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("error: number " + strconv.Itoa(i) + "\n")
	}
	return b.String()
}

// tailMattersOf reports whether the end of a text is worth keeping.
func tailMattersOf(s string) bool { return TailMatters(s[runes.Tail(s, tailSearchChars):]) }

// excerptOf is what is kept of a text, and how many of its characters.
func excerptOf(s string, keep int) (text string, kept int) {
	e := New(s, keep, false)
	return e.String(), e.Kept()
}
