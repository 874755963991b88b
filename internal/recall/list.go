package recall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// What stands in a list of messages.

// entry is the line of a list that tells of message i.
func (r *Answer) entry(i int) string {
	text := r.Source.Text(i)
	return fmt.Sprintf("%s %s, %d lines: %s\n", r.Source.Handle(i), r.Source.Origin(i), r.wrap().Lines(text),
		firstWords(text))
}

// mostListed is how many messages an answer lists that says that something is not there.
const mostListed = 10

// nearest returns the newest messages that are left out, and in front of them those whose handles are nearly the
// given one.
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

// listedChars is how much of a message stands in a list: a line of a terminal with what stands in front of it.
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
