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
	w.goOnWith(m, nil) // a damaged state has no journal
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
	changes := changesOf(v)
	if len(changes) == 0 {
		return state
	}
	changes[abs(s.Seed)%len(changes)](abs(s.Seed) / len(changes) % 4)
	out, err := json.Marshal(v)
	if err != nil {
		return state
	}
	return out
}

// changesOf returns a function for each value below v, which drops it (0), empties it (1), replaces it (2) or sets it
// to null (3).
func changesOf(v any) (changes []func(how int)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			changes = append(changes, func(how int) {
				if v[k] = changed(v[k], how); how == 0 {
					delete(v, k)
				}
			})
			changes = append(changes, changesOf(v[k])...)
		}
	case []any:
		for i := range v {
			changes = append(changes, func(how int) { v[i] = changed(v[i], how) })
			changes = append(changes, changesOf(v[i])...)
		}
	}
	return changes
}

// changed returns another value in the place of old.
func changed(old any, how int) any {
	switch old := old.(type) {
	case string:
		return []any{nil, "", strings.ToUpper(old) + "AA==", nil}[how]
	case json.Number:
		return []any{nil, 0, -7, nil}[how]
	case []any:
		return []any{nil, []any{}, old, nil}[how]
	case bool:
		return []any{nil, map[string]any{}, !old, nil}[how]
	}
	return []any{nil, map[string]any{}, old, nil}[how]
}
