package winnow

// Files in work: an agent that edits a file quotes it, and needs its newest text as it stands.

// How many requests behind the newest call that touched it a file is worked on, in the newest turn: an agent goes on
// with the files of a turn until a person asks for something else. Each is about where the next edit, which quotes the
// file, is no longer likely enough to be worth what it costs to carry the text. See BENCHMARKS.md.
const (
	// Of a call that read it: an agent reads several files, thinks, and then edits them.
	readRequests = 30
	// Likewise where no provider's cache makes it cheap to carry the text.
	uncachedReadRequests = 15
	// Of a call that changed it: the next change of the same file mostly follows at once.
	editedRequests = 3
)

// workReads is how many of the newest calls that read a file are held: agents read long files in pieces.
const workReads = 2

// filesInWork marks the steps whose calls show files that are worked on: the newest reads of each, and what was written
// to it since.
func (s *staleness) filesInWork(uncached bool) (held []bool) {
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
				if !isKnown && requests > use.requests(uncached) {
					n = workReads // the work has moved on: no older one is held
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

// requests is for how many requests a call that touched a file last says that the file is worked on.
func (u fileUse) requests(uncached bool) int {
	switch {
	case u.modifies:
		return editedRequests
	case uncached:
		return uncachedReadRequests
	}
	return readRequests
}
