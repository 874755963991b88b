package mem

import (
	"runtime"
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

func TestBase(t *testing.T) {
	list := make([]int, 3, 5)
	if Base(list) != Base(list[:1]) || Base(list) != Base(append(list, 4)) {
		t.Error("a list that shares its memory lies elsewhere")
	}
	if Base(list) == Base(list[1:]) || Base([]int(nil)) != 0 {
		t.Error("another list lies at the same place")
	}
}

func TestPair(t *testing.T) {
	s := "ab\x00\xFFé"
	for i := range len(s) - 1 {
		if want := uint16(s[i]) | uint16(s[i+1])<<8; Pair(s, i) != want {
			t.Errorf("at %d: %#x, and not %#x", i, Pair(s, i), want)
		}
	}
}

func TestRef(t *testing.T) {
	s := strings.Repeat("text ", 100)
	r := RefTo(s)
	if !r.Is(s) || r.Is(strings.Clone(s)) || r == (Ref{}) {
		t.Error("a text is known by where it lies")
	}
	runtime.KeepAlive(s)
}

func TestWords(t *testing.T) {
	a, b := any([]int{1}), any([]int{1})
	c := a
	a1, a2 := Words(&a)
	b1, b2 := Words(&b)
	c1, c2 := Words(&c)
	if a1 != c1 || a2 != c2 || a1 == b1 && a2 == b2 {
		t.Error("an interface is known by its two words")
	}
}
