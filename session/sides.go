package session

// sides is what a log says beside the branch. It is read backwards: the first value found is the newest.
type sides struct {
	info   Info
	labels map[string]string
	known  map[string]bool // labels that were set or removed
	newer  []*Entry        // entries to count, the newest first
	base   Counts
	at     int64 // offset of the entry with totals; 0: none
}

// add takes in e. complete says that entries before e do not matter.
func (s *sides) add(e *Entry) (complete bool) {
	if e.Full != nil {
		older := e.Full.Info
		mergeInfo(&older, &s.info)
		s.info = older
		for id, label := range e.Full.Labels {
			s.label(id, label)
		}
		s.base = cloneCounts(e.Full.Counts)
		s.newer = append(s.newer, &Entry{Type: e.Type})
		return true
	}
	s.newer = append(s.newer, e)
	switch {
	case e.Type == TypeInfo && e.Info != nil:
		older := *e.Info
		mergeInfo(&older, &s.info)
		s.info = older
	case e.Type == TypeLabel:
		s.label(e.Target, e.Label)
	}
	return false
}

func (s *sides) label(id, label string) {
	if s.known[id] {
		return
	}
	if s.known == nil {
		s.known, s.labels = map[string]bool{}, map[string]string{}
	}
	s.known[id] = true
	if label != "" {
		s.labels[id] = label
	}
}

// counts returns the counts of the whole log.
func (s *sides) counts() Counts {
	c := s.base
	for i := len(s.newer) - 1; i >= 0; i-- {
		countEntry(&c, s.newer[i])
	}
	return c
}
