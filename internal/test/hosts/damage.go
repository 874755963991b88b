package hosts

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
)

// States that a disk or a person has damaged.

// damage plays a new process with a damaged state: it is refused, or does no harm.
func (w *world) damage(s *Step) {
	state := w.snapshot()
	broken := damaged(state, s)
	if bytes.Equal(state, broken) {
		return
	}
	m := w.newManager(w.summarizer)
	if err := m.Restore(broken); err != nil {
		if again, _ := m.Snapshot(); !bytes.Equal(again, mustSnapshot(w.newManager(w.summarizer))) {
			w.fail("a Restore that failed changes nothing", "%s", clip(string(again)))
		}
		return
	}
	_ = w.manager.Close()
	w.manager = m
	w.seen["damaged state taken"]++
	w.unknown, w.damaged, w.unsettled, w.usage = true, true, false, true
	clear(w.bound)
}

func mustSnapshot(m *winnow.Manager) []byte {
	b, err := m.Snapshot()
	if err != nil {
		return nil
	}
	return b
}

// damaged drops or changes one value of the state, or cuts the state.
func damaged(state []byte, s *Step) []byte {
	if s.is("cut") {
		return state[:abs(s.Seed)%max(1, len(state))]
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(state))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return state
	}
	places := 0
	spoil(v, func() int { places++; return -1 })
	if places == 0 {
		return state
	}
	target, how := abs(s.Seed)%places, abs(s.Seed)/places%4
	at := 0
	spoil(v, func() int {
		at++
		if at-1 == target {
			return how
		}
		return -1
	})
	out, err := json.Marshal(v)
	if err != nil {
		return state
	}
	return out
}

// spoil asks for each value of v what to do: -1 keep, 0 drop, 1 empty, 2 replace, 3 set to null.
func spoil(v any, ask func() int) {
	change := func(old any) (any, bool) {
		switch ask() {
		case 0:
			return nil, false
		case 1:
			switch old.(type) {
			case string:
				return "", true
			case json.Number:
				return 0, true
			case []any:
				return []any{}, true
			}
			return map[string]any{}, true
		case 2:
			switch old := old.(type) {
			case string:
				return strings.ToUpper(old) + "AA==", true
			case json.Number:
				return -7, true
			case bool:
				return !old, true
			}
			return old, true
		case 3:
			return nil, true
		}
		return old, true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if next, keep := change(v[k]); !keep {
				delete(v, k)
			} else {
				v[k] = next
			}
			spoil(v[k], ask)
		}
	case []any:
		for i := range v {
			v[i], _ = change(v[i])
			spoil(v[i], ask)
		}
	}
}
