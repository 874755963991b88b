package overflow

import (
	"slices"
	"strconv"
	"strings"
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
	maxNesting    = 5        // JSON in strings in JSON
)

// reading is what is known about an error's texts.
type reading struct {
	segments   []*segment
	codeNumber []string // codes that are numbers
	budget     int
	bodyStatus int
	jsonTokens int // numbers in fields of their own, as llama.cpp has them
	jsonLimit  int
}

// endsWith reports whether n is the last thing in one of the texts.
func (r *reading) endsWith(n int) bool {
	return slices.ContainsFunc(r.segments, func(s *segment) bool {
		return strings.HasSuffix(strings.TrimRight(s.lower, " .…()[]{}\\"), strconv.Itoa(n))
	})
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
