package winnow

import (
	"encoding/json"
	"slices"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What a new result repeats, or says only to a terminal, is left out before the result is sent for the first time. That
// costs nothing, because nothing of a new result is in the prompt cache.

// leastMinified is the least number of bytes that minifying has to save. An edit has a price, though a small one.
const leastMinified = 64

// minifier minifies new results.
type minifier struct {
	off   bool // see Options.NoMinify
	match toolcall.Matcher
	files *toolcall.Files
}

func newMinifier(o *Options) minifier {
	return minifier{
		off: o.NoMinify, match: toolcall.NewMatcher(o.Prune.AllowTools, o.Prune.DenyTools), files: o.Tools.known(),
	}
}

// mayShorten reports whether m, a result of a call of tool, may be shortened, or be left out with its step.
func (n *minifier) mayShorten(m *Message, tool string) bool {
	return n.match.Matches(tool) && !n.isSaid(m, tool)
}

// isSaid reports whether m, a result of a call of tool, is what a person said.
func (n *minifier) isSaid(m *Message, tool string) bool {
	_, is := n.saidIn(m, tool)
	return is
}

// saidIn returns what a person said in m, a result of a call of tool: the answer to what the tool asked, or why the
// person refused the call.
func (n *minifier) saidIn(m *Message, tool string) (text string, ok bool) {
	if m.Role != RoleTool || isMissingResult(m) {
		return "", false
	}
	text, ok = n.files.SaidIn(tool, messageParts(m), m.IsError)
	return text, ok || m.Speaker != ""
}

// formsIn returns the forms that may be left out of a result of kind o. A file loses nothing but the numbers of its
// lines and data, so that an edit can quote it.
func formsIn(o toolcall.Output) minify.Forms {
	if o == toolcall.Content {
		return minify.LineNumbers | minify.Data
	}
	return minify.Escapes | minify.Data
}

// formsFor returns those of the given forms that may be left out of result i of messages. A result that is an error
// stays as it came.
func (n *minifier) formsFor(messages sequence, i int, forms minify.Forms) minify.Forms {
	m := messages.at(i)
	if n.off || forms == 0 || m.Role != RoleTool || staysAsItCame(m) {
		return 0
	}
	calls := answered{messages: messages}
	tool := calls.tool(i)
	if !n.mayShorten(m, tool) {
		return 0
	}
	return forms & formsIn(n.files.Output(tool, calls.of(i).arguments()))
}

// staysAsItCame reports whether m is not minified: it is a pin, or an error, in which a model may need every detail, or
// too short to be worth an edit.
func staysAsItCame(m *Message) bool { return m.Pinned || m.IsError || textBytes(m) < leastMinified }

// minifiedParts returns parts with minified texts, and in had the forms that were left out. out is nil if nothing was
// left out, and ok is false if that saves less than leastMinified. note says how to recall data.
func minifiedParts(parts []Part, forms minify.Forms, note string) (out []Part, had minify.Forms, ok bool) {
	saved := 0
	for k := range parts {
		p := &parts[k]
		if p.Kind != KindText {
			continue
		}
		text, found := minify.Text(p.Text, forms)
		if forms&minify.Data != 0 {
			if short := minify.WithoutData(text, note); len(short) < len(text) {
				text, found = short, found|minify.Data
			}
		}
		if found == 0 {
			continue
		}
		if out == nil {
			out = slices.Clone(parts)
		}
		saved += len(p.Text) - len(text)
		had |= found
		out[k].Text, out[k].Source, out[k].Tokens = text, nil, 0
	}
	return out, had, saved >= leastMinified
}

// withoutData returns parts with a short text in the place of each run of data in the arguments of calls. It is nil if
// there is none. note says how to recall the data. A call that is signed stays as it is.
func withoutData(parts []Part, note string) (out []Part) {
	for k := range parts {
		p := &parts[k]
		if p.Kind != KindToolCall || p.Signature != "" || !minify.MayHoldData(mem.String(p.Arguments)) {
			continue
		}
		var short []byte
		shown := 0 // bytes of the arguments that short stands for
		for from, to := range jsontext.Strings(p.Arguments) {
			whole := mem.String(p.Arguments[from:to])
			if text := minify.WithoutData(whole, note); len(text) < len(whole) {
				short = append(append(short, p.Arguments[shown:from]...), text...)
				shown = to
			}
		}
		if short = append(short, p.Arguments[shown:]...); shown == 0 || !json.Valid(short) {
			continue
		}
		if out == nil {
			out = slices.Clone(parts)
		}
		out[k].Arguments, out[k].Source, out[k].Tokens = short, nil, 0
	}
	return out
}

// redundantIn returns the forms that may be left out of m, a result or an answer, as far as a quick look at its texts
// tells. It is for facts, which are made while the texts are in the processor's cache; later, each has to be fetched
// again.
func redundantIn(m *Message) minify.Forms {
	if m.Role == RoleAssistant {
		if withoutData(m.Parts, "") != nil {
			return minify.Data
		}
		return 0
	}
	// An escape sequence may stand in front of a number.
	if m.Role != RoleTool || hasControls(m) {
		return minify.All
	}
	var forms minify.Forms
	for k := range m.Parts {
		if minify.MayBeNumbered(m.Parts[k].Text) {
			forms |= minify.LineNumbers
		}
		if minify.MayHoldData(m.Parts[k].Text) {
			forms |= minify.Data
		}
	}
	return forms
}
