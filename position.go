package winnow

import "github.com/winnowgo/winnow/internal/place"

// A position, or a bookmark, identifies a message so that it is found again in another history.
type (
	position = place.Position
	bookmark = place.Bookmark
)

// places returns the messages of v with their keys and their indexes in the history passed in.
func (v *view) places() place.List {
	return place.List{Len: len(v.facts), Key: v.keyOf, Index: v.index}
}

// keyOf returns the key of message i before edits of its text.
func (v *view) keyOf(i int) key { return v.facts[i].key }

// position returns the position of message i.
func (v *view) position(i int) position { return position{Key: v.facts[i].key, Index: v.index[i]} }

// bookmark returns the bookmark of message i. Of the messages before it, it covers those that stand directly before it
// in the repaired history too.
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
