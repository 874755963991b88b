package recall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// The lines of a list of messages.

// entry returns the line of message i in a list.
func (r *Answer) entry(i int) string {
	text := r.Source.Text(i)
	return fmt.Sprintf("%s %s, %d lines: %s\n", r.Source.Handle(i), r.Source.Origin(i), r.wrap().Lines(text),
		firstWords(text))
}

// mostListed is how many messages a refusal lists.
const mostListed = 10

// nearest returns up to mostListed of the messages that are left out: first those whose handles are nearly the given
// one, then the newest.
func (r *Answer) nearest() []int {
	var near []int
	for _, i := range r.LeftOut {
		own := r.Source.Handle(i)
		wrong := len(r.Handle) - len(own)
		for k := range min(len(own), len(r.Handle)) {
			if own[k] != r.Handle[k] {
				wrong++
			}
		}
		if len(own) == len(r.Handle) && wrong <= 2 {
			near = append(near, i)
		}
	}
	near = near[:min(len(near), mostListed)]
	for _, i := range slices.Backward(r.LeftOut) {
		if len(near) == mostListed {
			break
		}
		if !slices.Contains(near, i) {
			near = append(near, i)
		}
	}
	return near
}

// listedChars is how many characters of a message a list shows. With what stands in front of them they make a line of a
// terminal.
const listedChars = 80

// firstWords returns the beginning of a text for a list.
func firstWords(text string) string {
	text = strings.TrimSpace(text[:min(len(text), 4*listedChars)])
	line, _, _ := strings.Cut(text, "\n")
	if end := runes.Head(line, listedChars); end < len(line) {
		line = line[:end] + "…"
	}
	return markup.Escape(markup.Line(strings.ToValidUTF8(line, "\uFFFD")))
}
