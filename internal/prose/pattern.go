package prose

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first asked for: a program that imports a package and
// does not use it pays nothing at its start.
type Pattern func() *regexp.Regexp

// NewPattern returns the pattern of an expression, which is not looked at yet.
func NewPattern(source string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// Get returns the compiled expression. It panics if the source is not an expression.
func (p Pattern) Get() *regexp.Regexp { return p() }
