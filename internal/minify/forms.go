package minify

import "strings"

// IsLossy reports whether something was left out that does not follow from what is left.
func (f Forms) IsLossy() bool { return f&(Encoded|Repeats) != 0 }

// String names the forms, for a reader of an edit.
func (f Forms) String() string {
	var names []string
	for _, one := range [...]struct {
		form Forms
		name string
	}{
		{Escapes, "escape sequences"},
		{Overwritten, "overwritten text"},
		{LineNumbers, "line numbers"},
		{Paths, "paths of lines"},
		{Repeats, "lines that differ in numbers"},
		{JSON, "white space of JSON"},
		{Encoded, "encoded data"},
	} {
		if f&one.form != 0 {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, ", ")
}
