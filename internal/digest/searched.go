package digest

import (
	"index/suffixarray"
	"strings"
)

// searched is a text in which others are looked for. To read it for each of thousands would take the square of its
// length, so that from some reading on it gets an index, which costs about as much as reading it a hundred times.
type searched struct {
	text  string
	read  int // bytes
	index *suffixarray.Index
}

// contains says that s, which is not empty, stands in the text.
func (t *searched) contains(s string) bool {
	if t.index == nil && t.read < searchedWithoutIndex {
		t.read += len(t.text)
		return strings.Contains(t.text, s)
	}
	if t.index == nil {
		t.index = suffixarray.New([]byte(t.text))
	}
	return len(t.index.Lookup([]byte(s), 1)) > 0
}

const searchedWithoutIndex = 8 << 20 // bytes
