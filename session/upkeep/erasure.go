package upkeep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// erasure is what to overwrite in one log, and with what. Each line is overwritten by one of the same length: all
// offsets stay valid, and what is not erased keeps its bytes.
type erasure struct {
	*jsonl.Tree
	size    int64
	chosen  map[int]*entry.Entry // by index: the requested entries
	with    map[int]*entry.Entry // by index: what was derived from them
	patches []backend.Patch
	lines   []byte // appended to the log
}

func newErasure(ctx context.Context, log jsonl.Log, seal session.Sealer) (*erasure, error) {
	size, err := log.Size()
	if err != nil {
		return nil, err
	}
	t, err := jsonl.NewTree(ctx, log, size, seal, nil)
	return &erasure{Tree: t, size: size, chosen: map[int]*entry.Entry{}, with: map[int]*entry.Entry{}}, err
}

// entry returns an entry that can be erased and its index, nil if the log does not have it.
func (v *erasure) entry(id string) (int, *entry.Entry, error) {
	i, ok := v.IndexOf(id)
	if !ok || v.Tree.Lines[i].Kind == entry.TypeSession {
		return 0, nil, nil
	}
	e, err := v.decode(i)
	return i, e, err
}

// fingerprints returns the fingerprints of entries, by id, without those that were erased before.
func (v *erasure) fingerprints(ids []string) (map[string]string, error) {
	sums := map[string]string{}
	for _, id := range ids {
		_, e, err := v.entry(id)
		if err == nil && e == nil {
			err = fmt.Errorf("%w: entry %q", session.ErrNotFound, id)
		}
		if err != nil {
			return nil, err
		}
		if e.Type != entry.TypeErased {
			sums[id] = fingerprint(e)
		}
	}
	return sums, nil
}

// choose chooses the entries with these fingerprints.
func (v *erasure) choose(sums map[string]string) error {
	for id, sum := range sums {
		i, e, err := v.entry(id)
		if err != nil {
			return err
		}
		if e != nil && fingerprint(e) == sum {
			v.chosen[i] = e
		}
	}
	return nil
}

// decode returns an entry. If it cannot be read, it has only a head.
func (v *erasure) decode(i int) (*entry.Entry, error) {
	l, err := v.Line(i)
	if err != nil {
		return nil, err
	}
	e, err := l.Decode()
	if errors.Is(err, session.ErrSealed) {
		return nil, err
	}
	if err != nil {
		e = &entry.Entry{}
		l.GiveHead(e)
	}
	return e, nil
}

// plainEntry is an Entry without its methods.
type plainEntry entry.Entry

