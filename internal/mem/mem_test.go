package mem

import (
	"runtime"
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

func TestRef(t *testing.T) {
	var r Ref[[64]int]
	if list, ok := r.Get(); !ok || list != nil {
		t.Errorf("the zero value refers to %v, %v", list, ok)
	}
	list := make([][64]int, 3, 5)
	r.Set(list[:2])
	list[1][0] = 7
	if got, ok := r.Get(); !ok || len(got) != 2 || cap(got) != 5 || got[1][0] != 7 {
		t.Errorf("%d of %d, %v", len(got), cap(got), ok)
	}
	r.Set(list) // longer, at the same place
	if got, ok := r.Get(); !ok || len(got) != 3 {
		t.Errorf("%d, %v", len(got), ok)
	}
	runtime.KeepAlive(list)
	list = nil
	for range 5 {
		runtime.GC()
	}
	if got, ok := r.Get(); ok {
		t.Errorf("it kept a list of %d", len(got))
	}
	r.Set(nil)
	if got, ok := r.Get(); !ok || got != nil {
		t.Errorf("nil became %v, %v", got, ok)
	}
}
