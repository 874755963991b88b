package identifier

import "github.com/winnowgo/winnow/internal/runes"

// Cover adds what text mentions to covered: each identifier in it, and the ends of each that is a path or a URL, by
// which it may be named too.
func Cover(covered *Known, text string) {
	Scan(text, func(id string, _ Kind) { CoverID(covered, id) })
}

// CoverID is Cover for a text that is one identifier. Most texts mention the same ones again and again, and the ends of
// an end are there already.
func CoverID(covered *Known, id string) {
	if !covered.Add(id) || len(id) > MaxBytes {
		return
	}
	for i := 1; i < len(id); i++ {
		if runes.Class[id[i-1]]&(runes.Slash|runes.Joint) != 0 {
			covered.Add(id[i:])
		}
	}
}
