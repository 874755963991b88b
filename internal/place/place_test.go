package place

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// listOf is a list of messages whose keys are the letters of a text, at these indexes of the history.
func listOf(text string, index ...int) List {
	l := List{Len: len(text), Key: func(i int) Key { return Key{text[i]} }}
	if index != nil {
		l.Index = func(i int) int { return index[i] }
	}
	return l
}

func TestPositionFind(t *testing.T) {
	for _, tt := range []struct {
		list   List
		p      Position
		want   int
		reason string
	}{
		{listOf("abc"), Position{Key{'b'}, 1}, 1, "where it stood"},
		{listOf("abc"), Position{Key{'c'}, 9}, 2, "it has moved"},
		{listOf("abc"), Position{Key{'d'}, 1}, -1, "it is gone"},
		{listOf("abc"), Position{}, -1, "no message"},
		{listOf("babab"), Position{Key{'b'}, 3}, 2, "of two at the same distance the first"},
		{listOf("babab", 0, 1, 7, 8, 9), Position{Key{'b'}, 9}, 4, "nearest by the index in the history"},
	} {
		assert.Equal(t, tt.want, tt.p.Find(tt.list), tt.reason)
	}
}

func TestBookmarkFind(t *testing.T) {
	for _, tt := range []struct {
		marked string
		at     int
		list   string
		want   int
		reason string
	}{
		{"abcdxe", 4, "abcdxe", 4, "where it stood"},
		{"abcdxe", 4, "xabcdxe", 5, "behind the same messages, and not behind others"},
		{"abcdxe", 4, "xe", 0, "what stood before it was dropped: the next one tells"},
		{"abcdxe", 4, "zzzzxe", -1, "behind other messages"},
		{"abcdx", 4, "x", -1, "nothing tells"},
		{"x", 0, "abx", 2, "nothing is known of its surroundings"},
		{"xe", 0, "abxf", -1, "another one behind it"},
	} {
		assert.Equal(t, tt.want, At(listOf(tt.marked), tt.at).Find(listOf(tt.list)), tt.reason)
	}
}

// What a list leaves out still tells a message from another one: its history has it.
func TestBookmarkKnowsWhatIsNotInTheList(t *testing.T) {
	short := listOf("sx")
	short.Before = func(i, n int) []Key { l := listOf("abcx"); return l.before(3, n) }
	m := At(short, 1)
	assert.Equal(t, 3, m.Find(listOf("abcx")))
	assert.Equal(t, -1, m.Find(listOf("abcdex")), "a later one, behind messages that nobody has read")
}
