package judge

import (
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// Shown is what a part of a history showed: a file, or what a command said.
type Shown struct {
	Act
	Text string // the result
}

// LeftOut returns what a request no longer shows of a history, by the edits that made it: what calls showed whose
// results were edited, and that no result shows that stands whole.
func LeftOut(history []winnow.Message, edits []winnow.Edit) (out []Shown) {
	isEdited := map[int]bool{}
	for _, e := range edits {
		if e.Op != winnow.OpRepair && e.Op != winnow.OpMinify {
			isEdited[e.Index] = true
		}
	}
	calls := map[string]*winnow.Part{}
	var whole Step
	for i := range history {
		m := &history[i]
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
				calls[p.ID] = p
			}
		}
		call := calls[m.ToolCallID]
		if m.Role != winnow.RoleTool || call == nil {
			continue
		}
		for _, act := range ActsOf(call.Name, call.Arguments) {
			switch {
			case act.Does == changes:
			case isEdited[i]:
				out = append(out, Shown{act, recording.Text(m)})
			default:
				whole = append(whole, act)
			}
		}
	}
	return slices.DeleteFunc(out, func(s Shown) bool { return whole.has(s.Act) })
}

// Again returns what a step asks for again of what is left out, the newest showing of it, or nil.
func (s Step) Again(out []Shown) *Shown {
	for i := len(out) - 1; i >= 0; i-- {
		if s.has(out[i].Act) {
			return &out[i]
		}
	}
	return nil
}
