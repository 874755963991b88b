package adapter

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestWhole(t *testing.T) {
	a, b := "a", "b"
	var pieces Pieces[string]
	m := func(of *string, index, count int) winnow.Message {
		return winnow.Message{Source: pieces.New(of, nil, index, count)}
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

func TestPiecesStayWhereTheyAre(t *testing.T) {
	var pieces Pieces[int]
	pieces.Grow(2)
	var all []*Piece[int]
	for i := range 500 {
		all = append(all, pieces.New(new(int), nil, i, 500))
	}
	for i, p := range all {
		assert.Equal(t, i, p.Index)
	}
}
