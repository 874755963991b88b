package overflow

import (
	"slices"
	"strconv"
)

// How much of an error is read. A refusal is said in its first or last words; the rest is a request sent back, a stack,
// a page. The longest of 261 refusals that were collected from providers has 451 bytes, and with the bounds a body of
// megabytes costs little more than one of some kilobytes.
const (
	maxCodeBytes  = 80       // of one code or name of an error
	maxSegments   = 16       // texts of one error
	segmentHead   = 1 << 10  // bytes read of the beginning of one text
	segmentTail   = 1 << 9   // and of its end
	readingBudget = 12 << 10 // bytes of all texts together
	maxJSONDepth  = 32       // levels whose keys are told apart
	maxNesting    = 5        // JSON in strings in JSON, wrappers around a wrapper
)

// reading is what is known about an error's texts.
type reading struct {
	segments   []*segment
	codeNumber []string // codes that are numbers
	budget     int
	bodyStatus int
	jsonTokens int // numbers in fields of their own, as llama.cpp has them
	jsonLimit  int
	asked      int // numbers in fields that do not say what they count: {"requested": 140211, "limit": 131072}
	allowed    int
	pairsOther bool // some field says that they count something other than tokens
}

// endsWith reports whether n is the last thing in one of the texts.
func (r *reading) endsWith(n int) bool {
	for _, s := range r.segments {
		ts := s.tokens
		for len(ts) > 0 && (ts[len(ts)-1].sign || ts[len(ts)-1].s == "…") {
			ts = ts[:len(ts)-1]
		}
		if len(ts) > 0 && ts[len(ts)-1].isNum && int(ts[len(ts)-1].n) == n {
			return true
		}
	}
	return false
}

// names reports whether some text has a word of one of these roles.
func (r *reading) names(roles role) bool {
	return slices.ContainsFunc(r.segments, func(s *segment) bool { return s.roles&roles != 0 })
}

// says reports whether some text says one of these phrases.
func (r *reading) says(phrases phrase) bool {
	return slices.ContainsFunc(r.segments, func(s *segment) bool { return s.says&phrases != 0 })
}

// atoi reads a number without a sign; an absurdly large one is refused.
func atoi(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 40)
	return int(n), err == nil
}
