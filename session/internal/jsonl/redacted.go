package jsonl

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/winnowgo/winnow"
)

// Redacted returns m in the form in which it is stored: as the host's function returns it, which may be nil. A message
// that it changes loses its Source, which has the old text.
func Redacted(m winnow.Message, by func(winnow.Message) (winnow.Message, error)) (
	out winnow.Message, isChanged bool, err error,
) {
	if by == nil {
		return m, false, nil
	}
	own := m // it may change it in place without touching the caller's message
	own.Parts, own.Details = slices.Clone(m.Parts), slices.Clone(m.Details)
	for i := range own.Parts {
		own.Parts[i].Arguments = slices.Clone(m.Parts[i].Arguments)
	}
	if out, err = by(own); err != nil {
		return m, false, fmt.Errorf("session: redacting a message: %w", err)
	}
	if isChanged = !isSame(&m, &out); isChanged {
		out.Source = nil
	}
	return out, isChanged, nil
}

// isSame reports whether nothing was redacted.
func isSame(a, b *winnow.Message) bool {
	head, other := *a, *b
	head.Parts, other.Parts = nil, nil
	return reflect.DeepEqual(head, other) && slices.EqualFunc(a.Parts, b.Parts, func(p, q winnow.Part) bool {
		sameArguments := bytes.Equal(p.Arguments, q.Arguments)
		p.Arguments, q.Arguments = nil, nil
		return sameArguments && reflect.DeepEqual(p, q)
	})
}
