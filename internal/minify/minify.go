// Package minify writes the output of a tool in fewer characters: without escape sequences, without most of the numbers
// that a viewer puts in front of lines, and without lines that an earlier text shows. A reader who sees both texts
// would say that nothing is missing.
package minify

import "strings"

// Forms is a set of forms of redundancy.
type Forms uint8

// The forms. A form is left out only where it is certain: what is in doubt stays.
const (
	Escapes     Forms = 1 << iota // ANSI escape sequences
	LineNumbers                   // the numbers of a viewed file, except every tenth
	Data                          // what no model can read, which WithoutData leaves out, not Text

	All = Escapes | LineNumbers | Data
)

// Text returns s without the redundancy of the given forms, and which of them s had. The text is never longer than s,
// and is s itself if it had none of them. Text returns its own result unchanged. Valid UTF-8 stays valid. Text takes
// time linear in s, and allocates nothing unless something changes.
func Text(s string, forms Forms) (text string, had Forms) {
	apply := func(form Forms, minify func(string) string) {
		if forms&form == 0 {
			return
		}
		if out := minify(s); len(out) < len(s) {
			s, had = out, had|form
		}
	}
	apply(Escapes, withoutEscapes)
	apply(LineNumbers, withoutNumbers)
	return s, had
}

// String names the forms, for a reader of an edit.
func (f Forms) String() string {
	var names []string
	for k, name := range []string{"escape sequences", "line numbers", "data that no model can read"} {
		if f&(1<<k) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// rewriter builds a text from another one with some ranges replaced. Nothing is copied before the first range.
type rewriter struct {
	text string
	done int // text[:done] is in out, or replaced
	out  []byte
}

// replace puts the strings of `with` in the place of text[from:to]. The ranges of its calls come in order.
func (r *rewriter) replace(from, to int, with ...string) {
	if r.out == nil {
		r.out = make([]byte, 0, len(r.text))
	}
	r.out = append(r.out, r.text[r.done:from]...)
	for _, s := range with {
		r.out = append(r.out, s...)
	}
	r.done = to
}

// result returns the text.
func (r *rewriter) result() string {
	if r.out == nil {
		return r.text
	}
	return string(append(r.out, r.text[r.done:]...))
}

// lineEnd returns where the line of s that holds index i ends: at its line feed, or at the end of s.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}
