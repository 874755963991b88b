package winnow

// Files in work: an agent that edits a file quotes it, and needs its newest text as it stands.

// A file is worked on for so many requests after it was read or written last, in the newest turn: an agent goes on with
// the files of a turn until a person asks for something else. In the recorded sessions, the lines that an edit quotes
// were seen last in the turn of the edit four times in five, and then within 20 requests nine times in ten.
const workRequests = 20

// workReads is how many of the newest calls that read a file are held: agents read long files in pieces.
const workReads = 2

// filesInWork marks the steps whose calls show files that are worked on: the newest reads of each, and what was written
// to it since.
func (s *staleness) filesInWork() (held []bool) {
	v := s.view
	held = make([]bool, len(v.messages))
	reads := map[uint32]int{} // of each file that is worked on, how many are held; 0: what was written is
	requests := 0
	for i := len(v.messages) - 1; i >= s.newest; i-- {
		if v.messages[i].Role != RoleAssistant {
			continue
		}
		requests++
		for _, c := range *v.facts[i].subjects {
			for _, use := range c.files {
				n, isKnown := reads[use.name]
				if !isKnown && requests > workRequests {
					continue // the work has moved on
				}
				held[i] = held[i] || n == 0 || !use.modifies && n < workReads
				if !use.modifies {
					n++
				}
				reads[use.name] = n
			}
		}
	}
	for i := 1; i < len(held); i++ {
		if v.messages[i].Role == RoleTool {
			held[i] = held[i-1]
		}
	}
	return held
}
