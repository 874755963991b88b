package pairing

import (
	"math"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Given are the names that calls were sent with before. The zero value has none.
type Given struct {
	From  int32               // the message from which on they apply
	Names map[string][]string // by the id in the transcript: those of the calls with it, in their order
	Count bool                // later calls with such an id get a number: the first may be gone from the transcript
}

// Name decides the id that each call is sent with. Anthropic wants them unique in the whole request. An id that is
// valid and unique is never touched. A transcript may grow and lose its beginning, but a name stays what it was: those
// that were given are given again. Only a later call whose own id is the name of an earlier one changes that name.
func (p *Pairs) Name(g *Given) {
	if !p.repeated && len(g.Names) == 0 {
		return // each is sent with its own
	}
	reserved := map[string]struct{}{}
	for _, names := range g.Names {
		for _, name := range names {
			reserved[name] = struct{}{}
		}
	}
	p.name(g, func(id string) bool {
		_, isReserved := reserved[id]
		_, isNative := p.ids[id]
		return isReserved || isNative
	})
}

// name gives each call the next of the names that were given, or its own id, or one that is neither used nor reserved.
func (p *Pairs) name(g *Given, isReserved func(id string) bool) {
	p.sent = make([]string, len(p.Calls))
	used := make(map[string]struct{}, len(p.Calls))
	serial := map[string]int{} // last number used, by what stands in front of it
	uses := map[string]int{}   // calls so far to which g applies, by their ids
	isFree := func(id string) bool {
		_, isUsed := used[id]
		return !isUsed && !isReserved(id)
	}
	for s := range p.Calls {
		c := &p.Calls[s]
		if c.Failed {
			continue
		}
		id, isNew := c.ID, c.ID == ""
		_, isUsed := used[id]
		if names, isKnown := g.Names[id]; isKnown && c.Message >= g.From {
			n := uses[id]
			if uses[id]++; n >= len(names) {
				isNew = isNew || g.Count
			} else if _, isTaken := used[names[n]]; !isTaken {
				id, isUsed, isNew = names[n], false, false
				noteNumber(id, serial)
			}
		}
		if isUsed || isNew {
			id = nextID(id, serial, isFree)
		}
		used[id] = struct{}{}
		p.sent[s] = id
	}
}

// noteNumber notes the number of a name that was given before, so that the next one has a higher number.
func noteNumber(name string, serial map[string]int) {
	if at := strings.LastIndexByte(name, '_'); at >= 0 {
		if n, err := strconv.Atoi(name[at+1:]); err == nil && n < math.MaxInt32 {
			serial[name[:at]] = max(n, serial[name[:at]])
		}
	}
}

// SentID returns the id that call s is sent with.
func (p *Pairs) SentID(s int32) string {
	if p.sent != nil {
		return p.sent[s]
	}
	return p.Calls[s].ID
}

// IsRenamed reports whether call s is not sent with its own id.
func (p *Pairs) IsRenamed(s int32) bool { return p.sent != nil && p.sent[s] != p.Calls[s].ID }

// maxIDLength is the longest id that every provider takes (OpenAI Chat Completions: 40 characters).
const maxIDLength = 40

// nextID returns id with a number that makes it free. An id without characters that every provider takes
// (^[a-zA-Z0-9_-]+$) in it is cleaned first. Long ids share what is left of them in front of the number, and so they
// share the numbers: no number is tried twice.
func nextID(id string, serial map[string]int, isFree func(string) bool) string {
	base := cleanID(id)
	n := 1 // the id itself is the first
	if id == "" {
		n = 0
	}
	for {
		n++
		suffix := "_" + strconv.Itoa(n)
		stem := base[:min(len(base), maxIDLength-len(suffix))]
		if last := serial[stem]; last >= n {
			n = last
			continue
		}
		serial[stem] = n
		if next := stem + suffix; isFree(next) {
			return next
		}
	}
}

func cleanID(id string) string {
	if id == "" {
		return "call"
	}
	return strings.Map(func(c rune) rune {
		if c < 128 && runes.Class[c]&(runes.Alpha|runes.Digit|runes.Underscore|runes.Dash) != 0 {
			return c
		}
		return '_'
	}, id[:min(len(id), maxIDLength)])
}

// IsValidID reports whether every provider takes id.
func IsValidID(id string) bool { return id != "" && len(id) <= maxIDLength && cleanID(id) == id }

// ShortID keeps a sentence with an id in it readable, whatever the id holds.
func ShortID(id string) string {
	if end := runes.Head(id, maxIDLength); end < len(id) {
		return id[:end] + "…"
	}
	return id
}
