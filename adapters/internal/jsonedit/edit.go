package jsonedit

import (
	"bytes"
	"slices"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// Editor collects edits of a value. What is edited was got from the value, and shares its memory: it is known by its
// place.
type Editor struct {
	of     Value
	edits  map[int]*edit // by where in it the value begins that is edited
	places []int         // sorted; nil: not yet
}

// edit is what becomes of a value.
type edit struct {
	before [][]byte // new elements in front of it
	set    []byte   // in its place
	isGone bool
	end    [][]byte // new elements, or members, at its end
}

// Edit returns an editor of v.
func Edit(v Value) *Editor { return &Editor{of: v, edits: map[int]*edit{}} }

// at returns where v begins in the editor's value.
func (e *Editor) at(v Value) int { return int(address(v) - address(e.of)) }

func (e *Editor) edit(v Value) *edit {
	if len(v) == 0 {
		return &edit{} // there is nothing to edit
	}
	at := e.at(v)
	if e.edits[at] == nil {
		e.edits[at], e.places = &edit{}, nil
	}
	return e.edits[at]
}

// IsEmpty reports whether nothing is edited.
func (e *Editor) IsEmpty() bool { return len(e.edits) == 0 }

// Replace puts another value in the place of v.
func (e *Editor) Replace(v Value, with []byte) { e.edit(v).set = with }

// Remove takes v out of its list, or its member out of its object.
func (e *Editor) Remove(v Value) { e.edit(v).isGone = true }

// IsRemoved reports whether v was taken out.
func (e *Editor) IsRemoved(v Value) bool {
	x := e.edits[e.at(v)]
	return x != nil && x.isGone
}

// Before puts a new element in front of v, which is one of a list.
func (e *Editor) Before(v Value, element []byte) {
	x := e.edit(v)
	x.before = append(x.before, element)
}

// Append puts a new element at the end of a list.
func (e *Editor) Append(list Value, element []byte) {
	x := e.edit(list)
	x.end = append(x.end, element)
}

// Add adds a member to an object.
func (e *Editor) Add(object Value, name string, value []byte) {
	x := e.edit(object)
	x.end = append(x.end, slices.Concat(Quote(name), []byte{':'}, value))
}

// Bytes returns v, which is the editor's value or was got from it, with the edits in it. If v itself is taken out, it
// is returned all the same. Without edits it is v.
func (e *Editor) Bytes(v Value) []byte {
	if e.places == nil {
		for at := range e.edits {
			e.places = append(e.places, at)
		}
		slices.Sort(e.places)
	}
	if !e.touches(v) {
		return v
	}
	var out pieces
	e.write(&out, v)
	return slices.Concat(out...)
}

// pieces are what a text is put together from, in memory that is taken once.
type pieces [][]byte

func (p *pieces) add(text []byte) { *p = append(*p, text) }

// touches reports whether something is edited in v.
func (e *Editor) touches(v Value) bool {
	from := e.at(v)
	i, _ := slices.BinarySearch(e.places, from)
	return i < len(e.places) && e.places[i] < from+len(v)
}

func (e *Editor) write(out *pieces, v Value) {
	x := e.edits[e.at(v)]
	switch {
	case x != nil && x.set != nil:
		out.add(x.set)
	case !e.touches(v):
		out.add(v)
	default:
		c := container{e: e, out: out, of: v, last: 1}
		out.add(v[:1])
		if v.IsObject() {
			jsontext.Members(v, func(_ string, value []byte) {
				c.child(c.last+bytes.IndexByte(v[c.last:], '"'), value)
			})
		} else {
			jsontext.Elements(v, func(value []byte) { c.child(e.at(value)-e.at(v), value) })
		}
		if x != nil {
			for _, text := range x.end {
				c.insert(text)
			}
		}
		out.add(v[c.last:])
	}
}

var comma = []byte{','}

// container is a list or an object that is written.
type container struct {
	e    *Editor
	out  *pieces
	of   Value
	last int  // where what was read of it ends
	any  bool // it has something by now
}

// child writes an element, or a member with this value, that begins at a place.
func (c *container) child(from int, value Value) {
	x, at := c.e.edits[c.e.at(value)], c.e.at(value)-c.e.at(c.of)
	if x != nil {
		for _, text := range x.before {
			c.insert(text)
		}
	}
	between := c.of[c.last:from]
	head := c.of[from:at] // the name of a member
	c.last = at + len(value)
	if x != nil && x.isGone {
		return
	}
	n := bytes.IndexByte(between, ',')
	switch {
	case c.any && n < 0:
		c.out.add(comma)
	case !c.any:
		between = between[n+1:]
	}
	c.out.add(between)
	c.out.add(head)
	c.e.write(c.out, value)
	c.any = true
}

func (c *container) insert(text []byte) {
	if c.any {
		c.out.add(comma)
	}
	c.out.add(text)
	c.any = true
}

// IsGone reports whether nothing is left of v as it was: it was taken out, or something else is in its place.
func (e *Editor) IsGone(v Value) bool {
	x := e.edits[e.at(v)]
	return x != nil && (x.isGone || x.set != nil)
}
