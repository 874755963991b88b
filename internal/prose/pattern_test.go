package prose

import (
	"sync"
	"testing"
)

func TestPattern(t *testing.T) {
	p := NewPattern(`^a+$`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if !p.Get().MatchString("aaa") || p.Get().MatchString("ab") {
				t.Error("it matches something else")
			}
		})
	}
	group.Wait()
	if first := p.Get(); first != p.Get() {
		t.Error("it was compiled twice")
	}
}

func TestPatternBroken(t *testing.T) {
	p := NewPattern(`(`) // nothing happens yet
	defer func() {
		if recover() == nil {
			t.Error("a broken expression was compiled")
		}
	}()
	p.Get()
}
