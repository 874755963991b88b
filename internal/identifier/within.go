package identifier

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// inside calls f for the identifiers that can be found within id, without id.
func inside(id string, f func(s string)) {
	if len(id) > MaxBytes {
		return
	}
	for i := 1; i < len(id); i++ {
		if runes.Class[id[i-1]]&(runes.Slash|runes.Joint) != 0 {
			f(id[i:])
		}
	}
	if strings.IndexByte(id, '/') < 0 {
		return
	}
	for piece := range strings.SplitSeq(id, "/") {
		Scan(piece, func(s string, _ Kind) { f(s) })
	}
}

// Cover adds what text mentions to covered: each identifier in it, and what can be found within that.
func Cover(covered *Known, text string) {
	Scan(text, func(id string, _ Kind) { CoverID(covered, id) })
}

// CoverID is Cover for a text that is one identifier. Most texts mention the same ones again and again: what is found
// within one that is covered is covered too. Only behind a tilde in the middle of a path more is found where the piece
// stands alone.
func CoverID(covered *Known, id string) {
	if !covered.Add(id) && strings.IndexByte(id, '~') < 0 {
		return
	}
	inside(id, func(s string) { covered.Add(s) })
}
