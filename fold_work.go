package winnow

// Files in work: an agent that edits a file quotes it, and needs its newest text as it stands.

const (
	workRequests = 15 // so many requests after it was touched last a file that was modified is worked on
	turnRequests = 30 // … and one that was read in the newest turn
	workReads    = 2  // so many of the newest calls that read a file are held
)

// filesInWork marks the steps whose calls show files that are worked on: the newest reads of each, and what was written
// to it since.
func (s *staleness) filesInWork() (held []bool) {
	v := s.view
	held = make([]bool, len(v.messages))
	type file struct {
		last     int // request, counted from the end, in which it was touched last
		modified bool
		reads    int
		steps    []int
	}
	files := map[uint32]*file{}
	request := 0
	for i := len(v.messages) - 1; i >= 0; i-- {
		m := &v.messages[i]
		if m.Role != RoleAssistant {
			continue
		}
		request++
		for _, c := range *v.facts[i].subjects {
			for _, use := range c.files {
				x := files[use.name]
				if x == nil {
					x = &file{last: request}
					files[use.name] = x
				}
				x.modified = x.modified || use.modifies
				if x.reads < workReads || use.modifies && x.reads == 0 {
					x.steps = append(x.steps, i)
				}
				if !use.modifies {
					x.reads++
				}
			}
		}
	}
	for _, x := range files {
		for _, i := range x.steps {
			isModified := x.modified && x.last <= workRequests
			isOfTurn := i >= s.newest && x.last <= turnRequests
			held[i] = held[i] || isModified || isOfTurn
		}
	}
	for i := range held {
		if i > 0 && v.messages[i].Role == RoleTool {
			held[i] = held[i-1]
		}
	}
	return held
}
