package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/rewrite"
)

// staleParts returns the parts that may be dropped, oldest first, including those that become stale in the next `ahead`
// requests. early says that no part is carried longer than the least.
func (d *draft) staleParts(early bool, ahead int) []rewrite.Part {
	v := d.view
	o := *d.opts.Prune
	if d.isBelowStale() {
		return nil
	}
	if d.keepsNewestOnly && !d.isKeepLastSet {
		o.KeepLastAssistants = 1
	}
	s := staleness{view: v, options: o, allowed: d.minifier.match, early: early, isBrief: d.opts.Keep.isBrief()}
	s.tools = toolNamesFor(s.allowed, v.messages)
	if d.opts.Recall {
		s.recalls = &recalls{draft: d}
	}
	s.readSubjects(d.minifier.files)
	s.readFolded(d)
	first := slices.IndexFunc(v.messages, func(m Message) bool { return m.Role == RoleUser })
	if first < 0 {
		return nil
	}
	f := d.newFolding(&s)
	var list []rewrite.Part
	carried, end := 0, len(v.messages) // how many requests held message i; where its step ends
	for i := len(v.messages) - 1; i >= first; i-- {
		m := &v.messages[i]
		carried += d.answersIn(i)
		var p rewrite.Part
		ok := false
		switch {
		case f.isInWork(i):
		case f.isFoldable(i):
			switch m.Role {
			case RoleAssistant:
				p, ok = f.step(i, end, carried-1)
			case RoleUser:
				p, ok = f.step(i, end, carried)
			}
		case m.Pinned:
		case m.Role == RoleTool:
			p, ok = s.result(i, carried)
		case m.Role == RoleAssistant:
			p, ok = s.arguments(i, carried-1) // the request that it answers did not hold it
		}
		if m.Role != RoleTool {
			end = i
		}
		if ok && p.Overdue+ahead >= 0 {
			list = append(list, p)
		}
	}
	slices.Reverse(list)
	return list
}
