package winnow

import "github.com/winnowgo/winnow/internal/minify"

// MinifyOptions says what is left out of a tool result before it is sent for the first time, because it was written for
// a terminal or because it repeats: itself, or an earlier result. Nothing of a new result is in the prompt cache yet,
// so this costs nothing, and the text is the same in all later requests. nil and the zero value mean that all of the
// forms below are left out; with [KeepAll], nil means that none is.
//
// A form is left out only where it is certain, and a result never gets longer. Text of a file stays byte for byte,
// except for the numbers of its lines, so that a model can quote it in an edit. Such text is the result of a tool that
// reads or edits a file, of any call that names a file (CompactOptions.ReadTools, ModifyTools, PathArguments), and of a
// shell command that shows one. Errors, pins, parts that are not text, and results of tools that PruneOptions protects
// stay as they came. [Request.Edits] says what was left out of each result ([OpMinify]).
//
// Four or more lines, of 200 bytes together, that an earlier result in the request shows byte for byte become one line
// that names the earlier result, if that saves 200 bytes. An agent that reads a file again is so sent what has changed.
// As soon as the earlier result is not sent as it was any more, the later one is sent with all of its lines. That
// costs no more of the prompt cache: the request changed before it.
type MinifyOptions struct {
	Off             bool // send new results as they came
	KeepEscapes     bool // ANSI escape sequences: colours, movements of the cursor, titles
	KeepOverwritten bool // text that was drawn again behind a carriage return, unless it names something or is an error
	KeepLineNumbers bool // numbers of lines below 1 000 in a viewed file, but for the first, every tenth and the last
	KeepPaths       bool // the path before each line that a search found: it is written once, above the lines of a file

	// consecutive lines that differ only in a counter, the time in front or a percentage, but for the first and last
	KeepRepeats bool
	KeepSpace   bool // the white space of a result that is JSON
	KeepShown   bool // lines that an earlier result in the same request shows
	KeepData    bool // base64 and hexadecimal data above 2 000 characters, but for the first 64; keys stay
}

// forms returns the forms that are left out.
func (o *MinifyOptions) forms() minify.Forms {
	forms := minify.All
	for _, f := range [...]struct {
		isKept bool
		forms  minify.Forms
	}{
		{o.Off, minify.All}, {o.KeepEscapes, minify.Escapes}, {o.KeepOverwritten, minify.Overwritten},
		{o.KeepLineNumbers, minify.LineNumbers}, {o.KeepPaths, minify.Paths}, {o.KeepRepeats, minify.Repeats},
		{o.KeepSpace, minify.JSON}, {o.KeepData, minify.Encoded},
	} {
		if f.isKept {
			forms &^= f.forms
		}
	}
	return forms
}
