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
		assert.Equal(t, tt.end, Counter{}.LineEnd(tt.s, tt.keep), "%.20q, %d: %s", tt.s, tt.keep, tt.reason)
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
		assert.Equal(t, tt.start, Counter{}.LineStart(tt.s, tt.keep), "%.20q, %d: %s", tt.s, tt.keep, tt.reason)
	}
}

// The quick functions on characters say what package utf8 says, whatever the text.
func TestCharacters(t *testing.T) {
	mixed := strings.Repeat("one line of ASCII\nи строка кириллицы\n一行汉字和 words 👍\n", 100)
	texts := []string{"", "a", "12345678", "123456789", "字", "1234567字", "12345678字x", "\xff", "a\xe4\xb8", "\xb8\xad12345678", strings.Repeat("\x80", 20), "é" + strings.Repeat("x", 20) + "👍", mixed}
	for _, s := range texts {
		n := utf8.RuneCountInString(s)
		assert.Equal(t, n, Count(s), "%.20q", s)
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

// Count says what package utf8 says of every kind of first byte with every kind of byte behind it, wherever in a word
// it stands, and of mixtures.
func TestCount(t *testing.T) {
	around := []byte{'a', 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF}
	rest := strings.Repeat("é天", 8) + strings.Repeat("plain ", 8) + "😀ไทย한글"
	for first := range 256 {
		for _, second := range around {
			for _, third := range around {
				s := "á" + string([]byte{byte(first), second, third, 0x80}) + rest
				for shift := range 8 {
					shifted := "12345678"[:shift] + s
					if want := utf8.RuneCountInString(shifted); want != Count(shifted) {
						t.Fatalf("%q has %d characters, not %d", shifted, want, Count(shifted))
					}
				}
			}
		}
	}
}

// Count says the same of a text of any length with one odd byte or character anywhere in it.
func TestCountLong(t *testing.T) {
	plain := strings.Repeat("plain text ", 60)
	for _, odd := range []string{"", "é", "天", "😀", "\xff", "\x80", "\xe2\x82"} {
		for n := range 400 {
			for at := 0; at <= n; at += 1 + n/50 {
				s := plain[:at] + odd + plain[at:n]
				if want := utf8.RuneCountInString(s); want != Count(s) {
					t.Fatalf("%q has %d characters, not %d", s, want, Count(s))
				}
			}
		}
	}
}

func FuzzCount(f *testing.F) {
	f.Add("one line of ASCII\nи строка кириллицы\n一行汉字和 words 👍\n", 3)
	f.Fuzz(func(t *testing.T, s string, times int) {
		s = strings.Repeat(s, 1+(times&7))
		assert.Equal(t, utf8.RuneCountInString(s), Count(s), "%q", s)
	})
}

func BenchmarkCount(b *testing.B) {
	for name, unit := range map[string]string{
		"ascii": "one line of plain text, and another\n", "dashes": "one line of text — and, behind it, another “quoted” one\n",
		"russian": "и строка кириллицы, и ещё одна\n", "chinese": "一行汉字，和另外一行。\n", "thai": "เมื่อวานนี้ฉันไปตลาดน้ำ\n", "emoji": "ok 👍👍 done ✅\n", "invalid": "\xff\xfe",
	} {
		text := strings.Repeat(unit, 10_000/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Count(text)
			}
		})
	}
}

// CountBytes counts the bytes that begin a character, at any place in a word of eight bytes.
func TestCountBytes(t *testing.T) {
	for c := range 256 {
		for shift := range 20 {
			b := []byte(strings.Repeat("é", shift) + string([]byte{byte(c), 0x80, 'a', 0xBF, 0xC0}) + "天 plain")
			want := 0
			for _, x := range b {
				if utf8.RuneStart(x) {
					want++
				}
			}
			assert.Equal(t, want, CountBytes(b), "%x", b)
		}
	}
}
