package overflow

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// A body is scanned for what was written for a reader. Providers, gateways and SDKs wrap each other's errors: JSON in
// a text, in a string of a JSON, in a Python repr, in an event of a stream. The scanner takes what looks like JSON
// wherever it stands, keeps the messages and the codes and drops everything else, above all the request that many
// validators send back: an echoed prompt may say anything about overflows.

// read reads everything that was found in the tree of the error.
func (r *reading) read(f *finding) {
	for _, t := range f.texts {
		r.scan(t, 0)
	}
	for _, c := range f.codes {
		r.addCode(c)
	}
}

// scan splits a text into plain parts and JSON.
func (r *reading) scan(text string, nesting int) {
	if nesting > maxNesting {
		return
	}
	start := 0
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "{[")
		if next < 0 {
			break
		}
		i += next
		behind := text[i+1 : min(len(text), i+segmentHead)]
		rest := strings.TrimLeft(behind, " \t\r\n\\nrt") // the letters are those of escapes
		switch {
		case !beginsJSON(text[i], rest):
			i++
		case strings.Contains(behind[:len(behind)-len(rest)], `\`): // {\"error\" or {\n  \"error\"
			r.addText(text[start:i])
			r.scan(unescape(text[i:]), nesting+1)
			return
		default:
			r.addText(text[start:i])
			i = r.json(text, i, nesting)
			start = i
		}
	}
	r.addText(text[start:])
}

// beginsJSON reports whether rest may be JSON behind a bracket: sentences have some, too. Python has single quotes.
func beginsJSON(open byte, rest string) bool {
	next := `"'`
	if open == '[' {
		next = `"{`
	}
	return rest != "" && strings.Contains(next, rest[:1])
}

// addCode adds a code as a text of its own words.
func (r *reading) addCode(code string) {
	if _, ok := atoi(code); ok {
		if len(r.codeNumber) < maxSegments {
			r.codeNumber = append(r.codeNumber, code)
		}
		return
	}
	r.add(code, true)
}

// addText adds a plain text: its head and its tail where it is long.
func (r *reading) addText(text string) {
	if len(text) > segmentHead+segmentTail {
		r.addText(text[:segmentHead])
		r.addText(text[len(text)-segmentTail:])
		return
	}
	if strings.Contains(text, "%20") { // gRPC-Web's
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
	}
	if at := page.Get().FindStringIndex(text); at != nil {
		if r.bodyStatus == 0 {
			r.bodyStatus = pageStatus(text[at[0]:])
		}
		text = text[:at[0]]
	}
	r.add(text, false)
}

// page is where a proxy's page begins, and pageTitle its title with an HTTP status: "Error 413 (Entity Too Large)".
var (
	page      = prose.NewPattern(`(?i)<(?:html|!doctype|head)`)
	pageTitle = prose.NewPattern(`(?i)<title>[^<]*?\b([45]\d\d)\b(\.13 )?`)
)

// pageStatus returns the HTTP status in the title of a page; 0 if the title has no status.
func pageStatus(page string) int {
	title := pageTitle.Get().FindStringSubmatch(page)
	if title == nil {
		return 0
	}
	status, _ := atoi(title[1])
	if status == http.StatusNotFound && title[2] != "" {
		return http.StatusRequestEntityTooLarge // IIS: the body is longer than its filter allows
	}
	return status
}

func (r *reading) add(text string, code bool) {
	text = strings.Trim(text, " \t\r\n\"'`,:;-")
	if text == "" || len(r.segments) >= maxSegments || len(text) > r.budget {
		return
	}
	if slices.ContainsFunc(r.segments, func(s *segment) bool { return s.raw == text }) {
		return
	}
	r.budget -= len(text)
	r.segments = append(r.segments, lex(text, code))
}
