package sections

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Carried is what code owns of the history that a summary stands for. It grows over compactions, within caps.
type Carried struct {
	Failures    []Failure `json:"failures,omitempty"` // in order
	More        int       `json:"more,omitempty"`     // failures that are not listed
	Read        []string  `json:"read,omitempty"`     // files that were read, oldest first
	Modified    []string  `json:"modified,omitempty"` // files that were written or edited, oldest first
	Identifiers []string  `json:"identifiers,omitempty"`
}

// A Collector adds what further messages hold to what is carried already. Of the failures the newest are kept.
type Collector struct {
	Carried
	old []Failure
}

// Collect returns the collector of what comes behind c. It does not write to c.
func (c Carried) Collect() *Collector {
	old := c.Failures
	c.Failures, c.Read, c.Modified = nil, slices.Clone(c.Read), slices.Clone(c.Modified)
	return &Collector{Carried: c, old: old}
}

// Within returns c cut to the bounds that it grows to. A snapshot that somebody else wrote may be larger.
func (c Carried) Within() Carried {
	c.Failures, c.More = newest(c.Failures, maxListedFailures), min(max(0, c.More), maxCountedFailures)
	c.Identifiers = newest(c.Identifiers, maxCarriedIdentifiers)
	c.Read, c.Modified = newest(c.Read, maxSectionFiles), newest(c.Modified, maxSectionFiles)
	return c
}

// Failure is a tool call that failed.
type Failure struct {
	Call string `json:"call,omitempty"` // its id, if it is known
	Line string `json:"line"`           // as it is listed
}

// appendNewest puts s at the end of list, and takes it away from where it was. At least the newest n of list stay.
func appendNewest(list []string, s string, n int) []string {
	if i := slices.Index(list, s); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if list = append(list, s); len(list) > 2*n {
		list = slices.Clone(newest(list, n))
	}
	return list
}

// newest returns the last n of list.
func newest[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// maxCarriedIdentifiers is more than the largest summary has room for.
const maxCarriedIdentifiers = 24_000

// Done returns what is carried with what was collected.
func (c *Collector) Done() Carried {
	kept := newest(c.old, maxListedFailures-len(c.Failures))
	c.More += len(c.old) - len(kept)
	c.Failures = append(slices.Clip(kept), c.Failures...)
	c.Read, c.Modified = newest(c.Read, maxSectionFiles), newest(c.Modified, maxSectionFiles)
	return c.Carried
}

// AddFiles takes in the files that a call works on.
func (c *Collector) AddFiles(use toolcall.Use) {
	for _, path := range use.Modified {
		c.Modified = appendNewest(c.Modified, path, maxSectionFiles)
	}
	for _, path := range use.Read {
		c.Read = appendNewest(c.Read, path, maxSectionFiles)
	}
}

// AddFailure takes in the result of a call that failed. A failure whose call is not known, or is listed already, is
// left out.
func (c *Collector) AddFailure(callID, tool, text string, details json.RawMessage) {
	call := strings.ToValidUTF8(callID, "\uFFFD") // as a snapshot keeps it
	if call == "" || slices.ContainsFunc(c.Failures, func(f Failure) bool { return f.Call == call }) {
		return
	}
	if len(c.Failures) == maxListedFailures { // the reference lists the oldest; the model works on the newest
		c.Failures, c.More = slices.Delete(c.Failures, 0, 1), c.More+1
	}
	c.Failures = append(c.Failures, Failure{call, failureLine(tool, text, details)})
}

// failureLine returns the line for the result of a call that failed: NAME (META): TEXT.
func failureLine(tool, text string, details json.RawMessage) string {
	name := strings.TrimSpace(markup.Attribute(tool))
	if name == "" {
		name = "tool"
	}
	text, _ = minify.Text(text, minify.Escapes)
	if excerpt.NamesExit(text) {
		text = text[excerpt.Reason(text, MaxFailureChars):]
	}
	text = markup.Line(runes.OneLine(secret.Mask(text)))
	meta := failureMeta(details)
	switch {
	case text == "" && meta != "":
		text = "failed"
	case text == "":
		text = "failed (no output)"
	case runes.AtLeast(text, MaxFailureChars+1):
		text = text[:runes.HeadWords(text, MaxFailureChars-3)] + "..."
	}
	if meta != "" {
		name += " (" + meta + ")"
	}
	return name + ": " + text
}

// failureMeta names the two fields of Details that a summary may name.
func failureMeta(details json.RawMessage) string {
	exit, status := toolcall.Outcome(details)
	var out []string
	if status = markup.Attribute(status); status != "" {
		out = append(out, "status="+status)
	}
	if exit != "" {
		out = append(out, "exitCode="+exit)
	}
	return strings.Join(out, " ")
}
