package adapter

import "github.com/winnowgo/winnow"

// Values makes the messages of a framework, of type T, whose imported messages are pieces.
type Values[T any] struct {
	// Hollow reports whether a value of the caller's has a blank text beside others, which providers refuse.
	Hollow func(of *T) bool
	// Message makes a message that is no result; nothing if it is empty. ids are those for the calls among the parts of
	// one of the model.
	Message func(m *winnow.Message, ids []string) []T
	// Results makes results, with these ids.
	Results func(results []winnow.Message, ids []string) []T
}

// Export returns messages in the form of the framework: those that were not changed are the caller's own.
func (v *Values[T]) Export(messages []winnow.Message) (out []T) {
	ids := CallIDs{Rule: OwnIDs, Foreign: &ForeignIDs}
	for run := range Runs(messages) {
		if IsAssistant(&run[0]) {
			sent, stay := ids.Name(&run[0])
			if p := PieceOf[T](&run[0]); p != nil && stay && len(run[0].Parts) > 0 && !v.Hollow(p.Of) {
				out = append(out, *p.Of)
			} else {
				out = append(out, v.Message(&run[0], sent)...)
			}
			continue
		}
		joined, rest := JoinResults[T](run)
		out = v.between(v.between(out, joined, &ids), rest, &ids)
	}
	return out
}

// between adds messages that are not the model's.
func (v *Values[T]) between(out []T, list []winnow.Message, ids *CallIDs) []T {
	for len(list) > 0 {
		of, n := Whole[T](list)
		if of == nil {
			for n < len(list) && list[n].Role == winnow.RoleTool {
				n++
			}
			n = max(n, 1)
		}
		group := list[:n]
		list = list[n:]
		sent := ids.Results(group)
		stay := of != nil && !v.Hollow(of)
		results := 0
		for i := range group {
			if group[i].Role == winnow.RoleTool {
				results++
				stay = stay && sent[i] == group[i].ToolCallID
			} else {
				stay = stay && len(group[i].Parts) > 0
			}
		}
		if stay {
			out = append(out, *of)
			continue
		}
		if results > 0 {
			out = append(out, v.Results(group[:results], sent)...)
		}
		for i := range group[results:] {
			out = append(out, v.Message(&group[results+i], nil)...)
		}
	}
	return out
}
