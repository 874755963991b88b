package winnow

import "github.com/winnowgo/winnow/internal/minify"

// MinifyOptions says what is left out of a tool result before it is sent for the first time, because it is written for
// a terminal or written again and again; nil and the zero value mean that all of it is. A reader who sees both texts
// misses nothing. What a file holds stays byte for byte, except that lines lose their numbers; an error stays as it
// came, and so do pins and the results of tools that PruneOptions protects. A [Request] says of each result what went
// ([OpMinify]). The text is the same in all later requests.
type MinifyOptions struct {
	Off             bool // new results are sent as they came
	KeepEscapes     bool // ANSI escape sequences
	KeepOverwritten bool // what a carriage return had a terminal write over, if no name and no error stands in it
	KeepLineNumbers bool // the numbers of a viewed file that are not the first, the last, or one in ten
	KeepPaths       bool // the path of each line of a search, where the line before it has the same; it goes above them
	KeepRepeats     bool // of lines in a row that differ in numbers only, all but the first and the last: numbers that count on, the time, progress
	KeepSpace       bool // the white space of a result that is JSON
	KeepData        bool // base64 and hexadecimal data but for its beginning: above 200 characters where it is known to be data, else above 2 000
}

func (o *MinifyOptions) withDefaults() *MinifyOptions {
	var m MinifyOptions
	if o != nil {
		m = *o
	}
	return &m
}

// forms returns what is left out.
func (o *MinifyOptions) forms() minify.Forms {
	forms := minify.All
	for form, kept := range map[minify.Forms]bool{
		minify.All: o.Off, minify.Escapes: o.KeepEscapes, minify.Overwritten: o.KeepOverwritten, minify.LineNumbers: o.KeepLineNumbers,
		minify.Paths: o.KeepPaths, minify.Repeats: o.KeepRepeats, minify.JSON: o.KeepSpace, minify.Encoded: o.KeepData,
	} {
		if kept {
			forms &^= form
		}
	}
	return forms
}
