package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
)

// fingerprint returns a short hash of a text. 64 bits of SHA-256 suffice to notice a change.
func fingerprint(s string) string {
	sum := sha256.Sum256(mem.Bytes(s)) // only read
	return hex.EncodeToString(sum[:8])
}

// join makes the text and its blocks from the pieces.
func (a *assembler) join() {
	n := 0
	for _, p := range a.pieces {
		n += len(p.prefix) + len(p.Text)
	}
	var b strings.Builder
	b.Grow(n)
	files := -1
	out := a.out
	out.Parts = make([]Part, 0, len(a.pieces))
	for _, p := range a.pieces {
		if p.cut != nil {
			out.Cuts = append(out.Cuts, *p.cut)
		}
		if p.Volatile || p.out {
			continue
		}
		if p.Kind == PartContext {
			files = b.Len()
		}
		p.Start = b.Len()
		prefix := p.prefix
		if b.Len() == 0 {
			prefix = strings.TrimLeft(prefix, "\n")
		}
		b.WriteString(prefix)
		b.WriteString(p.Text)
		p.Heading = len(prefix)
		p.End = b.Len()
		out.TextTokens = count.Add(out.TextTokens, p.Tokens)
		out.Parts = append(out.Parts, p.Part)
	}
	for _, p := range a.pieces {
		if p.Volatile && !p.out {
			out.Parts = append(out.Parts, p.Part)
		}
	}
	out.Text = b.String()
	switch {
	case out.Text == "":
	case files > 0:
		out.Blocks = []string{out.Text[:files], out.Text[files:]}
	default:
		out.Blocks = []string{out.Text}
	}
}

// warn adds warnings for the host.
func (a *assembler) warn() {
	out := a.out
	for i := range out.Cuts {
		c := &out.Cuts[i]
		text := fmt.Sprintf("%s: %d of %d characters are shown: %s", cleanName(c.Name), c.Kept, c.Chars, c.Reason)
		out.Warnings = append(out.Warnings, text)
	}
	for i := range a.in.Files {
		if f := &a.in.Files[i]; f.Problem != "" {
			out.Warnings = append(out.Warnings, cleanName(f.Name)+": "+f.Problem)
		}
	}
	for i := range out.Tools {
		if t := &out.Tools[i]; len(t.Schema) > 0 && !json.Valid(t.Schema) {
			out.Warnings = append(out.Warnings, "the schema of the tool "+cleanName(t.Name)+" is not JSON")
		}
	}
	if a.Window > 0 && out.ToolTokens > a.Window/toolShare {
		text := fmt.Sprintf("the schemas of %d tools take %d tokens, more than a fifth of the window", len(out.Tools),
			out.ToolTokens)
		out.Warnings = append(out.Warnings, text)
	}
	out.Tokens = count.Add(out.TextTokens, out.ToolTokens)
	out.Fingerprint = out.fingerprint()
}

// fingerprint returns the fingerprint of text and tools, with which a provider's cache begins.
func (a *Assembly) fingerprint() string {
	b := make([]byte, 0, 64*len(a.Parts)+len(a.toolPrint))
	for i := range a.Parts {
		if p := &a.Parts[i]; !p.Volatile {
			b = append(append(append(b, p.Fingerprint...), p.Path...), '\n')
		}
	}
	return fingerprint(mem.String(append(b, a.toolPrint...)))
}
