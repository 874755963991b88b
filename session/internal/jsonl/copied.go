package jsonl

import (
	"iter"
	"slices"

	"github.com/winnowgo/winnow/session/entry"
)

// Copied is an entry of a fork.
type Copied struct {
	*entry.Entry
	Original
}

// Copied reads the entries of a fork one by one: a session may be too large to be held in memory twice.
func (t *Tree) Copied(indexes []int) iter.Seq2[Copied, error] {
	return func(yield func(Copied, error) bool) {
		for _, i := range indexes {
			l, err := t.Line(i)
			var c Copied
			if err == nil {
				c.Entry, err = t.Entry(l)
			}
			if err == nil {
				c.Original, err = originalOf(c.Entry, &l)
			}
			if err == nil && c.FirstKept != nil {
				c.FirstKept = t.firstCopied(c.FirstKept, indexes)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// CopiedHead is by how many bytes a line may grow in a copy: its parent, an offset and a checksum change.
const CopiedHead = 64

// firstCopied returns the first copied entry that does not lie before the first message that a compaction kept: an edit
// may have left out that message, which is then not copied.
func (t *Tree) firstCopied(kept *entry.Ref, indexes []int) *entry.Ref {
	at, ok := t.IndexOf(kept.ID)
	if !ok {
		return kept
	}
	n, _ := slices.BinarySearch(indexes, at)
	if n == len(indexes) {
		return kept
	}
	return &entry.Ref{ID: t.Lines[indexes[n]].ID}
}

// InUse returns the entries that make up the history of a branch, and those between them.
func (t *Tree) InUse(active *Loaded) ([]int, error) {
	needed := map[int]bool{}
	low := t.Current
	for _, p := range active.Places {
		i, _ := t.IndexOf(p.Ref.ID)
		needed[i] = true
		if p.Ref.By != nil {
			edit, _ := t.IndexOf(p.Ref.By.ID)
			needed[edit] = true
		}
	}
	if len(active.Places) > active.Prefix {
		low, _ = t.IndexOf(active.Places[active.Prefix].Ref.ID)
	}
	hasState := false
	for i := t.Current; i >= 0 && t.Lines[i].Kind != entry.TypeSession; {
		n := &t.Lines[i]
		if i >= low || !hasState && n.Kind == entry.TypeState {
			needed[i] = true
		}
		if n.Kind == entry.TypeState {
			l, err := t.Line(i)
			if err != nil {
				return nil, err
			}
			e, err := t.Entry(l)
			hasState = hasState || err == nil && e.Full != nil
		}
		if i < low && hasState {
			break
		}
		i, _ = t.ParentOf(i)
	}
	var indexes []int
	for i := range t.Lines {
		if needed[i] {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
}

// SeqAfter returns the seq of an entry that has an id already, in the line after the one with seq. It is not below the
// number in the id: a writer looks at the last line alone to find ids that nothing in the log has.
func SeqAfter(seq int64, e *entry.Entry) int64 {
	h := Head{ID: e.ID, Seq: max(seq+1, e.Seq)}
	return h.Number()
}

// Moved returns refs with the offsets of the copy. Entries that were not copied are not in use.
func Moved(refs []entry.Ref, offsets map[string]int64) (out []entry.Ref) {
	for _, r := range refs {
		at, ok := offsets[r.ID]
		if !ok {
			continue
		}
		n := entry.Ref{ID: r.ID, At: at}
		if r.By != nil {
			by, ok := offsets[r.By.ID]
			if !ok {
				continue
			}
			n.By = &entry.Ref{ID: r.By.ID, At: by}
		}
		out = append(out, n)
	}
	return out
}
