package runes

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestLineEnds(t *testing.T) {
	for _, tt := range []struct {
		s      string
		keep   int
		end    int
		reason string
	}{
		{"short", 10, 5, "all of it"},
		{"exact", 5, 5, "all of it"},
		{strings.Repeat("x", 90) + "\nrest of it", 95, 90, "at the line end"},
		{strings.Repeat("x", 10) + "\n" + strings.Repeat("y", 100), 95, 95, "the line end is too far away"},
		{"abc\ndef", 3, 3, "the newline right behind"},
		{"👍👍👍", 2, 8, "characters"},
		{"abc", 0, 0, "nothing"},
	} {
		assert.Equal(t, tt.end, LineEnd(tt.s, tt.keep), "%.20q, %d: %s", tt.s, tt.keep, tt.reason)
	}
	for _, tt := range []struct {
		s      string
		keep   int
		start  int
		reason string
	}{
		{"short", 10, 0, "all of it"},
		{"a\n" + strings.Repeat("x", 90), 90, 2, "it is a line start already"},
		{strings.Repeat("a", 10) + "\n" + strings.Repeat("x", 90), 95, 11, "at the next line start"},
		{strings.Repeat("a", 60) + "\n" + strings.Repeat("x", 40), 95, 6, "the next line start is too far away"},
		{"👍👍👍", 2, 4, "characters"},
	} {
		assert.Equal(t, tt.start, LineStart(tt.s, tt.keep), "%.20q, %d: %s", tt.s, tt.keep, tt.reason)
	}
}

// The quick functions on characters say what package utf8 says, whatever the text.
func TestCharacters(t *testing.T) {
	mixed := strings.Repeat("one line of ASCII\nи строка кириллицы\n一行汉字和 words 👍\n", 100)
	texts := []string{"", "a", "12345678", "123456789", "字", "1234567字", "12345678字x", "\xff", "a\xe4\xb8", "\xb8\xad12345678", strings.Repeat("\x80", 20), "é" + strings.Repeat("x", 20) + "👍", mixed}
	for _, s := range texts {
		n := utf8.RuneCountInString(s)
		for _, k := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, n - 1, n, n + 1} {
			if k < 0 {
				continue
			}
			head, tail := s[:Head(s, k)], s[Tail(s, k):]
			assert.Equal(t, min(k, n), utf8.RuneCountInString(head), "head of %d of %.20q", k, s)
			if utf8.ValidString(s) { // backwards, broken text has other characters
				assert.Equal(t, min(k, n), utf8.RuneCountInString(tail), "tail of %d of %.20q", k, s)
				assert.True(t, utf8.ValidString(head) && utf8.ValidString(tail), "%d of %.20q", k, s)
			}
			assert.Equal(t, n >= k, AtLeast(s, k), "%.20q has %d", s, k)
		}
	}
	assert.True(t, AtLeast("", -1))
}

func TestClip(t *testing.T) {
	for _, tc := range []struct {
		in    string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"bad \xff byte", 20, "bad \uFFFD byte"},
		{"one two three four five six", 21, "one two … six"},
		{"日本語日本語日本語日本語", 22, "日本語 … 語"},
		{"cd a/long/path/of/a/file && make", 24, "cd … make"},
		{"anything", 0, " … "},
		{"cd /a/long/path/of/a/file", 24, "cd … "},
	} {
		got := Clip(tc.in, tc.limit)
		assert.Equal(t, tc.want, got, "%q in %d", tc.in, tc.limit)
		assert.True(t, utf8.ValidString(got))
	}
}

// A text is cut between words, unless one word is most of it.
func TestWords(t *testing.T) {
	for _, tc := range []struct {
		in         string
		n          int
		head, tail string
	}{
		{"one two three", 9, "one two", "two three"},
		{"one two three", 7, "one two", " three"},
		{"one two three", 5, "one", "three"},
		{"one two three", 13, "one two three", "one two three"},
		{"onetwothree four", 6, "onetwo", " four"},
		{"at a/long/path and b/long/path", 12, "at", " b/long/path"},
		{"at a/long/path to b/long/path", 10, "at", ""},
		{"a/long/path/of/a/file is it", 12, "", " is it"},
		{`{"name":"a/long/path"} and more`, 14, `{"name":"`, `"} and more`},
		{"修改了internal/a.go，然后运行internal/b.go测试", 8, "修改了", "测试"},
		{"修改了internal/a.go，然后运行测试", 19, "修改了internal/a.go，然后", "，然后运行测试"},
		{strings.Repeat("iVBOR/w0KGgo", 40), 12, "iVBOR/w0KGgo", "iVBOR/w0KGgo"},
		{"one\ntwothree", 6, "one", "othree"},
		{"one twothree", 8, "one twot", "twothree"},
		{"日本語日本語日本語", 4, "日本語日", "語日本語"},
		{"\xff \xff\xff", 3, "\xff", " \xff\xff"},
		{"", 3, "", ""},
		{"word", 0, "", ""},
	} {
		assert.Equal(t, tc.head, tc.in[:HeadWords(tc.in, tc.n)], "the head of %q in %d", tc.in, tc.n)
		assert.Equal(t, tc.tail, tc.in[TailWords(tc.in, tc.n):], "the tail of %q in %d", tc.in, tc.n)
	}
}

// A text has the characters that the standard library counts, whatever its bytes.
func FuzzCount(f *testing.F) {
	wide := strings.Repeat("日本語 and more 🙂 é ", 20)
	for _, s := range []string{"", "a", strings.Repeat("a", 200), wide, "a" + wide, wide + "\xff", "\xed\xa0\x80" + wide,
		strings.Repeat("\x80", 70), strings.Repeat("a", 70) + "\xc3", strings.Repeat("a", 63) + "é", wide[:101]} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for from := range min(len(s), 9) {
			assert.Equal(t, utf8.RuneCountInString(s[from:]), Count(s[from:]), "%q", s[from:])
		}
	})
}
