package main

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// group is all changes of one kind and reason.
type group struct {
	Op       winnow.Op `json:"op"`
	Reason   string    `json:"reason"`
	Messages int       `json:"messages"`
	Saved    int       `json:"saved"`
}

type grouping map[[2]string]*group

var (
	callID = regexp.MustCompile(`call \S+: `)
	number = regexp.MustCompile(`\d+`)
)

// add sorts changes by kind and by reason, without the ids and numbers in it.
func (g grouping) add(changes []recording.Change) {
	for _, c := range changes {
		reason := number.ReplaceAllString(callID.ReplaceAllString(c.Reason, "call …: "), "N")
		key := [2]string{string(c.Op), reason}
		if g[key] == nil {
			g[key] = &group{Op: c.Op, Reason: reason}
		}
		g[key].Messages++
		g[key].Saved += c.Saved
	}
}

// order is that of the stages.
var order = []winnow.Op{winnow.OpRepair, winnow.OpLimit, winnow.OpMinify, winnow.OpTruncate, winnow.OpTrim,
	winnow.OpClear, winnow.OpFold, winnow.OpCompact}

func (g grouping) list() []group {
	out := []group{}
	for _, v := range g {
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b group) int {
		return cmp.Or(slices.Index(order, a.Op)-slices.Index(order, b.Op), b.Messages-a.Messages,
			cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
