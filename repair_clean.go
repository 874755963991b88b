package winnow

import (
	"encoding/json"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/runes"
)

// What a message must not hold, and the message without it.

// isClean is a quick look at a history that needs nothing, as most do.
func (r *repair) isClean() bool {
	h := r.history
	calls := 0
	for i := 0; i < len(h); i++ {
		m := &h[i]
		if m.Role == RoleTool || !r.isSound(i) {
			return false
		}
		if m.Role != RoleAssistant {
			continue
		}
		at := i
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != KindToolCall {
				continue
			}
			if isFailed(m) || p.ID == "" {
				return false
			}
			calls++
			if at+1 == len(h) { // waits for its result at the end
				if at > i && r.forRequest {
					return false
				}
				continue
			}
			at++
			if h[at].Role != RoleTool || h[at].ToolCallID != p.ID || !r.isSound(at) {
				return false
			}
		}
		i = at
	}
	return calls == 0 || r.idsAreUnique(calls)
}

// idsAreUnique says that no two of the history's calls have the same id.
func (r *repair) idsAreUnique(calls int) bool {
	seen := make(map[string]struct{}, calls)
	for i := range r.history {
		if r.history[i].Role != RoleAssistant {
			continue
		}
		for k := range r.history[i].Parts {
			p := &r.history[i].Parts[k]
			if p.Kind != KindToolCall {
				continue
			}
			if _, ok := seen[p.ID]; ok {
				return false
			}
			seen[p.ID] = struct{}{}
		}
	}
	return true
}

// isSound says that nothing in the parts of message i is to be changed but, perhaps, its calls' ids.
func (r *repair) isSound(i int) bool {
	if r.facts != nil {
		return r.facts[i].sound
	}
	return r.partsAreClean(&r.history[i])
}

// partsAreClean says that nothing is to be changed in m but, perhaps, its calls' ids.
func (r *repair) partsAreClean(m *Message) bool {
	substance := m.Role == RoleTool
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case r.isEmptyPart(p):
			return false
		case p.Kind == KindToolCall && !validArguments(p.Arguments):
			return false
		case p.Kind != KindThinking:
			substance = true
		}
	}
	return substance && !endsInThinking(m)
}

// isEmptyPart says that providers refuse p because there is nothing in it. A signed part is never empty: thinking
// without a text is encrypted, and Gemini may sign a text part that holds nothing but the signature of a stream.
func (r *repair) isEmptyPart(p *Part) bool {
	if p.Signature != "" || p.Kind != KindText && p.Kind != KindThinking {
		return false
	}
	return p.Text == "" || r.forRequest && runes.IsBlank(p.Text)
}

// validArguments says that raw is JSON, or nothing. Most arguments are of a form that is quick to read.
func validArguments(raw json.RawMessage) bool {
	return len(raw) == 0 || jsontext.Valid(raw)
}

// wrapArguments makes JSON of what a model wrote in its place, without losing it.
func wrapArguments(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(map[string]string{"invalidJson": string(raw)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// needsCleaning says whether cleaned may change message i, or leave nothing of it.
func (r *repair) needsCleaning(i int) bool {
	if !r.isSound(i) {
		return true
	}
	if s := r.first[i]; s >= 0 {
		if r.calls[s].failed {
			return true
		}
		for ; r.sent != nil && int(s) < len(r.calls) && r.calls[s].message == int32(i); s++ {
			if r.callPart(s).ID != r.sent[s] {
				return true
			}
		}
	}
	return false
}

// cleaned returns message i without what providers refuse, and with its calls' ids.
func (r *repair) cleaned(i int) (m Message, changed bool) {
	m = r.history[i]
	if r.first[i] < 0 && r.facts != nil && r.facts[i].sound {
		return m, false
	}
	failed := isFailed(&m)
	s := r.first[i]
	var parts []Part // nil until something changes
	edit := func(k int) {
		if parts == nil {
			parts = append(make([]Part, 0, len(m.Parts)), m.Parts[:k]...)
		}
	}
	for k := range m.Parts {
		p := m.Parts[k]
		isCall := p.Kind == KindToolCall && m.Role == RoleAssistant
		if r.isEmptyPart(&p) || isCall && failed {
			edit(k)
			if isCall {
				s++
			}
			continue
		}
		if isCall {
			id := r.sentID(s)
			s++
			if p.ID != id && id != "" || !validArguments(p.Arguments) {
				edit(k)
				p.Source = nil
				if id != "" {
					p.ID = id
				}
				if !validArguments(p.Arguments) {
					p.Arguments = wrapArguments(p.Arguments)
				}
			}
		}
		if parts != nil {
			parts = append(parts, p)
		}
	}
	if parts != nil {
		m.Parts, m.Source, changed = parts, nil, true
	}
	if endsInThinking(&m) {
		n := len(m.Parts)
		for n > 0 && isThinking(m.Parts[n-1]) {
			n--
		}
		m.Parts, m.Source, changed = m.Parts[:n:n], nil, true
	}
	return m, changed
}

func hasSubstance(m *Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind != KindThinking {
			return true
		}
	}
	return false
}
