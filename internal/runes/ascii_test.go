package runes

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClass(t *testing.T) {
	for i := range 256 {
		c := byte(i)
		r := rune(i)
		if i >= utf8.RuneSelf {
			r = utf8.RuneError
		}
		for _, class := range []struct {
			name string
			bit  uint8
			want bool
		}{
			{"lower", Lower, r < utf8.RuneSelf && unicode.IsLower(r)},
			{"upper", Upper, r < utf8.RuneSelf && unicode.IsUpper(r)},
			{"digit", Digit, r < utf8.RuneSelf && unicode.IsDigit(r)},
			{"joint", Joint, strings.ContainsRune(":=?&#%+$@", r)},
			{"slash", Slash, r == '/' || r == '~'},
		} {
			if got := Class[c]&class.bit != 0; got != class.want {
				t.Errorf("%q: %s is %v", c, class.name, got)
			}
		}
		if n := Class[c]; n&(n-1) != 0 {
			t.Errorf("%q has several classes", c)
		}
	}
}

func TestLoadWord(t *testing.T) {
	s := "0123456789\xff\x80abcdef"
	for i := range len(s) - 7 {
		if got, want := LoadWord(s, i), binary.LittleEndian.Uint64([]byte(s[i:])); got != want {
			t.Errorf("at %d: %x, want %x", i, got, want)
		}
	}
}
