package jsonl

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/session/entry"
)

// A newer version may have written members that this one does not know, at any depth. A fork keeps them: it copies the
// members of an entry unchanged, except for offsets and counts, which differ in the fork.

// Original is what the copy of an entry keeps: members as the original has them, without braces. verbatim has all
// members after the head, and unknown has those that this version does not know.
type Original struct{ verbatim, unknown []byte }

// originalOf returns what a copy of e keeps, which was decoded from l.
func originalOf(e *entry.Entry, l *Line) (o Original, err error) {
	members, err := l.members()
	if err != nil || len(members) == 0 { // of an erased entry nothing may be left
		return o, err
	}
	if e.Type != entry.TypeCompaction && e.Full == nil {
		o.verbatim = members
		return o, nil
	}
	all, err := splitMembers(slices.Concat([]byte("{"), members, []byte("}")))
	if err != nil {
		return o, err
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[entry.Entry]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		delete(all, name)
	}
	o.unknown = joinMembers(all)
	return o, nil
}

// members returns the members after the head of l, opened if they are sealed, without braces. They are valid until the
// next line is read; nil means that there are none.
func (l *Line) members() ([]byte, error) {
	switch {
	case l.Sealed != "":
		text, err := l.Text()
		return bytes.TrimPrefix(text, []byte(",")), err
	case l.body != nil:
		return bytes.TrimRight(l.body, " "), nil // an entry that was erased ends in spaces
	}
	all, err := splitMembers(l.Data) // another program wrote it
	if err != nil {
		return nil, err
	}
	for _, name := range [...]string{"seq", "id", "parentId", "type", "time", "at", "batch", "sealed", "crc"} {
		delete(all, name)
	}
	return joinMembers(all), nil
}

func splitMembers(object []byte) (all map[string]json.RawMessage, err error) {
	err = json.Unmarshal(object, &all)
	return all, err
}

// joinMembers undoes splitMembers. The members come in the order of their names, without braces.
func joinMembers(all map[string]json.RawMessage) []byte {
	if len(all) == 0 {
		return nil
	}
	var x Encoder
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		quoted, _ := x.Marshal(name) // a string never fails
		out = append(append(append(out, quoted...), ':'), all[name]...)
		out = append(out, ',')
	}
	return out[:len(out)-1]
}