// fingerprint returns the same text for an entry and its copies: a fork keeps ids, times and content, but not offsets.
func fingerprint(e *entry.Entry) string {
	c := *e
	c.Seq, c.ParentID, c.At, c.Batch = 0, "", nil, [2]int64{}
	c.FirstKept, c.Keep, c.Full = nil, nil, nil
	text, err := json.Marshal((*plainEntry)(&c))
	if err != nil {
		return "" // not JSON: no store wrote it
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// ids returns the ids of entries in the order of the log.
func (v *erasure) ids(of map[int]*entry.Entry) (ids []string) {
	for _, i := range slices.Sorted(maps.Keys(of)) {
		ids = append(ids, of[i].ID)
	}
	return ids
}

// make finds what is erased along with the chosen entries, and makes the patches.
func (v *erasure) make(now time.Time) error {
	if len(v.chosen) == 0 {
		return nil
	}
	if err := v.follow(); err != nil {
		return err
	}
	for _, entries := range []map[int]*entry.Entry{v.chosen, v.with} {
		for i, e := range entries {
			if err := v.overwrite(i, e); err != nil {
				return err
			}
		}
	}
	if len(v.patches) == 0 {
		return nil
	}
	if err := v.gaps(); err != nil {
		return err
	}
	slices.SortFunc(v.patches, func(a, b backend.Patch) int { return int(a.Offset - b.Offset) })
	return v.note(now)
}

// follow finds what was derived from the chosen entries.
func (v *erasure) follow() error {
	first := slices.Min(slices.Collect(maps.Keys(v.chosen)))
	behind := make([]bool, len(v.Tree.Lines)) // on a branch, after a chosen entry
	for i := first; i < len(v.Tree.Lines); i++ {
		n := &v.Tree.Lines[i]
		if v.chosen[i] != nil {
			behind[i] = true
			continue
		}
		if n.IsPath() {
			parent, _ := v.ParentOf(i)
			behind[i] = parent >= 0 && behind[parent]
		}
		switch n.Kind {
		case entry.TypeCompaction, entry.TypeBranchSummary, entry.TypeEdit, entry.TypeLabel, entry.TypeState,
			entry.TypeStatus:
		default:
			continue
		}
		e, err := v.decode(i)
		if err != nil {
			return err
		}
		if v.goesWith(i, e, behind) {
			v.with[i] = e
		}
	}
	return nil
}

// goesWith reports whether an entry that is not chosen was derived from one that is. Its text may repeat the erased
// one.
func (v *erasure) goesWith(i int, e *entry.Entry, behind []bool) bool {
	of, ok := v.IndexOf(e.Target)
	switch e.Type {
	case entry.TypeCompaction:
		return behind[i]
	case entry.TypeBranchSummary: // of an abandoned branch
		return behind[i] || ok && behind[of]
	case entry.TypeEdit, entry.TypeLabel:
		return ok && v.chosen[of] != nil && !e.Omit
	case entry.TypeState:
		return e.Full == nil || len(e.Full.State) > 0 || v.isTold(e.Full)
	case entry.TypeStatus:
		return e.Full != nil && v.isTold(e.Full)
	}
	return false
}

// isTold reports whether a full state repeats an erased label or title.
func (v *erasure) isTold(full *entry.FullState) bool {
	kept := v.withoutErased(full)
	return len(kept.Labels) != len(full.Labels) || kept.Info != full.Info
}

// withoutErased returns what stays of a full state: the counts, and the title and labels that are not erased.
func (v *erasure) withoutErased(full *entry.FullState) *entry.FullState {
	out := &entry.FullState{Counts: full.Counts, Info: full.Info, Labels: maps.Clone(full.Labels)}
	for _, e := range v.chosen {
		delete(out.Labels, e.ID)
		if e.Type == entry.TypeLabel && out.Labels[e.Target] == e.Label {
			delete(out.Labels, e.Target)
		}
		isTitle := e.Type == entry.TypeInfo && e.Info != nil && e.Info.Title != nil && out.Info.Title != nil
		if isTitle && *e.Info.Title == *out.Info.Title {
			out.Info.Title = nil
		}
	}
	return out
}

// overwrite makes the patch for an entry.
func (v *erasure) overwrite(i int, e *entry.Entry) error {
	l, err := v.Line(i)
	if err != nil {
		return err
	}
	left := v.leftOf(e)
	if left == nil {
		return nil
	}
	left.Time = e.Time
	text, err := jsonl.Overwritten(&l, left)
	if err != nil {
		return err
	}
	v.patches = append(v.patches, backend.Patch{Offset: l.Offset, Text: text})
	return nil
}

// gaps makes patches for the damage between the entries, which may be the remains of an entry. Blank lines are left.
func (v *erasure) gaps() error {
	at := int64(0)
	ends := append(slices.Clone(v.Tree.Lines), jsonl.Node{Offset: v.size})
	slices.SortFunc(ends, func(a, b jsonl.Node) int { return int(a.Offset - b.Offset) })
	for _, n := range ends {
		for at < n.Offset {
			to := min(n.Offset, at+jsonl.WindowSize)
			text, err := v.Read.Bytes(at, to)
			if err != nil {
				return err
			}
			if len(bytes.Trim(text, "\x00\ufeff\r\n ")) > 0 {
				v.patches = append(v.patches, backend.Patch{Offset: at, Text: bytes.Repeat([]byte("\n"), len(text))})
			}
			at = to
		}
		at = n.Offset + int64(n.Length)
	}
	return nil
}

// note makes the entry that lists what was erased.
func (v *erasure) note(now time.Time) error {
	last, err := v.Read.Bytes(v.size-1, v.size)
	if err != nil {
		return err
	}
	var x jsonl.Encoder
	if last[0] != '\n' {
		x.Lines = append(x.Lines, '\n')
	}
	seq := max(v.Scan.Highest, v.Scan.Seq) + 1
	if seq > jsonl.MaxSeq {
		return fmt.Errorf("%w: there is no number left for an entry", session.ErrFormat)
	}
	e := &entry.Entry{Seq: seq, ID: fmt.Sprint("e", seq), Type: entry.TypeErased, Time: now, Erased: v.ids(v.chosen)}
	err = x.Append(e)
	v.lines = x.Lines
	return err
}

// An entry whose content was erased keeps what the conversation needs to continue: its place in the tree, the role of a
// message, and which call a result answers.

// leftOf returns what stays of an entry. nil means that all of it stays.
func (v *erasure) leftOf(e *entry.Entry) *entry.Entry {
	left := &entry.Entry{Type: entry.TypeErased}
	switch e.Type {
	case entry.TypeMessage:
		left.Model, left.Message = e.Model, emptied(e.Message)
	case entry.TypeCustomMessage:
		left.Name, left.Message = e.Name, emptied(e.Message)
	case entry.TypeEdit:
		left.Target, left.Omit, left.Message = e.Target, e.Omit, emptied(e.Message)
	case entry.TypeCompaction:
		left.Was, left.Degraded = e.Type, e.Degraded
	case entry.TypeReset: // it ends a log
		left.Type = e.Type
	case entry.TypeState, entry.TypeStatus:
		if e.Full != nil {
			left.Type, left.Full = e.Type, v.withoutErased(e.Full)
		}
	case entry.TypeLeaf, entry.TypeUsage, entry.TypeFlush, entry.TypeErased:
		return nil // it has no text
	}
	return left
}

// emptied returns a message without its content.
func emptied(m *winnow.Message) *winnow.Message {
	if m == nil {
		return nil
	}
	out := &winnow.Message{
		Role: m.Role, Parts: []winnow.Part{}, ToolCallID: m.ToolCallID, ToolName: m.ToolName, IsError: m.IsError,
		StopReason: m.StopReason, Usage: m.Usage, Pinned: m.Pinned, Injected: m.Injected, Summary: m.Summary,
		Transient: m.Transient,
	}
	for _, p := range m.Parts {
		if p.Kind == winnow.KindToolCall {
			call := winnow.Part{Kind: p.Kind, ID: p.ID, Name: p.Name}
			if len(p.Arguments) > 0 {
				call.Arguments = json.RawMessage("{}")
			}
			out.Parts = append(out.Parts, call)
		}
	}
	return out
}
