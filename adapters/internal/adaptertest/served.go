package adaptertest

import "fmt"

// served are the pairs of calls and results of one turn that the provider runs itself: by the id of a call, whether it
// has its result. A call may be open at the end of a request, where the provider goes on with it.
type served map[string]bool

func (s served) call(id string) error {
	if done, again := s[id]; again && !done {
		return s.end()
	}
	s[id] = false
	return nil
}

func (s served) result(id string) error {
	if _, called := s[id]; !called {
		return fmt.Errorf("the provider's own result %q has no call before it", id)
	}
	s[id] = true
	return nil
}

// end is the end of the turn.
func (s served) end() error {
	for id, done := range s {
		if !done {
			return fmt.Errorf("the provider's own call %q has no result", id)
		}
	}
	clear(s)
	return nil
}
