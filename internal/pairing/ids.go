package pairing

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/runes"
)

// Name decides the id that each call is sent with. Anthropic wants them unique in the whole request.
func (p *Pairs) Name() {
	if !p.repeated {
		return // each is sent with its own
	}
	p.sent = make([]string, len(p.Calls))
	used := make(map[string]struct{}, len(p.Calls))
	serial := map[string]int{} // last number used, by what stands in front of it
	isFree := func(id string) bool {
		_, isUsed := used[id]
		_, isNative := p.ids[id] // an id of the transcript that is valid and unique is never touched
		return !isUsed && !isNative
	}
	for s := range p.Calls {
		if p.Calls[s].Failed {
			continue
		}
		id := p.Calls[s].ID
		if _, taken := used[id]; taken || id == "" {
			id = nextID(id, serial, isFree)
		}
		used[id] = struct{}{}
		p.sent[s] = id
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

// NewIDs returns the ids of calls that are not sent with their own.
func (p *Pairs) NewIDs() (ids []string) {
	for s, id := range p.sent {
		if id != "" && id != p.Calls[s].ID {
			ids = append(ids, id)
		}
	}
	return ids
}

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
		if c < 128 && ascii.Class[c]&(ascii.Alpha|ascii.Digit|ascii.Underscore|ascii.Dash) != 0 {
			return c
		}
		return '_'
	}, id[:min(len(id), maxIDLength)])
}

// ShortID keeps a sentence with an id in it readable, whatever the id holds.
func ShortID(id string) string {
	if end := runes.Head(id, maxIDLength); end < len(id) {
		return id[:end] + "…"
	}
	return id
}
