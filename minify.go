package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What a new result says twice, or says to a terminal, is left out before it is sent for the first time: nothing of it
// is in the prompt cache, so that it costs nothing.

// leastMinified is how many bytes a result has to get shorter: an edit has its price, if a small one.
const leastMinified = 64

// minifier writes new results shorter.
type minifier struct {
	forms minify.Forms // that the options leave on
	match toolcall.Matcher
	files *toolcall.Files
}

func newMinifier(o *Options) minifier {
	return minifier{o.Minify.forms(), toolcall.NewMatcher(o.Prune.AllowTools, o.Prune.DenyTools), o.Compact.fileTools()}
}

// formsIn returns what may be left out of a result by what the call was about. Of a file nothing goes but the numbers
// of its lines, so that an edit that quotes it finds what it quotes. Lines of several files keep all but their paths.
func formsIn(o toolcall.Output) minify.Forms {
	switch o {
	case toolcall.Content:
		return minify.LineNumbers
	case toolcall.Matches:
		return minify.Escapes | minify.Paths
	}
	return minify.Escapes | minify.Overwritten | minify.Repeats | minify.JSON | minify.Encoded
}

// parts returns the parts of result i written shorter, and which forms of redundancy went. It is false where nothing,
// or too little, does. A result that is an error stays as it came.
func (n *minifier) parts(messages []Message, i int) (parts []Part, had minify.Forms, ok bool) {
	m := &messages[i]
	if n.forms == 0 || m.Role != RoleTool || staysAsItCame(m) {
		return nil, 0, false
	}
	tool, arguments := callOf(messages, i)
	if !n.match.Matches(tool) {
		return nil, 0, false
	}
	return minifiedParts(m.Parts, n.forms&formsIn(n.files.Output(tool, arguments)))
}

// staysAsItCame reports whether nothing of a result is redundant to the host, or to a model that has to find an error.
func staysAsItCame(m *Message) bool { return m.Pinned || m.IsError || textBytes(m) < leastMinified }

// minifiedParts returns parts with their texts written shorter.
func minifiedParts(parts []Part, forms minify.Forms) (out []Part, had minify.Forms, ok bool) {
	saved := 0
	for k := range parts {
		p := &parts[k]
		if p.Kind != KindText {
			continue
		}
		text, found := minify.Text(p.Text, forms)
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

// callOf returns the tool of result i of messages, and the arguments of its call; they are empty where the call is not
// to be found.
func callOf(messages []Message, i int) (tool string, arguments []byte) {
	result := &messages[i]
	tool = result.ToolName
	nth := 0 // of the results behind the call's message
	k := i - 1
	for ; k >= 0 && messages[k].Role == RoleTool; k-- {
		nth++
	}
	if k < 0 || messages[k].Role != RoleAssistant {
		return tool, nil
	}
	for c := range callsOf(&messages[k]) {
		if c.ID == result.ToolCallID && (c.ID != "" || nth == 0) {
			if tool == "" {
				tool = c.Name
			}
			return tool, c.Arguments
		}
		nth--
	}
	return tool, nil
}
