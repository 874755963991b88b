package winnow

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/runes"
)

// nameCalls decides the id that each call is sent with. Anthropic wants them unique in the whole request.
func (r *repair) nameCalls() {
	if !r.repeated {
		return // each is sent with its own
	}
	r.sent = make([]string, len(r.calls))
	used := make(map[string]struct{}, len(r.calls))
	native := r.ids            // every id of the history: what is valid and unique is never touched
	serial := map[string]int{} // last number used, by what stands in front of it
	for s := range r.calls {
		if r.calls[s].failed {
			continue
		}
		id := r.callPart(int32(s)).ID
		if _, taken := used[id]; taken || id == "" {
			id = nextID(id, serial, func(id string) bool {
				_, a := used[id]
				_, b := native[id]
				return !a && !b
			})
		}
		used[id] = struct{}{}
		r.sent[s] = id
	}
}

// sentID returns the id that call s is sent with.
func (r *repair) sentID(s int32) string {
	if r.sent != nil {
		return r.sent[s]
	}
	return r.callPart(s).ID
}

// madeIDs returns the ids of calls that are not sent with their own.
func (r *repair) madeIDs() (ids []string) {
	for s, id := range r.sent {
		if id != "" && id != r.callPart(int32(s)).ID {
			ids = append(ids, id)
		}
	}
	return ids
}

// maxIDLength is the longest id that every provider takes (OpenAI Chat Completions: 40 characters).
const maxIDLength = 40

// nextID returns id with a number that makes it free. An id without characters that every provider takes
// (^[a-zA-Z0-9_-]+$) in it is cleaned first. Long ids share what is left of them in front of the number, and so
// they share the numbers: no number is tried twice.
func nextID(id string, serial map[string]int, free func(string) bool) string {
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
		if next := stem + suffix; free(next) {
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

// shortID keeps a reason readable, whatever an id holds.
func shortID(id string) string {
	if end := runes.Head(id, maxIDLength); end < len(id) {
		return id[:end] + "…"
	}
	return id
}
