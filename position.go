package winnow

import "github.com/winnowgo/winnow/internal/place"

// position and bookmark are messages that are found again in another history.
type (
	position = place.Position
	bookmark = place.Bookmark
)

// places are the messages of v by their indexes in the history passed in.
func (v *view) places() place.List {
	return place.List{Len: len(v.facts), Key: v.keyOf, Index: v.index}
}

// keyOf returns the key of message i before edits of its text.
func (v *view) keyOf(i int) key { return v.facts[i].key }

// position returns that of message i.
func (v *view) position(i int) position { return position{Key: v.facts[i].key, Index: v.index[i]} }

// bookmark returns that of message i. What stands before it in the repaired history as well belongs to it.
func (v *view) bookmark(i int) bookmark {
	return place.At(v.places(), i, func(k int) bool { return v.at[k]-v.at[k-1] == 1 })
}

// keysIn returns the keys of facts.
func keysIn(facts []*fact) []key {
	keys := make([]key, len(facts))
	for i, f := range facts {
		keys[i] = f.key
	}
	return keys
}
