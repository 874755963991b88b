package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report counts what became of the lines of a file.
type Report struct {
	Bytes   int64          `json:"bytes"`
	Lines   int            `json:"lines"`             // lines that are not blank
	Carried map[string]int `json:"carried,omitempty"` // lines of a known kind that are not part of the conversation
	Unknown map[string]int `json:"unknown,omitempty"` // lines of other kinds, which are carried too
	Damaged int            `json:"damaged,omitempty"` // lines that are not JSON or above 48 MiB
	Orphans int            `json:"orphans,omitempty"` // lines whose parent is missing; they follow the previous entry
	Double  int            `json:"double,omitempty"`  // repeated lines
}

// String returns the report in one line.
func (r Report) String() string {
	parts := []string{fmt.Sprintf("%d lines", r.Lines)}
	for _, c := range []struct {
		n    int
		what string
	}{
		{total(r.Carried), "beside the conversation"},
		{total(r.Unknown), "of unknown kinds (" + names(r.Unknown) + ")"},
		{r.Damaged, "damaged"}, {r.Orphans, "without their parent"}, {r.Double, "twice"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(parts, ", ")
}

func total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// mostNames is how many kinds are named.
const mostNames = 5

func names(counts map[string]int) string {
	list := slices.Sorted(maps.Keys(counts))
	if len(list) > mostNames {
		list = append(list[:mostNames], "…")
	}
	return strings.Join(list, ", ")
}
