package winnow

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first asked for: a program that imports the
// package and does not use it yet pays nothing at its start.
type pattern struct {
	once     sync.Once
	compiled *regexp.Regexp
	source   string
}

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.source) })
	return p.compiled
}
