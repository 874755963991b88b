package adapter

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestWhole(t *testing.T) {
	a, b := "a", "b"
	m := func(of *string, index, count int) winnow.Message {
		return winnow.Message{Source: &Piece[string]{Of: of, Index: index, Count: count}}
	}
	a0, a1, b0 := m(&a, 0, 2), m(&a, 1, 2), m(&b, 0, 1)
	for _, tt := range []struct {
		name     string
		messages []winnow.Message
		of       *string
		n        int
	}{
		{"one piece", []winnow.Message{b0, a0, a1}, &b, 1},
		{"two pieces", []winnow.Message{a0, a1, b0}, &a, 2},
		{"one is missing", []winnow.Message{a0, b0}, nil, 0},
		{"it ends too soon", []winnow.Message{a0}, nil, 0},
		{"the wrong order", []winnow.Message{a1, a0}, nil, 0},
		{"one was changed", []winnow.Message{a0, {}}, nil, 0},
		{"from elsewhere", []winnow.Message{{Source: &a}}, nil, 0},
		{"another's", []winnow.Message{a0, m(&b, 1, 2)}, nil, 0},
	} {
		of, n := Whole[string](tt.messages)
		assert.Same(t, tt.of, of, tt.name)
		assert.Equal(t, tt.n, n, tt.name)
	}
}
