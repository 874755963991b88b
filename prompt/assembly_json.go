package prompt

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// MarshalJSON writes each text once, and null for the schema of a tool that is not JSON.
func (a *Assembly) MarshalJSON() ([]byte, error) {
	type plain Assembly // without this method
	p := plain(*a)
	p.Text = ""
	p.Parts = make([]Part, len(a.Parts))
	for i := range a.Parts {
		if p.Parts[i] = a.Parts[i]; !p.Parts[i].Volatile {
			p.Parts[i].Text = ""
		}
	}
	p.Tools = slices.Clone(a.Tools)
	for i := range p.Tools {
		if t := &p.Tools[i]; !json.Valid(t.Schema) {
			t.Schema = nil
		}
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON writes. The error names inconsistent values.
func (a *Assembly) UnmarshalJSON(data []byte) error {
	type plain Assembly
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	p.Text = strings.Join(p.Blocks, "")
	for i := range p.Parts {
		q := &p.Parts[i]
		if q.Volatile {
			continue
		}
		if q.Start < 0 || q.Heading < 0 || q.End > len(p.Text) || q.Start+q.Heading > q.End {
			return errors.New("prompt: a part lies outside of the text")
		}
		q.Text = p.Text[q.Start+q.Heading : q.End]
	}
	*a = Assembly(p)
	return nil
}
