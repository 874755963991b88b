package mem

import (
	"strings"
	"testing"
)

func TestViews(t *testing.T) {
	for _, s := range []string{"", "a", "a longer text with 汉字"} {
		if got := String(Bytes(s)); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	b := []byte("abc")
	s := String(b)
	b[0] = 'x'
	if s != "xbc" {
		t.Errorf("%q is a copy", s)
	}
	if n := testing.AllocsPerRun(10, func() { _ = Bytes(String(b)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSame(t *testing.T) {
	s := strings.Repeat("text ", 100)
	if !Same(s, s) || Same(s, strings.Clone(s)) || Same(s, s[:499]) {
		t.Error("a text is known by where it lies")
	}
}
