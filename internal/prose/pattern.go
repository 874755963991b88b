package prose

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first asked for: a program that imports a package and
// does not use it pays nothing at its start.
type Pattern struct {
	once     sync.Once
	compiled *regexp.Regexp
	source   string
}

// NewPattern returns the pattern of an expression, which is not looked at yet.
func NewPattern(source string) *Pattern { return &Pattern{source: source} }

// Get returns the compiled expression. It panics if the source is not an expression, as [regexp.MustCompile] does.
func (p *Pattern) Get() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.source) })
	return p.compiled
}
