package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestString(t *testing.T) {
	for _, c := range []struct{ in, want, why string }{
		{`""`, "", "nothing"},
		{`"abc",1`, "abc", "what is behind it is not looked at"},
		{`"a\n\"\\\/\b\f\r\tz"`, "a\n\"\\/\b\f\r\tz", "every short escape"},
		{`"é日😀"`, "é日😀", "UTF-8"},
		{`"\u2028\u00e9\u0000x"`, "\u2028é\x00x", "escapes by number, of one to three bytes"},
	} {
		s, n := String([]byte(c.in))
		assert.Equal(t, c.want, s, c.why)
		assert.NotZero(t, n, c.why)
	}
	for _, c := range []struct{ in, why string }{
		{``, "nothing"},
		{`x"`, "no string"},
		{`"`, "no end"},
		{`"abc`, "no end"},
		{`"abc\"`, "no end: the quote is escaped"},
		{"\"a\nb\"", "a control character"},
		{`"\x"`, "no escape"},
		{`"\u12"`, "half of an escape"},
		{`"\ud83d\ude00"`, "a pair, which package json puts together"},
		{`"\ud83d"`, "half of a pair, which package json replaces"},
		{"\"\xff\"", "invalid UTF-8, which package json replaces"},
	} {
		_, n := String([]byte(c.in))
		assert.Zero(t, n, c.why)
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
		why  string
	}{
		{`{"a":[1,"}"]}}`, 13, "what is behind it is not looked at"},
		{`null,`, 4, "a word"},
		{`12 ,`, 2, "the value ends before the white space"},
		{``, 0, "nothing"},
		{`{"a":}`, 0, "no JSON"},
		{strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), 0, "deeper than package json reads, with the two around it"},
	} {
		assert.Equal(t, c.want, Value([]byte(c.in), 2), c.why)
	}
}

// FuzzString: what it reads is what package json reads, and it keeps no part of the text.
func FuzzString(f *testing.F) {
	for _, text := range append(texts, `"a\nb"`, `"\u2028"`, `"\ud83d\ude00"`, "\"\xff\"", `{"a":1}x`) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := []byte(text)
		if s, n := String(in); n > 0 {
			var want string
			if err := json.Unmarshal(in[:n], &want); err != nil || s != want || !utf8.ValidString(s) {
				t.Errorf("%q, package json reads %q, %v", s, want, err)
			}
		}
		if n := Value(in, 0); n > 0 && !json.Valid(in[:n]) {
			t.Errorf("%q is not valid", in[:n])
		}
	})
}
